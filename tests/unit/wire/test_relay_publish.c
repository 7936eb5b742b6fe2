/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/relay_publish.h"

#include "base/bytes.h"
#include "sanitized.h"
#include "suite.h"
#include "wire/relay.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* I3, with threads: what a generation publishes follows from its number, in every word. */
enum { SIDE = 8, SERVERS = SIDE * SIDE * SIDE, IN = 5, OUTS = 5, PEER = 4711, GENERATIONS = SANITIZED ? 2000 : 40000 };
enum { JUDGES = 2 };

static struct relay_state state;
static struct relay_writer writer;
static uint8_t way[SERVERS];
static atomic_bool over;

static void publish(uint32_t gen)
{
    struct relay_draft draft = {
        .dims = {SIDE, SIDE, SIDE}, .in = CW_LINKS_ALL, .out = CW_LINKS_ALL, .way = way, .way_epoch = gen};
    struct relay_job job[] = {{3, gen % 60 + 1}, {4000, RELAY_UP}};
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        draft.link[i] = (struct relay_link){.ifindex = gen,
                                            .session = (uint16_t)gen,
                                            .peer = PEER,
                                            .top = (uint16_t)(gen * 3),
                                            .mtu = 9000,
                                            .mac = {gen, gen * 3, gen * 5}};
    }
    memset(way, RELAY_WAY_HOME | 1 << gen % OUTS, sizeof way);
    relay_publish(
        &writer,
        &(struct relay_news){.lease = 10, .live = CW_LINKS_ALL, .view = &draft, .jobs = &(struct relay_jobs){2, job}});
}

static void *judge(void *context)
{
    uint64_t *passed = context;
    for (uint32_t round = 0; !atomic_load(&over); round++) {
        uint8_t frame[RELAY_HEADS_BYTES] = {0}, *head = frame + RELAY_AT_FRAME, *packet = frame + RELAY_AT_PACKET;
        struct relay_verdict verdict;
        put_be16(frame + RELAY_AT_ETHERTYPE, WIRE_ETHERTYPE);
        head[FRAME_AT_VERSION] = WIRE_VERSION_NOW << 4;
        head[FRAME_AT_PACKETS] = 1;
        put_be16(head + FRAME_AT_SESSION, PEER);
        packet[PACKET_AT_KIND] = WIRE_VERSION_NOW << 4 | PACKET_KEY;
        put_be16(packet + PACKET_AT_LENGTH, PACKET_HEAD_BYTES);
        packet[PACKET_AT_HOP_LIMIT] = 64;
        put_be32(packet + PACKET_AT_JOB, round % 4 == 0 ? 3 : 5000);
        put_be32(packet + PACKET_AT_DESTINATION, round * 0x9e3779b1u);
        relay_judge(&state, frame, frame + sizeof frame, sizeof frame, IN, 1, &verdict);
        if (verdict.reason == RELAY_PASSED) {
            uint32_t gen = verdict.ifindex, mac[3];
            memcpy(mac, frame, sizeof mac);
            SUITE_HOLDS(verdict.out == gen % OUTS, "generation %u, link %u", gen, verdict.out);
            SUITE_HOLDS(get_be16(head + FRAME_AT_SESSION) == (uint16_t)gen, "generation %u", gen);
            SUITE_HOLDS(get_be16(head + FRAME_AT_POSITION) == (uint16_t)(gen * 3), "generation %u", gen);
            SUITE_HOLDS(mac[0] == gen && mac[1] == gen * 3 && mac[2] == gen * 5, "generation %u", gen);
            ++*passed;
        }
    }
    return NULL;
}

START_TEST(a_verdict_is_of_one_generation)
{
    pthread_t thread[JUDGES];
    uint64_t passed[JUDGES] = {0};
    relay_writer_open(&writer, &state, WIRE_ETHERTYPE);
    publish(1);
    for (unsigned i = 0; i < JUDGES; i++) {
        ck_assert_int_eq(pthread_create(&thread[i], NULL, judge, &passed[i]), 0);
    }
    for (uint32_t gen = 2; gen < GENERATIONS; gen++) {
        publish(gen);
    }
    atomic_store(&over, true);
    for (unsigned i = 0; i < JUDGES; i++) {
        pthread_join(thread[i], NULL);
    }
    printf("%u generations, %llu verdicts\n", state.gen, (unsigned long long)(passed[0] + passed[1]));
    ck_assert_uint_gt(passed[0] + passed[1], 0);
    ck_assert_uint_eq(state.gen, GENERATIONS - 1);
}
END_TEST

START_TEST(nothing_is_live_until_it_is_published)
{
    state.live = 0x3f;
    state.lease = 9;
    relay_writer_open(&writer, &state, 0x9000);
    ck_assert_uint_eq(state.live, 0);
    ck_assert_uint_eq(state.lease, 0);
    ck_assert_uint_eq(state.ethertype, 0x9000);
    publish(1);
    ck_assert_uint_eq(state.live, CW_LINKS_ALL);
    ck_assert_uint_eq(state.lease, 10);
}
END_TEST

START_TEST(what_fails_is_cut_at_once)
{
    relay_writer_open(&writer, &state, WIRE_ETHERTYPE);
    publish(1);
    relay_cut(&state, 0x5);
    ck_assert_uint_eq(state.live, CW_LINKS_ALL & ~0x5);
    ck_assert_uint_eq(state.gen, 1);
    relay_stop(&state);
    ck_assert_uint_eq(state.live, 0);
    ck_assert_uint_eq(state.lease, 0);
}
END_TEST

