/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/replay.h"

#include "conformance.h"
#include "shim/clock.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { MAX = 9014 };

/* A capture by hand, so that libpcap is not compared with itself: little-endian, nanoseconds. */
struct file {
    char name[64];
    FILE *out;
};

static void put32(FILE *out, uint32_t v)
{
    uint8_t b[4] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24)};
    ck_assert_uint_eq(fwrite(b, 1, sizeof b, out), sizeof b);
}

static void file_open(struct file *f, uint32_t link_type)
{
    snprintf(f->name, sizeof f->name, "replay-%d.pcap", (int)getpid());
    f->out = fopen(f->name, "wb");
    ck_assert_ptr_nonnull(f->out);
    put32(f->out, 0xa1b23c4d);
    put32(f->out, 4u << 16 | 2);
    put32(f->out, 0);
    put32(f->out, 0);
    put32(f->out, MAX);
    put32(f->out, link_type);
}

static void file_frame(struct file *f, uint64_t ns, uint8_t from, uint16_t type, uint32_t number, uint32_t length,
                       uint32_t kept)
{
    uint8_t bytes[MAX] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, from, (uint8_t)(type >> 8), (uint8_t)type};
    frame_fill(bytes + 14, number, length);
    put32(f->out, (uint32_t)(ns / 1000000000));
    put32(f->out, (uint32_t)(ns % 1000000000));
    put32(f->out, kept + 14);
    put32(f->out, length + 14);
    ck_assert_uint_eq(fwrite(bytes, 1, kept + 14, f->out), kept + 14);
}

static struct shim *replay(const struct file *f, struct replay_options o)
{
    struct shim *s;
    char why[SHIM_WHY_BYTES] = "";
    o.file = f->name;
    int rc = replay_open(&s, &o, why);
    ck_assert_msg(rc == 0, "%d %s", rc, why);
    ck_assert_int_eq(unlink(f->name), 0);
    return s;
}

START_TEST(frames_come_out_once_and_in_order)
{
    struct file f;
    struct shim_counters counters;
    struct shim_info info;
    uint8_t memory[MEMORY_BYTES];
    file_open(&f, 1);
    for (uint32_t i = 0; i < 100; i++) {
        file_frame(&f, i, 1, 0x88b5, i, 50 + 90 * i % 8950, 50 + 90 * i % 8950);
        file_frame(&f, i, 1, 0x0800, i, 100, 100); /* somebody else's */
    }
    file_frame(&f, 200, 1, 0x88b5, 7, 100, 60); /* was cut by who captured it */
    fclose(f.out);
    struct shim *s = replay(&f, (struct replay_options){.timed = false});
    shim_info(s, &info);
    ck_assert_str_eq(info.kind, "replay");
    ck_assert_uint_eq(info.mtu, 9000);
    ck_assert_str_eq(info.state, "up");
    for (uint32_t i = 0; i < 100; i++) {
        ck_assert(shim_carrier(s));
        ck_assert(cable_await(s, 1000));
        ck_assert_uint_eq(cable_receive(s, memory, 0), 50 + 90 * i % 8950);
        ck_assert(frame_is(memory, i, 50 + 90 * i % 8950));
    }
    ck_assert_uint_eq(cable_receive(s, memory, 0), 0);
    ck_assert(!shim_carrier(s));
    ck_assert(cable_await(s, 1000)); /* the end is told, once */
    shim_service_events(s);
    ck_assert(!cable_await(s, 5));
    shim_info(s, &info);
    ck_assert_ptr_nonnull(strstr(info.state, "ended"));
    shim_counters(s, &counters);
    ck_assert_uint_eq(counters.rx_frames, 100);
    ck_assert_uint_eq(counters.rx_strange, 101);
    shim_close(s);
}
END_TEST

