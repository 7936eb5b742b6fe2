/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/relay.h"

#include "base/bytes.h"
#include "suite.h"

#include <string.h>

/* Server 1,1,1 of 3 x 3 x 3 has a frame for 2,1,1, which came by -x and leaves by +x. */
enum { IN = CW_LINK_XM, OUT = CW_LINK_XP, NOW = 1000000, PEER = 0x1111, SESSION = 0x2222, TOP = 0x3333, RECEIVED = 10 };
enum { JOB = 5000, HERE = 13, TARGET = 22, FRAME_BYTES = 100 };

static struct relay_state state;
static struct relay_view *view;
static uint8_t frame[FRAME_BYTES], before[FRAME_BYTES];
static uint8_t *const head = frame + RELAY_AT_FRAME, *const packet = frame + RELAY_AT_PACKET;
static struct relay_verdict verdict;

static void set_up(void)
{
    memset(&state, 0, sizeof state);
    memset(frame, 0x77, sizeof frame);
    state.gen = 7;
    state.live = CW_LINKS_ALL;
    state.lease = NOW + 1;
    state.ethertype = WIRE_ETHERTYPE;
    view = &state.view[1];
    *view = (struct relay_view){.dims = {3, 3, 3}, .servers = 27, .in = CW_LINKS_ALL, .out = CW_LINKS_ALL};
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        view->link[i] = (struct relay_link){.ifindex = 100 + i, .peer = PEER, .received = RECEIVED, .mtu = 1500};
    }
    view->link[OUT].session = SESSION;
    view->link[OUT].top = TOP;
    memcpy(view->link[OUT].mac, "\xff\xff\xff\xff\xff\xff\x02\x00\x00\x00\x00\x09", 12);
    memset(view->way, RELAY_WAY_HOME | 1 << OUT, 27);
    view->way[HERE] = RELAY_WAY_HOME;

    put_be16(frame + RELAY_AT_ETHERTYPE, WIRE_ETHERTYPE);
    memcpy(head, "\x20\x01\x11\x11\x00\x05\x00\x0a", FRAME_HEAD_BYTES);
    memcpy(packet,
           "\x22\x00\x00\x30\x40\x00\x00\x01\x00\x00\x13\x88\x00\x00\x13\x88"
           "\x00\x00\x00\x01\x00\x01\x01\x00\x02\x01\x01\x00\x00\x00\x00\x02",
           PACKET_HEAD_BYTES);
    memcpy(before, frame, sizeof frame);
}

static enum relay_reason judge(void)
{
    relay_judge(&state, frame, frame + sizeof frame, sizeof frame, IN, NOW, &verdict);
    return verdict.reason;
}

static void says(enum relay_reason reason)
{
    uint8_t saved[FRAME_BYTES];
    memcpy(saved, frame, sizeof saved);
    enum relay_reason said = judge();
    ck_assert_msg(said == reason, "%s and not %s", relay_reason_name(said), relay_reason_name(reason));
    ck_assert(said == RELAY_PASSED || memcmp(frame, saved, sizeof saved) == 0);
}

/* The good frame with one thing changed is refused for this reason; `change` may use head, packet, state and view. */
#define REFUSED(reason_, change) \
    set_up();                    \
    change;                      \
    says(reason_)

#define PASSES(change) REFUSED(RELAY_PASSED, change)

START_TEST(a_frame_is_passed_on_under_new_heads)
{
    set_up();
    says(RELAY_PASSED);
    ck_assert_uint_eq(verdict.out, OUT);
    ck_assert_uint_eq(verdict.ifindex, 100 + OUT);
    ck_assert_uint_eq(verdict.place, RELAY_OTHERS);
    ck_assert_mem_eq(frame, "\xff\xff\xff\xff\xff\xff\x02\x00\x00\x00\x00\x09\x88\xb5", 14);
    ck_assert_mem_eq(head, "\x22\x01\x22\x22\x00\x00\x33\x33", FRAME_HEAD_BYTES);
    ck_assert_uint_eq(packet[PACKET_AT_HOP_LIMIT], 0x3f);
    ck_assert_uint_eq(packet[PACKET_AT_HOPS], 1);
    before[RELAY_AT_PACKET + PACKET_AT_HOP_LIMIT]--;
    before[RELAY_AT_PACKET + PACKET_AT_HOPS]++;
    ck_assert_mem_eq(packet, before + RELAY_AT_PACKET, sizeof frame - RELAY_AT_PACKET);
}
END_TEST

