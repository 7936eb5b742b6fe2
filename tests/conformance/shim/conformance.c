/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance.h"

#include "netns.h"
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

enum { CANARY = 0xa5, CANARY_BYTES = 32, QUIET_MS = 30, MANY = 3000 };

static const struct conformance_kind *kind;

static void expect(struct shim *s, uint32_t number, uint32_t length)
{
    uint8_t memory[MEMORY_BYTES];
    uint32_t got = cable_receive(s, memory, PATIENCE_MS);
    if (got != length && !(length < kind->shortest && got == kind->shortest)) {
        ck_abort_msg("%s: frame %u has %u bytes, not %u", kind->name, number, got, length);
    }
    if (!frame_is(memory, number, length)) {
        ck_abort_msg("%s: frame %u of %u bytes came with other bytes", kind->name, number, length);
    }
}

static void expect_nothing(struct shim *s)
{
    uint8_t memory[MEMORY_BYTES];
    ck_assert_uint_eq(cable_receive(s, memory, QUIET_MS), 0);
}

START_TEST(info_is_sound)
{
    struct cable c;
    cable_open(&c);
    for (int i = 0; i < 2; i++) {
        struct shim_info info;
        shim_info(c.end[i], &info);
        ck_assert_str_eq(info.kind, kind->name);
        ck_assert_uint_eq(info.mtu, kind->mtu);
        ck_assert_str_eq(info.state, "up");
        ck_assert_uint_gt(strlen(info.name), 0);
    }
    cable_close(&c);
}
END_TEST

START_TEST(frames_of_all_sizes_arrive_whole_and_in_order)
{
    struct cable c;
    cable_open(&c);
    uint32_t number = 0;
    for (uint32_t length = 1; length <= kind->mtu; length += length < 300 ? 1 : 97) {
        cable_send(c.end[0], number, length);
        expect(c.end[1], number++, length);
    }
    for (uint32_t less = 0; less < 40; less++) {
        cable_send(c.end[1], number, kind->mtu - less);
        expect(c.end[0], number++, kind->mtu - less);
    }
    cable_close(&c);
}
END_TEST

START_TEST(both_ways_do_not_mix)
{
    struct cable c;
    cable_open(&c);
    for (uint32_t i = 0; i < 50; i++) {
        cable_send(c.end[0], i, 100);
        cable_send(c.end[1], 1000 + i, 200);
        cable_send(c.end[0], 2000 + i, 300);
        expect(c.end[1], i, 100);
        expect(c.end[0], 1000 + i, 200);
        expect(c.end[1], 2000 + i, 300);
        if (i % 10 == 0) {
            expect_nothing(c.end[0]);
            expect_nothing(c.end[1]);
        }
    }
    cable_close(&c);
}
END_TEST

/* Memory for a batch, each frame between canaries. */
struct batch {
    struct shim_frame frame[SHIM_BATCH];
    uint8_t memory[SHIM_BATCH][CANARY_BYTES + SHIM_HEADROOM + MEMORY_BYTES + CANARY_BYTES];
};

static struct batch *batch_new(void)
{
    struct batch *b = malloc(sizeof *b);
    ck_assert_ptr_nonnull(b);
    memset(b->memory, CANARY, sizeof b->memory);
    for (int i = 0; i < SHIM_BATCH; i++) {
        b->frame[i] = (struct shim_frame){.bytes = b->memory[i] + CANARY_BYTES + SHIM_HEADROOM, .room = MEMORY_BYTES};
    }
    return b;
}

/* Only the headroom and the first size bytes of each frame may have been written to. */
static bool canaries_live(const struct batch *b, int i, uint32_t size)
{
    const uint8_t *memory = b->memory[i];
    for (size_t at = 0; at < sizeof b->memory[i]; at++) {
        bool free = at >= CANARY_BYTES && at < CANARY_BYTES + SHIM_HEADROOM + size;
        if (!free && memory[at] != CANARY) {
            return false;
        }
    }
    return true;
}

