/* SPDX-License-Identifier: Apache-2.0 */
#include "core/admission.h"

#include "suite.h"

enum { SERVERS = 8, SELF = 2 };

struct fixture {
    struct arena arena;
    struct admission a;
    struct reach optimistic, held;
};

static void carve_set(struct reach *set, struct arena *arena)
{
    void *memory = arena_carve(arena, 1, reach_bytes(SERVERS), _Alignof(uint64_t));
    if (!arena_is_measuring(arena)) {
        reach_init(set, SERVERS, memory);
    }
}

static struct fixture *fixture_open(void)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct arena measure = arena_measure();
    admission_init(&f->a, SELF, SERVERS, &measure);
    carve_set(&f->optimistic, &measure);
    carve_set(&f->held, &measure);
    ck_assert_int_eq(arena_open(&f->arena, arena_used(&measure)), 0);
    admission_init(&f->a, SELF, SERVERS, &f->arena);
    carve_set(&f->optimistic, &f->arena);
    carve_set(&f->held, &f->arena);
    ck_assert(arena_is_full(&f->arena));
    reach_add(&f->optimistic, SELF);
    return f;
}

static void fixture_close(struct fixture *f)
{
    arena_close(&f->arena);
    free(f);
}

static bool complete(struct fixture *f, uint32_t listed)
{
    return admission_complete(&f->a, listed, &f->optimistic, &f->held);
}

START_TEST(alone_nobody_is_waited_for)
{
    struct fixture *f = fixture_open();
    ck_assert(complete(f, 1));
    ck_assert(!admission_wants_version(&f->a, 1));
    ck_assert(admission_wants_version(&f->a, 0));
    fixture_close(f);
}
END_TEST

<<<<<<< HEAD
START_TEST(everybody_in_o_must_ack_the_version_that_lists_the_link)
{
    struct fixture *f = fixture_open();
    reach_add(&f->optimistic, 0);
    reach_add(&f->optimistic, 5);
    admission_acked(&f->a, 0, 4);
    admission_acked(&f->a, 5, 3);
    admission_acked(&f->a, 7, 9); /* not in O: neither needed nor in the way */
    ck_assert(complete(f, 3));
    ck_assert(!complete(f, 4));
    ck_assert_uint_eq(f->a.missing, 5);
    admission_acked(&f->a, 5, 2); /* an older one that came late takes nothing back */
    ck_assert(complete(f, 3));
    admission_acked(&f->a, 5, 4);
    ck_assert(complete(f, 4));
    fixture_close(f);
=======
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
>>>>>>> ls-b
}
END_TEST

START_TEST(who_is_waited_for_is_seen_when_the_round_completes)
{
    struct fixture *f = fixture_open();
    reach_add(&f->optimistic, 0);
    ck_assert(!complete(f, 2));
    ck_assert_uint_eq(f->a.missing, 0);
    reach_add(&f->optimistic, 6); /* comes during the round */
    admission_acked(&f->a, 0, 2);
    ck_assert(!complete(f, 2));
    ck_assert_uint_eq(f->a.missing, 6);
    reach_remove(&f->optimistic, 6); /* and goes: nobody waits for it */
    ck_assert(complete(f, 2));
    fixture_close(f);
}
END_TEST

START_TEST(a_gain_starts_a_new_round)
{
    struct fixture *f = fixture_open();
    reach_add(&f->optimistic, 0);
    admission_acked(&f->a, 0, 3);
    ck_assert(complete(f, 3));
    admission_gained(&f->a, 3); /* a link appeared somewhere: what 0 acked does not say that it knows */
    ck_assert_uint_eq(f->a.round, 4);
    ck_assert(!complete(f, 3));
    ck_assert(admission_wants_version(&f->a, 3));
    ck_assert(!admission_wants_version(&f->a, 4));
    admission_acked(&f->a, 0, 4);
    ck_assert(complete(f, 3));
    admission_gained(&f->a, 2); /* older news changes nothing */
    ck_assert_uint_eq(f->a.round, 4);
    admission_announced(&f->a, 6); /* our own version 6 tells of the gain */
    ck_assert(!complete(f, 3));
    ck_assert(!admission_wants_version(&f->a, 6));
    admission_acked(&f->a, 0, 6);
    ck_assert(complete(f, 3));
    fixture_close(f);
}
END_TEST

