/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/key.h"
#include "keyspace/owner.h"
#include "node_bench.h"
#include "rng.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { NOT_HERE = 2000 }; /* a job that may be reached, and is no service */

static struct bench *torus_of(cw_dims dims)
{
    struct bench *b = bench_open(dims);
    bench_allow(b, PROBE_JOB, NOT_HERE);
    bench_start_all(b);
    bench_settle(b);
    bench_forget_notes(b);
    return b;
}

static int try_send(struct bench *b, size_t length, const cw_to *to, const cw_send_options *options)
{
    cw_svc *s = bench_svc(b, 0);
    cw_packet *p = cw_packet_new(s, length);
    ck_assert_ptr_nonnull(p);
    int rc = cw_send(s, p, to, options);
    if (rc < 0) {
        ck_assert_uint_eq(s->in_hand, 1); /* still ours */
        cw_packet_free(s, p);
    }
    ck_assert_uint_eq(s->in_hand, 0);
    return rc;
}

START_TEST(bad_arguments_are_refused)
{
    struct bench *b = torus_of((cw_dims){1, 2, 3});
    cw_svc *s = bench_svc(b, 0);
    const cw_to key = to_route(5), server = to_server(b, 1);
    const cw_coord inside = {0, 1, 2}, outside = {1, 0, 0}, many[17] = {{0, 0, 0}};
    const cw_coord mixed[] = {{0, 1, 1}, {0, 2, 0}};
    struct {
        cw_to to;
        cw_send_options options;
        int rc;
    } table[] = {
        {.to = {.kind = CW_TO_SERVER, .server = inside}, .rc = -EINVAL}, /* no job */
        {.to = {.kind = CW_TO_SERVER, .server = inside, .job = 99}, .rc = -EACCES},
        {.to = {.kind = CW_TO_SERVER, .server = inside, .process = 5, .job = NOT_HERE}, .rc = -ENOENT},
        {.to = {.kind = CW_TO_SERVER, .server = outside, .job = PROBE_JOB}, .rc = -EINVAL},
        {.to = {.job = PROBE_JOB}, .rc = -EINVAL},
        {.to = {.kind = (cw_to_kind)4, .job = PROBE_JOB}, .rc = -EINVAL},
        {.to = {.kind = CW_TO_LINK, .job = PROBE_JOB, .link = 6}, .rc = -EINVAL},
        {.to = {.kind = CW_TO_LINK, .job = PROBE_JOB, .link = CW_LINK_XP}, .rc = -EINVAL}, /* no such cable */
        {.to = {.kind = CW_TO_LINK, .job = PROBE_JOB, .link = CW_LINK_ZP, .process = 1}, .rc = 0},
        {.to = server, .options = {.size = 1}, .rc = -EINVAL},
        {.to = server, .options = {.size = SIZE_MAX}, .rc = -EINVAL},
        {.to = server, .options = {.size = sizeof(cw_send_options), .full_key = true}, .rc = -EINVAL},
        {.to = server, .options = {.size = sizeof(cw_send_options), .waypoints = 1}, .rc = -EINVAL},
        {.to = server, .options = {.size = sizeof(cw_send_options), .waypoints = 17, .waypoint = many}, .rc = -EINVAL},
        {.to = server,
         .options = {.size = sizeof(cw_send_options), .waypoints = UINT32_MAX, .waypoint = many},
         .rc = -EINVAL},
        {.to = server, .options = {.size = sizeof(cw_send_options), .waypoints = 2, .waypoint = mixed}, .rc = -EINVAL},
        {.to = server, .options = {.size = sizeof(cw_send_options), .waypoints = 16, .waypoint = many}, .rc = 0},
        {.to = key, .options = {.size = sizeof(cw_send_options), .full_key = true, .hop_limit = 255}, .rc = 0},
        {.to = {.kind = CW_TO_LINK, .job = PROBE_JOB, .link = CW_LINK_ZP, .process = 1},
         .options = {.size = sizeof(cw_send_options), .waypoints = 1, .waypoint = many},
         .rc = -EINVAL},
        {.to = {.kind = CW_TO_LINK, .job = PROBE_JOB, .link = CW_LINK_ZP, .process = 1},
         .options = {.size = sizeof(cw_send_options), .hop_limit = 2},
         .rc = -EINVAL},
    };
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        const cw_send_options *options = table[i].options.size != 0 ? &table[i].options : NULL;
        int rc = try_send(b, 20, &table[i].to, options);
        ck_assert_msg(rc == table[i].rc, "row %u: %d", i, rc);
    }
    cw_packet *p = cw_packet_new(s, 1);
    ck_assert_int_eq(cw_send(s, p, NULL, NULL), -EINVAL);
    ck_assert_int_eq(cw_send(s, NULL, &server, NULL), -EINVAL);
    cw_packet_free(s, p);
    uint64_t drops = node_drops(b->node[0], CW_DROP_NO_SERVICE);
    cw_to nobody = {.kind = CW_TO_KEY, .job = NOT_HERE};
    cw_send_or_drop(s, cw_packet_new(s, 1), &nobody, NULL);
    cw_send_or_drop(s, NULL, &nobody, NULL);
    ck_assert_uint_eq(node_drops(b->node[0], CW_DROP_NO_SERVICE), drops + 1);
    bench_close(b);
}
END_TEST