START_TEST(a_frame_that_is_not_all_there_goes_up)
{
    set_up();
    relay_judge(&state, frame, frame + RELAY_HEADS_BYTES - 1, sizeof frame, IN, NOW, &verdict);
    ck_assert_uint_eq(verdict.reason, RELAY_SHORT);
    relay_judge(&state, frame, frame + RELAY_HEADS_BYTES, sizeof frame, IN, NOW, &verdict);
    ck_assert_uint_eq(verdict.reason, RELAY_PASSED);
    REFUSED(RELAY_OTHER, put_be16(frame + RELAY_AT_ETHERTYPE, WIRE_ETHERTYPE_CONTROL));
    PASSES(put_be16(frame + RELAY_AT_ETHERTYPE, 0x9000); state.ethertype = 0x9000);
}
END_TEST

START_TEST(only_one_plain_data_packet_is_passed_on)
{
    REFUSED(RELAY_SHAPE, head[FRAME_AT_VERSION] = 0x10);
    REFUSED(RELAY_SHAPE, head[FRAME_AT_VERSION] |= FRAME_TAGGED);
    REFUSED(RELAY_SHAPE, head[FRAME_AT_VERSION] |= 0x4);
    REFUSED(RELAY_SHAPE, head[FRAME_AT_VERSION] |= FRAME_RELAYED); /* and has a sequence */
    REFUSED(RELAY_SHAPE, head[FRAME_AT_PACKETS] = 2);
    PASSES(head[FRAME_AT_VERSION] |= FRAME_RELAYED; put_be16(head + FRAME_AT_SEQUENCE, 0));

    REFUSED(RELAY_KIND, packet[PACKET_AT_KIND] = 0x23);
    REFUSED(RELAY_KIND, packet[PACKET_AT_KIND] = 0x24);
    REFUSED(RELAY_KIND, packet[PACKET_AT_KIND] = 0x11);
    for (unsigned bit = 0; bit < 8; bit++) {
        bool up = 1 << bit & PACKET_FLAGS_HOP;
        REFUSED(up ? RELAY_KIND : RELAY_PASSED, packet[PACKET_AT_FLAGS] = (uint8_t)(1 << bit));
    }
    REFUSED(RELAY_KIND, put_be16(packet + PACKET_AT_LENGTH, PACKET_HEAD_BYTES - 1));
    PASSES(put_be16(packet + PACKET_AT_LENGTH, PACKET_HEAD_BYTES));
    PASSES(put_be16(packet + PACKET_AT_LENGTH, FRAME_BYTES - RELAY_AT_PACKET));
    REFUSED(RELAY_KIND, put_be16(packet + PACKET_AT_LENGTH, FRAME_BYTES - RELAY_AT_PACKET + 1));
    for (unsigned axis = 0; axis < 3; axis++) {
        REFUSED(RELAY_KIND, packet[PACKET_AT_SOURCE + axis] = 3);
        PASSES(packet[PACKET_AT_SOURCE + axis] = 2);
    }
}
END_TEST

START_TEST(hops_are_counted)
{
    REFUSED(RELAY_HOPS, packet[PACKET_AT_HOP_LIMIT] = 0);
    PASSES(packet[PACKET_AT_HOP_LIMIT] = 1);
    PASSES(packet[PACKET_AT_HOP_LIMIT] = 1; packet[PACKET_AT_HOPS] = 254);
    ck_assert_uint_eq(packet[PACKET_AT_HOPS], 255);
    REFUSED(RELAY_HOPS, packet[PACKET_AT_HOP_LIMIT] = 1; packet[PACKET_AT_HOPS] = 255);
}
END_TEST

