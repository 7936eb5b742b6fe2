/* SPDX-License-Identifier: Apache-2.0 */
#include "base/prng.h"
#include "base/sip.h"
#include "suite.h"

#include <string.h>

/* The worked example in appendix A of the SipHash paper: SipHash-2-4, key 00 01 .. 0f, message 00 01 .. 0e. */
START_TEST(worked_example_of_the_paper)
{
    const uint64_t k0 = 0x0706050403020100, k1 = 0x0f0e0d0c0b0a0908;
    uint64_t v[4] = {SIP_V0 ^ k0, SIP_V1 ^ k1, SIP_V2 ^ k0, SIP_V3 ^ k1};
    static const uint64_t words[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
    for (int i = 0; i < 2; i++) {
        v[3] ^= words[i];
        sip_round(v);
        sip_round(v);
        v[0] ^= words[i];
    }
    v[2] ^= 0xff;
    for (int i = 0; i < 4; i++) {
        sip_round(v);
    }
    ck_assert_uint_eq(v[0] ^ v[1] ^ v[2] ^ v[3], 0xa129ca6149be45e5);
}
END_TEST

/* The round backwards, step by step. */
static void unround(uint64_t v[4])
{
    v[2] = sip_rotate(v[2], 32);
    v[1] = sip_rotate(v[1] ^ v[2], 64 - 17);
    v[2] -= v[1];
    v[3] = sip_rotate(v[3] ^ v[0], 64 - 21);
    v[0] -= v[3];
    v[3] = sip_rotate(v[3] ^ v[2], 64 - 16);
    v[2] -= v[3];
    v[0] = sip_rotate(v[0], 32);
    v[1] = sip_rotate(v[1] ^ v[0], 64 - 13);
    v[0] -= v[1];
}

START_TEST(a_round_can_be_undone)
{
    struct prng p = prng_stream(21, 0, 0);
    for (int i = 0; i < 10000; i++) {
        uint64_t before[4] = {prng_next(&p), prng_next(&p), prng_next(&p), prng_next(&p)}, v[4];
        memcpy(v, before, sizeof v);
        sip_round(v);
        unround(v);
        if (memcmp(v, before, sizeof v) != 0) {
            ck_abort_msg("not undone");
        }
    }
    uint64_t zero[4] = {0};
    sip_round(zero);
    ck_assert((zero[0] | zero[1] | zero[2] | zero[3]) == 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(worked_example_of_the_paper),
    SUITE_TEST(a_round_can_be_undone),
};
SUITE_MAIN("sip", tests)