/* A structure of a later API is understood as long as it says nothing new. */
START_TEST(larger_options)
{
    struct bench *b = torus_of((cw_dims){1, 1, 2});
    struct {
        cw_send_options known;
        uint64_t later;
    } options = {.known = {.size = sizeof options, .hop_limit = 9}};
    cw_to to = to_server(b, 1);
    ck_assert_int_eq(try_send(b, 1, &to, &options.known), 0);
    options.later = 1;
    ck_assert_int_eq(try_send(b, 1, &to, &options.known), -EINVAL);
    bench_close(b);
}
END_TEST

START_TEST(sizes_to_the_byte)
{
    struct bench *b = torus_of((cw_dims){2, 2, 2});
    size_t mtu = cw_mtu(bench_svc(b, 0));
    cw_to key = to_route(UINT64_MAX), server = to_server(b, 7);
    cw_coord way[3] = {{1, 0, 0}, {1, 1, 0}, {0, 1, 1}};
    struct {
        const cw_to *to;
        cw_send_options options;
        size_t cost;
    } table[] = {
        {&server, {CW_SEND_INIT}, 0},
        {&key, {CW_SEND_INIT, .full_key = true}, 16},
        {&server, {CW_SEND_INIT, .waypoints = 3, .waypoint = way}, 16},
        {&server, {CW_SEND_INIT, .record_path = true}, 8},
        {&server, {CW_SEND_INIT, .record_path = true, .waypoints = 1, .waypoint = way}, 32 + 8},
        {&server, {CW_SEND_INIT, .trace = true}, 20},
    };
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        size_t most = mtu - table[i].cost;
        ck_assert_int_eq(try_send(b, most, table[i].to, &table[i].options), 0);
        if (most < mtu) {
            ck_assert_int_eq(try_send(b, most + 1, table[i].to, &table[i].options), -EMSGSIZE);
        }
        const struct note *note = NULL;
        bench_kick(b, 0);
        bench_run(b, CW_MS(1));
        ck_assert_uint_eq(bench_notes(b, 7, NOTE_PACKET, &note), 1);
        ck_assert_uint_eq(note->length, most);
        bench_forget_notes(b);
    }
    bench_close(b);
}
END_TEST

/* ---- What was sent is what arrives, whatever stands before it ---------------------------------------------------- */

static struct {
    uint8_t bytes[1500];
    size_t length, pad;
    cw_coord way[CW_WAYPOINTS_MAX];
    cw_send_options options;
    cw_to to;
    unsigned arrived, passed;
} expect;

