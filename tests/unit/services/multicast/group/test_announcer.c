/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/group/announcer.h"

#include "suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct announcer set;
static const cw_key key = {{1}};
static int told_status;
static unsigned told_count;

static cw_time at(int64_t ms)
{
    return (cw_time){ms * 1000000};
}

static struct group_name name_of(const char *text)
{
    struct group_name name;
    ck_assert_int_eq(group_name_make(&name, 7, text, strlen(text)), 0);
    return name;
}

static void setup(void)
{
    set = (struct announcer){.most = 4, .refresh = CW_SEC(1), .again = CW_MS(20), .patience = CW_SEC(5)};
    told_count = 0;
    told_status = 1;
}

static void told(void *arg, int status)
{
    (void)arg;
    told_status = status;
    told_count++;
}

static void tell(int64_t ms)
{
    for (struct announcer_waiter *w; (w = announcer_take_waiter(&set, at(ms))) != NULL;) {
        w->fn(w->arg, w->status);
        free(w);
    }
}

static struct announced *want(const char *text, uint8_t flags, int64_t ms)
{
    struct group_name name = name_of(text);
    struct announced *m = NULL;
    ck_assert_int_eq(announcer_want(&set, &name, &key, flags, at(ms), &m), 0);
    return m;
}

START_TEST(said_until_acknowledged)
{
    setup();
    struct announced *m = want("g", GROUP_MEMBER, 0);
    ck_assert_int_eq(announcer_wait(&set, m, at(0), told, NULL), 0);
    ck_assert(announcer_due(&set, at(0)) == m);
    announcer_sent(m, 10);
    ck_assert(announcer_due(&set, at(100)) == NULL); /* one at a time */
    announcer_answered(&set, m, -ETIMEDOUT, at(20), 0);
    ck_assert(announcer_due(&set, at(20)) == m && !m->acked);
    announcer_sent(m, 11);
    announcer_answered(&set, m, -EAGAIN, at(21), 0); /* no room to send: not at once */
    ck_assert(announcer_due(&set, at(40)) == NULL && announcer_due(&set, at(41)) == m);
    announcer_sent(m, 12);
    tell(42);
    ck_assert_uint_eq(told_count, 0);
    announcer_answered(&set, m, 0, at(43), 0);
    tell(43);
    ck_assert(told_count == 1 && told_status == 0 && m->acked && m->epoch == 12);
    ck_assert(announcer_due(&set, at(1042)) == NULL && announcer_due(&set, at(1043)) == m);
    announcer_free(&set);
}
END_TEST

START_TEST(refreshes_are_spread_and_bounded)
{
    setup();
    struct announced *m = want("g", GROUP_MEMBER, 0);
    for (uint32_t draw = 0; draw < 1000; draw++) {
        announcer_sent(m, 1);
        announcer_answered(&set, m, 0, at(0), draw * 2654435761u);
        ck_assert(m->due.ns >= at(750).ns && m->due.ns <= at(1000).ns);
    }
    announcer_free(&set);
}
END_TEST

START_TEST(unsure_while_it_is_on_its_way)
{
    setup();
    struct announced *m = want("g", GROUP_MEMBER, 0);
    announcer_sent(m, 1);
    announcer_unsure(m, at(5));
    announcer_answered(&set, m, 0, at(6), 0);
    ck_assert(m->acked && announcer_due(&set, at(6)) == m);
    announcer_sent(m, 2);
    announcer_answered(&set, m, 0, at(7), 0);
    ck_assert(announcer_due(&set, at(7)) == NULL);
    announcer_unsure(m, at(8));
    ck_assert(announcer_due(&set, at(8)) == m && m->acked);
    announcer_free(&set);
}
END_TEST

/* What is acknowledged counts for what was said. */
START_TEST(a_change_of_mind)
{
    setup();
    struct announced *m = want("g", GROUP_MEMBER, 0);
    ck_assert_int_eq(announcer_wait(&set, m, at(0), told, NULL), 0);
    announcer_sent(m, 1);
    uint32_t first = m->serial;
    want("g", 0, 1);
    tell(1);
    ck_assert(told_count == 1 && told_status == -ECANCELED && m->serial != first);
    ck_assert_int_eq(announcer_wait(&set, m, at(1), told, NULL), 0);
    announcer_answered(&set, m, 0, at(2), 0);
    tell(2);
    ck_assert(told_count == 1 && !m->acked && announcer_due(&set, at(2)) == m);
    announcer_sweep(&set, at(2));
    ck_assert_uint_eq(set.count, 1);
    announcer_sent(m, 1);
    announcer_answered(&set, m, 0, at(3), 0);
    tell(3);
    ck_assert(told_count == 2 && told_status == 0);
    announcer_sweep(&set, at(3));
    ck_assert_uint_eq(set.count, 0);
    announcer_free(&set);
}
END_TEST

START_TEST(nobody_answers)
{
    setup();
    struct announced *m = want("g", GROUP_MEMBER, 0);
    ck_assert_int_eq(announcer_wait(&set, m, at(0), told, NULL), 0);
    unsigned tries = 0;
    for (int64_t ms = 0; ms < 6000; ms += 20) {
        if (announcer_due(&set, at(ms)) != NULL) {
            announcer_sent(m, 1);
            announcer_answered(&set, m, -ETIMEDOUT, at(ms), 0);
            tries++;
        }
        tell(ms);
        ck_assert(told_count == (ms >= 5000));
    }
    ck_assert(told_status == -ETIMEDOUT && tries > 50 && tries < 120);
    want("g", 0, 6000);
    announcer_sweep(&set, at(10999));
    ck_assert_uint_eq(set.count, 1);
    announcer_sweep(&set, at(11000)); /* what is not wanted ends by itself */
    ck_assert_uint_eq(set.count, 0);
    announcer_free(&set);
}
END_TEST

START_TEST(refused_and_full)
{
    setup();
    struct announced *m = want("g", GROUP_MEMBER, 0);
    ck_assert_int_eq(announcer_wait(&set, m, at(0), told, NULL), 0);
    announcer_sent(m, 1);
    announcer_answered(&set, m, -ENOSPC, at(1), 0);
    tell(1);
    ck_assert(told_count == 1 && told_status == -ENOSPC);
    ck_assert(announcer_due(&set, at(100)) == NULL && announcer_due(&set, at(101)) == m);
    want("h", GROUP_KEEPER, 0);
    want("i", GROUP_KEEPER, 0);
    want("j", GROUP_KEEPER, 0);
    struct group_name name = name_of("k");
    ck_assert_int_eq(announcer_want(&set, &name, &key, 1, at(0), NULL), -ENOSPC);
    ck_assert_int_eq(announcer_want(&set, &name, &key, 0, at(0), NULL), -ENOENT);
    ck_assert(announcer_wake(&set).ns == 0);
    announcer_free(&set);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(said_until_acknowledged),
                                          SUITE_TEST(refreshes_are_spread_and_bounded),
                                          SUITE_TEST(unsure_while_it_is_on_its_way),
                                          SUITE_TEST(a_change_of_mind),
                                          SUITE_TEST(nobody_answers),
                                          SUITE_TEST(refused_and_full)};
SUITE_MAIN("group_mine", tests)