START_TEST(nobody_is_admitted_while_somebody_is_held)
{
    struct fixture *f = fixture_open();
    reach_add(&f->optimistic, 4);
    reach_add(&f->held, 4);
    admission_acked(&f->a, 4, 9);
    ck_assert(!complete(f, 1));
    reach_remove(&f->held, 4);
    ck_assert(complete(f, 1));
    fixture_close(f);
}
END_TEST

START_TEST(acks_of_another_incarnation_do_not_count)
{
    struct fixture *f = fixture_open();
    reach_add(&f->optimistic, 4);
    admission_acked(&f->a, 4, 9);
    struct record record = {.incarnation = 2, .seq = 1};
    admission_applied(&f->a, 4, &record, false); /* another version of the same: what it knew, it knows */
    ck_assert(complete(f, 9));
    admission_answer(&f->a, 4, 1);
    admission_applied(&f->a, 4, &record, true);
    ck_assert(!complete(f, 9));
    ck_assert(admission_owes(&f->a, 4, 1)); /* its seq of before was another version */
    fixture_close(f);
}
END_TEST

START_TEST(our_own_new_incarnation_forgets_all_acks)
{
    struct fixture *f = fixture_open();
    reach_add(&f->optimistic, 4);
    admission_acked(&f->a, 4, 9);
    admission_gained(&f->a, 8);
    ck_assert(complete(f, 1));
    admission_reset(&f->a);
    ck_assert_uint_eq(f->a.round, 1);
    ck_assert(!complete(f, 1));
    fixture_close(f);
}
END_TEST

START_TEST(whoever_lists_a_pending_link_waits_for_acks)
{
    struct fixture *f = fixture_open();
    struct record record = {.incarnation = 1, .seq = 5, .pending = 0x4, .up = 0x1};
    admission_applied(&f->a, 6, &record, true);
    ck_assert(reach_has(&f->a.waiting, 6));
    ck_assert(admission_owes(&f->a, 6, 5));
    admission_answer(&f->a, 6, 5);
    ck_assert(!admission_owes(&f->a, 6, 5));
    ck_assert(admission_owes(&f->a, 6, 6)); /* each version wants its own */
    admission_repeat(&f->a);
    ck_assert(admission_owes(&f->a, 6, 5));
    record.up = 0x5;
    record.pending = 0;
    admission_applied(&f->a, 6, &record, false);
    ck_assert(!reach_has(&f->a.waiting, 6));
    fixture_close(f);
}
END_TEST

static const struct suite_test tests[] = {
<<<<<<< HEAD
    SUITE_TEST(alone_nobody_is_waited_for),
    SUITE_TEST(everybody_in_o_must_ack_the_version_that_lists_the_link),
    SUITE_TEST(who_is_waited_for_is_seen_when_the_round_completes),
    SUITE_TEST(a_gain_starts_a_new_round),
    SUITE_TEST(nobody_is_admitted_while_somebody_is_held),
    SUITE_TEST(acks_of_another_incarnation_do_not_count),
    SUITE_TEST(our_own_new_incarnation_forgets_all_acks),
    SUITE_TEST(whoever_lists_a_pending_link_waits_for_acks),
=======
    SUITE_TEST(everybody_must_know_the_version_that_counts),
    SUITE_TEST(a_gain_asks_for_one_new_version_at_a_time),
    SUITE_TEST(acks_are_given_once_a_version),
>>>>>>> ls-b
};

SUITE_MAIN("admission", tests)