START_TEST(the_lease_the_link_the_session_and_the_gate_are_looked_at)
{
    REFUSED(RELAY_LEASE, state.lease = NOW);
    REFUSED(RELAY_LEASE, state.lease = 0);
    REFUSED(RELAY_LINK, state.live &= ~(1u << IN));
    REFUSED(RELAY_LINK, view->in &= ~(1u << IN));
    REFUSED(RELAY_LINK, state.tapped = 1u << IN);
    REFUSED(RELAY_SESSION, view->link[IN].peer++);
    REFUSED(RELAY_GATE, view->link[IN].received--);
    PASSES(view->link[IN].received++);
    PASSES(view->link[IN].received = RECEIVED - 0x8000); /* neither is before the other */
    REFUSED(RELAY_GATE, view->link[IN].received = RECEIVED - 0x7fff);
    PASSES(state.gen = 8; state.view[0] = *view; memset(view, 0, sizeof *view));
}
END_TEST

static void put_job(unsigned at, uint32_t job, uint32_t place)
{
    state.job[(relay_job_at(job) + at) % RELAY_JOBS] = relay_job_entry(job, place);
}

START_TEST(jobs_are_found_where_they_may_be)
{
    for (unsigned at = 0; at < RELAY_JOB_TRIES; at++) {
        PASSES(put_job(at, JOB, 5));
        ck_assert_uint_eq(verdict.place, 5);
        REFUSED(RELAY_JOB, put_job(at, JOB, RELAY_UP));
    }
    PASSES(put_job(RELAY_JOB_TRIES, JOB, RELAY_UP));
    PASSES(put_job(0, JOB + 1, RELAY_UP));
    REFUSED(RELAY_JOB, state.others_up = 1);
    PASSES(state.others_up = 1; put_job(0, JOB, 1));
    for (uint32_t job = 0; job <= RELAY_JOBS_FREE; job += RELAY_JOBS_FREE - 1) {
        REFUSED(RELAY_JOB, put_be32(packet + PACKET_AT_JOB, job)); /* also 0, which is what a free entry looks like */
    }
    PASSES(put_be32(packet + PACKET_AT_JOB, RELAY_JOBS_FREE));
    PASSES(put_be32(packet + PACKET_AT_JOB, 6); put_job(1, 6, 63));
    ck_assert_uint_eq(verdict.place, 63);
    /* The last of the table is followed by the first. */
    uint32_t job = RELAY_JOBS_FREE;
    while (relay_job_at(job) != RELAY_JOBS - 1) {
        job++;
    }
    PASSES(put_be32(packet + PACKET_AT_JOB, job); state.job[0] = relay_job_entry(job, 9));
    ck_assert_uint_eq(verdict.place, 9);
}
END_TEST

static void make_key(uint32_t home)
{
    packet[PACKET_AT_KIND] = WIRE_VERSION_NOW << 4 | PACKET_KEY;
    put_be64(packet + PACKET_AT_DESTINATION, (uint64_t)(((unsigned __int128)home << 64) / 27 + 1));
}

START_TEST(the_target_decides_the_way)
{
    REFUSED(RELAY_HERE, packet[PACKET_AT_DESTINATION] = 1);
    REFUSED(RELAY_HERE, view->way[TARGET] = RELAY_WAY_HOME);
    for (unsigned axis = 0; axis < 3; axis++) {
        REFUSED(RELAY_HERE, packet[PACKET_AT_DESTINATION + axis] = 3);
    }
    PASSES(view->way[TARGET] = 1 << OUT); /* a server need be no key's home */
    PASSES(make_key(TARGET));
    REFUSED(RELAY_HERE, make_key(HERE));
    REFUSED(RELAY_HERE, make_key(TARGET); view->way[TARGET] = 1 << OUT);
    /* A view that no node would publish: its table of routes ends before the target. */
    REFUSED(RELAY_HERE, view->dims[0] = 256; view->dims[1] = 256; packet[PACKET_AT_DESTINATION] = 200);
    /* Each home is that of the key's first and last value. */
    for (uint32_t server = 0; server < 27; server++) {
        PASSES(make_key(server); memset(view->way, RELAY_WAY_HOME, 27); view->way[server] = RELAY_WAY_HOME | 1 << OUT);
        REFUSED(RELAY_HERE, make_key(server); memset(view->way, RELAY_WAY_HOME | 1 << OUT, 27);
                view->way[server] = RELAY_WAY_HOME);
        PASSES(make_key(server + 1);
               put_be64(packet + PACKET_AT_DESTINATION, get_be64(packet + PACKET_AT_DESTINATION) - 2);
               memset(view->way, RELAY_WAY_HOME, 27); view->way[server] = RELAY_WAY_HOME | 1 << OUT);
    }
}
END_TEST

