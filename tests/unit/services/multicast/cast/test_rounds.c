/* SPDX-License-Identifier: Apache-2.0 */
/* The source's rounds: what is assigned, who is asked, what comes again. */
#include "services/multicast/cast/rounds.h"

#include "fake_host.h"
#include "services/multicast/cast/pattern.h"
#include "services/multicast/multicast.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { PIECE = 64, PIECES = 40 };
static struct torus torus;
static struct trees *trees;
static cw_svc *host;
static struct cast_session *c;
static const struct cast_limits limits = {CW_SEC(2), CW_SEC(30)};
static int read_says;

static int read_it(void *context, uint64_t offset, uint8_t *out, size_t length)
{
    (void)context;
    cast_pattern(1, offset, out, length);
    return read_says;
}

static void setup(void)
{
    static const uint8_t members[2] = {0x16, 0}; /* 1 2 4 */
    const cw_dims dims = {3, 3, 1};
    ck_assert_int_eq(torus_init(&torus, dims), 0);
    ck_assert_int_eq(trees_open(&trees, &torus), 0);
    host = fake_open(&multicast_service, dims, (cw_coord){0, 0, 0});
    const struct cast_head h = {.kind = CAST_OPEN,
                                .number = 1,
                                .bytes = PIECES * PIECE,
                                .piece_bytes = PIECE,
                                .servers = 9,
                                .rest = members,
                                .rest_bytes = 2};
    ck_assert_int_eq(cast_session_open(&c, host, &torus, trees, &limits, &h), 0);
    c->out.from = (struct cast_source){.read = read_it};
    read_says = 0;
}

static void teardown(void)
{
    cast_session_close(c);
    fake_shut(host);
    ck_assert_uint_eq(fake_close(host), 0);
    trees_close(trees);
}

/* Deals and reads all that there is; gives how many. */
static unsigned assign(void)
{
    uint8_t out[PIECE], bytes[PIECE];
    struct cast_head h = {.kind = CAST_DATA};
    unsigned n = 0;
    for (uint32_t index; cast_rounds_may_assign(c, 1) && cast_stripe_assign(&c->out.stripe, 1, &index); n++) {
        ck_assert_int_eq(cast_rounds_read(c, 1, index, out, &h), 0);
        cast_pattern(1, (uint64_t)h.piece * PIECE, bytes, PIECE);
        ck_assert(memcmp(out, bytes, PIECE) == 0 && h.sum == cast_sum(h.piece, out, PIECE));
        cast_rounds_assigned(c);
    }
    return n;
}

static bool word(cw_server from, enum cast_kind kind, uint32_t first, uint32_t count, uint32_t missing)
{
    const struct cast_head h = {.kind = kind, .round = c->round, .piece = first, .count = count, .missing = missing};
    return cast_rounds_report(c, &h, from);
}

START_TEST(all_then_what_is_lacking)
{
    setup();
    ck_assert_int_eq(cast_rounds_begin(c, false), 0);
    ck_assert(!word(2, CAST_LACK, 0, 0, 0)); /* nobody can know yet */
    ck_assert(assign() == PIECES && c->out.assigned && c->tree[1].length == PIECES && c->tree[0].length == 0);
    ck_assert(c->edges == 0 || c->edge[0].length != CAST_OPEN_ENDED);
    ck_assert(!cast_rounds_may_assign(c, 1) && c->out.made_count == PIECES);
    ck_assert(word(1, CAST_DONE, 0, 0, 0) && word(2, CAST_LACK, 3, 4, 5) && word(2, CAST_LACK, 30, 1, 5));
    ck_assert(word(2, CAST_LACK, 31, 0, 5) && word(2, CAST_LACK, 31, 0, 5) && !word(3, CAST_LACK, 0, 40, 40));
    ck_assert_int_eq(cast_rounds_tick(c), 0);
    ck_assert_uint_eq(c->round, 0); /* 4 has said nothing */
    ck_assert(word(4, CAST_LACK, 5, 3, 3) && word(4, CAST_LACK, 8, 0, 3));
    fake_run(host, CW_MS(1));
    ck_assert_int_eq(cast_rounds_tick(c), 0);
    ck_assert(c->round == 1 && c->out.stripe.left == 6 && !c->out.assigned);
    ck_assert(!(c->members[0] & 2) && (c->members[0] & 4)); /* 1 has it */
    uint32_t index;
    ck_assert(cast_stripe_assign(&c->out.stripe, 0, &index) && cast_rounds_made(c, 0, index));
    ck_assert_uint_eq(assign(), 5);
    ck_assert(word(2, CAST_DONE, 0, 0, 0) && word(4, CAST_DONE, 0, 0, 0));
    ck_assert_int_eq(cast_rounds_tick(c), 1);
    teardown();
}
END_TEST

