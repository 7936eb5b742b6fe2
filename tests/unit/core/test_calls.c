/* SPDX-License-Identifier: Apache-2.0 */
#include "core/calls.h"
#include "suite.h"

START_TEST(a_call_is_one_number_through_its_attempts)
{
    struct calls c;
    ck_assert_int_eq(calls_open(&c, 8, 1), 0);
    struct call *call = calls_start(&c, 3, CW_MS(10), 2, (cw_time){0});
    uint32_t number = call->item.handle;
    ck_assert_int_eq(calls_wake(&c).ns, CW_MS(10).ns);
    ck_assert_ptr_null(calls_due(&c, (cw_time){CW_MS(10).ns - 1}));
    for (unsigned attempt = 1; attempt <= 2; attempt++) {
        cw_time now = {CW_MS(10).ns * attempt};
        ck_assert_ptr_eq(calls_due(&c, now), call);
        calls_try_again(&c, call, now);
        ck_assert_uint_eq(call->item.handle, number);
        ck_assert_uint_eq(call->retries, 2 - attempt);
        ck_assert_ptr_null(calls_due(&c, now));
    }
    ck_assert_ptr_eq(calls_due(&c, (cw_time){CW_MS(30).ns}), call);
    ck_assert_ptr_eq(calls_find(&c, number), call);
    calls_end(&c, call);
    ck_assert(calls_valid(&c));
    ck_assert_ptr_null(calls_find(&c, number));
    calls_close(&c);
}
END_TEST

START_TEST(services_share)
{
    struct calls c;
    ck_assert_int_eq(calls_open(&c, 30, 1), 0);
    unsigned greedy = 0;
    while (calls_start(&c, 0, CW_SEC(1), 0, (cw_time){0}) != NULL) {
        greedy++;
    }
    ck_assert_uint_eq(greedy, 20);
    ck_assert_ptr_nonnull(calls_start(&c, 1, CW_SEC(1), 0, (cw_time){0}));
    ck_assert_ptr_null(calls_of(&c, 2));
    ck_assert_uint_eq(calls_of(&c, 1)->speaker, 1);
    for (unsigned service = 0; service < 2; service++) {
        for (struct call *call; (call = calls_of(&c, service)) != NULL;) {
            calls_end(&c, call);
        }
    }
    calls_close(&c);
}
END_TEST

/* However many guests there are, and whatever they want: a service finds room, and the next guest does. */
START_TEST(guests_share_what_one_service_could_have)
{
    struct calls c;
    ck_assert_int_eq(calls_open(&c, 300, 1), 0);
    unsigned all = 0, had = 300;
    for (unsigned guest = 64; guest < 104; guest++) {
        unsigned open = 0;
        while (calls_start_guest(&c, guest, open, CW_SEC(1), 0, (cw_time){0}) != NULL) {
            open++;
        }
        ck_assert_uint_le(open, had);
        ck_assert(guest > 72 || open > 0);
        had = open;
        all += open;
        ck_assert(calls_valid(&c));
    }
    ck_assert_uint_ge(all, 180);
    ck_assert_uint_le(all, 200);
    ck_assert_uint_eq(c.of[0], all);
    ck_assert_ptr_nonnull(calls_start(&c, 1, CW_SEC(1), 0, (cw_time){0}));
    ck_assert_ptr_null(calls_of(&c, 99));
    for (unsigned speaker = 1; speaker < 104; speaker++) {
        for (struct call *call; (call = calls_of(&c, speaker)) != NULL;) {
            ck_assert_uint_eq(call->speaker, speaker);
            calls_end(&c, call);
        }
    }
    calls_close(&c);
}
END_TEST

START_TEST(closing_with_a_call_open_is_a_mistake)
{
    struct calls c;
    ck_assert_int_eq(calls_open(&c, 8, 1), 0);
    ck_assert_ptr_nonnull(calls_start(&c, 0, CW_SEC(1), 0, (cw_time){0}));
    calls_close(&c);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_call_is_one_number_through_its_attempts),
    SUITE_TEST(services_share),
    SUITE_TEST(guests_share_what_one_service_could_have),
    SUITE_ABORTS(closing_with_a_call_open_is_a_mistake),
};
SUITE_MAIN("calls", tests)
