/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/session_table.h"

#include "fake_host.h"
#include "services/multicast/multicast.h"
#include "suite.h"

#include <errno.h>

static cw_svc *host;
static struct cast_session_table table;

static void setup(void)
{
    host = fake_open(&multicast_service, (cw_dims){3, 3, 1}, (cw_coord){1, 1, 0});
    ck_assert_int_eq(cast_session_table_open(&table, host), 0);
    table.limits = (struct cast_limits){CW_SEC(2), CW_SEC(30)};
}

static void teardown(void)
{
    cast_session_table_close(&table);
    ck_assert_uint_eq(fake_close(host), 0);
}

static int begin_of(cw_server origin, uint64_t number, struct cast_session **c)
{
    static const uint8_t everybody[2] = {255, 1};
    const struct cast_head h = {.kind = CAST_OPEN,
                                .origin = origin,
                                .number = number,
                                .bytes = 1000,
                                .piece_bytes = 64,
                                .servers = 9,
                                .rest = everybody,
                                .rest_bytes = 2};
    return cast_session_table_begin(&table, &h, c);
}

static int begin(uint64_t number, struct cast_session **c)
{
    return begin_of(0, number, c);
}

static void make_quiet(struct cast_session *c)
{
    for (unsigned i = 0; i < c->edges; i++) {
        c->edge[i].heard = true;
        c->edge[i].length = c->edge[i].knows = 0;
    }
}

START_TEST(found_by_name)
{
    struct cast_session *a, *b;
    setup();
    ck_assert(begin(5, &a) == 0 && begin(6, &b) == 0 && a->ticket != b->ticket && table.count == 2);
    ck_assert(cast_session_table_find(&table, 0, 5) == a && cast_session_table_find(&table, 0, 6) == b);
    ck_assert(cast_session_table_find(&table, 1, 5) == NULL && cast_session_table_find(&table, 0, 7) == NULL);
    ck_assert(cast_session_table_ticket(&table, a->ticket) == a && cast_session_table_ticket(&table, 99) == NULL);
    ck_assert_int_eq(begin(0, &a), -EINVAL);
    cast_session_table_remove(&table, b, 0);
    ck_assert(table.count == 1 && cast_session_table_find(&table, 0, 6) == NULL);
    teardown();
}
END_TEST

START_TEST(so_many)
{
    struct cast_session *c;
    setup();
    for (uint64_t i = 1; i <= CAST_BUSY_MOST; i++) {
        ck_assert_int_eq(begin(i, &c), 0);
        ck_assert_uint_gt(c->edges, 0);
    }
    ck_assert(cast_session_table_busy(&table) == CAST_BUSY_MOST && begin(99, &c) == -EBUSY);
    ck_assert(cast_session_table_find(&table, 0, CAST_BUSY_MOST) != NULL);
    for (uint64_t i = CAST_BUSY_MOST + 1; i <= CAST_SESSIONS_MOST + 10; i++) {
        make_quiet(table.first);
        fake_run(host, CW_MS(1));
        ck_assert_int_eq(begin(i, &c), 0);
    }
    ck_assert_uint_eq(table.count, CAST_SESSIONS_MOST);
    make_quiet(table.first);
    table.walked = true; /* whoever walks may stand on the one that would go */
    ck_assert(begin(999, &c) == -EBUSY && table.count == CAST_SESSIONS_MOST);
    table.walked = false;
    ck_assert(cast_session_table_find(&table, 0, 1) != NULL);              /* not quiet: it stays */
    ck_assert(cast_session_table_find(&table, 0, CAST_BUSY_MOST) == NULL); /* the first that was */
    teardown();
}
END_TEST

/* So that of servers that all send, one message gets on everywhere. */
START_TEST(the_first_in_order_has_a_place)
{
    struct cast_session *c, *own;
    setup();
    for (uint64_t i = 0; i < CAST_BUSY_MOST; i++) {
        ck_assert_int_eq(begin_of(1, 100 + i, &c), 0);
    }
    ck_assert_int_eq(begin_of(4, 1, &own), 0); /* its own: a place apart */
    ck_assert(own->source && begin_of(2, 200, &c) == -EBUSY && begin_of(2, 115, &c) == -EBUSY);
    ck_assert_int_eq(begin_of(0, 115, &c), 0); /* the same number of a server before it */
    ck_assert(cast_session_table_find(&table, 1, 115) == NULL && cast_session_table_find(&table, 0, 115) == c);
    c->ended = true; /* what has ended stays: forgotten, it would be taken again */
    cast_session_table_find(&table, 1, 114)->in.accepted = true;
    cast_session_table_find(&table, 1, 114)->in.receiver.state = CAST_ENDING;
    ck_assert_int_eq(begin_of(2, 50, &c), 0);
    ck_assert(cast_session_table_find(&table, 0, 115) != NULL && cast_session_table_find(&table, 1, 114) != NULL);
    ck_assert(cast_session_table_find(&table, 1, 113) == NULL && cast_session_table_find(&table, 4, 1) == own);
    ck_assert_uint_eq(table.count, CAST_BUSY_MOST + 1);
    cast_session_table_find(&table, 1, 114)->in.accepted = false;
    teardown();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(found_by_name), SUITE_TEST(so_many),
                                          SUITE_TEST(the_first_in_order_has_a_place)};
SUITE_MAIN("cast_session_table", tests)
