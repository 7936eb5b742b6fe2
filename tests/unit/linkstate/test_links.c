/* SPDX-License-Identifier: Apache-2.0 */
#include "ls_bench.h"
#include "suite.h"

static bool no_memory;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
    return no_memory ? NULL : __real_malloc(size);
}

START_TEST(the_end_of_an_adjacency_ends_all_that_belonged_to_it)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    struct ls_link *l = &b.ls[0]->links[CW_LINK_XP];
    uint32_t session = l->adj.session;
    ck_assert(l->synced && l->by_round && l->feed.running);
    ck_assert_uint_eq(linkstate_running(b.ls[0]), cw_links_of(CW_LINK_XP));
    linkstate_step(b.ls[0], CW_LINK_XP, ADJ_CLOSED);
    ck_assert_uint_ne((uint16_t)l->adj.session, (uint16_t)session);
    ck_assert(!l->synced && !l->by_round && !l->feed.running);
    ck_assert_uint_eq(l->listed, 0);
    ck_assert_int_eq(l->clock.ns, 0);
    ck_assert_int_eq(l->echo.ns, 0);
    ck_assert(l->hello_soon);
    ck_assert_uint_eq(linkstate_running(b.ls[0]), CW_LINKS_NONE);
    ck_assert_uint_eq(ls_count(b.ls[0], LS_TEARDOWNS), 1);
    ls_bench_close(&b);
}
END_TEST

START_TEST(an_adjacency_begins_with_the_whole_database_as_one_piece)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    struct linkstate *ls = b.ls[0];
    struct ls_link *l = &ls->links[CW_LINK_XP];
    linkstate_step(ls, CW_LINK_XP, ADJ_CLOSED);
    linkstate_step(ls, CW_LINK_XP, ADJ_RESTED);
    ls->now = l->adj.rest;
    linkstate_step(ls, CW_LINK_XP, ADJ_RESTED);
    uint64_t from = ls->flood.end;
    linkstate_step(ls, CW_LINK_XP, ADJ_ANSWERED);
    ck_assert_uint_eq(ls->flood.end, from + 3); /* two records, SYNCED */
    ck_assert_uint_eq(l->feed.unsent, 3);
    ck_assert(flood_at(&ls->flood, from)->more && flood_at(&ls->flood, from + 1)->more);
    ck_assert_uint_eq(flood_at(&ls->flood, from + 2)->kind, FLOOD_SYNCED);
    ck_assert_uint_eq(flood_at(&ls->flood, from + 2)->digest, ls_digest(ls));
    ck_assert_uint_eq(l->offered, from + 2);
    ls_bench_close(&b);
}
END_TEST

START_TEST(only_links_that_run_are_owed_anything)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){2, 1, 1});
    ls_bench_boot(&b, 0, 100);
    linkstate_publish(b.ls[0]);
    linkstate_owe_synced(b.ls[0], CW_LINKS_ALL);
    linkstate_owe_ack(b.ls[0], &(struct ack){.seq = 1, .incarnation = 1, .acker_incarnation = 1}, CW_LINK_XP);
    ck_assert_uint_eq(b.ls[0]->flood.end, 1);
    ck_assert_uint_eq(flood_bytes(&b.ls[0]->flood), 0);
    ls_bench_close(&b);
}
END_TEST

START_TEST(who_holds_up_the_log_is_cut_off)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    struct linkstate *ls = b.ls[0];
    ls_bench_flow(&b);
    unsigned versions = 0;
    while (ls_count(ls, LS_OVERFLOWS) == 0) { /* nothing is taken from us */
        linkstate_publish(ls);
        ck_assert_uint_le(++versions, 4096 + 64);
    }
    ck_assert_uint_eq(ls->flood.limit, 4096);
    ck_assert_uint_ge(versions, 4096);
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_DAMPED);
    linkstate_settle(ls, false);
    ck_assert_uint_eq(ls_record(ls, 0)->up, CW_LINKS_NONE); /* and that is said */
    /* It comes back with a whole exchange. */
    ls_bench_run_for(&b, CW_MS(300));
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_UP);
    ck_assert_uint_eq(ls_digest(b.ls[0]), ls_digest(b.ls[1]));
    ls_bench_close(&b);
}
END_TEST

