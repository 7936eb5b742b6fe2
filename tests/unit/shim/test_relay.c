/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/relay.h"

#include "base/bytes.h"
#include "conformance.h"
#include "ether.h"
#include "netns.h"
#include "relay_kit.h"
#include "sanitized.h"
#include "shim/carrier.h"
#include "shim/clock.h"
#include "shim/raw.h"
#include "wire/relay_publish.h"

#include <errno.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DRAWN = SANITIZED ? 2000 : 10000, DRAWN_SOAK = 100000, FRAMES_A_STATE = 50 };

static struct relay *open_relay(void)
{
    struct relay *r;
    char why[RELAY_WHY_BYTES] = "";
    int rc = relay_open(&r, why);
    ck_assert_msg(rc == 0, "%d %s", rc, why);
    return r;
}

/* --- the program in the kernel and the judge in C ------------------------------------------------ */

/* Runs the program on a frame of at least an Ethernet header. Gives what the program returned. */
static int run_program(const struct relay *r, struct relay_kit_frame *frame)
{
    union bpf_attr attr = {0};
    uint8_t out[RELAY_KIT_FRAME];
    attr.test.prog_fd = (uint32_t)relay_program(r);
    attr.test.data_in = (uintptr_t)frame->bytes;
    attr.test.data_out = (uintptr_t)out;
    attr.test.data_size_in = frame->size;
    attr.test.data_size_out = sizeof out;
    long rc = syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof attr);
    SUITE_HOLDS(rc == 0, "%s", strerror(errno));
    SUITE_HOLDS(attr.test.data_size_out == frame->size, "%u", attr.test.data_size_out);
    memcpy(frame->bytes, out, frame->size);
    return (int)attr.test.retval;
}

/* Counts one frame more, as the program must. */
static void expect_count(struct relay_counts *counts, const struct relay_verdict *verdict,
                         const struct relay_kit_frame *frame)
{
    counts->by_reason[frame->in][verdict->reason]++;
    if (verdict->reason == RELAY_PASSED) {
        counts->sent[verdict->place][verdict->out].packets++;
        counts->sent[verdict->place][verdict->out].bytes += frame->size - RELAY_AT_FRAME;
    }
}

/* The two states are alike, but that the program's clock went on by less than a minute. */
static bool same_state(struct relay_state *kernel, struct relay_state *right, uint64_t now)
{
    for (unsigned i = 0; i < RELAY_LINKS; i++) {
        uint64_t *a = &kernel->queue[i].relayed_until, *b = &right->queue[i].relayed_until;
        if (*a != *b && *b >= now && *b < now + RELAY_KIT_FAR / 2 && *a - *b < (uint64_t)CW_SEC(60).ns) {
            *b = *a;
        }
    }
    return memcmp(kernel, right, sizeof *kernel) == 0;
}

static void compare_one(struct dice *d, struct relay *r, struct relay_counts *counts, unsigned by_reason[])
{
    static struct relay_state right_state;
    static struct relay_counts counted;
    struct relay_state *state = relay_shared(r);
    struct relay_kit_frame frame, right;
    relay_kit_frame(d, state, &frame);
    frame.size = frame.here < 14 ? 14 : frame.here; /* the kernel takes no shorter one, and has it whole */
    frame.here = frame.size;
    memset(state->port, 0, sizeof state->port);
    state->port[frame.in] = 1; /* a run without a device is one on the loopback device */
    right = frame;
    right_state = *state;
    uint64_t now = (uint64_t)clock_system_ns();
    struct relay_verdict verdict;
    relay_judge(&right_state, right.bytes, right.bytes + right.here, right.size, right.in, now, &verdict);
    int said = run_program(r, &frame);
    bool passed = said != -1;
    SUITE_HOLDS(passed == (verdict.reason == RELAY_PASSED), "the program says %d, and the judge %s", said,
                relay_reason_name(verdict.reason));
    SUITE_HOLDS(memcmp(frame.bytes, right.bytes, sizeof frame.bytes) == 0, "%s", relay_reason_name(verdict.reason));
    SUITE_HOLDS(same_state(state, &right_state, now), "%s", relay_reason_name(verdict.reason));
    expect_count(counts, &verdict, &right);
    relay_counted(r, &counted);
    SUITE_HOLDS(memcmp(&counted, counts, sizeof counted) == 0, "%s", relay_reason_name(verdict.reason));
    by_reason[verdict.reason]++;
}

