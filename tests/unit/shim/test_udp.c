/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/udp.h"

#include "conformance.h"
#include "netns.h"
#include "shim/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct udp_options left = {.local = "127.0.0.1:7001", .remote = "127.0.0.1:7002", .mtu = 8972};
static const struct udp_options right = {.local = "127.0.0.1:7002", .remote = "127.0.0.1:7001", .mtu = 8972};

static struct shim *open_udp(const struct udp_options *options)
{
    struct shim *s = NULL;
    char why[SHIM_WHY_BYTES] = "";
    int rc = udp_open(&s, options, why);
    ck_assert_msg(rc == 0, "%d %s", rc, why);
    return s;
}

static void open_fails(const struct udp_options *options, int rc, const char *words)
{
    struct shim *s = NULL;
    char why[SHIM_WHY_BYTES] = "";
    ck_assert_int_eq(udp_open(&s, options, why), rc);
    ck_assert_msg(strstr(why, words) != NULL, "\"%s\" has not \"%s\"", why, words);
}

static void open_both(struct cable *c, uint32_t mtu)
{
    (void)mtu;
    c->end[0] = open_udp(&left);
    c->end[1] = open_udp(&right);
}

static void send_from(const char *from, const char *to, const void *bytes, size_t length)
{
    struct sockaddr_storage address[2];
    socklen_t size = (socklen_t)address_parse(from, &address[0]);
    ck_assert_int_eq(address_parse(to, &address[1]), (int)size);
    int fd = socket(address[0].ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address[0], size), 0);
    ck_assert_int_eq(sendto(fd, bytes, length, 0, (struct sockaddr *)&address[1], size), (ssize_t)length);
    close(fd);
}

/* Another port of the same host, another host, and an empty datagram from the right one. */
static void strangers(const struct cable *c)
{
    (void)c;
    send_from("127.0.0.1:7003", left.local, "not for you", 11);
    send_from("127.0.0.2:7002", left.local, "not for you", 11);
}

static const struct conformance_kind kind = {
    .name = "udp",
    .mtu = 8972,
    .set_up = netns_enter,
    .open = open_both,
    .stranger = strangers,
    .has_last_words = true,
    .needs_namespace = true,
    .shortest = 1,
};

START_TEST(errors_are_named)
{
    netns_enter();
    struct udp_options o = left;
    struct shim *s = open_udp(&o);
    open_fails(&o, -EADDRINUSE, "127.0.0.1:7001: the port is in use");
    shim_close(s);
    o.local = "10.9.9.9:7001";
    open_fails(&o, -EADDRNOTAVAIL, "no interface here has that address");
    o = left;
    o.local = "0.0.0.0:7001";
    o.remote = "10.9.9.9:7001";
    open_fails(&o, -ENETUNREACH, "no route");
    o = left;
    o.mtu = 65508;
    open_fails(&o, -EMSGSIZE, "carries frames of 65507 bytes, 65508 are asked for");
    o = left;
    o.remote = "[::1]:7002";
    open_fails(&o, -EINVAL, "one family");
    o.remote = "127.0.0.1";
    open_fails(&o, -EINVAL, "10.0.0.1:7001");
}
END_TEST

START_TEST(six_works_like_four)
{
    struct udp_options o[2] = {{.local = "[::1]:7001", .remote = "[::1]:7002", .mtu = 1000},
                               {.local = "[::1]:7002", .remote = "[::1]:7001"}};
    uint8_t memory[MEMORY_BYTES];
    struct shim_info info;
    netns_enter();
    struct shim *end[2] = {open_udp(&o[0]), open_udp(&o[1])};
    for (uint32_t i = 0; i < 100; i++) {
        cable_send(end[0], i, 10 * i + 1);
        ck_assert_uint_eq(cable_receive(end[1], memory, 1000), 10 * i + 1);
        ck_assert(frame_is(memory, i, 10 * i + 1));
    }
    shim_info(end[0], &info);
    ck_assert_str_eq(info.name, "[::1]:7001 to [::1]:7002");
    ck_assert_uint_eq(info.overhead, 38 + 48);
    shim_info(end[1], &info);
    ck_assert_uint_eq(info.mtu,
                      UDP_FRAME_MAX < 65536 - 48 ? UDP_FRAME_MAX : 65536 - 48); /* all that loopback carries */
    shim_close(end[0]);
    shim_close(end[1]);
}
END_TEST

START_TEST(a_death_is_heard_as_a_refusal)
{
    uint8_t memory[MEMORY_BYTES];
    struct shim_info info;
    netns_enter();
    struct shim *end = open_udp(&left);
    /* Nobody there yet: that is no loss. */
    for (uint32_t i = 0; i < 5; i++) {
        cable_send(end, i, 100);
        ck_assert_uint_eq(cable_receive(end, memory, 5), 0);
        ck_assert(shim_carrier(end));
    }
    struct shim *other = open_udp(&right);
    cable_send(other, 1, 100);
    ck_assert_uint_eq(cable_receive(end, memory, 1000), 100);
    shim_close(other);
    cable_send(end, 1, 100);
    ck_assert(cable_await(end, 1000)); /* the refusal */
    ck_assert_uint_eq(cable_receive(end, memory, 0), 0);
    ck_assert(!shim_carrier(end));
    shim_info(end, &info);
    ck_assert_ptr_nonnull(strstr(info.state, "refused"));
    ck_assert_uint_eq(shim_room(end), 0);
    /* Back at once when it is heard again. */
    other = open_udp(&right);
    cable_send(other, 2, 100);
    ck_assert_uint_eq(cable_receive(end, memory, 1000), 100);
    ck_assert(shim_carrier(end));
    shim_close(other);
    /* And by itself after a while, to find out; refused again, it does not flap. */
    cable_send(end, 1, 100);
    ck_assert(cable_await(end, 1000));
    ck_assert_uint_eq(cable_receive(end, memory, 0), 0);
    ck_assert(!shim_carrier(end));
    ck_assert(cable_carrier(end, true, 10 * UDP_RETRY_MS));
    cable_send(end, 1, 100);
    ck_assert(cable_await(end, 1000));
    ck_assert_uint_eq(cable_receive(end, memory, 0), 0);
    ck_assert(shim_carrier(end));
    shim_close(end);
}
END_TEST