START_TEST(a_way_out_must_be_one)
{
    REFUSED(RELAY_ROUTE, state.live &= ~(1u << OUT));
    REFUSED(RELAY_ROUTE, view->out &= ~(1u << OUT));
    REFUSED(RELAY_ROUTE, state.tapped = 1u << OUT);
    REFUSED(RELAY_ROUTE, view->link[OUT].mtu = FRAME_BYTES - RELAY_AT_FRAME - 1);
    PASSES(view->link[OUT].mtu = FRAME_BYTES - RELAY_AT_FRAME);
    /* Back by the way it came only when nothing else leads there. */
    PASSES(view->way[TARGET] = 1 << OUT | 1 << IN);
    ck_assert_uint_eq(verdict.out, OUT);
    REFUSED(RELAY_ROUTE, view->way[TARGET] = 1 << OUT | 1 << IN; view->out &= ~(1u << OUT));
    PASSES(view->way[TARGET] = 1 << IN);
    ck_assert_uint_eq(verdict.out, IN);
}
END_TEST

START_TEST(a_link_for_which_something_waits_is_full)
{
    struct relay_queue *queue = &state.queue[OUT];
    REFUSED(RELAY_FULL, state.waits = 1u << OUT);
    ck_assert_uint_eq(queue->handed, 1);
    says(RELAY_FULL);
    ck_assert_uint_eq(queue->handed, 2);
    state.waits = 0;
    says(RELAY_FULL); /* behind those that were handed up, until they have been taken */
    queue->taken = 3;
    says(RELAY_PASSED);
    /* Another link that leads there is taken instead. */
    PASSES(state.waits = 1u << OUT; view->way[TARGET] = 1 << OUT | 1 << CW_LINK_YP);
    ck_assert_uint_eq(verdict.out, CW_LINK_YP);
    ck_assert_uint_eq(queue->handed, 0);
    /* None of two is free: the frame is counted for one of them. */
    REFUSED(RELAY_FULL, state.waits = CW_LINKS_ALL; view->way[TARGET] = 1 << OUT | 1 << CW_LINK_YP);
    ck_assert_uint_eq(queue->handed + state.queue[CW_LINK_YP].handed, 1);
}
END_TEST

/* 1024 bytes take 10,240 ns: 10 ns a byte. */
static void set_pace(uint64_t sent_until, uint64_t relayed_until, uint64_t slack)
{
    struct relay_queue *queue = &state.queue[OUT];
    queue->ns_per_kib = 10240;
    queue->sent_until = sent_until;
    queue->relayed_until = relayed_until;
    queue->slack = slack;
}

START_TEST(no_more_than_the_slack_waits_in_a_device)
{
    uint64_t cost = 10 * (FRAME_BYTES + RELAY_OVERHEAD), *until = &state.queue[OUT].relayed_until;
    PASSES(set_pace(0, 0, 0));
    ck_assert_uint_eq(*until, NOW + cost);
    PASSES(set_pace(0, NOW, 0));
    ck_assert_uint_eq(*until, NOW + cost);
    PASSES(set_pace(NOW + 5, NOW + 5, 10));
    ck_assert_uint_eq(*until, NOW + 5 + cost);
    REFUSED(RELAY_FULL, set_pace(NOW + 5, NOW + 6, 10));
    ck_assert_uint_eq(*until, NOW + 6);
    REFUSED(RELAY_FULL, set_pace(NOW + 11, 0, 10));
    REFUSED(RELAY_FULL, set_pace(UINT64_MAX, UINT64_MAX, NOW)); /* a sum that would wrap */
    PASSES(set_pace(UINT64_MAX, UINT64_MAX, 0); state.queue[OUT].ns_per_kib = 0);
    ck_assert_uint_eq(*until, UINT64_MAX);
}
END_TEST