START_TEST(the_program_judges_as_the_judge_does)
{
    static struct relay_counts counts;
    struct relay *r = open_relay();
    struct dice d = {1};
    unsigned by_reason[RELAY_REASONS] = {0};
    unsigned drawn = getenv("CUBEWAY_SOAK") != NULL ? DRAWN_SOAK : DRAWN;
    for (unsigned i = 0; i < drawn; i++) {
        if (i % FRAMES_A_STATE == 0) {
            relay_kit_state(&d, relay_shared(r), (uint64_t)clock_system_ns() + 3 * RELAY_KIT_FAR);
            relay_shared(r)->lease = i % 1000 == 0 ? 1 : UINT64_MAX;
        }
        compare_one(&d, r, &counts, by_reason);
    }
    for (unsigned i = 0; i < RELAY_REASONS; i++) {
        printf("%s %u%s", relay_reason_name(i), by_reason[i], i + 1 < RELAY_REASONS ? ", " : "\n");
        ck_assert(by_reason[i] != 0 || i == RELAY_TORN);
    }
    relay_close(r);
}
END_TEST

START_TEST(a_relay_that_was_told_nothing_passes_nothing)
{
    struct relay *r = open_relay();
    struct relay_state *state = relay_shared(r);
    struct relay_kit_frame frame = {.size = 100, .here = 100};
    ck_assert_int_eq(run_program(r, &frame), -1);
    ck_assert_uint_eq(state->gen, 0);
    ck_assert_int_eq(relay_hook(r, 0), RELAY_DETACHED);
    int fds[CW_LINK_COUNT];
    ck_assert_uint_eq(relay_taps(r, fds), 0);
    relay_close(r);
    relay_close(NULL);
}
END_TEST

/* --- frames on cables ---------------------------------------------------------------------------- */

/*
 * Servers 0, 1, 2, 3 in a row, of which 1 and 2 relay: a -- b0 (1) b1 -- c0 (2) c1 -- d. A frame leaves by link +x (0)
 * and comes by -x (1).
 */
enum { SERVERS = 4, NEXT = CW_LINK_XP, BACK = CW_LINK_XM, PAYLOAD = 500 };

static struct row {
    struct relay *relay[2];
    struct relay_writer writer[2];
    struct shim *up[2]; /* what the daemons of 1 and 2 would hear on -x */
    struct shim *end;   /* what server 3 hears */
} row;

static struct shim *listen_on(const char *interface)
{
    struct shim *s;
    char why[SHIM_WHY_BYTES] = "";
    ck_assert_msg(raw_open(&s, &(struct port_options){.interface = interface}, why) == 0, "%s", why);
    return s;
}

static void publish(unsigned server, cw_links live)
{
    static const uint8_t way[SERVERS] = {[3] = RELAY_WAY_HOME | 1 << NEXT};
    struct relay_draft draft = {.dims = {SERVERS, 1, 1}, .in = 0x3, .out = 0x3, .way = way, .way_epoch = 1};
    for (cw_link i = 0; i < 2; i++) {
        static const char *const name[2][2] = {{"b1", "b0"}, {"c1", "c0"}};
        uint8_t mac[12];
        char why[RELAY_WHY_BYTES] = "";
        memset(mac, 0xff, 6);
        ether_address(name[server][i], mac + 6);
        if (relay_hook(row.relay[server], i) == RELAY_DETACHED) {
            int rc = relay_attach(row.relay[server], i, name[server][i], false, why);
            ck_assert_msg(rc > 0, "%s", why);
        }
        draft.link[i] = (struct relay_link){.ifindex = (uint32_t)if_nametoindex(name[server][i]),
                                            .session = (uint16_t)(100 + server),
                                            .peer = (uint16_t)(99 + server),
                                            .mtu = 1500};
        memcpy(draft.link[i].mac, mac, sizeof mac);
    }
    relay_publish(&row.writer[server], &(struct relay_news){.lease = UINT64_MAX, .live = live, .view = &draft});
}

static void open_row(bool clsact_only)
{
    char why[RELAY_WHY_BYTES] = "";
    netns_enter();
    netns_veth("a", "b0", 1500, -1);
    netns_veth("b1", "c0", 1500, -1);
    netns_veth("c1", "d", 1500, -1);
    row.end = listen_on("d");
    row.up[0] = listen_on("b0");
    row.up[1] = listen_on("c0");
    for (unsigned i = 0; i < 2; i++) {
        row.relay[i] = open_relay();
        relay_writer_open(&row.writer[i], relay_shared(row.relay[i]), WIRE_ETHERTYPE);
        if (clsact_only) {
            ck_assert_int_gt(relay_attach(row.relay[i], BACK, i == 0 ? "b0" : "c0", true, why), 0);
            ck_assert_int_eq(relay_hook(row.relay[i], BACK), RELAY_CLSACT);
        }
        publish(i, 0x3);
    }
}