START_TEST(a_batch_is_taken_from_the_front)
{
    struct cable c;
    cable_open(&c);
    struct batch *b = batch_new();
    uint32_t sent = 0;
    uint32_t seen = 0;
    while (seen < 10 * SHIM_BATCH) {
        unsigned count = SHIM_BATCH - sent % 5;
        for (unsigned i = 0; i < count; i++) {
            b->frame[i].length = 60 + (sent + i) % 900;
            frame_fill(b->frame[i].bytes, sent + i, b->frame[i].length);
        }
        int taken = shim_send(c.end[0], b->frame, count);
        ck_assert_int_ge(taken, 0);
        ck_assert_int_le(taken, (int)count);
        sent += (unsigned)taken;
        /* About half is left under way, so that the queue fills up too. */
        for (unsigned i = 0; seen < sent && (i < SHIM_BATCH / 2 || taken == 0); i++) {
            expect(c.end[1], seen, 60 + seen % 900);
            seen++;
        }
    }
    free(b);
    cable_close(&c);
}
END_TEST

START_TEST(a_batch_is_given_from_the_front)
{
    struct cable c;
    cable_open(&c);
    struct batch *b = batch_new();
    for (uint32_t i = 0; i < 4; i++) {
        cable_send(c.end[0], i, 500 + i);
    }
    expect(c.end[1], 0, 500); /* one was asked for: the others are still there */
    unsigned seen = 1;
    while (seen < 4) {
        cable_serve();
        int got = shim_receive(c.end[1], b->frame, SHIM_BATCH);
        ck_assert_int_ge(got, 0);
        for (int i = 0; i < got; i++, seen++) {
            ck_assert_uint_eq(b->frame[i].length, 500 + seen);
            ck_assert(frame_is(b->frame[i].bytes, seen, 500 + seen));
        }
    }
    free(b);
    cable_close(&c);
}
END_TEST

START_TEST(only_the_headroom_is_written_beside_a_frame)
{
    struct cable c;
    cable_open(&c);
    struct batch *out = batch_new();
    struct batch *in = batch_new();
    static const uint32_t sizes[] = {1, 60, 61, 1000, 0};
    for (int i = 0; i < 5; i++) {
        uint32_t size = sizes[i] != 0 ? sizes[i] : kind->mtu;
        memset(out->memory, CANARY, sizeof out->memory);
        memset(in->memory, CANARY, sizeof in->memory);
        out->frame[0].length = size;
        frame_fill(out->frame[0].bytes, 7, size);
        ck_assert_int_eq(shim_send(c.end[0], out->frame, 1), 1);
        ck_assert(frame_is(out->frame[0].bytes, 7, size)); /* the caller's, as it was */
        ck_assert(canaries_live(out, 0, size));
        in->frame[0].room = size < kind->shortest ? kind->shortest : size; /* exactly */
        int got = 0;
        while (got == 0) {
            cable_serve();
            cable_await(c.end[1], 1);
            got = shim_receive(c.end[1], in->frame, SHIM_BATCH);
        }
        ck_assert_int_eq(got, 1);
        ck_assert(frame_is(in->frame[0].bytes, 7, size));
        ck_assert(canaries_live(in, 0, in->frame[0].room));
        for (int j = 1; j < SHIM_BATCH; j++) {
            ck_assert(canaries_live(in, j, 0));
        }
    }
    free(out);
    free(in);
    cable_close(&c);
}
END_TEST

START_TEST(room_is_what_send_takes)
{
    struct cable c;
    cable_open(&c);
    struct batch *b = batch_new();
    for (unsigned i = 0; i < SHIM_BATCH; i++) {
        b->frame[i].length = kind->mtu;
    }
    uint32_t sent = 0;
    uint32_t seen = 0;
    unsigned full = 0;
    while (sent < MANY) {
        unsigned room = shim_room(c.end[0]);
        unsigned count = room < SHIM_BATCH ? room : SHIM_BATCH;
        if (count == 0) {
            full++;
        } else {
            for (unsigned i = 0; i < count; i++) {
                frame_fill(b->frame[i].bytes, sent + i, 64);
            }
            int taken = shim_send(c.end[0], b->frame, count);
            if (taken != (int)count) {
                ck_abort_msg("%s: room for %u was promised, %d taken", kind->name, count, taken);
            }
            sent += count;
        }
        for (unsigned i = 0; seen < sent && (i < 3 || count == 0 || sent - seen > 64); i++, seen++) {
            uint8_t memory[MEMORY_BYTES];
            ck_assert_uint_eq(cable_receive(c.end[1], memory, PATIENCE_MS), kind->mtu);
            uint8_t want[64];
            frame_fill(want, seen, 64);
            if (memcmp(memory, want, 64) != 0) {
                ck_abort_msg("%s: not frame %u", kind->name, seen);
            }
        }
    }
    struct shim_counters counters;
    shim_counters(c.end[0], &counters);
    ck_assert_uint_eq(counters.tx_refused, 0);
    ck_assert_uint_eq(counters.tx_errors, 0);
    (void)full;
    free(b);
    cable_close(&c);
}
END_TEST