START_TEST(a_path_that_narrows_carries_nothing)
{
    struct udp_options o = {.local = "10.1.0.1:7001", .remote = "10.1.0.2:7001"};
    struct shim_info info;
    uint8_t memory[SHIM_HEADROOM + 2000] = {0};
    struct shim_frame frame = {.bytes = memory + SHIM_HEADROOM, .length = 1472};
    netns_enter();
    netns_veth("left", "right", 1500, -1);
    netns_address("left", "10.1.0.1", 24);
    struct shim *end = open_udp(&o);
    shim_info(end, &info);
    ck_assert_uint_eq(info.mtu, 1472);
    ck_assert_uint_eq(info.overhead, 38 + 28);
    ck_assert_int_eq(shim_send(end, &frame, 1), 1);
    netns_mtu("left", 1400);
    ck_assert_int_eq(shim_send(end, &frame, 1), -ENETDOWN);
    ck_assert(!shim_carrier(end));
    shim_info(end, &info);
    ck_assert_ptr_nonnull(strstr(info.state, "1372"));
    ck_assert(!cable_carrier(end, true, 3 * UDP_RETRY_MS));
    netns_mtu("left", 1500);
    ck_assert(cable_carrier(end, true, 10 * UDP_RETRY_MS));
    ck_assert_int_eq(shim_send(end, &frame, 1), 1);
    shim_close(end);
}
END_TEST

START_TEST(what_the_kernel_drops_is_counted)
{
    enum { FRAMES = 2000 };
    struct shim_counters counters;
    uint8_t memory[MEMORY_BYTES];
    uint64_t seen = 0;
    netns_enter();
    struct shim *end[2] = {open_udp(&left), open_udp(&right)};
    for (uint32_t i = 0; i < FRAMES; i++) {
        cable_send(end[0], i, 8972);
    }
    while (cable_receive(end[1], memory, 20) > 0) {
        seen++;
    }
    shim_counters(end[1], &counters);
    ck_assert_uint_eq(counters.rx_frames, seen);
    ck_assert_uint_gt(counters.rx_dropped, 0);
    ck_assert_uint_eq(seen + counters.rx_dropped, FRAMES);
    shim_close(end[0]);
    shim_close(end[1]);
}
END_TEST

static void on_wake(void *context)
{
    ++*(unsigned *)context;
}

/* A run that arrives as one message is given in as many calls as it takes; the descriptor knows nothing of the rest. */
START_TEST(a_run_is_given_in_parts)
{
    enum { PART = 5, EACH = 500 };
    unsigned wakes = 0, given = 0;
    netns_enter();
    struct shim *end[2] = {open_udp(&left), open_udp(&right)};
    end[1]->wake = on_wake;
    end[1]->wake_context = &wakes;
    static uint8_t memory[SHIM_BATCH][SHIM_HEADROOM + EACH];
    struct shim_frame frames[SHIM_BATCH];
    for (unsigned i = 0; i < SHIM_BATCH; i++) {
        memset(memory[i], (int)i, sizeof memory[i]);
        frames[i] = (struct shim_frame){.bytes = memory[i] + SHIM_HEADROOM, .length = EACH - (i == SHIM_BATCH - 1)};
    }
    ck_assert_int_eq(shim_send(end[0], frames, SHIM_BATCH), SHIM_BATCH);
    while (given < SHIM_BATCH) {
        struct shim_frame part[PART];
        static uint8_t into[PART][EACH];
        for (unsigned i = 0; i < PART; i++) {
            part[i] = (struct shim_frame){.bytes = into[i], .room = EACH};
        }
        int count = shim_receive(end[1], part, PART);
        ck_assert_int_gt(count, 0);
        for (int i = 0; i < count; i++, given++) {
            ck_assert_uint_eq(part[i].length, EACH - (given == SHIM_BATCH - 1));
            ck_assert_uint_eq(part[i].bytes[0], given);
            ck_assert_uint_eq(part[i].bytes[part[i].length - 1], given);
        }
        ck_assert(given == SHIM_BATCH || wakes > 0);
    }
    struct shim_counters counters;
    shim_counters(end[1], &counters);
    ck_assert_uint_eq(counters.rx_frames, SHIM_BATCH);
    ck_assert_uint_eq(counters.rx_bytes, SHIM_BATCH * EACH - 1);
    shim_counters(end[0], &counters);
    ck_assert_uint_eq(counters.tx_frames, SHIM_BATCH);
    shim_close(end[0]);
    shim_close(end[1]);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(errors_are_named),
    SUITE_TEST(six_works_like_four),
    SUITE_TEST(a_death_is_heard_as_a_refusal),
    SUITE_TEST(a_path_that_narrows_carries_nothing),
    SUITE_TEST(what_the_kernel_drops_is_counted),
    SUITE_TEST(a_run_is_given_in_parts),
};

int main(void)
{
    return conformance_run(&kind, tests, sizeof tests / sizeof *tests);
}
