/* SPDX-License-Identifier: Apache-2.0 */
#include "node_bench.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

/* What a traced packet says on its arrival, as the probe sees it. */
static unsigned reports;

static cw_verdict read_trace(cw_svc *s, cw_packet *p, const cw_rx *rx)
{
    cw_trace_hop hop = {.size = sizeof hop};
    for (reports = 0; cw_packet_trace(p, reports, &hop) == 0; reports++) {
        bool last = reports == rx->hops;
        ck_assert_uint_eq(hop.server.z, reports);
        ck_assert_uint_eq(hop.in, reports == 0 ? CW_LINK_SELF : CW_LINK_ZM);
        ck_assert_uint_eq(hop.out, last ? CW_LINK_SELF : CW_LINK_ZP);
    }
    hop.size = 1;
    ck_assert_int_eq(cw_packet_trace(p, 0, &hop), -EINVAL);
    ck_assert_int_eq(cw_packet_trace(p, 0, NULL), -EINVAL);
    (void)s;
    return CW_DROP;
}

START_TEST(a_trace_tells_the_whole_way)
{
    struct bench *b = bench_open((cw_dims){1, 1, 5});
    bench_start_all(b);
    bench_settle(b);
    b->hooks.on_packet = read_trace;
    cw_send_options options = {CW_SEND_INIT, .trace = true};
    for (cw_server to = 0; to <= 2; to++) {
        cw_svc *s = bench_svc(b, 0);
        cw_to where = to_server(b, to);
        reports = 99;
        ck_assert_int_eq(cw_send(s, cw_packet_new(s, 4), &where, &options), 0);
        bench_kick(b, 0);
        bench_run(b, CW_MS(3));
        ck_assert_uint_eq(reports, to + 1);
        ck_assert_int_eq(cw_send(s, cw_packet_new(s, 4), &where, NULL), 0);
        bench_kick(b, 0);
        bench_run(b, CW_MS(3));
        ck_assert_uint_eq(reports, 0);
    }
    bench_close(b);
}
END_TEST

static struct bench *two(void)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    bench_start_all(b);
    bench_settle(b);
    bench_forget_notes(b);
    return b;
}

START_TEST(new_ones_are_zero_and_within_limits)
{
    struct bench *b = two();
    cw_svc *s = bench_svc(b, 0);
    size_t mtu = cw_mtu(s), length;
    ck_assert_uint_eq(mtu, 1500 - 8 - 32);
    for (size_t want = 0; want <= mtu; want += want < 300 ? 1 : 97) {
        cw_packet *p = cw_packet_new(s, want);
        uint8_t *bytes = cw_packet_data(p, &length);
        ck_assert_uint_eq(length, want);
        for (size_t i = 0; i < want; i++) {
            if (bytes[i] != 0) {
                ck_abort_msg("byte %zu of %zu", i, want);
            }
        }
        memset(bytes, 0xff, want);
        cw_packet_free(s, p);
    }
    ck_assert_ptr_null(cw_packet_new(s, mtu + 1));
    ck_assert_ptr_null(cw_packet_new(s, SIZE_MAX));
    ck_assert_ptr_null(cw_packet_new_padded(s, 1, mtu));
    ck_assert_ptr_null(cw_packet_new_padded(s, 10, SIZE_MAX));
    cw_packet *p = cw_packet_new_padded(s, 1, mtu - 1);
    ck_assert_uint_eq(cw_packet_pad(p), mtu - 1);
    ck_assert_uint_lt(p->room, 256); /* the pad costs no memory */
    cw_packet_free(s, p);
    bench_close(b);
}
END_TEST

START_TEST(a_service_has_so_many_in_hand)
{
    struct bench *b = two();
    cw_svc *s = bench_svc(b, 0);
    static cw_packet *p[NODE_HANDS_MAX];
    for (unsigned i = 0; i < NODE_HANDS_MAX; i++) {
        p[i] = cw_packet_new(s, 10);
        ck_assert_ptr_nonnull(p[i]);
    }
    ck_assert_ptr_null(cw_packet_new(s, 10));
    cw_to to = to_server(b, 1);
    ck_assert_int_eq(cw_send(s, p[0], &to, NULL), 0); /* out of its hands */
    p[0] = cw_packet_new(s, 10);
    ck_assert_ptr_nonnull(p[0]);
    for (unsigned i = 0; i < NODE_HANDS_MAX; i++) {
        cw_packet_free(s, p[i]);
    }
    cw_packet_free(s, NULL);
    ck_assert_uint_eq(s->in_hand, 0);
    bench_close(b);
}
END_TEST

START_TEST(resize_within_its_memory)
{
    struct bench *b = two();
    cw_svc *s = bench_svc(b, 0);
    size_t mtu = cw_mtu(s), length;
    cw_packet *p = cw_packet_new(s, mtu);
    uint8_t *bytes = cw_packet_data(p, NULL);
    memset(bytes, 0xee, mtu);
    ck_assert_int_eq(cw_packet_resize(p, 10), 0);
    ck_assert_int_eq(cw_packet_resize(p, 20), 0);
    ck_assert_ptr_eq(cw_packet_data(p, &length), bytes);
    ck_assert_uint_eq(length, 20);
    ck_assert(bytes[9] == 0xee && bytes[10] == 0 && bytes[19] == 0);
    ck_assert_int_eq(cw_packet_resize(p, SIZE_MAX), -EMSGSIZE);
    ck_assert_int_eq(cw_packet_resize(p, 9000), -EMSGSIZE);
    cw_packet_free(s, p);
    p = cw_packet_new(s, 10);
    ck_assert_int_eq(cw_packet_resize(p, 90), 0); /* a small packet has a little more */
    ck_assert_int_eq(cw_packet_resize(p, 300), -EMSGSIZE);
    cw_packet_free(s, p);
    /* The pad counts. */
    p = cw_packet_new_padded(s, 1000, 400);
    ck_assert_int_eq(cw_packet_resize(p, 9000 - 8 - 32 - 400 + 1), -EMSGSIZE);
    cw_packet_free(s, p);
    bench_close(b);
}
END_TEST