START_TEST(acks_yield_when_the_log_is_half_full)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    struct linkstate *ls = b.ls[0];
    struct ack ack = {.acker = {0, 0, 0}, .origin = {1, 0, 0}, .seq = 1, .acker_incarnation = 100, .incarnation = 200};
    linkstate_owe_ack(ls, &ack, CW_LINK_XP);
    ck_assert_uint_eq(ls->links[CW_LINK_XP].feed.unsent, 1);
    while (ls->links[CW_LINK_XP].feed.unsent < 4096 / 2 + 1) {
        linkstate_publish(ls);
    }
    linkstate_owe_ack(ls, &ack, CW_LINK_XP);
    ck_assert_uint_eq(ls_count(ls, LS_ACKS_LOST), 1);
    ck_assert_uint_eq(ls->links[CW_LINK_XP].feed.unsent, 4096 / 2 + 1);
    ck_assert_uint_eq(ls_count(ls, LS_OVERFLOWS), 0);
    ls_bench_close(&b);
}
END_TEST

START_TEST(without_memory_for_the_log_the_link_is_cut_off)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    struct linkstate *ls = b.ls[0];
    no_memory = true;
    for (unsigned i = 0; i < 65 && ls_count(ls, LS_OVERFLOWS) == 0; i++) { /* the ring of 64 stays until it must grow */
        linkstate_publish(ls);
    }
    no_memory = false;
    ck_assert_uint_eq(ls_count(ls, LS_OVERFLOWS), 1);
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_DAMPED);
    linkstate_settle(ls, false);
    ls_bench_run_for(&b, CW_MS(300));
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_UP);
    ls_bench_close(&b);
}
END_TEST

START_TEST(what_the_neighbour_knows_is_struck_out_unless_it_was_sent)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    struct linkstate *ls = b.ls[0];
    struct feed *feed = &ls->links[CW_LINK_XP].feed;
    linkstate_publish(ls);
    linkstate_publish(ls);
    ck_assert_uint_eq(feed->unsent, 2);
    linkstate_forget_record(ls, 0, CW_LINK_XP);
    ck_assert_uint_eq(feed->unsent, 1); /* the newest only: the older one is another word */
    linkstate_forget_record(ls, 0, CW_LINK_XP);
    ck_assert_uint_eq(feed->unsent, 1);
    linkstate_publish(ls);
    linkstate_note(ls);
    (void)ls_bench_pull(&b, 0, CW_LINK_XP);
    uint32_t top = feed->top;
    linkstate_forget_record(ls, 0, CW_LINK_XP); /* it has a number by now, and keeps it */
    ck_assert(!feed_is_idle(feed));
    ck_assert_uint_eq(feed->top, top);
    ls_bench_run_for(&b, CW_MS(5));
    ck_assert(feed_is_idle(feed));
    ck_assert_uint_eq(b.ls[1]->links[CW_LINK_XM].feed.received, top);
    ls_bench_close(&b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_end_of_an_adjacency_ends_all_that_belonged_to_it),
    SUITE_TEST(an_adjacency_begins_with_the_whole_database_as_one_piece),
    SUITE_TEST(only_links_that_run_are_owed_anything),
    SUITE_TEST(who_holds_up_the_log_is_cut_off),
    SUITE_TEST(acks_yield_when_the_log_is_half_full),
    SUITE_TEST(without_memory_for_the_log_the_link_is_cut_off),
    SUITE_TEST(what_the_neighbour_knows_is_struck_out_unless_it_was_sent),
};

SUITE_MAIN("linkstate_links", tests)