static cw_verdict compare_packet(cw_svc *s, cw_packet *p, const cw_rx *rx)
{
    size_t length;
    const uint8_t *bytes = cw_packet_data(p, &length);
    if (length != expect.length || cw_packet_pad(p) != expect.pad || memcmp(bytes, expect.bytes, length) != 0) {
        ck_abort_msg("payload of %zu + %zu", expect.length, expect.pad);
    }
    if (rx->where == CW_TRANSIT) {
        cw_coord here = cw_self(s), *next = &expect.way[expect.passed];
        if (expect.passed < expect.options.waypoints && memcmp(&here, next, sizeof here) == 0) {
            expect.passed++;
        }
        return CW_FORWARD;
    }
    expect.arrived++;
    ck_assert_uint_eq(rx->kind, expect.to.kind);
    ck_assert_uint_eq(rx->port, expect.to.port);
    if (rx->kind == CW_TO_KEY) {
        ck_assert_uint_eq(key_route64(&rx->key), key_route64(&expect.to.key));
        cw_key cut = {{0}};
        memcpy(cut.b + 12, expect.to.key.b + 12, 8);
        ck_assert_int_eq(memcmp(&rx->key, expect.options.full_key ? &expect.to.key : &cut, sizeof cut), 0);
        ck_assert(cw_is_root(s, &rx->key));
    } else {
        cw_coord here = cw_self(s);
        ck_assert_int_eq(memcmp(&rx->server, &here, sizeof here), 0);
    }
    /* Whatever the options: the bytes are a packet that the decoder takes. */
    struct packet_head head;
    struct packet_exts exts;
    ck_assert_int_eq(packet_decode(p->data, p->length + p->pad, &head, &exts), WIRE_OK);
    ck_assert_uint_eq(exts.at[EXT_TRACE] != 0, expect.options.trace);
    if (exts.at[EXT_TRACE] != 0) {
        unsigned places = ext_trace_places(p->data + exts.at[EXT_TRACE]);
        unsigned reports = ext_trace_entries(p->data + exts.at[EXT_TRACE]);
        ck_assert_uint_eq(reports, rx->hops + 1 < places ? rx->hops + 1 : places); /* and the one that took it */
    }
    if (exts.at[EXT_PATH] != 0) {
        struct ext_path path;
        ext_path_read(p->data + exts.at[EXT_PATH], &path);
        ck_assert_int_eq(path.mode, EXT_PATH_RECORD);
        ck_assert_uint_eq(path.hops, rx->hops);
    }
    return CW_FORWARD;
}

static void random_send(struct bench *b, struct rng *rng)
{
    cw_svc *s = bench_svc(b, 0);
    memset(&expect.options, 0, sizeof expect.options);
    expect.options.size = sizeof expect.options;
    expect.options.record_path = rng_below(rng, 2);
    expect.options.trace = rng_below(rng, 8) == 0;
    expect.options.waypoints = rng_below(rng, 3) == 0 ? (unsigned)rng_below(rng, CW_WAYPOINTS_MAX + 1) : 0;
    expect.options.waypoint = expect.way;
    cw_server last = 0;
    for (unsigned i = 0; i < expect.options.waypoints; i++) {
        /* Never where it is already: passing there would not be seen. */
        last = (last + 1 + (cw_server)rng_below(rng, b->torus.servers - 1)) % b->torus.servers;
        expect.way[i] = torus_coord(&b->torus, last);
    }
    if (rng_below(rng, 2)) {
        expect.to = to_route(rng_next(rng));
        expect.to.key.b[rng_below(rng, 12)] = (uint8_t)rng_next(rng);
        expect.options.full_key = rng_below(rng, 2);
    } else {
        expect.to = to_server(b, (cw_server)rng_below(rng, b->torus.servers));
    }
    expect.to.port = (cw_port)rng_next(rng);
    size_t room = cw_mtu(s) - 300 * (expect.options.trace + 1u) / 2 - 150;
    expect.length = rng_below(rng, 2) ? rng_below(rng, 200) : rng_below(rng, room);
    expect.pad = rng_below(rng, 4) == 0 ? rng_below(rng, room - expect.length + 1) : 0;
    for (size_t i = 0; i < expect.length; i++) {
        expect.bytes[i] = (uint8_t)rng_next(rng);
    }
    expect.arrived = expect.passed = 0;
    /* Made too long and cut, or as it is: the room behind differs. */
    size_t more = rng_below(rng, 2) ? rng_below(rng, room - expect.length - expect.pad + 1) : 0;
    cw_packet *p = cw_packet_new_padded(s, expect.length + more, expect.pad);
    ck_assert_int_eq(cw_packet_resize(p, expect.length), 0);
    memcpy(cw_packet_data(p, NULL), expect.bytes, expect.length);
    ck_assert_int_eq(cw_send(s, p, &expect.to, &expect.options), 0);
    bench_kick(b, 0);
    bench_run(b, CW_MS(3));
    ck_assert_uint_eq(expect.arrived, 1);
}

