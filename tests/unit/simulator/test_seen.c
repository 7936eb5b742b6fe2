/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes tell is counted once, under the right name, and passed on to who watches. */
#include "simulator/world_internal.h"

#include "town.h"

static struct {
    unsigned delivered, dropped, logs;
    cw_server server;
    cw_level level;
} seen;

static void on_packet(void *context, cw_server s, enum node_point point, const struct cw_packet *p, cw_drop cause,
                      cw_time now)
{
    (void)p;
    (void)cause;
    ck_assert_int_eq(now.ns, world_now(context).ns);
    seen.delivered += point == NODE_DELIVERED;
    seen.dropped += point == NODE_DROPPED;
    seen.server = s;
}

static void on_log(void *context, cw_server s, cw_level level, const char *service, const char *text, cw_time now)
{
    ck_assert_int_eq(now.ns, world_now(context).ns);
    ck_assert_str_eq(service, "town");
    ck_assert_str_eq(text, "hello");
    seen.logs++;
    seen.level = level;
    seen.server = s;
}

START_TEST(a_delivery_is_counted_with_its_hops)
{
    struct world *w = town_up((cw_dims){3, 3, 3}, 1);
    world_watch(w, &(struct world_watch){.context = w, .packet = on_packet});
    town_run(w, CW_MS(100));
    struct world_totals before = town_totals(w);
    uint64_t digest = w->deliveries;
    cw_server far = torus_id(world_torus(w), (cw_coord){1, 1, 1});
    town_send(w, 0, town_key(w, far), 0);
    town_run(w, CW_MS(1));
    struct world_totals after = town_totals(w);
    ck_assert_uint_eq(after.delivered - before.delivered, 1);
    ck_assert_uint_eq(after.delivered_keys - before.delivered_keys, 1);
    ck_assert_uint_eq(after.hops - before.hops, 3);
    ck_assert_uint_eq(after.hops_max, 3);
    ck_assert_uint_eq(seen.delivered, 1);
    ck_assert_uint_eq(seen.server, far);
    ck_assert(w->deliveries != digest);
    town_send(w, 0, town_key(w, 0), 0); /* to itself: no hop */
    town_run(w, CW_MS(1));
    ck_assert_uint_eq(town_totals(w).delivered, after.delivered + 1);
    ck_assert_uint_eq(town_totals(w).hops, after.hops);
    world_close(w);
}
END_TEST

START_TEST(a_drop_is_counted_by_its_cause_or_as_killed)
{
    struct world *w = town_up((cw_dims){3, 3, 3}, 2);
    world_watch(w, &(struct world_watch){.context = w, .packet = on_packet});
    struct node_watch watch = seen_watch(w);
    struct world_totals before = town_totals(w);
    const struct node *n = world_node(w, 5);
    const struct cw_packet *none = NULL;
    watch.packet(watch.context, n, NODE_DROPPED, none, (cw_drop)1, world_now(w));
    w->killing = true;
    watch.packet(watch.context, n, NODE_DROPPED, none, (cw_drop)1, world_now(w));
    w->killing = false;
    watch.packet(watch.context, n, NODE_QUEUED, none, (cw_drop)0, world_now(w));
    ck_assert_uint_eq(w->totals.dropped[1] - before.dropped[1], 1);
    ck_assert_uint_eq(w->totals.lost[WORLD_LOSS_KILLED] - before.lost[WORLD_LOSS_KILLED], 1);
    ck_assert_uint_eq(w->totals.delivered, before.delivered);
    ck_assert_uint_eq(seen.dropped, 2);
    ck_assert_uint_eq(seen.server, 5);
    world_close(w);
}
END_TEST

START_TEST(logs_go_to_who_listens)
{
    struct world *w = town_up((cw_dims){2, 2, 2}, 3);
    struct node_watch watch = seen_watch(w);
    watch.log(watch.context, world_node(w, 3), (cw_level)1, "town", "hello", world_now(w)); /* nobody */
    world_watch(w, &(struct world_watch){.context = w, .log = on_log});
    watch.log(watch.context, world_node(w, 3), (cw_level)1, "town", "hello", world_now(w));
    ck_assert(seen.logs == 1 && seen.server == 3 && seen.level == (cw_level)1);
    world_close(w);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_delivery_is_counted_with_its_hops),
    SUITE_TEST(a_drop_is_counted_by_its_cause_or_as_killed),
    SUITE_TEST(logs_go_to_who_listens),
};
SUITE_MAIN("simulator/seen", tests)
