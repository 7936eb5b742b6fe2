/* SPDX-License-Identifier: Apache-2.0 */
#include "services/bench/engine.h"

#include "base/bytes.h"
#include "fake_net.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static const struct bench_api *api_of(cw_svc *s)
{
    cw_svc *peer = NULL;
    const struct bench_api *api = cw_find(s, "bench", BENCH_API_VERSION, &peer);
    ck_assert(api != NULL && peer == s && api->size == sizeof *api);
    return api;
}

static struct bench_stats stats_of(cw_svc *s)
{
    struct bench_stats stats;
    api_of(s)->stats(s, &stats);
    return stats;
}

static struct bench_stats sum_of(struct fake_net *net)
{
    struct bench_stats sum = {.sent = 0};
    for (cw_server id = 0; id < net->torus.servers; id++) {
        struct bench_stats one = stats_of(net->server[id]);
        sum.sent += one.sent;
        sum.received += one.received;
        sum.bytes += one.bytes;
        sum.lost += one.lost;
        sum.duplicated += one.duplicated;
        sum.reordered += one.reordered;
        sum.hops_sum += one.hops_sum;
        sum.malformed += one.malformed;
        sum.hops_max = one.hops_max > sum.hops_max ? one.hops_max : sum.hops_max;
    }
    return sum;
}

static void start_all(struct fake_net *net, struct bench_plan plan)
{
    for (cw_server id = 0; id < net->torus.servers; id++) {
        ck_assert_int_eq(api_of(net->server[id])->start(net->server[id], &plan), 0);
    }
}

static void stop_all(struct fake_net *net)
{
    for (cw_server id = 0; id < net->torus.servers; id++) {
        api_of(net->server[id])->stop(net->server[id]);
    }
    fake_net_run(net, CW_MS(1));
}