/* What a queue counts of a packet must not be changed behind its back; and nothing follows from no packet at all. */
START_TEST(out_of_its_hands_it_keeps_its_length)
{
    struct bench *b = two();
    cw_svc *s = bench_svc(b, 0);
    cw_to to = to_server(b, 1);
    size_t length = 1;
    cw_packet *p = cw_packet_new(s, 100);
    ck_assert_int_eq(cw_send(s, p, &to, NULL), 0);
    uint32_t bytes = s->main.queue.bytes;
    ck_assert_int_eq(cw_packet_resize(p, 10), -EINVAL);
    ck_assert_int_eq(cw_packet_resize(p, 110), -EINVAL);
    bench_kick(b, 0);
    ck_assert_uint_eq(s->main.queue.bytes, bytes - 100 - PACKET_HEAD_BYTES);
    bench_run(b, CW_MS(1));
    const struct note *note = NULL;
    ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, &note), 1);
    ck_assert_uint_eq(note->length, 100);
    ck_assert_int_eq(cw_packet_resize(NULL, 1), -EINVAL);
    ck_assert_ptr_null(cw_packet_data(NULL, NULL));
    ck_assert_ptr_null(cw_packet_data(NULL, &length));
    ck_assert_uint_eq(length + cw_packet_pad(NULL), 0);
    cw_packet_keep(NULL);
    bench_close(b);
}
END_TEST

/* What the receiver does with the packet it was lent. */
enum habit { TAKE, KEEP, KEEP_AND_FORWARD, FREE_AND_TAKE, FREE_AND_DROP, SEND_AND_DROP, RETURN, HABITS };
static struct {
    enum habit habit;
    cw_packet *kept;
} lent;

static cw_verdict lent_packet(cw_svc *s, cw_packet *p, const cw_rx *rx)
{
    cw_to back = {.kind = CW_TO_SERVER, .job = PROBE_JOB, .server = rx->src_server, .process = rx->src_process};
    if (cw_server_id(s, cw_self(s)) == 0) {
        return CW_DROP;
    }
    switch (lent.habit) {
    case TAKE:
        lent.kept = p;
        return CW_TAKE;
    case KEEP:
    case KEEP_AND_FORWARD:
        cw_packet_keep(p);
        lent.kept = p;
        return lent.habit == KEEP ? CW_DROP : CW_FORWARD;
    case FREE_AND_TAKE:
    case FREE_AND_DROP:
        cw_packet_free(s, p);
        cw_packet_free(s, cw_packet_new(s, 5)); /* perhaps the same memory */
        return lent.habit == FREE_AND_TAKE ? CW_TAKE : CW_DROP;
    case SEND_AND_DROP:
        ck_assert_int_eq(cw_send(s, p, &back, NULL), 0);
        ck_assert_int_eq(cw_send(s, p, &back, NULL), -EINVAL);
        return CW_DROP;
    default:
        return CW_FORWARD;
    }
}

START_TEST(lent_packets_are_disposed_of_once)
{
    for (enum habit habit = TAKE; habit < HABITS; habit++) {
        struct bench *b = two();
        b->hooks.on_packet = lent_packet;
        lent.habit = habit;
        lent.kept = NULL;
        cw_to to = to_server(b, 1);
        ck_assert_int_eq(send_text(b, 0, "payload", &to, NULL), 0);
        bench_run(b, CW_MS(1));
        cw_svc *s = bench_svc(b, 1);
        ck_assert_uint_eq(s->in_hand, lent.kept != NULL);
        if (lent.kept != NULL) {
            size_t length;
            ck_assert_int_eq(memcmp(cw_packet_data(lent.kept, &length), "payload", 7), 0);
            ck_assert_uint_eq(length, 7);
            cw_to back = to_server(b, 0);
            cw_packet_keep(lent.kept); /* too late to mean anything */
            ck_assert_int_eq(cw_send(s, lent.kept, &back, NULL), 0);
            bench_kick(b, 1);
        }
        bench_run(b, CW_MS(1));
        const struct note *note = NULL;
        unsigned back = lent.kept != NULL || habit == SEND_AND_DROP;
        ck_assert_uint_eq(bench_notes(b, 0, NOTE_PACKET, &note), back);
        ck_assert(!back || (note->length == 7 && memcmp(note->first, "payload", 7) == 0));
        ck_assert_uint_eq(s->in_hand, 0);
        bench_close(b);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_trace_tells_the_whole_way),          SUITE_TEST(new_ones_are_zero_and_within_limits),
    SUITE_TEST(a_service_has_so_many_in_hand),        SUITE_TEST(resize_within_its_memory),
    SUITE_TEST(out_of_its_hands_it_keeps_its_length), SUITE_TEST(lent_packets_are_disposed_of_once),
};
SUITE_MAIN("svc_packet", tests)
