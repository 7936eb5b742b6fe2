/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_seal.c - a record is signed for one cluster, in the form that is written down. */
#include "seal/job_seal.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

START_TEST(one_cluster_one_key_those_bytes)
{
    uint8_t record[] = {1, 2, 3, 4, 5}, raw[SEAL_PUBLIC_BYTES], signature[SEAL_SIGNATURE_BYTES];
    struct seal_key *key;
    struct seal_public *half;
    ck_assert_int_eq(seal_key_make(&key), 0);
    seal_key_public(key, raw);
    ck_assert_int_eq(seal_public_open(&half, raw), 0);
    ck_assert_int_eq(job_seal_sign(key, 7, record, sizeof record, signature), 0);
    ck_assert_int_eq(job_seal_verify(half, 7, record, sizeof record, signature), 0);
    ck_assert_int_eq(job_seal_verify(half, 8, record, sizeof record, signature), -EBADMSG);
    ck_assert_int_eq(job_seal_verify(half, 7, record, sizeof record - 1, signature), -EBADMSG);
    record[0] ^= 1;
    ck_assert_int_eq(job_seal_verify(half, 7, record, sizeof record, signature), -EBADMSG);
    seal_public_close(half);
    seal_key_close(key);
}
END_TEST

START_TEST(the_form_is_the_one_written_down)
{
    static const char whole[] = "cubeway job 1\0\x01\x02\x03\x04record";
    uint8_t raw[SEAL_PUBLIC_BYTES], signature[SEAL_SIGNATURE_BYTES];
    struct seal_key *key;
    struct seal_public *half;
    ck_assert_int_eq(seal_key_make(&key), 0);
    seal_key_public(key, raw);
    ck_assert_int_eq(seal_public_open(&half, raw), 0);
    ck_assert_int_eq(job_seal_sign(key, 0x01020304, (const uint8_t *)"record", 6, signature), 0);
    ck_assert(seal_verify(half, whole, sizeof whole - 1, signature));
    ck_assert_int_eq(job_seal_verify(half, 0x01020304, (const uint8_t *)"record", 6, signature), 0);
    seal_public_close(half);
    seal_key_close(key);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(one_cluster_one_key_those_bytes),
    SUITE_TEST(the_form_is_the_one_written_down),
};
SUITE_MAIN("job_seal", tests)
