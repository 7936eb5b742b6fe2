/* SPDX-License-Identifier: Apache-2.0 */
#include "linkstate/admission.h"
#include "suite.h"

#include <string.h>

enum { SERVERS = 8, SELF = 3 };

struct bed {
    struct arena arena;
    struct admission a;
    struct reach optimistic, held;
    uint64_t words[2];
};

static void bed_open(struct bed *b)
{
    b->arena = arena_measure();
    admission_init(&b->a, SELF, SERVERS, &b->arena);
    ck_assert_int_eq(arena_open(&b->arena, arena_used(&b->arena)), 0);
    admission_init(&b->a, SELF, SERVERS, &b->arena);
    reach_init(&b->optimistic, SERVERS, &b->words[0]);
    reach_init(&b->held, SERVERS, &b->words[1]);
    reach_add(&b->optimistic, SELF);
}

static bool complete(struct bed *b, uint32_t listed)
{
    return admission_complete(&b->a, listed, &b->optimistic, &b->held);
}

/* What happens, to whom, with which version; and whether a link listed since version 5 may go up then. */
enum what { NOTHING, JOINS, GOES, HELD, BACK, ACKS, GAIN, ANNOUNCED, NEW_INCARNATION, RESET };
struct row {
    enum what what;
    cw_server server;
    uint32_t seq;
    bool complete;
};

static void happen(struct bed *b, const struct row *row)
{
    static const struct record empty;
    switch (row->what) {
    case NOTHING:
        break;
    case JOINS:
        reach_add(&b->optimistic, row->server);
        break;
    case GOES:
        reach_remove(&b->optimistic, row->server);
        reach_remove(&b->held, row->server);
        break;
    case HELD:
        reach_add(&b->held, row->server);
        break;
    case BACK:
        reach_remove(&b->held, row->server);
        break;
    case ACKS:
        admission_acked(&b->a, row->server, row->seq);
        break;
    case GAIN:
        admission_gained(&b->a, row->seq);
        break;
    case ANNOUNCED:
        admission_announced(&b->a, row->seq);
        break;
    case NEW_INCARNATION:
        admission_applied(&b->a, row->server, &empty, true);
        break;
    case RESET:
        admission_reset(&b->a);
        break;
    }
}

START_TEST(everybody_must_know_the_version_that_counts)
{
    static const struct row rows[] = {
        {NOTHING, 0, 0, true}, /* alone in O: nobody need know */
        {JOINS, 1, 0, false},
        {JOINS, 2, 0, false},
        {ACKS, 1, 5, false},
        {ACKS, 2, 4, false}, /* a version from before the link was listed */
        {ACKS, 2, 5, true},
        {ACKS, 2, 3, true},  /* old acks take nothing back */
        {GAIN, 0, 5, false}, /* a link appeared: what 5 stands for is no longer enough */
        {ACKS, 1, 6, false},
        {ACKS, 2, 6, true},
        {HELD, 2, 0, false}, /* acked, and yet out of reach: nobody can say what it was told last */
        {BACK, 2, 0, true},
        {HELD, 2, 0, false},
        {GOES, 2, 0, true},
        {JOINS, 2, 0, true},
        {NEW_INCARNATION, 2, 0, false}, /* its acks were another life's */
        {ACKS, 2, 6, true},
        {ANNOUNCED, 0, 9, false},
        {ACKS, 1, 9, false},
        {ACKS, 2, 9, true},
        {ANNOUNCED, 0, 7, true}, /* never back */
        {RESET, 0, 0, false},
        {ACKS, 1, 5, false},
        {ACKS, 2, 5, true},
    };
    struct bed b;
    bed_open(&b);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        happen(&b, &rows[i]);
        if (complete(&b, 5) != rows[i].complete) {
            ck_abort_msg("row %zu", i);
        }
    }
    arena_close(&b.arena);
}
END_TEST

static bool wants(struct bed *b, uint32_t seq)
{
    return admission_wants_version(&b->a, seq, &b->optimistic, &b->held);
}

START_TEST(a_gain_asks_for_one_new_version_at_a_time)
{
    struct bed b;
    bed_open(&b);
    ck_assert(!wants(&b, 1));
    admission_gained(&b.a, 1);
    ck_assert(wants(&b, 1));
    ck_assert(!wants(&b, 2));
    /* Version 2 is under way: what is gained meanwhile waits for those who can still answer it. */
    reach_add(&b.optimistic, 1);
    reach_add(&b.optimistic, 2);
    admission_gained(&b.a, 2);
    ck_assert(!wants(&b, 2));
    admission_acked(&b.a, 1, 2);
    ck_assert(!wants(&b, 2));
    reach_add(&b.held, 2);
    ck_assert(wants(&b, 2));
    reach_remove(&b.held, 2);
    ck_assert(!wants(&b, 2));
    admission_acked(&b.a, 2, 2);
    ck_assert(wants(&b, 2));
    admission_announced(&b.a, 4);
    ck_assert(!wants(&b, 4));
    arena_close(&b.arena);
}
END_TEST

START_TEST(acks_are_given_once_a_version)
{
    struct bed b;
    struct record record = {.incarnation = 9, .seq = 4, .pending = 0x4};
    bed_open(&b);
    ck_assert(!reach_has(&b.a.waiting, 6));
    admission_applied(&b.a, 6, &record, true);
    ck_assert(reach_has(&b.a.waiting, 6));
    ck_assert(reach_has(&b.a.owed, 6));
    admission_answer(&b.a, 6);
    ck_assert(!reach_has(&b.a.owed, 6));
    admission_repeat(&b.a);
    ck_assert(reach_has(&b.a.owed, 6));
    admission_answer(&b.a, 6);
    record.seq++;
    admission_applied(&b.a, 6, &record, false);
    ck_assert(reach_has(&b.a.owed, 6));
    /* Nobody acks to itself. */
    admission_applied(&b.a, b.a.self, &record, false);
    admission_repeat(&b.a);
    ck_assert(reach_has(&b.a.waiting, b.a.self) && !reach_has(&b.a.owed, b.a.self));
    record.pending = 0;
    admission_applied(&b.a, 6, &record, false);
    ck_assert(!reach_has(&b.a.waiting, 6) && !reach_has(&b.a.owed, 6));
    arena_close(&b.arena);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(everybody_must_know_the_version_that_counts),
    SUITE_TEST(a_gain_asks_for_one_new_version_at_a_time),
    SUITE_TEST(acks_are_given_once_a_version),
};
SUITE_MAIN("admission", tests)
