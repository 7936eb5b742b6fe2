/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole worlds: they boot, everything arrives and nothing is lost, times are exact, and a run is a function of its
 * seed.
 */
#include "simulator/world.h"

#include "town.h"

START_TEST(small_tori_boot_until_all_are_active)
{
    static const cw_dims dims[] = {{2, 2, 2}, {3, 3, 3}, {1, 1, 2}, {1, 2, 4}};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        struct world *w = town_up(dims[i], i + 1);
        uint32_t servers = world_torus(w)->servers;
        town_run(w, CW_MS(100)); /* holds end */
        ck_assert_uint_eq(world_running(w), servers);
        ck_assert_uint_eq(world_active(w), servers);
        ck_assert_uint_eq(world_agreeing(w), servers);
        for (cw_server s = 0; s < servers; s++) {
            ck_assert(oracle_links(world_oracle(w), s) == torus_links(world_torus(w)));
        }
        ck_assert_int_eq(check_quiet(w), 0);
        world_close(w);
    }
}
END_TEST

START_TEST(everybody_reaches_everybody)
{
    struct world *w = town_up((cw_dims){3, 3, 3}, 5);
    town_run(w, CW_MS(100));
    for (cw_server s = 0; s < 27; s++) {
        for (cw_server to = 0; to < 27; to++) {
            town_send(w, s, town_key(w, to), 0);
        }
        town_run(w, CW_US(500));
    }
    town_run(w, CW_MS(5));
    struct world_totals t = town_totals(w);
    uint64_t distance = 0;
    for (cw_server to = 0; to < 27; to++) {
        distance += torus_distance(world_torus(w), 0, to);
    }
    ck_assert_uint_eq(t.made, 27 * 27);
    ck_assert_uint_eq(t.delivered_keys, 27 * 27);
    ck_assert_uint_eq(t.hops, 27 * distance);
    ck_assert_uint_eq(t.packet_hops, 27 * distance);
    ck_assert_uint_eq(t.hops_max, 3);
    ck_assert_uint_eq(t.inside + t.flying, 0);
    ck_assert_uint_eq(t.misdelivered, 0);
    ck_assert_int_eq(check_quiet(w), 0);
    world_close(w);
}
END_TEST

/* ---- Exact times ------------------------------------------------------------------------------------------------- */

struct seen {
    cw_time control; /* the last frame that was no data */
    cw_time delivered;
    uint32_t size, frames;
    bool mixed; /* frames of the packet that were not of one size */
};

static void on_frame(void *context, cw_server s, cw_link link, const struct cw_packet *frame, cw_time now,
                     const struct wire_flight *flight)
{
    struct seen *seen = context;
    uint32_t size = frame->length + frame->pad;
    (void)s;
    (void)link;
    (void)flight;
    if (size < 1000) {
        seen->control = now;
        return;
    }
    seen->mixed |= seen->frames > 0 && size != seen->size;
    seen->size = size;
    seen->frames++;
}

static void on_packet(void *context, cw_server s, enum node_point point, const struct cw_packet *p, cw_drop cause,
                      cw_time now)
{
    struct seen *seen = context;
    (void)s;
    (void)p;
    (void)cause;
    if (point == NODE_DELIVERED) {
        seen->delivered = now;
    }
}

/* One packet in an empty torus takes hops x (its time on the wire + propagation), to the ns. */
START_TEST(latency_without_load_is_exact)
{
    struct world *w = town_up((cw_dims){3, 3, 3}, 6);
    struct seen seen;
    unsigned exact = 0;
    town_run(w, CW_MS(100));
    world_watch(w, &(struct world_watch){.context = &seen, .frame = on_frame, .packet = on_packet});
    for (cw_server to = 0; to < 27; to++) {
        unsigned hops = torus_distance(world_torus(w), 0, to);
        seen = (struct seen){.control = {-1}};
        cw_time start = world_now(w);
        town_send(w, 0, town_key(w, to), 1000 + 200 * to);
        town_run(w, CW_MS(1));
        int64_t took = cw_time_since(seen.delivered, start).ns;
        int64_t one = (int64_t)wire_bytes(seen.size) * 8 + 1000;
        ck_assert(!seen.mixed);
        ck_assert_uint_eq(seen.frames, hops);
        ck_assert_int_ge(took, hops * one);
        if (hops == 0 || seen.control.ns < 0) { /* no hello was in its way */
            ck_assert_int_eq(took, hops * one);
            exact++;
        }
    }
    ck_assert_uint_ge(exact, 10);
    world_close(w);
}
END_TEST

/* ---- Queues ------------------------------------------------------------------------------------------------------ */

