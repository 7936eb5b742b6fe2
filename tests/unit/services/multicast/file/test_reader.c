/* SPDX-License-Identifier: Apache-2.0 */
/* test_reader.c - the digest first; then bytes in any order, across chunks, again after they were let go. */
#include "file_kit.h"
#include "services/multicast/file/reader.h"
#include "suite.h"

#include <errno.h>
#include <stdlib.h>

enum { BYTES = (FILE_READER_CHUNKS + 10) * FILE_READER_CHUNK + 123, PIECE = 8920 };
static uint8_t *bytes;
static struct file_reader *r;
static struct cast_source source;
static int readied, ready_status;

static void ready(void *context, int status)
{
    (void)context;
    readied++;
    ready_status = status;
}

static void begin(size_t length, const char *fault, int error)
{
    struct files_file *file;
    file_kit_begin();
    bytes = malloc(length + 1);
    file_kit_fill(bytes, length);
    readied = 0;
    uint64_t ticket = fake_files_pass(&kit.disk, bytes, length, 0644);
    ck_assert_int_eq(kit.disk.host.claim(&kit.disk, ticket, &file), 0);
    if (fault != NULL) {
        fake_files_fail(&kit.disk, fault, 0, error, false);
    }
    ck_assert_int_eq(file_reader_open(&r, &kit.env, file, ready, NULL), 0);
    ck_assert_int_eq(readied, 0);
    fake_run(kit.s, CW_SEC(1));
    ck_assert_int_eq(readied, 1);
    source = file_reader_source(r);
    file_reader_ticket(r, 9);
}

static void end(void)
{
    file_reader_close(r);
    fake_run(kit.s, CW_MS(1));
    ck_assert(file_reader_is_over(r));
    file_reader_free(r);
    free(bytes);
    ck_assert_uint_eq(file_kit_end(), 0);
}

static unsigned waited;

static void check_read(uint64_t offset, size_t length)
{
    static uint8_t out[FILE_READER_CHUNK];
    int rc;
    while ((rc = source.read(source.context, offset, out, length)) == -EAGAIN) {
        unsigned before = kit.resumes;
        waited++;
        for (unsigned i = 0; kit.resumes == before; i++) {
            ck_assert_uint_lt(i, 100000);
            fake_run(kit.s, CW_US(10));
        }
        ck_assert_uint_eq(kit.ticket, 9);
    }
    ck_assert_int_eq(rc, 0);
    ck_assert_mem_eq(out, bytes + offset, length);
}

START_TEST(digest_and_bytes)
{
    uint8_t digest[FILES_DIGEST_BYTES];
    begin(BYTES, NULL, 0);
    ck_assert_int_eq(ready_status, 0);
    fake_files_digest(bytes, BYTES, digest);
    ck_assert_mem_eq(file_reader_digest(r), digest, sizeof digest);
    ck_assert_uint_eq(file_reader_facts(r)->bytes, BYTES);
    ck_assert_uint_eq(file_reader_facts(r)->mode, 0644);
    ck_assert_uint_eq(file_reader_hashed(r), BYTES);
    waited = 0;
    for (uint64_t at = 0; at < BYTES; at += PIECE) {
        check_read(at, BYTES - at < PIECE ? (size_t)(BYTES - at) : PIECE);
        if (at % (8 * PIECE) == 0) {
            fake_run(kit.s, CW_MS(1)); /* a link's pace: what is read ahead comes in time */
        }
    }
    ck_assert_uint_le(waited, 2);
    ck_assert_uint_eq(file_reader_given(r), BYTES);
    end();
}
END_TEST