START_TEST(one_direction_can_be_chosen)
{
    struct file f;
    uint8_t memory[MEMORY_BYTES];
    file_open(&f, 1);
    for (uint32_t i = 0; i < 10; i++) {
        file_frame(&f, i, (uint8_t)(i % 2), 0x1234, i, 100, 100);
    }
    fclose(f.out);
    struct shim *s = replay(&f, (struct replay_options){.ethertype = 0x1234, .from = {2, 0, 0, 0, 0, 1}});
    for (uint32_t i = 1; i < 10; i += 2) {
        ck_assert_uint_eq(cable_receive(s, memory, 0), 100);
        ck_assert(frame_is(memory, i, 100));
    }
    ck_assert_uint_eq(cable_receive(s, memory, 0), 0);
    shim_close(s);
}
END_TEST

START_TEST(distances_in_time_are_kept)
{
    struct file f;
    uint8_t memory[MEMORY_BYTES];
    file_open(&f, 1);
    for (uint32_t i = 0; i < 5; i++) {
        file_frame(&f, UINT64_C(1700000000000000000) + i * UINT64_C(5000000), 1, 0x88b5, i, 100, 100);
    }
    fclose(f.out);
    cw_time begin = clock_now();
    struct shim *s = replay(&f, (struct replay_options){.timed = true});
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert(cable_await(s, 1000));
        ck_assert_uint_eq(cable_receive(s, memory, 0), 100);
        ck_assert_int_ge(cw_time_since(clock_now(), begin).ns, (int64_t)i * 5000000);
    }
    shim_close(s);
}
END_TEST

START_TEST(what_is_sent_goes_nowhere_and_is_counted)
{
    struct file f;
    struct shim_counters counters;
    uint8_t memory[SHIM_HEADROOM + 100] = {0};
    struct shim_frame frame = {.bytes = memory + SHIM_HEADROOM, .length = 100};
    file_open(&f, 1);
    file_frame(&f, 1, 1, 0x88b5, 1, 200, 200);
    fclose(f.out);
    struct shim *s = replay(&f, (struct replay_options){.timed = false});
    ck_assert_uint_gt(shim_room(s), 0);
    ck_assert_int_eq(shim_send(s, &frame, 1), 1);
    frame.length = 0;
    ck_assert_int_eq(shim_send(s, &frame, 1), -EMSGSIZE);
    ck_assert_int_eq(shim_last_words(s, frame.bytes, 1), -EOPNOTSUPP);
    frame.room = 100; /* one that has no room is counted */
    ck_assert_int_eq(shim_receive(s, &frame, 1), 0);
    frame.length = 100;
    ck_assert_int_eq(shim_send(s, &frame, 1), -ENETDOWN);
    shim_counters(s, &counters);
    ck_assert_uint_eq(counters.tx_frames, 1);
    ck_assert_uint_eq(counters.tx_bytes, 100);
    ck_assert_uint_eq(counters.rx_strange, 1);
    shim_close(s);
}
END_TEST

START_TEST(errors_are_named)
{
    struct file f;
    struct shim *s;
    char why[SHIM_WHY_BYTES] = "";
    ck_assert_int_eq(replay_open(&s, &(struct replay_options){.file = "absent.pcap"}, why), -ENOENT);
    ck_assert_ptr_nonnull(strstr(why, "absent.pcap: No such file"));
    file_open(&f, 101); /* raw IP */
    fclose(f.out);
    ck_assert_int_eq(replay_open(&s, &(struct replay_options){.file = f.name}, why), -EPROTO);
    ck_assert_ptr_nonnull(strstr(why, "not a capture of Ethernet"));
    f.out = fopen(f.name, "wb");
    fputs("hello", f.out);
    fclose(f.out);
    ck_assert_int_eq(replay_open(&s, &(struct replay_options){.file = f.name}, why), -EPROTO);
    ck_assert_int_eq(unlink(f.name), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(frames_come_out_once_and_in_order),
    SUITE_TEST(one_direction_can_be_chosen),
    SUITE_TEST(distances_in_time_are_kept),
    SUITE_TEST(what_is_sent_goes_nowhere_and_is_counted),
    SUITE_TEST(errors_are_named),
};

SUITE_MAIN("replay", tests)