START_TEST(asked_first)
{
    setup();
    ck_assert_int_eq(cast_rounds_begin(c, true), 0);
    ck_assert(c->out.assigned && assign() == 0);
    ck_assert(word(1, CAST_LACK, 7, 1, 1) && word(1, CAST_LACK, 8, 0, 1));
    cast_rounds_away(c, 2, true);
    cast_rounds_away(c, 4, true);
    ck_assert_int_eq(cast_rounds_tick(c), 0);
    ck_assert(c->round == 1 && assign() == 1 && c->out.made_count == 1);
    cast_rounds_away(c, 2, false); /* back again: it is asked in a further round */
    ck_assert(word(1, CAST_DONE, 0, 0, 0));
    ck_assert_int_eq(cast_rounds_tick(c), 0);
    ck_assert(word(2, CAST_DONE, 0, 0, 0));
    ck_assert_int_eq(cast_rounds_tick(c), 1);
    ck_assert(cast_members_find(&c->out.members, 4)->state == CAST_AWAY);
    teardown();
}
END_TEST

/* A member that has come back once is waited for when it goes again, for `patience` in a round. */
START_TEST(who_flaps_is_waited_for)
{
    setup();
    ck_assert_int_eq(cast_rounds_begin(c, false), 0);
    cast_rounds_away(c, 2, true);
    ck_assert(!c->out.paused && cast_rounds_may_assign(c, 1)); /* it may be dead */
    cast_rounds_away(c, 2, false);
    ck_assert(!c->out.paused);
    for (int i = 0; i < 3; i++) {
        cast_rounds_away(c, 2, true);
        ck_assert(c->out.paused && !cast_rounds_may_assign(c, 1));
        fake_run(host, CW_MS(600));
        cast_rounds_away(c, 2, false);
        ck_assert(!c->out.paused && cast_rounds_may_assign(c, 1));
    }
    cast_rounds_away(c, 2, true);
    ck_assert(c->out.paused);
    fake_run(host, CW_MS(201)); /* of the 2 s of this round 1.8 were used */
    ck_assert_int_eq(cast_rounds_tick(c), 0);
    ck_assert(!c->out.paused && cast_rounds_may_assign(c, 1));
    ck_assert_uint_eq(assign(), PIECES);
    /* The message does not end before the member has been away for that long. */
    ck_assert(word(1, CAST_DONE, 0, 0, 0) && word(4, CAST_DONE, 0, 0, 0));
    ck_assert_int_eq(cast_rounds_tick(c), 0);
    fake_run(host, CW_SEC(2));
    ck_assert_int_eq(cast_rounds_tick(c), 1);
    teardown();
}
END_TEST

/* Rule 5: a tree with two edges here is used while there is a budget; then only others, unless there is none. */
START_TEST(second_ways_have_a_budget)
{
    setup();
    ck_assert_int_eq(cast_rounds_begin(c, false), 0);
    struct cast_edge *all = c->edge, few[3] = {{.tree = 1, .heard = true}, {.tree = 1, .heard = true}, {.tree = 2}};
    unsigned edges = c->edges;
    c->edge = few;
    c->edges = 3;
    ck_assert(cast_rounds_may_assign(c, 1) && cast_rounds_may_assign(c, 2));
    c->repeats.mended = 16;
    ck_assert(cast_rounds_may_assign(c, 1)); /* nobody hears by the other tree yet */
    few[2].heard = true;
    ck_assert(!cast_rounds_may_assign(c, 1) && cast_rounds_may_assign(c, 2));
    few[2].out = true;
    ck_assert(cast_rounds_may_assign(c, 1));
    few[2].out = false;
    c->out.made_count = 8; /* of the test's making: nothing was read */
    ck_assert(cast_rounds_may_assign(c, 1));
    c->out.made_count = 0;
    c->edge = all;
    c->edges = edges;
    teardown();
}
END_TEST

/* After a change of the view little is under way. */
START_TEST(with_care_after_a_change)
{
    setup();
    ck_assert_int_eq(cast_rounds_begin(c, false), 0);
    cast_rounds_view(c);
    for (uint8_t tree = 0; tree < CW_LINK_COUNT; tree++) {
        ck_assert_uint_eq(cast_stripe_room(&c->out.stripe, tree), CAST_CAREFUL);
    }
    teardown();
}
END_TEST