START_TEST(all_options_together)
{
    struct bench *b = bench_open((cw_dims){2, 3, 4});
    b->hooks.on_path = CW_PATH_ALL;
    bench_start_all(b);
    bench_settle(b);
    b->hooks.on_packet = compare_packet;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct rng rng = {seed};
        for (unsigned i = 0; i < 400; i++) {
            random_send(b, &rng);
        }
        bench_forget_notes(b);
    }
    bench_close(b);
}
END_TEST

/*
 * Way-points are passed in order: counted where transit is seen, that is everywhere but where the packet is made or
 * ends.
 */
START_TEST(waypoints_are_passed_in_order)
{
    struct bench *b = bench_open((cw_dims){4, 4, 1});
    b->hooks.on_path = CW_PATH_ALL;
    bench_start_all(b);
    bench_settle(b);
    b->hooks.on_packet = compare_packet;
    memset(&expect, 0, sizeof expect);
    expect.options = (cw_send_options){CW_SEND_INIT, .waypoint = expect.way, .waypoints = 4};
    cw_server way[] = {10, 5, 15, 3};
    for (unsigned i = 0; i < 4; i++) {
        expect.way[i] = torus_coord(&b->torus, way[i]);
    }
    expect.to = to_server(b, 6);
    ck_assert_int_eq(try_send(b, 0, &expect.to, &expect.options), 0);
    bench_kick(b, 0);
    bench_run(b, CW_MS(3));
    const struct note *note = NULL;
    ck_assert_uint_eq(expect.arrived, 1);
    ck_assert_uint_eq(expect.passed, 4);
    ck_assert_uint_eq(bench_notes(b, 6, NOTE_PACKET, &note), 1);
    unsigned hops = 0;
    for (unsigned i = 0, at = 0; i <= 4; i++) {
        unsigned next = i < 4 ? way[i] : 6;
        hops += torus_distance(&b->torus, at, next);
        at = next;
    }
    ck_assert_uint_eq(note->rx.hops, hops);
    bench_close(b);
}
END_TEST

START_TEST(every_pair_in_as_many_hops_as_its_distance)
{
    struct bench *b = torus_of((cw_dims){3, 2, 4});
    for (cw_server from = 0; from < b->torus.servers; from++) {
        for (cw_server to = 0; to < b->torus.servers; to++) {
            cw_to there = to_server(b, to);
            ck_assert_int_eq(send_text(b, from, "x", &there, NULL), 0);
            bench_run(b, CW_US(200));
            const struct note *note = NULL;
            ck_assert_uint_eq(bench_notes(b, to, NOTE_PACKET, &note), 1);
            ck_assert_uint_eq(note->rx.hops, torus_distance(&b->torus, from, to));
            bench_forget_notes(b);
        }
    }
    bench_close(b);
}
END_TEST

