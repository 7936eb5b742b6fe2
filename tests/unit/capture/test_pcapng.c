/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memmem() */
/*
 * test_pcapng.c - the bytes of a capture file, walked block by block. Wireshark's opinion: tests/sim/cwsim/capture.sh.
 */
#include "capture/pcapng.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 20000 };

struct file {
    char path[64];
    uint8_t bytes[ROOM];
    size_t length, at;
};

static uint32_t get32(const uint8_t *b)
{
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static struct pcapng *create(struct file *f)
{
    struct pcapng *p;
    *f = (struct file){.path = "pcapng-test-XXXXXX"};
    int fd = mkstemp(f->path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(pcapng_open(&p, f->path, "a test"), 0);
    return p;
}

static void finish(struct file *f, struct pcapng *p)
{
    ck_assert_int_eq(pcapng_close(p), 0);
    FILE *in = fopen(f->path, "rb");
    f->length = fread(f->bytes, 1, ROOM, in);
    fclose(in);
    remove(f->path);
}

/* The next block, whose two lengths must agree; NULL at the end. */
static const uint8_t *block(struct file *f, uint32_t *type, uint32_t *length)
{
    if (f->at == f->length) {
        return NULL;
    }
    ck_assert_uint_ge(f->length - f->at, 12);
    const uint8_t *b = f->bytes + f->at;
    *type = get32(b);
    *length = get32(b + 4);
    ck_assert_uint_eq(*length % 4, 0);
    ck_assert_uint_le(*length, f->length - f->at);
    ck_assert_uint_eq(get32(b + *length - 4), *length);
    f->at += *length;
    return b;
}

static bool contains(const uint8_t *block, uint32_t length, const char *text)
{
    return memmem(block, length, text, strlen(text)) != NULL;
}

START_TEST(blocks)
{
    struct file f;
    struct pcapng *p = create(&f);
    uint8_t bytes[64];
    memset(bytes, 0xab, sizeof bytes);
    ck_assert_int_eq(pcapng_interface(p, "0,0,0 +x", 1000000000), 0);
    ck_assert_int_eq(pcapng_interface(p, "1,0,0 -x", 0), 1);
    struct pcapng_frame frame = {.at = {INT64_C(0x123456789)},
                                 .to = {2, 1},
                                 .from = {2, 0},
                                 .type = 0x88b5,
                                 .bytes = bytes,
                                 .length = 61,
                                 .zeros = 3000};
    pcapng_frame(p, 1, &frame);
    frame.length = 9; /* shorter than Ethernet's least */
    frame.zeros = 0;
    frame.comment = "lost";
    pcapng_frame(p, 0, &frame);
    finish(&f, p);

    uint32_t type, length;
    const uint8_t *b = block(&f, &type, &length);
    ck_assert(type == 0x0A0D0D0A && get32(b + 8) == 0x1A2B3C4D && contains(b, length, "a test"));
    b = block(&f, &type, &length);
    ck_assert(type == 1 && b[8] == 1 && get32(b + 12) == 0 && contains(b, length, "0,0,0 +x"));
    ck_assert(memmem(b, length, "\x09\x00\x01\x00\x09", 5) != NULL); /* if_tsresol 9 */
    b = block(&f, &type, &length);
    ck_assert(type == 1 && contains(b, length, "1,0,0 -x"));
    b = block(&f, &type, &length);
    ck_assert(type == 6 && get32(b + 8) == 1 && get32(b + 12) == 1 && get32(b + 16) == 0x23456789);
    ck_assert(get32(b + 20) == 14 + 61 + 3000 && get32(b + 24) == 14 + 61 + 3000);
    ck_assert(b[28] == 2 && b[29] == 1 && b[34] == 2 && b[35] == 0 && b[40] == 0x88 && b[41] == 0xb5);
    ck_assert(b[42] == 0xab && b[42 + 60] == 0xab && b[42 + 61] == 0 && b[28 + 14 + 61 + 3000 - 1] == 0);
    b = block(&f, &type, &length);
    ck_assert(type == 6 && get32(b + 8) == 0 && get32(b + 20) == 60 && contains(b, length, "lost"));
    ck_assert_ptr_null(block(&f, &type, &length));
}
END_TEST

/* Names, comments and frames of every length keep the blocks whole. */
START_TEST(every_length)
{
    char text[300];
    uint8_t bytes[80] = {0};
    struct file f;
    struct pcapng *p = create(&f);
    unsigned count = 1;
    for (uint32_t n = 0; n < 70; n++, count += 2) {
        memset(text, 'x', n);
        text[n] = '\0';
        ck_assert_int_eq(pcapng_interface(p, text, 0), (int)n);
        pcapng_frame(p, n, &(struct pcapng_frame){.bytes = bytes, .length = n, .comment = text});
    }
    memset(text, 'y', sizeof text);
    text[299] = '\0';
    pcapng_frame(p, 0, &(struct pcapng_frame){.bytes = bytes, .length = 1, .comment = text});
    finish(&f, p);
    uint32_t type, length;
    unsigned seen = 0;
    while (block(&f, &type, &length) != NULL) {
        seen++;
    }
    ck_assert_uint_eq(seen, count + 1);
}
END_TEST

START_TEST(errors)
{
    struct pcapng *p = NULL;
    ck_assert_int_eq(pcapng_open(&p, "no/such/folder/file", "x"), -ENOENT);
    ck_assert_int_eq(pcapng_close(NULL), 0);
    /* A full disk is found at the latest when the file is closed. */
    if (access("/dev/full", W_OK) == 0 && pcapng_open(&p, "/dev/full", "x") == 0) {
        uint8_t bytes[8] = {0};
        for (unsigned i = 0; i < 1000; i++) {
            pcapng_frame(p, 0, &(struct pcapng_frame){.bytes = bytes, .length = 8});
        }
        ck_assert_int_eq(pcapng_close(p), -ENOSPC);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(blocks), SUITE_TEST(every_length), SUITE_TEST(errors)};
SUITE_MAIN("pcapng", tests)