static void send_frame(uint8_t limit)
{
    static const uint8_t all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    uint8_t bytes[FRAME_HEAD_BYTES + PACKET_HEAD_BYTES + PAYLOAD] = {WIRE_VERSION_NOW << 4, 1};
    uint8_t *packet = bytes + FRAME_HEAD_BYTES;
    put_be16(bytes + FRAME_AT_SESSION, 99);
    put_be16(bytes + FRAME_AT_SEQUENCE, 77);
    packet[PACKET_AT_KIND] = WIRE_VERSION_NOW << 4 | PACKET_SERVER;
    put_be16(packet + PACKET_AT_LENGTH, PACKET_HEAD_BYTES + PAYLOAD);
    packet[PACKET_AT_HOP_LIMIT] = limit;
    packet[PACKET_AT_HOPS] = 1;
    put_be32(packet + PACKET_AT_JOB, 5000);
    packet[PACKET_AT_DESTINATION] = 3;
    memset(packet + PACKET_HEAD_BYTES, 0xab, PAYLOAD);
    ether_send("a", all, WIRE_ETHERTYPE, bytes, sizeof bytes);
}

/* The next frame there has that many hops behind it. Gives whether it was relayed. */
static bool hear(struct shim *s, unsigned hops)
{
    uint8_t bytes[MEMORY_BYTES];
    uint32_t length = cable_receive(s, bytes, PATIENCE_MS);
    const uint8_t *packet = bytes + FRAME_HEAD_BYTES;
    ck_assert_uint_eq(length, FRAME_HEAD_BYTES + PACKET_HEAD_BYTES + PAYLOAD);
    ck_assert_uint_eq(packet[PACKET_AT_HOPS], hops);
    ck_assert_uint_eq(packet[PACKET_HEAD_BYTES + PAYLOAD - 1], 0xab);
    return (bytes[FRAME_AT_VERSION] & FRAME_RELAYED) != 0;
}

static uint64_t counted(unsigned server, enum relay_reason reason)
{
    static struct relay_counts counts;
    relay_counted(row.relay[server], &counts);
    return counts.by_reason[BACK][reason];
}

static void try_row(bool clsact_only)
{
    open_row(clsact_only);
    for (unsigned i = 0; i < 3; i++) {
        send_frame(64);
        ck_assert(hear(row.end, 3));
    }
    ck_assert_uint_eq(counted(0, RELAY_PASSED), 3);
    ck_assert_uint_eq(counted(1, RELAY_PASSED), 3);
    /* The second server's hop limit is 0: there the frame goes up. */
    send_frame(1);
    ck_assert(hear(row.up[1], 2));
    ck_assert_uint_eq(counted(1, RELAY_HOPS), 1);
    /* A link that was cut, a link that was detached. */
    relay_cut(relay_shared(row.relay[1]), 1 << NEXT);
    send_frame(64);
    ck_assert(hear(row.up[1], 2));
    ck_assert_uint_eq(counted(1, RELAY_ROUTE), 1);
    publish(1, 0x3);
    send_frame(64);
    ck_assert(hear(row.end, 3));
    relay_detach(row.relay[0], BACK);
    send_frame(64);
    ck_assert(!hear(row.up[0], 1));
}

START_TEST(frames_pass_two_servers)
{
    try_row(false);
}
END_TEST

START_TEST(frames_pass_by_clsact_too)
{
    try_row(true);
}
END_TEST

static uint64_t lost_at(uint32_t device)
{
    /* Beside it are one that nobody has, and none. */
    struct carrier_loss losses[] = {{.index = 999, .frames = 7}, {.index = device}, {.index = 0, .known = true}};
    ck_assert_int_eq(carrier_lost(losses, 3), 0);
    ck_assert(!losses[0].known && losses[1].known && !losses[2].known);
    ck_assert_uint_eq(losses[0].frames + losses[2].frames, 0);
    return losses[1].frames;
}