START_TEST(hop_limit_ends_a_journey)
{
    struct bench *b = torus_of((cw_dims){1, 1, 8});
    cw_to to = to_server(b, 4);
    cw_send_options options = {CW_SEND_INIT, .hop_limit = 3};
    ck_assert_int_eq(send_text(b, 0, "x", &to, &options), 0);
    options.hop_limit = 4;
    ck_assert_int_eq(send_text(b, 0, "y", &to, &options), 0);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(b->dropped[CW_DROP_HOP_LIMIT], 1);
    ck_assert_uint_eq(bench_notes(b, 4, NOTE_PACKET, NULL), 1);
    bench_close(b);
}
END_TEST

START_TEST(full_queue_says_when_there_is_room)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    b->config.queue_packets = 10;
    bench_start_all(b);
    bench_settle(b);
    bench_forget_notes(b);
    cw_to to = to_server(b, 1);
    unsigned sent = 0;
    while (try_send(b, 1000, &to, NULL) == 0) {
        sent++;
    }
    ck_assert_uint_eq(sent, 10);
    ck_assert_int_eq(try_send(b, 1000, &to, NULL), -EAGAIN);
    ck_assert_uint_eq(bench_notes(b, 0, NOTE_WRITABLE, NULL), 0);
    uint64_t drops = node_drops(b->node[0], CW_DROP_QUEUE_FULL);
    cw_send_or_drop(bench_svc(b, 0), cw_packet_new(bench_svc(b, 0), 1), &to, NULL);
    ck_assert_uint_eq(node_drops(b->node[0], CW_DROP_QUEUE_FULL), drops + 1);
    bench_kick(b, 0);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(bench_notes(b, 0, NOTE_WRITABLE, NULL), 1); /* once, not for every packet that left */
    ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, NULL), 10);
    ck_assert_int_eq(try_send(b, 1000, &to, NULL), 0);
    /* To ourselves: the local list has its limit too. */
    to = to_server(b, 0);
    for (sent = 0; try_send(b, 0, &to, NULL) == 0; sent++) {
    }
    ck_assert_uint_eq(sent, NODE_LOCAL_MAX);
    bench_forget_notes(b);
    bench_kick(b, 0);
    ck_assert_uint_eq(bench_notes(b, 0, NOTE_WRITABLE, NULL), 1);
    bench_run(b, CW_MS(1));
    bench_close(b);
}
END_TEST

START_TEST(nobody_there)
{
    struct bench *b = torus_of((cw_dims){1, 1, 3});
    bench_kill(b, 1, true);
    bench_settle(b);
    cw_to to = to_server(b, 1), link = {.kind = CW_TO_LINK, .job = PROBE_JOB, .link = CW_LINK_ZP, .process = 1};
    ck_assert_int_eq(try_send(b, 1, &to, NULL), -ENETUNREACH);
    ck_assert_int_eq(try_send(b, 1, &link, NULL), -ENETUNREACH);
    uint64_t drops = node_drops(b->node[0], CW_DROP_NO_ROUTE);
    cw_send_or_drop(bench_svc(b, 0), cw_packet_new(bench_svc(b, 0), 1), &to, NULL);
    ck_assert_uint_eq(node_drops(b->node[0], CW_DROP_NO_ROUTE), drops + 1);
    link.link = CW_LINK_ZM;
    link.process = 2;
    ck_assert_int_eq(send_text(b, 0, "x", &link, NULL), 0);
    bench_run(b, CW_MS(1));
    const struct note *note = NULL;
    ck_assert_uint_eq(bench_notes(b, 2, NOTE_PACKET, &note), 1);
    ck_assert(note->rx.kind == CW_TO_LINK && note->rx.in == CW_LINK_ZP && note->rx.hops == 1);
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(bad_arguments_are_refused),
    SUITE_TEST(larger_options),
    SUITE_TEST(sizes_to_the_byte),
    SUITE_TEST(all_options_together),
    SUITE_TEST(waypoints_are_passed_in_order),
    SUITE_TEST(every_pair_in_as_many_hops_as_its_distance),
    SUITE_TEST(hop_limit_ends_a_journey),
    SUITE_TEST(full_queue_says_when_there_is_room),
    SUITE_TEST(nobody_there),
};
SUITE_MAIN("svc_send", tests)