START_TEST(nothing_is_lost_while_the_receiver_drains)
{
    struct cable c;
    cable_open(&c);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t length = 60 + i * 31 % (kind->mtu - 60);
        uint8_t memory[SHIM_HEADROOM + MEMORY_BYTES];
        struct shim_frame frame = {.bytes = memory + SHIM_HEADROOM, .length = length};
        frame_fill(frame.bytes, i, length);
        int sent;
        while ((sent = shim_send(c.end[0], &frame, 1)) == 0) {
            expect(c.end[1], seen, 60 + seen * 31 % (kind->mtu - 60));
            seen++;
        }
        ck_assert_int_eq(sent, 1);
        while (i - seen >= 40) {
            expect(c.end[1], seen, 60 + seen * 31 % (kind->mtu - 60));
            seen++;
        }
    }
    while (seen < MANY) {
        expect(c.end[1], seen, 60 + seen * 31 % (kind->mtu - 60));
        seen++;
    }
    expect_nothing(c.end[1]);
    struct shim_counters counters;
    shim_counters(c.end[1], &counters);
    ck_assert_uint_eq(counters.rx_frames, MANY);
    ck_assert_uint_eq(counters.rx_dropped, 0);
    cable_close(&c);
}
END_TEST

START_TEST(frames_too_long_or_empty_are_refused)
{
    struct cable c;
    cable_open(&c);
    struct batch *b = batch_new();
    static const uint32_t extra[] = {1, 1000};
    for (int i = 0; i < 2; i++) {
        b->frame[0].length = kind->mtu + extra[i];
        ck_assert_int_eq(shim_send(c.end[0], b->frame, 1), -EMSGSIZE);
    }
    b->frame[0].length = 0;
    ck_assert_int_eq(shim_send(c.end[0], b->frame, 2), -EMSGSIZE);
    for (int i = 0; i < 3; i++) {
        b->frame[i].length = 100;
        frame_fill(b->frame[i].bytes, (uint32_t)i, 100);
    }
    b->frame[2].length = kind->mtu + 1; /* the two before it go */
    ck_assert_int_eq(shim_send(c.end[0], b->frame, 3), 2);
    expect(c.end[1], 0, 100);
    expect(c.end[1], 1, 100);
    expect_nothing(c.end[1]);
    free(b);
    cable_close(&c);
}
END_TEST

START_TEST(a_frame_longer_than_its_room_is_counted)
{
    struct cable c;
    cable_open(&c);
    struct batch *b = batch_new();
    b->frame[0].room = b->frame[1].room = b->frame[2].room = 200;
    cable_send(c.end[0], 0, 150);
    cable_send(c.end[0], 1, 201);
    cable_send(c.end[0], 2, 200);
    unsigned seen = 0;
    for (int i = 0; i < PATIENCE_MS && seen < 2; i++) {
        cable_serve();
        cable_await(c.end[1], 1);
        int got = shim_receive(c.end[1], b->frame, 3);
        ck_assert_int_ge(got, 0);
        for (int j = 0; j < got; j++, seen++) {
            ck_assert_uint_eq(b->frame[j].length, seen == 0 ? 150 : 200);
            ck_assert(frame_is(b->frame[j].bytes, seen == 0 ? 0 : 2, b->frame[j].length));
        }
        for (int j = 0; j < 3; j++) {
            ck_assert(canaries_live(b, j, 200));
        }
    }
    ck_assert_uint_eq(seen, 2);
    struct shim_counters counters;
    shim_counters(c.end[1], &counters);
    ck_assert_uint_eq(counters.rx_frames, 2);
    ck_assert_uint_eq(counters.rx_bytes, 350);
    ck_assert_uint_eq(counters.rx_strange, 1);
    free(b);
    cable_close(&c);
}
END_TEST

