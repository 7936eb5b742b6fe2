/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a capture file, block by block, as the pcapng draft lays them out. */
#include "simulator/pcapng.h"

#include "suite.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static uint8_t file[8192];
static size_t length;

static uint32_t le32(size_t at)
{
    return file[at] | (uint32_t)file[at + 1] << 8 | (uint32_t)file[at + 2] << 16 | (uint32_t)file[at + 3] << 24;
}

static struct pcapng *opened(char path[static 20])
{
    struct pcapng *p = NULL;
    strcpy(path, "pcapng-XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(pcapng_open(&p, path, "cwsim"), 0);
    return p;
}

/* Closes, reads the file and takes it away. */
static void closed(struct pcapng *p, const char *path)
{
    ck_assert_int_eq(pcapng_close(p), 0);
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    length = fread(file, 1, sizeof file, f);
    fclose(f);
    unlink(path);
}

START_TEST(the_blocks_are_those_of_the_draft)
{
    static const uint8_t section[] = {
        0x0a, 0x0d, 0x0d, 0x0a, 44,   0,    0,    0,                  /* section header, its length */
        0x4d, 0x3c, 0x2b, 0x1a, 1,    0,    0,    0,                  /* byte order, version 1.0 */
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,               /* the section's length: not said */
        4,    0,    5,    0,    'c',  'w',  's',  'i',  'm', 0, 0, 0, /* application, padded */
        0,    0,    0,    0,    44,   0,    0,    0,
    };
    static const uint8_t interface[] = {
        1, 0, 0, 0, 56,   0,    0,    0,    1,   0,   0,   0,   0,  0, 0, 0, /* Ethernet, no limit */
        2, 0, 8, 0, '0',  ',',  '0',  ',',  '0', ' ', '+', 'x',              /* name */
        8, 0, 8, 0, 0x00, 0xca, 0x9a, 0x3b, 0,   0,   0,   0,                /* 10^9 bits per second */
        9, 0, 1, 0, 9,    0,    0,    0,    0,   0,   0,   0,   56, 0, 0, 0, /* nanoseconds */
    };
    static const uint8_t packet[] = {
        6,  0, 0, 0, 104, 0, 0, 0, 0, 0,  0,  0,  1,    0,    0,   0,   2,   0, 0, 0, /* interface 0, 2^32 + 2 ns */
        60, 0, 0, 0, 60,  0, 0, 0,                                                    /* captured, on the wire */
        1,  2, 3, 4, 5,   6, 7, 8, 9, 10, 11, 12, 0x88, 0xb5, 'a', 'b', 'c',          /* to, from, type, payload */
    };
    static const uint8_t tail[] = {1, 0, 3, 0, 'c', 'u', 't', 0, 0, 0, 0, 0, 104, 0, 0, 0};
    char path[20];
    struct pcapng *p = opened(path);
    ck_assert_int_eq(pcapng_interface(p, "0,0,0 +x", 1000000000), 0);
    pcapng_frame(p, 0,
                 &(struct pcapng_frame){.at = {(INT64_C(1) << 32) + 2},
                                        .to = {1, 2, 3, 4, 5, 6},
                                        .from = {7, 8, 9, 10, 11, 12},
                                        .type = 0x88b5,
                                        .bytes = (const uint8_t *)"abc",
                                        .length = 3,
                                        .comment = "cut"});
    closed(p, path);
    ck_assert_uint_eq(length, 44 + 56 + 104);
    ck_assert_mem_eq(file, section, sizeof section);
    ck_assert_mem_eq(file + 44, interface, sizeof interface);
    ck_assert_mem_eq(file + 100, packet, sizeof packet);
    for (size_t i = 100 + sizeof packet; i < 204 - sizeof tail; i++) {
        ck_assert_uint_eq(file[i], 0); /* as a card pads */
    }
    ck_assert_mem_eq(file + 204 - sizeof tail, tail, sizeof tail);
}
END_TEST

/* Every length of payload and zeros gives blocks of whole words whose two lengths are the same. */
START_TEST(blocks_are_whole_words_whatever_the_frame)
{
    static const uint8_t bytes[100] = {[99] = 0xee};
    for (uint32_t n = 0; n <= sizeof bytes; n += 3) {
        char path[20];
        struct pcapng *p = opened(path);
        ck_assert_int_eq(pcapng_interface(p, "a", 0), 0);
        ck_assert_int_eq(pcapng_interface(p, "bc", 5), 1);
        pcapng_frame(p, 1, &(struct pcapng_frame){.bytes = bytes + sizeof bytes - n, .length = n, .zeros = 15 * n});
        closed(p, path);
        size_t at = 0, blocks = 0;
        for (; at < length; blocks++) {
            uint32_t total = le32(at + 4);
            ck_assert(total % 4 == 0 && at + total <= length);
            ck_assert_uint_eq(le32(at + total - 4), total);
            if (le32(at) == 6) {
                uint32_t size = 14 + 16 * n;
                ck_assert_uint_eq(le32(at + 8), 1);
                ck_assert_uint_eq(le32(at + 20), size < 60 ? 60 : size);
                ck_assert_uint_eq(le32(at + 24), size < 60 ? 60 : size);
                ck_assert(n == 0 || file[at + 28 + 14 + n - 1] == 0xee);
            }
            at += total;
        }
        ck_assert_uint_eq(at, length);
        ck_assert_uint_eq(blocks, 4);
    }
}
END_TEST

START_TEST(errors_are_told)
{
    struct pcapng *p = NULL;
    ck_assert_int_eq(pcapng_open(&p, "no/such/folder/file", "cwsim"), -ENOENT);
    ck_assert_ptr_null(p);
    ck_assert_int_eq(pcapng_close(NULL), 0);
    if (pcapng_open(&p, "/dev/full", "cwsim") == 0) {
        ck_assert_int_eq(pcapng_close(p), -ENOSPC);
    }
    char path[20], comment[400];
    memset(comment, 'x', sizeof comment - 1);
    comment[sizeof comment - 1] = '\0';
    p = opened(path);
    ck_assert_int_eq(pcapng_interface(p, "a", 0), 0);
    pcapng_frame(p, 0, &(struct pcapng_frame){.comment = comment});
    closed(p, path);
    ck_assert_uint_eq(length, 44 + 40 + 28 + 60 + 4 + 200 + 4 + 4); /* 200 bytes of it are kept */
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_blocks_are_those_of_the_draft),
    SUITE_TEST(blocks_are_whole_words_whatever_the_frame),
    SUITE_TEST(errors_are_told),
};
SUITE_MAIN("simulator/pcapng", tests)