/* The relay sends more than its link carries: each frame arrives, or is counted as lost behind it. */
START_TEST(what_a_queue_drops_is_counted)
{
    enum { LEAST = 30, MOST = 1000, FEW = 4 * PAYLOAD, RATE = 100000, QUIET_MS = 300 };
    uint64_t before, lost = 0;
    unsigned sent = 0, heard = 0;
    uint8_t bytes[MEMORY_BYTES];
    open_row(false);
    uint32_t device = (uint32_t)if_nametoindex("b1");
    before = lost_at(device);
    netns_tbf("b1", RATE, FEW, FEW);
    while (sent < LEAST || (lost == before && sent < MOST)) {
        send_frame(64);
        sent++;
        lost = lost_at(device);
    }
    ck_assert_uint_gt(lost, before);
    ck_assert_uint_eq(counted(0, RELAY_PASSED), sent);
    while (cable_receive(row.end, bytes, QUIET_MS) != 0) {
        heard++;
    }
    lost = lost_at(device);
    ck_assert_uint_gt(heard, 0);
    ck_assert_uint_eq(heard + lost - before, sent);
}
END_TEST

START_TEST(what_another_process_left_is_replaced)
{
    char why[RELAY_WHY_BYTES] = "";
    open_row(true);
    struct relay *again = open_relay(); /* as if it were another one's: nothing was published to it */
    ck_assert_int_gt(relay_attach(again, BACK, "b0", true, why), 0);
    send_frame(64);
    ck_assert(!hear(row.up[0], 1));
    relay_close(again);
    send_frame(64);
    ck_assert(!hear(row.up[0], 1)); /* there is one filter, and it has gone */
}
END_TEST

/* A child that has inherited the descriptors keeps the attachments when we lose ours, as a process does that dies. */
START_TEST(an_heir_of_the_descriptors_keeps_the_attachment)
{
    int fds[CW_LINK_COUNT], talk[2];
    open_row(false);
    if (relay_hook(row.relay[0], BACK) != RELAY_TCX) {
        return; /* a filter of clsact has no descriptor, and stays anyway */
    }
    ck_assert_uint_eq(relay_taps(row.relay[0], fds), 2);
    ck_assert_int_eq(pipe(talk), 0);
    pid_t heir = fork();
    if (heir == 0) {
        char byte;
        close(talk[1]);
        _exit(read(talk[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(talk[0]);
    close(fds[0]);
    close(fds[1]);
    send_frame(64);
    ck_assert(hear(row.end, 3));
    close(talk[1]);
    int status;
    ck_assert_int_eq(waitpid(heir, &status, 0), heir);
    ck_assert_int_eq(status, 0);
    send_frame(64);
    ck_assert(!hear(row.up[0], 1));
}
END_TEST

START_TEST(an_interface_that_is_not_there_is_named)
{
    char why[RELAY_WHY_BYTES] = "";
    struct relay *r = open_relay();
    ck_assert_int_eq(relay_attach(r, 0, "nowhere", false, why), -ENODEV);
    ck_assert_str_eq(why, "nowhere: no such interface");
    relay_detach(r, 0);
    relay_close(r);
}
END_TEST

START_TEST(a_missing_right_is_named)
{
    struct relay *r;
    char why[RELAY_WHY_BYTES] = "";
    ether_drop_capabilities();
    ck_assert_int_eq(relay_open(&r, why), -EPERM);
    ck_assert_msg(strstr(why, "CAP_BPF is missing") != NULL, "%s", why);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_program_judges_as_the_judge_does),
    SUITE_TEST(a_relay_that_was_told_nothing_passes_nothing),
    SUITE_TEST(frames_pass_two_servers),
    SUITE_TEST(frames_pass_by_clsact_too),
    SUITE_TEST(what_a_queue_drops_is_counted),
    SUITE_TEST(what_another_process_left_is_replaced),
    SUITE_TEST(an_heir_of_the_descriptors_keeps_the_attachment),
    SUITE_TEST(an_interface_that_is_not_there_is_named),
    SUITE_TEST(a_missing_right_is_named),
};

int main(void)
{
    struct relay *r;
    char why[RELAY_WHY_BYTES] = "";
    int rc = relay_open(&r, why);
    if (rc == -EPERM || rc == -EOPNOTSUPP) {
        printf("skip: %s\n", why);
        return SUITE_SKIP;
    }
    if (rc == 0) {
        relay_close(r);
    }
    if (!netns_can()) {
        return SUITE_SKIP;
    }
    return suite_run("relay", tests, sizeof tests / sizeof *tests);
}