enum { ARRIVALS = 40000 };

struct queue {
    int64_t sent[ARRIVALS];
    uint32_t delivered;
    int64_t waited;
    uint32_t size;
};

static void on_size(void *context, cw_server s, cw_link link, const struct cw_packet *frame, cw_time now,
                    const struct wire_flight *flight)
{
    struct queue *q = context;
    (void)s;
    (void)link;
    (void)now;
    (void)flight;
    q->size = frame->length + frame->pad > 1000 ? frame->length + frame->pad : q->size;
}

static void on_arrival(void *context, cw_server s, enum node_point point, const struct cw_packet *p, cw_drop cause,
                       cw_time now)
{
    struct queue *q = context;
    (void)s;
    (void)p;
    (void)cause;
    if (point == NODE_DELIVERED) {
        q->waited += now.ns - q->sent[q->delivered++];
    }
}

/* Poisson arrivals at one link wait as Pollaczek and Khinchine say: rho / 2(1 - rho) frame times. */
START_TEST(a_link_is_an_m_d_1_queue)
{
    static struct queue q;
    struct world *w = town_up((cw_dims){1, 1, 3}, 3);
    struct prng p = prng_stream(3, 0, 1);
    const double rho = 0.6;
    town_run(w, CW_MS(100));
    town_send(w, 0, town_key(w, 1), 1400);
    world_watch(w, &(struct world_watch){.context = &q, .frame = on_size});
    town_send(w, 0, town_key(w, 1), 1400);
    town_run(w, CW_MS(1));
    int64_t one = (int64_t)wire_bytes(q.size) * 8;
    world_watch(w, &(struct world_watch){.context = &q, .packet = on_arrival});
    for (uint32_t i = 0; i < ARRIVALS; i++) {
        town_run(w, prng_span_exponential(&p, CW_NS((double)one / rho)));
        q.sent[i] = world_now(w).ns;
        town_send(w, 0, town_key(w, 1), 1400);
    }
    town_run(w, CW_MS(2));
    ck_assert_uint_eq(q.delivered, ARRIVALS);
    double wait = (double)q.waited / ARRIVALS - (double)(one + 1000), want = rho / (2 * (1 - rho)) * (double)one;
    ck_assert_msg(wait > 0.95 * want && wait < 1.05 * want, "%.0f ns instead of %.0f", wait, want);
    world_close(w);
}
END_TEST

/* ---- The same again ---------------------------------------------------------------------------------------------- */

static uint64_t run_once(uint64_t seed, bool watched)
{
    struct seen seen = {.frames = 0};
    struct world_config config = town_config((cw_dims){2, 3, 3}, seed);
    config.clock_ppm = 1000;
    struct world *w = town_open(&config);
    if (watched) {
        world_watch(w, &(struct world_watch){.context = &seen, .frame = on_frame, .packet = on_packet});
    }
    town_boot(w);
    for (int i = 0; i < 50; i++) {
        town_send(w, (cw_server)(i % 3), (uint64_t)i * 0x9e3779b97f4a7c15, (unsigned)i * 50);
        town_run(w, CW_US(100));
        if (i == 20) {
            world_kill(w, 3, false);
            world_harm(w, 4, CW_LINK_XP,
                       &(struct wire_harm){.loss = 100000, .delayed = 100000, .delay_most = CW_US(10)});
        }
    }
    town_run(w, CW_MS(50));
    uint64_t digest = world_digest(w);
    world_close(w);
    return digest;
}

START_TEST(a_seed_is_a_run)
{
    ck_assert_uint_eq(run_once(7, false), run_once(7, false));
    ck_assert_uint_eq(run_once(7, false), run_once(7, true));
    ck_assert_uint_ne(run_once(7, false), run_once(8, false));
}
END_TEST

/* How far it runs at a time is not part of what a run is. */
START_TEST(steps_change_nothing)
{
    uint64_t digest[2];
    for (int i = 0; i < 2; i++) {
        struct world_config config = town_config((cw_dims){2, 2, 2}, 9);
        struct world *w = town_open(&config);
        world_start_all(w, CW_MS(5));
        for (int ns = 0; ns < 200 * 1000 * 1000; ns += i == 0 ? 200 * 1000 * 1000 : 12500) {
            town_run(w, i == 0 ? CW_MS(200) : CW_NS(12500));
        }
        digest[i] = world_digest(w);
        world_close(w);
    }
    ck_assert_uint_eq(digest[0], digest[1]);
}
END_TEST

/* ---- Time, and what is refused ----------------------------------------------------------------------------------- */