START_TEST(all_to_all_arrives)
{
    struct fake_net *net = fake_net_open(&bench_service, (cw_dims){3, 3, 3});
    start_all(net, (struct bench_plan){.mode = BENCH_ALL, .rate = 100 * 1000 * 1000, .size = 1000});
    fake_net_run(net, CW_MS(20));
    stop_all(net);
    struct bench_stats sum = sum_of(net);
    ck_assert_uint_ge(sum.sent, 27 * 250);
    ck_assert_uint_le(sum.sent, 27 * 251);
    ck_assert_uint_eq(sum.received, sum.sent);
    ck_assert_uint_eq(sum.bytes, 1000 * sum.received);
    ck_assert_uint_eq(sum.lost + sum.duplicated + sum.reordered + sum.malformed, 0);
    ck_assert_uint_eq(sum.hops_max, 3);
    ck_assert_uint_eq(sum.hops_sum, net->crossed);
    /* Uniform over the others: 54 / 26 links on average. */
    double mean = (double)sum.hops_sum / (double)sum.received;
    ck_assert_double_eq_tol(mean, 54.0 / 26, 0.03);
    struct bench_stats one = stats_of(net->server[13]);
    ck_assert_int_eq(one.latency_min_ns, 1000);
    ck_assert_int_eq(one.latency_max_ns, 3000);
    ck_assert_int_eq(one.latency_sum_ns, (int64_t)one.hops_sum * 1000);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(random_keys_arrive)
{
    struct fake_net *net = fake_net_open(&bench_service, (cw_dims){4, 2, 1});
    start_all(net, (struct bench_plan){.mode = BENCH_KEYS, .rate = 1000, .size = 64});
    fake_net_run(net, CW_MS(1000));
    stop_all(net);
    struct bench_stats sum = sum_of(net);
    ck_assert_uint_eq(sum.sent, 8 * 1000);
    ck_assert_uint_eq(sum.received, sum.sent);
    ck_assert_uint_eq(sum.lost + sum.duplicated + sum.reordered + sum.malformed, 0);
    for (cw_server id = 0; id < 8; id++) {
        ck_assert_uint_ge(stats_of(net->server[id]).received, 850);
    }
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(losses_are_found)
{
    struct fake_net *net = fake_net_open(&bench_service, (cw_dims){2, 1, 1});
    start_all(net, (struct bench_plan){.mode = BENCH_ALL, .rate = 8000 * 1000, .size = 100});
    fake_net_run(net, CW_MS(10));
    net->lose = 10;
    fake_net_run(net, CW_MS(100));
    net->lose = 0;
    fake_net_run(net, CW_MS(10));
    stop_all(net);
    struct bench_stats sum = sum_of(net);
    ck_assert_uint_eq(sum.sent - sum.received, net->sends / 10);
    ck_assert_uint_eq(sum.lost, net->sends / 10);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(the_rate_is_exact)
{
    static const struct {
        uint64_t rate;
        uint32_t size;
    } table[] = {{980 * 1000 * 1000, 8900}, {7, 32}, {UINT64_C(12) * 1000 * 1000 * 1000, 8900}, {1234567891, 33}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        cw_svc *s = fake_open(&bench_service, (cw_dims){3, 3, 3}, (cw_coord){1, 1, 1});
        s->swallow = true;
        const struct bench_plan plan = {.mode = BENCH_ALL, .rate = table[i].rate, .size = table[i].size};
        ck_assert_int_eq(api_of(s)->start(s, &plan), 0);
        uint64_t seconds = table[i].rate < 1000 ? 1000 : 2;
        fake_run(s, CW_SEC(seconds));
        uint64_t want = seconds * table[i].rate / (8 * table[i].size);
        uint64_t batch = 1 + table[i].rate / (8 * table[i].size) / (100 * 1000); /* of one tick */
        struct bench_stats stats = stats_of(s);
        ck_assert_msg(stats.sent + batch >= want && stats.sent <= want + 1 && stats.skipped == 0,
                      "case %zu: %llu sent, %llu wanted", i, (unsigned long long)stats.sent, (unsigned long long)want);
        fake_close(s);
    }
}
END_TEST

START_TEST(repeats_from_its_seed)
{
    uint8_t sums[2][8] = {{0}};
    for (int round = 0; round < 2; round++) {
        cw_svc *s = fake_open(&bench_service, (cw_dims){4, 4, 4}, (cw_coord){1, 2, 3});
        const struct bench_plan plan = {.mode = BENCH_ALL, .rate = 50 * 1000 * 1000, .size = 500};
        ck_assert_int_eq(api_of(s)->start(s, &plan), 0);
        struct fake_send send;
        for (int i = 0; i < 100; i++) {
            fake_run(s, CW_US(100));
            while (fake_take(s, &send)) {
                for (size_t k = 0; k < send.packet->length; k++) {
                    sums[round][k % 8] = (uint8_t)(sums[round][k % 8] * 31 + send.packet->data[k] + send.to.process);
                }
                fake_free(send.packet);
            }
        }
        ck_assert_uint_eq(fake_close(s), 0);
    }
    ck_assert_mem_eq(sums[0], sums[1], 8);
}
END_TEST

START_TEST(never_to_itself_nor_to_the_dead)
{
    cw_svc *s = fake_open(&bench_service, (cw_dims){4, 4, 4}, (cw_coord){0, 0, 1});
    unsigned hits[64] = {0};
    for (cw_server id = 0; id < 64; id++) {
        s->down[id] = id % 4 == 2;
    }
    const struct bench_plan plan = {.mode = BENCH_ALL, .rate = UINT64_C(1000) * 1000 * 1000, .size = 125};
    ck_assert_int_eq(api_of(s)->start(s, &plan), 0);
    struct fake_send send;
    fake_run(s, CW_MS(10));
    while (fake_take(s, &send)) {
        hits[send.to.process]++;
        ck_assert_uint_eq(send.to.job, BENCH_JOB);
        ck_assert_uint_eq(send.packet->length, BENCH_RECORD_BYTES);
        ck_assert_uint_eq(send.packet->pad, 125 - BENCH_RECORD_BYTES);
        fake_free(send.packet);
    }
    for (cw_server id = 0; id < 64; id++) {
        ck_assert_msg((hits[id] > 0) == (id % 4 != 2 && id != 1), "server %u: %u", id, hits[id]);
    }
    for (cw_server id = 0; id < 64; id++) {
        s->down[id] = true;
    }
    fake_run(s, CW_MS(1));
    ck_assert_uint_ge(stats_of(s).unreachable, 999);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

START_TEST(an_open_loop)
{
    cw_svc *s = fake_open(&bench_service, (cw_dims){3, 1, 1}, (cw_coord){0, 0, 0});
    const struct bench_plan plan = {.mode = BENCH_ALL, .rate = 8 * 1000 * 1000, .size = 100};
    ck_assert_int_eq(api_of(s)->start(s, &plan), 0);
    s->room = 30;
    fake_run(s, CW_MS(10)); /* 100 packets */
    struct bench_stats stats = stats_of(s);
    ck_assert_uint_eq(stats.sent, 30);
    ck_assert_uint_eq(stats.sent + stats.refused, 100);
    s->packets_max = 0;
    fake_run(s, CW_MS(10));
    ck_assert_uint_eq(stats_of(s).refused, stats.refused + 100);
    /* Late by half a second: 20 ms of it are made up for. */
    s->packets_max = SIZE_MAX;
    s->room = SIZE_MAX;
    s->now = cw_time_add(s->now, CW_MS(500));
    fake_run(s, CW_NS(0));
    stats = stats_of(s);
    ck_assert_uint_eq(stats.sent, 30 + 200);
    ck_assert_uint_eq(stats.sent + stats.refused + stats.skipped, 200 + 5000);
    /* Refused ones had no number: nothing looks lost. */
    cw_svc *peer = fake_open(&bench_service, (cw_dims){3, 1, 1}, (cw_coord){1, 0, 0});
    struct fake_send send;
    while (fake_take(s, &send)) {
        cw_rx rx = {.size = sizeof rx, .where = CW_ARRIVED, .in = CW_LINK_XM, .hops = 1, .src_process = 0};
        if (send.to.process == 1) {
            fake_arrive(peer, send.packet, &rx, NULL);
        } else {
            fake_free(send.packet);
        }
    }
    ck_assert_uint_gt(stats_of(peer).received, 80);
    ck_assert_uint_eq(stats_of(peer).lost, 0);
    fake_close(peer);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

START_TEST(no_timer_ends_the_run)
{
    cw_svc *s = fake_open(&bench_service, (cw_dims){3, 1, 1}, (cw_coord){0, 0, 0});
    const struct bench_plan plan = {.mode = BENCH_ALL, .rate = 8 * 1000 * 1000, .size = 100};
    s->timers_max = 0;
    ck_assert_int_eq(api_of(s)->start(s, &plan), -ENOMEM);
    s->timers_max = SIZE_MAX;
    ck_assert_int_eq(api_of(s)->start(s, &plan), 0);
    s->timers_max = 0;
    fake_run(s, CW_MS(10));
    ck_assert_str_ne(s->logged, "");
    ck_assert_uint_eq(stats_of(s).sent, 1);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

START_TEST(links_are_kept_full)
{
    cw_svc *s = fake_open(&bench_service, (cw_dims){3, 3, 1}, (cw_coord){0, 0, 0});
    const struct bench_plan plan = {.mode = BENCH_LINKS, .count = 3, .size = 8900};
    s->room = 90;
    ck_assert_int_eq(api_of(s)->start(s, &plan), 0);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        ck_assert_uint_eq(s->queued[link], link < 3 ? 30 : 0);
    }
    /* A link that is faster than the others gets what it can take. */
    struct fake_send send;
    for (int i = 0; i < 90; i++) {
        ck_assert(fake_take(s, &send));
        if (send.to.link == CW_LINK_YP) {
            s->room++;
        } else {
            s->queued[send.to.link]++; /* still waiting */
        }
        ck_assert_uint_eq(send.to.process, cw_server_id(s, (cw_coord){send.to.link == 0, send.to.link == 2, 0}) +
                                               (send.to.link == 1 ? 6 : 0));
        fake_free(send.packet);
    }
    bench_service.on_writable(s, s->state);
    ck_assert_uint_eq(s->queued[CW_LINK_YP], 30);
    ck_assert_uint_eq(s->queued[CW_LINK_XP], 30);
    struct bench_stats stats = stats_of(s);
    ck_assert_uint_eq(stats.sent, 120);
    ck_assert_uint_eq(stats.refused, 0);
    api_of(s)->stop(s);
    s->room = 5;
    bench_service.on_writable(s, s->state);
    ck_assert_uint_eq(stats_of(s).sent, 120);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

START_TEST(links_come_and_go)
{
    cw_svc *s = fake_open(&bench_service, (cw_dims){3, 3, 3}, (cw_coord){0, 0, 0});
    const struct bench_plan plan = {.mode = BENCH_LINKS, .count = 2, .size = 100};
    s->room = 10;
    s->up = CW_LINKS_NONE;
    ck_assert_int_eq(api_of(s)->start(s, &plan), 0);
    ck_assert_uint_eq(fake_sends(s), 0);
    s->up = cw_links_of(CW_LINK_XM);
    const cw_event ev = {.size = sizeof ev, .kind = CW_EVENT_LINK_UP, .link = CW_LINK_XM};
    bench_service.on_event(s, s->state, &ev);
    ck_assert_uint_eq(s->queued[CW_LINK_XM], 10);
    /* Out of memory, nobody calls back: it looks again itself. */
    s->packets_max = 0;
    s->room = 5;
    bench_service.on_writable(s, s->state);
    s->packets_max = SIZE_MAX;
    fake_run(s, CW_MS(2));
    ck_assert_uint_eq(s->queued[CW_LINK_XM], 15);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

START_TEST(links_by_its_own_queue)
{
    cw_svc *s = fake_open(&bench_service, (cw_dims){3, 1, 3}, (cw_coord){0, 0, 0});
    const struct bench_plan plan = {.mode = BENCH_LINKS, .count = 3, .size = 100, .own = true};
    ck_assert_int_eq(api_of(s)->start(s, &plan), 0);
    ck_assert_uint_eq(s->polled, cw_links_of(CW_LINK_XP) | cw_links_of(CW_LINK_XM) | cw_links_of(CW_LINK_ZP));
    cw_packet *p = bench_service.next_packet(s, s->state, CW_PLACE_MAIN, CW_LINK_ZP);
    ck_assert_ptr_nonnull(p);
    ck_assert_uint_eq(p->length + p->pad, 100);
    cw_packet_free(s, p);
    ck_assert_ptr_null(bench_service.next_packet(s, s->state, CW_PLACE_MAIN, CW_LINK_ZM));
    s->up = CW_LINKS_NONE;
    ck_assert_ptr_null(bench_service.next_packet(s, s->state, CW_PLACE_MAIN, CW_LINK_XP));
    ck_assert_uint_eq(stats_of(s).unreachable, 1);
    api_of(s)->stop(s);
    ck_assert_uint_eq(s->polled, CW_LINKS_NONE);
    ck_assert_ptr_null(bench_service.next_packet(s, s->state, CW_PLACE_MAIN, CW_LINK_XP));
    ck_assert_uint_eq(stats_of(s).sent, 1);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

/* A record by hand: what a receiver makes of it. */
struct arrival {
    uint32_t run, number;
    enum bench_mode mode;
    cw_link in;
};

static void arrive(cw_svc *s, struct arrival a)
{
    uint8_t record[BENCH_RECORD_BYTES] = {0x43, 0x57, 0x42, 0x65};
    record[7] = (uint8_t)a.run;
    record[11] = 2; /* source */
    record[14] = (uint8_t)(a.number >> 8);
    record[15] = (uint8_t)a.number;
    record[24] = (uint8_t)a.mode;
    record[25] = 1;
    const cw_rx rx = {.size = sizeof rx, .where = CW_ARRIVED, .in = a.in, .hops = 2, .src_process = 2};
    fake_arrive(s, fake_packet(s, record, sizeof record, 68), &rx, NULL);
}

START_TEST(what_arrives_twice_or_late)
{
    static const uint32_t numbers[] = {0, 1, 3, 2, 2, 5, 4, 7};
    cw_svc *s = fake_open(&bench_service, (cw_dims){3, 1, 1}, (cw_coord){0, 0, 0});
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        arrive(s, (struct arrival){1, numbers[i], BENCH_ALL, CW_LINK_XP});
    }
    struct bench_stats stats = stats_of(s);
    ck_assert_uint_eq(stats.received, 8);
    ck_assert_uint_eq(stats.bytes, 800);
    ck_assert_uint_eq(stats.duplicated, 1);
    ck_assert_uint_eq(stats.reordered, 2);
    ck_assert_uint_eq(stats.lost, 1);
    ck_assert_uint_eq(stats.hops_sum, 16);
    /* Streams go on over a reset: what comes late then was not lost since. */
    api_of(s)->reset(s);
    arrive(s, (struct arrival){1, 6, BENCH_ALL, CW_LINK_XP});
    arrive(s, (struct arrival){1, 8, BENCH_ALL, CW_LINK_XP});
    stats = stats_of(s);
    ck_assert_uint_eq(stats.received, 2);
    ck_assert_uint_eq(stats.reordered, 1);
    ck_assert_uint_eq(stats.lost, 0);
    /* A new life of the sender. */
    arrive(s, (struct arrival){2, 0, BENCH_ALL, CW_LINK_XP});
    arrive(s, (struct arrival){1, 9, BENCH_ALL, CW_LINK_XP});
    stats = stats_of(s);
    ck_assert_uint_eq(stats.duplicated, 0);
    ck_assert_uint_eq(stats.old, 1);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

START_TEST(keys_show_duplicates_only)
{
    static const uint32_t numbers[] = {10, 4, 40, 4, 39};
    cw_svc *s = fake_open(&bench_service, (cw_dims){3, 1, 1}, (cw_coord){0, 0, 0});
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        arrive(s, (struct arrival){1, numbers[i], BENCH_KEYS, CW_LINK_XP});
    }
    struct bench_stats stats = stats_of(s);
    ck_assert_uint_eq(stats.received, 5);
    ck_assert_uint_eq(stats.duplicated, 1);
    ck_assert_uint_eq(stats.lost + stats.reordered, 0);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

START_TEST(links_are_streams_of_their_own)
{
    cw_svc *s = fake_open(&bench_service, (cw_dims){2, 1, 1}, (cw_coord){0, 0, 0});
    for (uint32_t i = 0; i < 10; i++) {
        arrive(s, (struct arrival){1, i, BENCH_LINKS, CW_LINK_XP});
        if (i != 4) {
            arrive(s, (struct arrival){1, i == 8 ? 7 : i, BENCH_LINKS, CW_LINK_XM});
        }
    }
    struct bench_link_stats link;
    api_of(s)->link_stats(s, CW_LINK_XP, &link);
    ck_assert_uint_eq(link.received, 0); /* server 2 is none of this torus */
    ck_assert_uint_eq(stats_of(s).malformed, 19);
    fake_close(s);

    s = fake_open(&bench_service, (cw_dims){3, 1, 1}, (cw_coord){0, 0, 0});
    for (uint32_t i = 0; i < 10; i++) {
        arrive(s, (struct arrival){1, i, BENCH_LINKS, CW_LINK_XP});
        if (i != 4) {
            arrive(s, (struct arrival){1, i == 8 ? 7 : i, BENCH_LINKS, CW_LINK_XM});
        }
    }
    api_of(s)->link_stats(s, CW_LINK_XP, &link);
    ck_assert_uint_eq(link.received, 10);
    ck_assert_uint_eq(link.bytes, 1000);
    ck_assert_uint_eq(link.lost + link.duplicated + link.reordered, 0);
    api_of(s)->link_stats(s, CW_LINK_XM, &link);
    ck_assert_uint_eq(link.received, 9);
    ck_assert_uint_eq(link.duplicated, 1);
    ck_assert_uint_eq(link.lost, 2);
    struct bench_stats stats = stats_of(s);
    ck_assert_uint_eq(stats.received, 19);
    ck_assert_uint_eq(stats.lost, 2);
    ck_assert_uint_eq(stats.duplicated, 1);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

START_TEST(strange_packets_are_counted)
{
    cw_svc *s = fake_open(&bench_service, (cw_dims){3, 1, 1}, (cw_coord){0, 0, 0});
    uint8_t record[BENCH_RECORD_BYTES] = {0x43, 0x57, 0x42, 0x65, 0, 0, 0, 1, 0, 0, 0, 2};
    cw_rx rx = {.size = sizeof rx, .where = CW_ARRIVED, .in = CW_LINK_XP, .src_process = 2};
    cw_verdict verdict;
    fake_arrive(s, fake_packet(s, record, sizeof record, 0), &rx, &verdict);
    ck_assert_int_eq(verdict, CW_FORWARD);
    fake_arrive(s, fake_packet(s, record, sizeof record - 1, 0), &rx, &verdict); /* short */
    ck_assert_int_eq(verdict, CW_DROP);
    rx.src_process = 1; /* not who it says */
    fake_arrive(s, fake_packet(s, record, sizeof record, 0), &rx, &verdict);
    ck_assert_int_eq(verdict, CW_DROP);
    rx.src_process = 2;
    record[7] = 0; /* run 0 */
    fake_arrive(s, fake_packet(s, record, sizeof record, 0), &rx, &verdict);
    ck_assert_int_eq(verdict, CW_DROP);
    record[7] = 1;
    record[0] = 0; /* another magic */
    fake_arrive(s, fake_packet(s, record, sizeof record, 0), &rx, &verdict);
    ck_assert_int_eq(verdict, CW_DROP);
    ck_assert_uint_eq(stats_of(s).malformed, 4);
    ck_assert_uint_eq(stats_of(s).received, 1);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

START_TEST(untracked_runs_keep_no_tables)
{
    struct fake_net *net = fake_net_open(&bench_service, (cw_dims){2, 2, 1});
    start_all(net, (struct bench_plan){.mode = BENCH_ALL, .rate = 8000 * 1000, .size = 100, .untracked = true});
    fake_net_run(net, CW_MS(10));
    stop_all(net);
    struct bench_stats sum = sum_of(net);
    ck_assert_uint_eq(sum.received, sum.sent);
    const struct engine *e = cw_state(net->server[0]);
    ck_assert(e->numbers == NULL && e->windows == NULL && e->bits == NULL);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

/* As after a pause: hundreds of packets of one instant to two servers, and no two of them have equal bytes. */
START_TEST(untracked_packets_of_one_instant_differ)
{
    enum { DUE = 200, AT_NUMBER = 12 };
    cw_svc *s = fake_open(&bench_service, (cw_dims){3, 1, 1}, (cw_coord){0, 0, 0});
    const struct bench_plan plan = {.mode = BENCH_ALL, .rate = 8 * 1000 * 1000, .size = 100, .untracked = true};
    ck_assert_int_eq(api_of(s)->start(s, &plan), 0);
    s->now = cw_time_add(s->now, CW_MS(500));
    fake_run(s, CW_NS(0));
    ck_assert_uint_eq(stats_of(s).sent, DUE);
    bool seen[DUE] = {false};
    struct fake_send send;
    while (fake_take(s, &send)) {
        uint32_t number = get_be32(cw_packet_data(send.packet, NULL) + AT_NUMBER);
        ck_assert_uint_lt(number, DUE);
        ck_assert(!seen[number]);
        seen[number] = true;
        fake_free(send.packet);
    }
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

START_TEST(numbers_start_anew_with_a_run)
{
    struct fake_net *net = fake_net_open(&bench_service, (cw_dims){2, 1, 1});
    for (uint32_t run = 1; run <= 4; run++) {
        start_all(net, (struct bench_plan){.mode = BENCH_ALL, .rate = 8000 * 1000, .size = 100, .run = run / 2 + 1});
        fake_net_run(net, CW_MS(10));
    }
    stop_all(net);
    fake_net_run(net, CW_MS(10));
    struct bench_stats sum = sum_of(net);
    ck_assert_uint_eq(sum.received, sum.sent);
    ck_assert_uint_eq(sum.lost + sum.duplicated + sum.reordered, 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(windows_are_wide_where_servers_are_few)
{
    static const struct {
        cw_dims dims;
        uint32_t width;
    } table[] = {{{2, 1, 1}, 1024}, {{4, 4, 4}, 1024},  {{5, 5, 5}, 512},
                 {{8, 8, 8}, 128},  {{16, 16, 16}, 64}, {{32, 32, 32}, 64}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        cw_svc *s = fake_open(&bench_service, table[i].dims, (cw_coord){0, 0, 0});
        const struct engine *e = cw_state(s);
        ck_assert_uint_eq(e->width, table[i].width);
        fake_close(s);
    }
}
END_TEST

START_TEST(plans_that_are_none)
{
    static const struct bench_plan bad[] = {
        {.mode = BENCH_IDLE, .rate = 1, .size = 100},         {.mode = BENCH_ALL, .rate = 0, .size = 100},
        {.mode = BENCH_ALL, .rate = UINT64_MAX, .size = 100}, {.mode = BENCH_ALL, .rate = 1, .size = 31},
        {.mode = BENCH_ALL, .rate = 1, .size = FAKE_MTU + 1}, {.mode = BENCH_LINKS, .count = 0, .size = 100},
        {.mode = BENCH_LINKS, .count = 7, .size = 100},       {.mode = (enum bench_mode)9, .rate = 1, .size = 100},
    };
    cw_svc *s = fake_open(&bench_service, (cw_dims){3, 1, 1}, (cw_coord){0, 0, 0});
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(api_of(s)->start(s, &bad[i]) == -EINVAL, "plan %zu", i);
    }
    fake_close(s);
    s = fake_open(&bench_service, (cw_dims){1, 1, 1}, (cw_coord){0, 0, 0});
    ck_assert_int_eq(api_of(s)->start(s, &(struct bench_plan){.mode = BENCH_ALL, .rate = 1, .size = 100}),
                     -ENETUNREACH);
    ck_assert_int_eq(api_of(s)->start(s, &(struct bench_plan){.mode = BENCH_KEYS, .rate = 1, .size = 100}), 0);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(all_to_all_arrives),
    SUITE_TEST(random_keys_arrive),
    SUITE_TEST(losses_are_found),
    SUITE_TEST(the_rate_is_exact),
    SUITE_TEST(repeats_from_its_seed),
    SUITE_TEST(never_to_itself_nor_to_the_dead),
    SUITE_TEST(an_open_loop),
    SUITE_TEST(no_timer_ends_the_run),
    SUITE_TEST(links_are_kept_full),
    SUITE_TEST(links_come_and_go),
    SUITE_TEST(links_by_its_own_queue),
    SUITE_TEST(what_arrives_twice_or_late),
    SUITE_TEST(keys_show_duplicates_only),
    SUITE_TEST(links_are_streams_of_their_own),
    SUITE_TEST(strange_packets_are_counted),
    SUITE_TEST(untracked_runs_keep_no_tables),
    SUITE_TEST(untracked_packets_of_one_instant_differ),
    SUITE_TEST(numbers_start_anew_with_a_run),
    SUITE_TEST(windows_are_wide_where_servers_are_few),
    SUITE_TEST(plans_that_are_none),
};
SUITE_MAIN("engine", tests)