START_TEST(a_flow_keeps_its_way_and_flows_spread)
{
    unsigned of[CW_LINK_COUNT] = {0};
    for (unsigned flow = 0; flow < 600; flow++) {
        set_up();
        memset(view->way, 0x3f, 27);
        put_be32(packet + PACKET_AT_DESTINATION + 4, flow);
        says(RELAY_PASSED);
        of[verdict.out]++;
        unsigned out = verdict.out;
        set_up();
        memset(view->way, 0x3f, 27);
        put_be32(packet + PACKET_AT_DESTINATION + 4, flow);
        packet[PACKET_AT_EXT_WORDS] = 7; /* what a packet has beside its ends makes no other flow */
        packet[PACKET_AT_HOP_LIMIT] = 9;
        says(RELAY_PASSED);
        ck_assert_uint_eq(verdict.out, out);
    }
    ck_assert_uint_eq(of[IN], 0);
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        ck_assert_msg(i == IN || of[i] > 50, "%u flows by link %u", of[i], i);
    }
}
END_TEST

/* Another generation comes before the judge looks again: RELAY_STEPS counts its accesses to the state. */
static unsigned steps, turn_at;

void relay_step(void)
{
    if (++steps == turn_at) {
        state.gen++;
    }
}

START_TEST(a_generation_that_is_not_the_same_is_torn)
{
    set_up();
    steps = 0;
    says(RELAY_PASSED);
    unsigned last = steps, torn = 0;
    for (turn_at = 4; turn_at <= last; turn_at++) { /* behind its first look at the generation */
        set_up();
        state.view[0] = state.view[1];
        steps = 0;
        enum relay_reason reason = judge();
        ck_assert(reason == RELAY_PASSED || memcmp(frame, before, sizeof frame) == 0);
        torn += reason == RELAY_TORN;
    }
    turn_at = 0;
    ck_assert_uint_gt(torn, 20);
    ck_assert_uint_lt(last - torn, 8); /* the first accesses, and the one or two behind the look */
}
END_TEST

START_TEST(reasons_have_names)
{
    for (unsigned a = 0; a < RELAY_REASONS; a++) {
        ck_assert_ptr_nonnull(relay_reason_name(a));
        for (unsigned b = 0; b < a; b++) {
            ck_assert_str_ne(relay_reason_name(a), relay_reason_name(b));
        }
    }
}
END_TEST

START_TEST(a_reason_that_is_none_has_no_name)
{
    relay_reason_name(RELAY_REASONS);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_frame_is_passed_on_under_new_heads),
    SUITE_TEST(a_frame_that_is_not_all_there_goes_up),
    SUITE_TEST(only_one_plain_data_packet_is_passed_on),
    SUITE_TEST(hops_are_counted),
    SUITE_TEST(the_lease_the_link_the_session_and_the_gate_are_looked_at),
    SUITE_TEST(jobs_are_found_where_they_may_be),
    SUITE_TEST(the_target_decides_the_way),
    SUITE_TEST(a_way_out_must_be_one),
    SUITE_TEST(a_link_for_which_something_waits_is_full),
    SUITE_TEST(no_more_than_the_slack_waits_in_a_device),
    SUITE_TEST(a_flow_keeps_its_way_and_flows_spread),
    SUITE_TEST(a_generation_that_is_not_the_same_is_torn),
    SUITE_TEST(reasons_have_names),
    SUITE_ABORTS(a_reason_that_is_none_has_no_name),
};

SUITE_MAIN("relay", tests)
