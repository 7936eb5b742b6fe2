/* SPDX-License-Identifier: Apache-2.0 */
/* The body of AWS's example, whole, in pieces, and with each of its bytes of form changed. */
#include "services/s3/protocol/chunked.h"

#include "s3_signed.h"
#include "suite.h"

#include <string.h>

static struct s3_head head;
static struct s3_claim claim;
static uint8_t body[SIGNED_LENGTH + 1];

static size_t put(size_t at, const char *line, size_t count)
{
    memcpy(body + at, line, strlen(line));
    at += strlen(line);
    memset(body + at, 'a', count);
    memcpy(body + at + count, "\r\n", 2);
    return at + count + 2;
}

static void make_body(void)
{
    size_t at = put(0, "10000;chunk-signature=" SIGNED_CHUNK_1 "\r\n", 65536);
    at = put(at, "400;chunk-signature=" SIGNED_CHUNK_2 "\r\n", 1024);
    at = put(at, "0;chunk-signature=" SIGNED_CHUNK_3 "\r\n", 0);
    ck_assert_uint_eq(at, SIGNED_LENGTH);
}

/* Reads the body in pieces of so many bytes; gives the bytes of the object, all of them 'a'. */
static size_t take(size_t length, size_t piece_most, uint64_t said, s3_fault *fault, bool *done)
{
    struct s3_chunked c;
    size_t came = 0;
    bool strange = false;
    signed_head(&head, &signed_requests[SIGNED_CHUNKS]);
    ck_assert_int_eq(s3_sign_read(&claim, &head), S3_OK);
    ck_assert_int_eq(s3_sign_check(&claim, &head, SIGNED_SECRET, SIGNED_NOW), S3_OK);
    s3_chunked_begin(&c, &claim, said);
    *fault = S3_OK;
    for (size_t at = 0; at < length && *fault == S3_OK;) {
        const uint8_t *piece;
        size_t n, left = length - at < piece_most ? length - at : piece_most;
        size_t took = s3_chunked_read(&c, body + at, left, &piece, &n, fault);
        for (size_t i = 0; i < n; i++) {
            strange |= piece[i] != 'a';
        }
        came += n;
        at += took;
    }
    *done = s3_chunked_done(&c);
    SUITE_HOLDS(!(*done && strange));
    return came;
}

START_TEST(the_example_is_read_in_pieces_of_any_length)
{
    static const size_t pieces[] = {1, 2, 3, 7, 64, 1000, 65536, SIGNED_LENGTH};
    s3_fault fault;
    bool done;
    make_body();
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        SUITE_HOLDS(take(SIGNED_LENGTH, pieces[i], SIGNED_BODY, &fault, &done) == SIGNED_BODY, "%zu", pieces[i]);
        SUITE_HOLDS(fault == S3_OK && done, "%zu", pieces[i]);
    }
}
END_TEST

START_TEST(no_other_body_is_done)
{
    s3_fault fault;
    bool done;
    make_body();
    take(SIGNED_LENGTH - 1, 4096, SIGNED_BODY, &fault, &done);
    ck_assert(fault == S3_OK && !done); /* cut off */
    take(SIGNED_LENGTH, 4096, SIGNED_BODY + 1, &fault, &done);
    ck_assert(fault == S3_OK && !done); /* shorter than was said */
    take(SIGNED_LENGTH, 4096, SIGNED_BODY - 1, &fault, &done);
    ck_assert(fault == S3_INCOMPLETE_BODY && !done);
    body[SIGNED_LENGTH] = 'x';
    take(SIGNED_LENGTH + 1, 4096, SIGNED_BODY, &fault, &done);
    ck_assert_int_eq(fault, S3_INCOMPLETE_BODY);
    /* every byte of what is around the object's */
    size_t line = strlen("400;chunk-signature=" SIGNED_CHUNK_2 "\r\n"), first = line + 2;
    for (size_t i = 0; i < SIGNED_LENGTH; i++) {
        bool in_first = i >= first && i < first + 65536;
        size_t second = first + 65536 + 2 + line;
        if (in_first || (i >= second && i < second + 1024)) {
            continue;
        }
        body[i] ^= 1;
        take(SIGNED_LENGTH, SIGNED_LENGTH, SIGNED_BODY, &fault, &done);
        SUITE_HOLDS(!done, "byte %zu", i);
        body[i] ^= 1;
    }
}
END_TEST

START_TEST(changed_bytes_have_the_wrong_signature)
{
    struct s3_chunked c;
    const uint8_t *piece;
    size_t n;
    s3_fault fault = S3_OK;
    make_body();
    body[1000] = 'b';
    signed_head(&head, &signed_requests[SIGNED_CHUNKS]);
    ck_assert_int_eq(s3_sign_read(&claim, &head), S3_OK);
    ck_assert_int_eq(s3_sign_check(&claim, &head, SIGNED_SECRET, SIGNED_NOW), S3_OK);
    s3_chunked_begin(&c, &claim, SIGNED_BODY);
    for (size_t at = 0; at < SIGNED_LENGTH && fault == S3_OK;) {
        at += s3_chunked_read(&c, body + at, SIGNED_LENGTH - at, &piece, &n, &fault);
    }
    ck_assert_int_eq(fault, S3_WRONG_SIGNATURE);
}
END_TEST

START_TEST(lines_are_bounded)
{
    s3_fault fault;
    bool done;
    memset(body, '0', sizeof body);
    take(SIGNED_LENGTH, 100, SIGNED_BODY, &fault, &done);
    ck_assert_int_eq(fault, S3_INCOMPLETE_BODY);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_example_is_read_in_pieces_of_any_length), SUITE_TEST(no_other_body_is_done),
    SUITE_TEST(changed_bytes_have_the_wrong_signature), SUITE_TEST(lines_are_bounded)};
SUITE_MAIN("chunked", tests)
