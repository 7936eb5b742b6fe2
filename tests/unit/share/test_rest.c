/* SPDX-License-Identifier: Apache-2.0 */
/* What is said to whom; tests/sim/share tries the handshakes in all orders. */
#include "share/rest.h"
#include "share_kit.h"
#include "suite.h"

static struct share_kit k;

START_TEST(only_who_rests_is_woken)
{
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    ck_assert_int_eq(share_waker_published(&k.waker), SHARE_REST_AWAKE);
    uint32_t bell = share_sleeper_rests(&k.process_sub, &k.process_com, SHARE_REST_FUTEX);
    ck_assert_int_eq(share_waker_published(&k.waker), SHARE_REST_FUTEX);
    ck_assert_uint_ne(share_sleeper_rests(&k.process_sub, &k.process_com, SHARE_REST_SOCKET), bell);
    ck_assert_int_eq(share_waker_published(&k.waker), SHARE_REST_SOCKET);
    share_sleeper_wakes(&k.process_sub);
    ck_assert_int_eq(share_waker_published(&k.waker), SHARE_REST_AWAKE);
    ck_assert(k.waker.wakes == 2 && k.waker.senseless == 0);
    uint32_t nonsense = 3;
    memcpy(k.sub + SHARE_SUB_REST, &nonsense, sizeof nonsense);
    ck_assert_int_eq(share_waker_published(&k.waker), SHARE_REST_AWAKE);
    ck_assert(k.waker.wakes == 2 && k.waker.senseless == 1);
    ck_assert(share_kit_close(&k));
}
END_TEST

START_TEST(only_who_rests_is_rung_for)
{
    uint32_t tail = 1;
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    ck_assert(share_sleeper_must_ring(&k.process_com));
    share_waker_attends(&k.waker);
    ck_assert(!share_sleeper_must_ring(&k.process_com));
    memcpy(k.sub + SHARE_SUB_COMMAND_TAIL, &tail, sizeof tail);
    ck_assert(share_waker_rests(&k.waker, 0));
    ck_assert(!share_waker_rests(&k.waker, 1));
    ck_assert(share_sleeper_must_ring(&k.process_com));
    ck_assert(share_kit_close(&k));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(only_who_rests_is_woken), SUITE_TEST(only_who_rests_is_rung_for)};
SUITE_MAIN("rest", tests)