/* Others who flood the cable get so much of a turn, and what is ours behind them is heard in the next ones. */
START_TEST(strangers_get_a_bounded_turn)
{
    struct cable c;
    struct shim_counters counters = {0};
    uint64_t sent = 0, seen = 0;
    cable_open(&c);
    if (kind->stranger == NULL) { /* within a process: nobody else is on the cable, and it holds few */
        cable_close(&c);
        return;
    }
    struct batch *b = batch_new();
    for (int i = 0; i < SHIM_BATCH; i++) {
        b->frame[i].room = 200;
    }
    while (sent < 5 * SHIM_BATCH && shim_room(c.end[0]) > 1) {
        cable_send(c.end[0], 0, 201);
        sent++;
    }
    cable_send(c.end[0], 1, 100);
    int got = 0;
    for (int i = 0; i < PATIENCE_MS && got == 0; i++) {
        cable_serve();
        cable_await(c.end[1], 1);
        got = shim_receive(c.end[1], b->frame, SHIM_BATCH);
        shim_counters(c.end[1], &counters);
        ck_assert_uint_le(counters.rx_strange - seen, SHIM_STRANGE_BATCHES * SHIM_BATCH);
        seen = counters.rx_strange;
    }
    ck_assert_int_eq(got, 1);
    ck_assert_uint_eq(b->frame[0].length, 100);
    ck_assert_uint_eq(seen, sent);
    free(b);
    cable_close(&c);
}
END_TEST

START_TEST(counters_are_right)
{
    struct cable c;
    struct shim_counters counters;
    cable_open(&c);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < 20; i++) {
        cable_send(c.end[0], i, 100 + i);
        expect(c.end[1], i, 100 + i);
        bytes += 100 + i;
    }
    shim_counters(c.end[0], &counters);
    ck_assert_uint_eq(counters.tx_frames, 20);
    ck_assert_uint_eq(counters.tx_bytes, bytes);
    ck_assert_uint_eq(counters.rx_frames + counters.rx_bytes + counters.rx_strange + counters.rx_dropped, 0);
    shim_counters(c.end[1], &counters);
    ck_assert_uint_eq(counters.rx_frames, 20);
    ck_assert_uint_eq(counters.rx_bytes, bytes);
    ck_assert_uint_eq(counters.tx_frames + counters.tx_bytes + counters.rx_strange + counters.rx_dropped, 0);
    cable_close(&c);
}
END_TEST

START_TEST(who_waits_is_told)
{
    struct cable c;
    cable_open(&c);
    uint8_t memory[MEMORY_BYTES];
    ck_assert_uint_eq(cable_receive(c.end[1], memory, 0), 0);
    int fd = shim_data_fd(c.end[1]);
    ck_assert(fd < 0 || !cable_poll(fd, POLLIN, 0));
    unsigned before = c.woken[1];
    cable_send(c.end[0], 1, 64);
    int left = PATIENCE_MS;
    while (c.woken[1] == before && !(fd >= 0 && cable_poll(fd, POLLIN, 1)) && left-- > 0) {
        cable_serve();
    }
    ck_assert_int_gt(left, 0);
    expect(c.end[1], 1, 64);
    ck_assert_uint_eq(cable_receive(c.end[1], memory, 0), 0);
    ck_assert(fd < 0 || !cable_poll(fd, POLLIN, 0));
    ck_assert_int_eq(fd, shim_data_fd(c.end[1]));
    cable_close(&c);
}
END_TEST

START_TEST(the_carrier_is_seen_at_both_ends)
{
    struct cable c;
    uint8_t memory[SHIM_HEADROOM + 64] = {0};
    struct shim_frame frame = {.bytes = memory + SHIM_HEADROOM, .length = 64};
    if (kind->cut == NULL) {
        return;
    }
    cable_open(&c);
    for (uint32_t round = 0; round < 3; round++) {
        kind->cut(&c, true);
        for (int i = 0; i < 2; i++) {
            struct shim_info info;
            ck_assert(cable_carrier(c.end[i], false, PATIENCE_MS));
            ck_assert_uint_eq(shim_room(c.end[i]), 0);
            ck_assert_int_eq(shim_send(c.end[i], &frame, 1), -ENETDOWN);
            shim_info(c.end[i], &info);
            ck_assert_str_ne(info.state, "up");
            ck_assert_uint_gt(strlen(info.state), 0);
        }
        kind->cut(&c, false);
        for (int i = 0; i < 2; i++) {
            ck_assert(cable_carrier(c.end[i], true, PATIENCE_MS));
            ck_assert_uint_gt(shim_room(c.end[i]), 0);
        }
        for (uint32_t i = 0; i < 2; i++) {
            cable_send(c.end[i], round, 80);
            expect(c.end[1 - i], round, 80);
        }
    }
    cable_close(&c);
}
END_TEST

