/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/members.h"
#include "suite.h"

#include <errno.h>

static struct cast_members b;
static cw_time now;
static const uint8_t set[2] = {0x5b, 1}; /* 0 1 3 4 6 8 */

static void setup(void)
{
    now = (cw_time){1000};
    ck_assert_int_eq(cast_members_open(&b, set, 9, 3, now), 0); /* 3 is the source */
    ck_assert(b.count == 5 && b.waiting == 5);
}

static bool in_round(cw_server server)
{
    uint8_t out[2];
    cast_members_set(&b, out, 2);
    return out[server / 8] >> server % 8 & 1;
}

START_TEST(who_ends)
{
    setup();
    ck_assert(cast_members_find(&b, 3) == NULL && cast_members_find(&b, 2) == NULL && cast_members_find(&b, 9) == NULL);
    ck_assert_uint_eq(cast_members_find(&b, 8)->server, 8);
    now = cw_time_add(now, CW_MS(7));
    ck_assert(cast_members_end(&b, 4, 0, now) && cast_members_end(&b, 0, -ENOSPC, now) &&
              !cast_members_end(&b, 4, -EIO, now));
    ck_assert(!cast_members_end(&b, 2, 0, now));
    ck_assert(cast_members_find(&b, 4)->state == CAST_HAS && cast_members_find(&b, 4)->took.ns == CW_MS(7).ns);
    ck_assert(cast_members_find(&b, 0)->state == CAST_LOST && cast_members_find(&b, 0)->status == -ENOSPC);
    ck_assert(b.waiting == 3 && !in_round(4) && !in_round(0) && in_round(8) && !in_round(3));
    cast_members_close(&b);
    const uint8_t nobody[2] = {8, 0};
    ck_assert_int_eq(cast_members_open(&b, nobody, 9, 3, now), -EINVAL);
}
END_TEST

/* What it had before anything was sent; and what was sent again for it. */
START_TEST(who_lacks_what)
{
    setup();
    ck_assert_uint_eq(cast_members_find(&b, 6)->lacked, UINT32_MAX);
    cast_members_lacks(&b, 6, 10, false);
    cast_members_lacks(&b, 6, 8, false); /* the first word counts */
    cast_members_lacks(&b, 8, 30, true); /* it was not asked before pieces were sent */
    cast_members_lacks(&b, 8, 12, true);
    cast_members_lacks(&b, 2, 1, true); /* is no member */
    ck_assert(cast_members_find(&b, 6)->lacked == 10 && cast_members_find(&b, 6)->missed == 0);
    ck_assert(cast_members_find(&b, 8)->lacked == UINT32_MAX && cast_members_find(&b, 8)->missed == 42);
    ck_assert(cast_members_end(&b, 8, 0, now));
    cast_members_lacks(&b, 8, 5, true); /* it has ended */
    ck_assert_uint_eq(cast_members_find(&b, 8)->missed, 42);
    cast_members_close(&b);
}
END_TEST

START_TEST(who_goes_and_comes)
{
    setup();
    cast_members_report(&b, 6, 10, now);
    ck_assert(cast_members_away(&b, 6, true, now) && !cast_members_away(&b, 6, true, now) &&
              !cast_members_away(&b, 2, true, now));
    ck_assert(b.waiting == 4 && cast_members_find(&b, 6)->status == -ENETUNREACH && in_round(6));
    ck_assert(cast_members_away(&b, 6, false, now) && b.waiting == 5 && !cast_members_find(&b, 6)->reported);
    ck_assert(cast_members_find(&b, 6)->missing == UINT32_MAX);
    ck_assert(cast_members_away(&b, 6, true, now) && cast_members_end(&b, 6, 0, now)); /* its word came all the same */
    ck_assert(b.waiting == 4 && !cast_members_away(&b, 6, false, now));
    cast_members_close(&b);
}
END_TEST

/* One that has come back once may come back again, for a while. */
START_TEST(who_flaps)
{
    const cw_span patience = CW_SEC(2);
    setup();
    ck_assert(cast_members_away(&b, 6, true, now));
    ck_assert(!cast_members_flap(&b, patience, now)); /* it may be dead */
    ck_assert(cast_members_any_away(&b));
    now = cw_time_add(now, CW_MS(100));
    ck_assert(cast_members_away(&b, 6, false, now));
    ck_assert(!cast_members_flap(&b, patience, now));
    ck_assert(!cast_members_any_away(&b));
    ck_assert(cast_members_away(&b, 6, true, now));
    ck_assert(cast_members_flap(&b, patience, now));
    now = cw_time_add(now, CW_MS(1999));
    ck_assert(cast_members_flap(&b, patience, now));
    now = cw_time_add(now, CW_MS(1));
    ck_assert(!cast_members_flap(&b, patience, now));
    cast_members_close(&b);
}
END_TEST

START_TEST(rounds)
{
    const cw_span limit = CW_SEC(30);
    setup();
    ck_assert(cast_members_end(&b, 0, 0, now) && cast_members_end(&b, 1, 0, now) && cast_members_end(&b, 4, 0, now));
    ck_assert(!cast_members_all_reported(&b));
    for (uint32_t round = 0; round < 40; round++) { /* 8 gets on, 6 says nothing, then always the same */
        cast_members_report(&b, 8, 100 - round, now);
        if (round >= 10) {
            cast_members_report(&b, 6, 50, now);
        }
        ck_assert(cast_members_all_reported(&b) == (round >= 10));
        now = cw_time_add(now, CW_SEC(1));
        ck_assert_uint_eq(cast_members_round(&b, limit, now), 0);
    }
    cast_members_report(&b, 8, 50, now);
    now = cw_time_add(now, CW_SEC(1));
    ck_assert_uint_eq(cast_members_round(&b, limit, now), 1);
    ck_assert(cast_members_find(&b, 6)->status == -ETIMEDOUT && b.waiting == 1);
    for (uint32_t round = 0; round < 100; round++) { /* all is there, and its sink takes long: as long as it says so */
        cast_members_report(&b, 8, 0, now);
        now = cw_time_add(now, CW_SEC(1));
        ck_assert_uint_eq(cast_members_round(&b, limit, now), 0);
    }
    now = cw_time_add(now, CW_SEC(31));
    ck_assert(cast_members_round(&b, limit, now) == 1 && b.waiting == 0 && cast_members_all_reported(&b));
    cast_members_close(&b);
}
END_TEST

START_TEST(results)
{
    struct cast_member m = {.state = CAST_HAS};
    ck_assert_int_eq(cast_member_result(&m, -ECANCELED), 0);
    m = (struct cast_member){.state = CAST_LOST, .status = -ENOSPC};
    ck_assert_int_eq(cast_member_result(&m, 0), -ENOSPC);
    m.state = CAST_AWAY;
    ck_assert_int_eq(cast_member_result(&m, 0), -ENETUNREACH);
    m.state = CAST_WAITING;
    ck_assert_int_eq(cast_member_result(&m, 0), -ETIMEDOUT);
    ck_assert_int_eq(cast_member_result(&m, -ECANCELED), -ECANCELED);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(results),        SUITE_TEST(who_ends),
                                          SUITE_TEST(who_lacks_what), SUITE_TEST(who_goes_and_comes),
                                          SUITE_TEST(who_flaps),      SUITE_TEST(rounds)};
SUITE_MAIN("cast_members", tests)
