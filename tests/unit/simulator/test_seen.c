/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes tell is counted, digested and handed on. */
#include "simulator/world_internal.h"

#include "town.h"

struct seen {
    unsigned delivered, dropped, logs, servers;
    cw_server last;
    cw_drop cause;
    cw_time at;
};

static void on_packet(void *context, cw_server s, enum node_point point, const struct cw_packet *p, cw_drop cause,
                      cw_time now)
{
    struct seen *seen = context;
    (void)p;
    seen->last = s;
    seen->at = now;
    seen->delivered += point == NODE_DELIVERED;
    seen->dropped += point == NODE_DROPPED;
    seen->cause = point == NODE_DROPPED ? cause : seen->cause;
}

static void on_log(void *context, cw_server s, cw_level level, const char *service, const char *text, cw_time now)
{
    struct seen *seen = context;
    (void)level;
    (void)service;
    seen->logs++;
    seen->last = s;
    seen->at = now;
    ck_assert_str_eq(text, "hello");
}

static void on_server(void *context, cw_server s, enum world_server_state state, cw_time now)
{
    struct seen *seen = context;
    (void)s;
    (void)state;
    (void)now;
    seen->servers++;
}

START_TEST(deliveries_are_counted_and_shown)
{
    struct world *w = town_up((cw_dims){3, 3, 3}, 1);
    struct seen seen = {.delivered = 0};
    town_run(w, CW_MS(100));
    world_watch(w, &(struct world_watch){.context = &seen, .packet = on_packet, .server = on_server});
    town_send(w, 0, town_key(w, 0), 0);
    ck_assert_uint_eq(town_totals(w).hops, 0);
    town_send(w, 0, town_key(w, 13), 0);
    town_run(w, CW_MS(1));
    struct world_totals t = town_totals(w);
    ck_assert_uint_eq(seen.delivered, 2);
    ck_assert_uint_eq(seen.last, 13);
    ck_assert_int_lt(seen.at.ns, world_now(w).ns);
    ck_assert_uint_eq(t.delivered, 2);
    ck_assert_uint_eq(t.hops, 3);
    ck_assert_uint_eq(t.hops_max, 3);
    world_pause(w, 4, CW_MS(1));
    town_run(w, CW_MS(2));
    ck_assert_uint_eq(seen.servers, 2);
    world_close(w);
}
END_TEST

/* The same packet at another place, or later, is another run. */
START_TEST(deliveries_are_part_of_the_digest)
{
    uint64_t sum[3];
    for (int i = 0; i < 3; i++) {
        struct world *w = town_up((cw_dims){3, 3, 3}, 2);
        town_run(w, CW_MS(100));
        town_run(w, CW_NS(i == 1 ? 1 : 0));
        town_send(w, 0, town_key(w, i == 2 ? 2 : 1), 0);
        town_run(w, CW_MS(1));
        ck_assert_uint_eq(town_totals(w).delivered, 1);
        sum[i] = w->deliveries;
        world_close(w);
    }
    ck_assert_uint_ne(sum[0], sum[1]);
    ck_assert_uint_ne(sum[0], sum[2]);
}
END_TEST

START_TEST(drops_of_the_dying_are_theirs)
{
    struct world *w = town_up((cw_dims){1, 1, 3}, 3);
    struct seen seen = {.dropped = 0};
    town_run(w, CW_MS(100));
    world_watch(w, &(struct world_watch){.context = &seen, .packet = on_packet});
    town_send(w, 0, town_key(w, 1), 8000);
    town_send(w, 0, town_key(w, 1), 8000);
    world_kill(w, 0, false);
    ck_assert_uint_eq(seen.dropped, 1); /* the other one was on the wire */
    ck_assert_int_eq(seen.cause, CW_DROP_CLOSED);
    ck_assert_uint_eq(town_totals(w).dropped[CW_DROP_CLOSED], 0);
    ck_assert_uint_eq(town_totals(w).lost[WORLD_LOSS_KILLED], 2);
    world_close(w);
}
END_TEST

START_TEST(logs_are_handed_on_in_true_time)
{
    struct world *w = town_up((cw_dims){1, 1, 3}, 4);
    struct node_watch watch = seen_watch(w);
    struct seen seen = {.logs = 0};
    watch.log(watch.context, world_node(w, 2), CW_LOG_INFO, NULL, "hello", (cw_time){1}); /* nobody listens */
    world_watch(w, &(struct world_watch){.context = &seen, .log = on_log});
    watch.log(watch.context, world_node(w, 2), CW_LOG_INFO, NULL, "hello", (cw_time){1});
    ck_assert_uint_eq(seen.logs, 1);
    ck_assert_uint_eq(seen.last, 2);
    ck_assert_int_eq(seen.at.ns, world_now(w).ns);
    world_close(w);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(deliveries_are_counted_and_shown),
    SUITE_TEST(deliveries_are_part_of_the_digest),
    SUITE_TEST(drops_of_the_dying_are_theirs),
    SUITE_TEST(logs_are_handed_on_in_true_time),
};
SUITE_MAIN("simulator/seen", tests)