START_TEST(strangers_are_not_heard)
{
    struct cable c;
    if (kind->stranger == NULL) {
        return;
    }
    cable_open(&c);
    kind->stranger(&c);
    expect_nothing(c.end[0]);
    cable_send(c.end[1], 9, 90);
    kind->stranger(&c);
    expect(c.end[0], 9, 90);
    expect_nothing(c.end[0]);
    cable_close(&c);
}
END_TEST

START_TEST(nobody_hears_himself)
{
    struct cable c;
    cable_open(&c);
    cable_send(c.end[0], 1, 100);
    expect_nothing(c.end[0]);
    expect(c.end[1], 1, 100);
    cable_close(&c);
}
END_TEST

START_TEST(last_words_arrive)
{
    struct cable c;
    uint8_t memory[SHIM_HEADROOM + 64];
    cable_open(&c);
    frame_fill(memory + SHIM_HEADROOM, 3, 64);
    int rc = shim_last_words(c.end[0], memory + SHIM_HEADROOM, 64);
    ck_assert_int_eq(rc, kind->has_last_words ? 0 : -EOPNOTSUPP);
    if (rc == 0) {
        expect(c.end[1], 3, 64);
    }
    cable_close(&c);
}
END_TEST

static unsigned open_fds(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    ck_assert_ptr_nonnull(folder);
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

START_TEST(close_frees_everything)
{
    struct cable c;
    unsigned before = open_fds();
    for (int i = 0; i < 5; i++) {
        cable_open(&c);
        cable_send(c.end[0], 1, kind->mtu); /* left under way */
        cable_close(&c);
        ck_assert_uint_eq(open_fds(), before);
    }
}
END_TEST

START_TEST(a_closed_end_is_no_trouble_to_the_other)
{
    struct cable c;
    cable_open(&c);
    cable_send(c.end[1], 5, 100);
    cable_pause(1000); /* on its way, whatever the cable's delay */
    cable_serve();
    cable_forget(1);
    shim_close(c.end[1]);
    uint8_t memory[SHIM_HEADROOM + 64] = {0};
    struct shim_frame frame = {.bytes = memory + SHIM_HEADROOM, .length = 64};
    for (int i = 0; i < 100; i++) {
        int rc = shim_send(c.end[0], &frame, 1);
        ck_assert(rc == 0 || rc == 1 || rc == -ENETDOWN);
    }
    expect(c.end[0], 5, 100);
    cable_forget(0);
    shim_close(c.end[0]);
}
END_TEST

static const struct suite_test conformance[] = {
    SUITE_TEST(info_is_sound),
    SUITE_TEST(frames_of_all_sizes_arrive_whole_and_in_order),
    SUITE_TEST(both_ways_do_not_mix),
    SUITE_TEST(a_batch_is_taken_from_the_front),
    SUITE_TEST(a_batch_is_given_from_the_front),
    SUITE_TEST(only_the_headroom_is_written_beside_a_frame),
    SUITE_TEST(room_is_what_send_takes),
    SUITE_TEST(nothing_is_lost_while_the_receiver_drains),
    SUITE_TEST(frames_too_long_or_empty_are_refused),
    SUITE_TEST(a_frame_longer_than_its_room_is_counted),
    SUITE_TEST(strangers_get_a_bounded_turn),
    SUITE_TEST(counters_are_right),
    SUITE_TEST(who_waits_is_told),
    SUITE_TEST(the_carrier_is_seen_at_both_ends),
    SUITE_TEST(strangers_are_not_heard),
    SUITE_TEST(nobody_hears_himself),
    SUITE_TEST(last_words_arrive),
    SUITE_TEST(close_frees_everything),
    SUITE_TEST(a_closed_end_is_no_trouble_to_the_other),
};

enum { CONFORMANCE = sizeof conformance / sizeof *conformance, TESTS_MAX = CONFORMANCE + 32 };

int conformance_run(const struct conformance_kind *of, const struct suite_test *more, size_t count)
{
    struct suite_test all[TESTS_MAX];
    if (of->needs_namespace && !netns_can()) {
        return SUITE_SKIP;
    }
    kind = of;
    cable_kind(of);
    memcpy(all, conformance, sizeof conformance);
    if (count > 0) {
        memcpy(all + CONFORMANCE, more, count * sizeof *more);
    }
    return suite_run(of->name, all, CONFORMANCE + count);
}