START_TEST(again_and_anywhere)
{
    begin(BYTES, NULL, 0);
    unsigned seed = 1;
    for (unsigned i = 0; i < 3000; i++) {
        seed = seed * 1103515245 + 12345;
        uint64_t at = (uint64_t)(seed >> 4) % (BYTES - PIECE);
        check_read(at, 1 + seed % PIECE);
    }
    check_read(BYTES - 1, 1);
    check_read(FILE_READER_CHUNK - 1, 2);
    ck_assert_int_eq(source.read(source.context, BYTES - 1, bytes, 2), -EINVAL);
    ck_assert_int_eq(source.read(source.context, BYTES, bytes, 1), -EINVAL);
    ck_assert_int_eq(source.read(source.context, 0, bytes, 0), -EINVAL);
    end();
}
END_TEST

START_TEST(an_empty_file)
{
    uint8_t byte = 7;
    begin(0, NULL, 0);
    ck_assert_int_eq(ready_status, 0);
    ck_assert_int_eq(source.read(source.context, 0, &byte, 1), 0);
    ck_assert_uint_eq(byte, 0);
    end();
}
END_TEST

static int says_empty(void *context, struct files_file *f, struct files_facts *out)
{
    (void)context, (void)f;
    *out = (struct files_facts){.bytes = 0, .mode = 0444};
    return 0;
}

/* As files of /proc: their length is 0 until they are read. */
START_TEST(content_without_a_length)
{
    begin(100, NULL, 0);
    struct files_file *file;
    struct file_reader *second;
    uint64_t ticket = fake_files_pass(&kit.disk, bytes, 100, 0444);
    ck_assert_int_eq(kit.disk.host.claim(&kit.disk, ticket, &file), 0);
    kit.disk.host.look = says_empty;
    ck_assert_int_eq(file_reader_open(&second, &kit.env, file, ready, NULL), 0);
    fake_run(kit.s, CW_SEC(1));
    ck_assert_int_eq(readied, 2);
    ck_assert_int_eq(ready_status, -EOPNOTSUPP);
    file_reader_close(second);
    fake_run(kit.s, CW_MS(1));
    file_reader_free(second);
    end();
}
END_TEST

START_TEST(disks_that_fail)
{
    begin(1000, "look", -EIO);
    ck_assert_int_eq(ready_status, -EIO);
    end();
    begin(1000, "read", -EIO);
    ck_assert_int_eq(ready_status, -EIO);
    end();
    begin(1000, "digest", -EIO);
    ck_assert_int_eq(ready_status, -ENOMEM);
    end();
    begin(1000, NULL, 0);
    fake_files_fail(&kit.disk, "read", 0, -ENODATA, false);
    ck_assert_int_eq(source.read(source.context, 0, bytes, 10), -EAGAIN);
    fake_run(kit.s, CW_MS(1));
    ck_assert_uint_eq(kit.resumes, 1);
    ck_assert_int_eq(source.read(source.context, 0, bytes, 10), -ENODATA);
    end();
}
END_TEST

/* It is closed while its work runs, and when the server ends. */
START_TEST(closed_early)
{
    struct files_file *file;
    file_kit_begin();
    bytes = malloc(BYTES);
    file_kit_fill(bytes, BYTES);
    readied = 0;
    for (int how = 0; how < 2; how++) {
        uint64_t ticket = fake_files_pass(&kit.disk, bytes, BYTES, 0644);
        ck_assert_int_eq(kit.disk.host.claim(&kit.disk, ticket, &file), 0);
        ck_assert_int_eq(file_reader_open(&r, &kit.env, file, ready, NULL), 0);
        if (how == 0) {
            file_reader_close(r);
            fake_run(kit.s, CW_SEC(1));
            ck_assert(file_reader_is_over(r));
            file_reader_free(r);
        }
    }
    fake_shut(kit.s);
    file_reader_free(r);
    ck_assert_int_eq(readied, 0);
    ck_assert_uint_eq(kit.disk.handles, 0);
    fake_close(kit.s);
    fake_files_free(&kit.disk);
    free(bytes);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(digest_and_bytes),         SUITE_TEST(again_and_anywhere), SUITE_TEST(an_empty_file),
    SUITE_TEST(content_without_a_length), SUITE_TEST(disks_that_fail),    SUITE_TEST(closed_early),
};
SUITE_MAIN("file_reader", tests)