struct calls {
    int count;
    int order[8];
    cw_time at[8];
};

static void call_1(struct world *w, void *arg)
{
    struct calls *c = arg;
    c->at[c->count] = world_now(w);
    c->order[c->count++] = 1;
}

static void call_2(struct world *w, void *arg)
{
    struct calls *c = arg;
    c->at[c->count] = world_now(w);
    c->order[c->count++] = 2;
    if (c->count < 4) {
        world_at(w, world_now(w), call_1, arg);
    }
}

static void stop(struct world *w, void *arg)
{
    (void)arg;
    world_stop(w);
}

START_TEST(what_was_promised_happens_then)
{
    struct world_config config = town_config((cw_dims){2, 2, 2}, 1);
    struct world *w = town_open(&config);
    struct calls c = {.count = 0};
    world_at(w, (cw_time){2000}, call_1, &c);
    world_at(w, (cw_time){1000}, call_2, &c);
    world_at(w, (cw_time){1000}, call_1, &c);
    ck_assert_int_eq(world_run(w, (cw_time){999}), 0);
    ck_assert_int_eq(c.count, 0);
    ck_assert_int_eq(world_now(w).ns, 999);
    ck_assert_int_eq(world_run(w, (cw_time){5000}), 0);
    ck_assert_int_eq(c.count, 4);
    static const int order[] = {2, 1, 1, 1};
    static const int64_t at[] = {1000, 1000, 1000, 2000};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(c.order[i], order[i]);
        ck_assert_int_eq(c.at[i].ns, at[i]);
    }
    world_at(w, (cw_time){6000}, stop, NULL);
    world_at(w, (cw_time){7000}, call_1, &c);
    ck_assert_int_eq(world_run(w, (cw_time){9000}), 1);
    ck_assert_int_eq(world_now(w).ns, 6000);
    ck_assert_ptr_null(world_violation(w));
    world_close(w);
}
END_TEST

START_TEST(impossible_worlds_are_refused)
{
    struct world *w = NULL;
    struct world_config good = town_config((cw_dims){2, 2, 2}, 1), c = good;
    c.dims = (cw_dims){0, 2, 2};
    ck_assert_int_eq(world_open(&w, &c), -EINVAL);
    c.dims = (cw_dims){256, 256, 256};
    ck_assert_int_eq(world_open(&w, &c), -E2BIG);
    c = good;
    c.wire.ring = 3;
    ck_assert_int_eq(world_open(&w, &c), -EINVAL);
    c = good;
    c.node.timers.hold = CW_NS(1);
    ck_assert_int_eq(world_open(&w, &c), -EINVAL);
    c = good;
    c.wire.bits_per_second = 0;
    ck_assert_int_eq(world_open(&w, &c), -EINVAL);
    c = good;
    c.cpu_queue = 0;
    ck_assert_int_eq(world_open(&w, &c), -EINVAL);
    c = good;
    c.node.mtu = 1000; /* what no node would open with */
    ck_assert_int_eq(world_open(&w, &c), -EINVAL);
    ck_assert_ptr_null(w);
}
END_TEST

START_TEST(more_hops_than_the_budget_are_refused)
{
    struct world *w = NULL;
    struct world_config c = town_config((cw_dims){2, 2, 256}, 1);
    c.node.hop_limit = 20;
    ck_assert_int_eq(world_open(&w, &c), -ERANGE);
    c.node.hop_limit = 0; /* the default */
    ck_assert_int_eq(world_open(&w, &c), -ERANGE);
    c.dims = (cw_dims){2, 2, 16};
    ck_assert_int_eq(world_open(&w, &c), 0);
    ck_assert_uint_eq(world_config(w)->node.hop_limit, 64);
    world_close(w);
}
END_TEST

START_TEST(memory_is_told)
{
    struct world *w = town_up((cw_dims){2, 2, 2}, 1);
    ck_assert_uint_gt(world_node_bytes(w), 0);
    ck_assert_uint_gt(world_bytes(w), world_node_bytes(w));
    world_close(w);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(small_tori_boot_until_all_are_active),
    SUITE_TEST(everybody_reaches_everybody),
    SUITE_TEST(latency_without_load_is_exact),
    SUITE_TEST(a_link_is_an_m_d_1_queue),
    SUITE_TEST(a_seed_is_a_run),
    SUITE_TEST(steps_change_nothing),
    SUITE_TEST(what_was_promised_happens_then),
    SUITE_TEST(impossible_worlds_are_refused),
    SUITE_TEST(more_hops_than_the_budget_are_refused),
    SUITE_TEST(memory_is_told),
};
SUITE_MAIN("simulator/world", tests)