/* A source that sees nobody is itself out of sight, and does not end at once. */
START_TEST(a_source_alone)
{
    setup();
    ck_assert_int_eq(cast_rounds_begin(c, false), 0);
    for (cw_server s = 1; s < 9; s++) {
        host->down[s] = true;
        cast_rounds_away(c, s, true);
    }
    ck_assert_uint_eq(c->out.members.waiting, 0);
    ck_assert_int_eq(cast_rounds_tick(c), 0);
    fake_run(host, CW_MS(1999));
    ck_assert_int_eq(cast_rounds_tick(c), 0);
    fake_run(host, CW_MS(1));
    ck_assert_int_eq(cast_rounds_tick(c), 1);
    host->down[3] = false; /* no member: but somebody is there, and the members are not */
    ck_assert_int_eq(cast_rounds_tick(c), 1);
    for (cw_server s = 1; s < 9; s++) {
        host->down[s] = false;
    }
    teardown();
}
END_TEST

START_TEST(nobody_is_waited_for_for_ever)
{
    setup();
    ck_assert_int_eq(cast_rounds_begin(c, false), 0);
    (void)assign();
    for (unsigned i = 0; i < c->edges; i++) {
        c->edge[i].out = true;
    }
    ck_assert(word(1, CAST_DONE, 0, 0, 0) && word(2, CAST_DONE, 0, 0, 0));
    int rc = 0;
    for (int ms = 0; ms < 60000 && rc == 0; ms += 100) {
        fake_run(host, CW_MS(100));
        rc = cast_rounds_tick(c);
        for (unsigned i = 0; i < c->edges; i++) {
            c->edge[i].out = true;
        }
    }
    ck_assert_int_eq(rc, 1);
    ck_assert(cast_members_find(&c->out.members, 4)->status == -ETIMEDOUT);
    ck_assert(cast_members_find(&c->out.members, 4)->took.ns < CW_SEC(36).ns);
    teardown();
}
END_TEST

START_TEST(best_effort)
{
    setup();
    c->out.once = true;
    ck_assert_int_eq(cast_rounds_begin(c, false), 0);
    (void)assign();
    ck_assert(word(1, CAST_DONE, 0, 0, 0) && word(2, CAST_DONE, 0, 0, 0) && word(4, CAST_LACK, 0, 0, 9));
    ck_assert_int_eq(cast_rounds_tick(c), 1);
    ck_assert(cast_members_find(&c->out.members, 4)->status == -ENODATA && c->round == 0);
    teardown();
}
END_TEST

START_TEST(a_source_that_cannot)
{
    uint8_t out[PIECE];
    struct cast_head h;
    uint32_t index;
    setup();
    ck_assert_int_eq(cast_rounds_begin(c, false), 0);
    ck_assert(cast_stripe_assign(&c->out.stripe, 1, &index));
    read_says = -EAGAIN;
    ck_assert_int_eq(cast_rounds_read(c, 1, index, out, &h), -EAGAIN);
    ck_assert(!cast_rounds_may_assign(c, 1) && cast_rounds_tick(c) == 0);
    c->out.starved = false;
    read_says = -EIO;
    ck_assert_int_eq(cast_rounds_read(c, 1, index, out, &h), -EIO);
    ck_assert_int_eq(cast_rounds_tick(c), -EIO);
    cast_rounds_close(c);
    ck_assert(c->out.assigned &&
              c->tree[1].length == c->out.stripe.lane[1].next); /* or its children never hear of an end */
    ck_assert_int_eq(cast_rounds_read(c, 1, index, out, &h), -ESHUTDOWN);
    teardown();
    setup();
    host->down[1] = host->down[2] = host->down[4] = true;
    ck_assert_int_eq(cast_rounds_begin(c, false), -ENETUNREACH);
    teardown();
}
END_TEST

/* A member that says it has all, of which the sums differ. */
START_TEST(a_wrong_sum)
{
    setup();
    ck_assert_int_eq(cast_rounds_begin(c, false), 0);
    (void)assign();
    const struct cast_head good = {.kind = CAST_DONE, .sum = c->out.sum}, bad = {.kind = CAST_DONE, .sum = 1};
    ck_assert(cast_rounds_report(c, &good, 1) && cast_rounds_report(c, &bad, 2));
    ck_assert(cast_members_find(&c->out.members, 1)->state == CAST_HAS);
    ck_assert(cast_members_find(&c->out.members, 2)->status == -EBADMSG);
    teardown();
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(second_ways_have_a_budget),     SUITE_TEST(with_care_after_a_change),
    SUITE_TEST(all_then_what_is_lacking),      SUITE_TEST(asked_first),
    SUITE_TEST(who_flaps_is_waited_for),       SUITE_TEST(a_source_alone),
    SUITE_TEST(nobody_is_waited_for_for_ever), SUITE_TEST(best_effort),
    SUITE_TEST(a_source_that_cannot),          SUITE_TEST(a_wrong_sum)};
SUITE_MAIN("cast_rounds", tests)