START_TEST(without_a_new_view_the_generation_stays)
{
    relay_writer_open(&writer, &state, WIRE_ETHERTYPE);
    publish(1);
    struct relay_news news = {
        .lease = 7, .live = 0x3, .waits = 0x1, .tapped = 0x2, .taken = {[2] = 5}, .sent_until = {[3] = 6}};
    relay_publish(&writer, &news);
    ck_assert_uint_eq(state.gen, 1);
    ck_assert_uint_eq(state.live, 0x3);
    ck_assert_uint_eq(state.lease, 7);
    ck_assert_uint_eq(state.waits, 0x1);
    ck_assert_uint_eq(state.tapped, 0x2);
    ck_assert_uint_eq(state.queue[2].taken, 5);
    ck_assert_uint_eq(state.queue[3].sent_until, 6);
    news.tapped = 0;
    news.lease = 11;
    relay_publish(&writer, &news);
    ck_assert_uint_eq(state.tapped, 0);
    ck_assert_uint_eq(state.lease, 11);
    state.queue[4].handed = 8;
    ck_assert_uint_eq(relay_handed(&state, 4), 8);
    relay_pace(&state, 4, 100, 200);
    ck_assert_uint_eq(state.queue[4].ns_per_kib, 100);
    ck_assert_uint_eq(state.queue[4].slack, 200);
}
END_TEST

START_TEST(routes_are_copied_once_for_each_view)
{
    static uint8_t routes[27];
    struct relay_draft draft = {.dims = {3, 3, 3}, .way = routes, .way_epoch = 1};
    struct relay_news news = {.view = &draft};
    relay_writer_open(&writer, &state, WIRE_ETHERTYPE);
    memset(routes, 1, sizeof routes);
    relay_publish(&writer, &news);
    relay_publish(&writer, &news);
    ck_assert_mem_eq(state.view[0].way, routes, sizeof routes);
    ck_assert_mem_eq(state.view[1].way, routes, sizeof routes);
    memset(routes, 2, sizeof routes); /* without another epoch the writer need not look */
    relay_publish(&writer, &news);
    ck_assert_uint_eq(state.view[state.gen & 1].way[0], 1);
    draft.way_epoch = 2;
    relay_publish(&writer, &news);
    ck_assert_uint_eq(state.view[state.gen & 1].way[26], 2);
    ck_assert_uint_eq(state.view[~state.gen & 1].way[26], 1);
    ck_assert_uint_eq(state.view[0].servers, 27);
}
END_TEST

START_TEST(jobs_come_go_and_find_no_entry)
{
    struct relay_job job[8] = {{1, 1}, {2, RELAY_UP}};
    struct relay_jobs jobs = {2, job};
    struct relay_news news = {.jobs = &jobs};
    relay_writer_open(&writer, &state, WIRE_ETHERTYPE);
    relay_publish(&writer, &news);
    ck_assert_uint_eq(relay_place_of(&state, 1), 1);
    ck_assert_uint_eq(relay_place_of(&state, 2), RELAY_UP);
    ck_assert_uint_eq(relay_place_of(&state, 9999), RELAY_OTHERS);
    job[1] = (struct relay_job){2, 6};
    relay_publish(&writer, &news);
    ck_assert_uint_eq(relay_place_of(&state, 2), 6);
    jobs.count = 1;
    relay_publish(&writer, &news);
    ck_assert_uint_eq(relay_place_of(&state, 2), RELAY_UP); /* built in, and not here */
    /* Six jobs that want the same four entries. */
    unsigned found = 0;
    for (uint32_t number = RELAY_JOBS_FREE; found < 6; number++) {
        if (relay_job_at(number) == RELAY_JOBS - 2) {
            job[found++] = (struct relay_job){number, 7};
        }
    }
    jobs.count = 6;
    relay_publish(&writer, &news);
    ck_assert_uint_eq(state.others_up, 1);
    for (unsigned i = 0; i < 6; i++) {
        ck_assert_uint_eq(relay_place_of(&state, job[i].job), i < RELAY_JOB_TRIES ? 7 : RELAY_UP);
    }
    jobs.count = RELAY_JOB_TRIES;
    relay_publish(&writer, &news);
    ck_assert_uint_eq(state.others_up, 0);
    jobs.count = 0;
    relay_publish(&writer, &news);
    for (unsigned i = 0; i < RELAY_JOBS; i++) {
        ck_assert_uint_eq(state.job[i], 0);
    }
}
END_TEST

START_TEST(a_large_torus_has_no_relay)
{
    ck_assert(relay_torus_fits((cw_dims){16, 16, 16}));
    ck_assert(relay_torus_fits((cw_dims){1, 16, 256}));
    ck_assert(!relay_torus_fits((cw_dims){16, 16, 17}));
    ck_assert(!relay_torus_fits((cw_dims){256, 256, 256}));
}
END_TEST

START_TEST(a_job_must_have_a_number)
{
    struct relay_job job = {0, 1};
    relay_writer_open(&writer, &state, WIRE_ETHERTYPE);
    relay_publish(&writer, &(struct relay_news){.jobs = &(struct relay_jobs){1, &job}});
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_verdict_is_of_one_generation),
    SUITE_TEST(nothing_is_live_until_it_is_published),
    SUITE_TEST(what_fails_is_cut_at_once),
    SUITE_TEST(without_a_new_view_the_generation_stays),
    SUITE_TEST(routes_are_copied_once_for_each_view),
    SUITE_TEST(jobs_come_go_and_find_no_entry),
    SUITE_TEST(a_large_torus_has_no_relay),
    SUITE_ABORTS(a_job_must_have_a_number),
};

SUITE_MAIN("relay_publish", tests)
