/* SPDX-License-Identifier: Apache-2.0 */
/* The contract's own words: each call reaches the shim's, and a batch that is none is our own mistake. */
#include "shim/shim.h"

#include "suite.h"

#include <string.h>

struct probe {
    struct shim shim;
    char called[32];
};

static void note(const struct shim *s, const char *name)
{
    /* The probe is not const: the tests made it. */
    union {
        const struct shim *from;
        struct probe *to;
    } u = {.from = s};
    snprintf(u.to->called, sizeof u.to->called, "%s", name);
}

static int probe_send(struct shim *s, const struct shim_frame *frames, unsigned count)
{
    (void)frames;
    note(s, "send");
    return (int)count;
}

static int probe_receive(struct shim *s, struct shim_frame *frames, unsigned count)
{
    frames[0].length = 7;
    note(s, "receive");
    return (int)count;
}

static unsigned probe_room(struct shim *s)
{
    note(s, "room");
    return 5;
}

static bool probe_carrier(const struct shim *s)
{
    note(s, "carrier");
    return true;
}

static int probe_data_fd(const struct shim *s)
{
    note(s, "data_fd");
    return 6;
}

static int probe_event_fd(const struct shim *s)
{
    note(s, "event_fd");
    return 8;
}

static void probe_service_events(struct shim *s)
{
    note(s, "service_events");
}

static enum shim_wait probe_wait(struct shim *s, cw_time *until)
{
    note(s, "wait");
    until->ns = 9;
    return SHIM_WAIT_TIME;
}

static void probe_info(const struct shim *s, struct shim_info *out)
{
    note(s, "info");
    out->mtu = 10;
}

static void probe_counters(struct shim *s, struct shim_counters *out)
{
    note(s, "counters");
    out->tx_frames = 11;
}

static int probe_last_words(const struct shim *s, uint8_t *bytes, uint32_t length)
{
    note(s, "last_words");
    return bytes[0] + (int)length;
}

static void probe_close(struct shim *s)
{
    note(s, "close");
}

static const struct shim_ops ops = {
    .send = probe_send,
    .receive = probe_receive,
    .room = probe_room,
    .carrier = probe_carrier,
    .data_fd = probe_data_fd,
    .event_fd = probe_event_fd,
    .service_events = probe_service_events,
    .wait = probe_wait,
    .info = probe_info,
    .counters = probe_counters,
    .last_words = probe_last_words,
    .close = probe_close,
};

START_TEST(each_call_reaches_the_shim)
{
    struct probe p = {.shim.ops = &ops};
    struct shim_frame frame = {.room = 7};
    struct shim_info info;
    struct shim_counters counters;
    cw_time until;
    uint8_t byte = 1;
    ck_assert_int_eq(shim_send(&p.shim, &frame, SHIM_BATCH), SHIM_BATCH);
    ck_assert_str_eq(p.called, "send");
    ck_assert_int_eq(shim_receive(&p.shim, &frame, 1), 1);
    ck_assert_str_eq(p.called, "receive");
    ck_assert_uint_eq(frame.length, 7);
    ck_assert_uint_eq(shim_room(&p.shim), 5);
    ck_assert_str_eq(p.called, "room");
    ck_assert(shim_carrier(&p.shim));
    ck_assert_str_eq(p.called, "carrier");
    ck_assert_int_eq(shim_data_fd(&p.shim), 6);
    ck_assert_str_eq(p.called, "data_fd");
    ck_assert_int_eq(shim_event_fd(&p.shim), 8);
    ck_assert_str_eq(p.called, "event_fd");
    shim_service_events(&p.shim);
    ck_assert_str_eq(p.called, "service_events");
    ck_assert_int_eq(shim_wait(&p.shim, &until), SHIM_WAIT_TIME);
    ck_assert_int_eq(until.ns, 9);
    shim_info(&p.shim, &info);
    ck_assert_uint_eq(info.mtu, 10);
    shim_counters(&p.shim, &counters);
    ck_assert_uint_eq(counters.tx_frames, 11);
    ck_assert_int_eq(shim_last_words(&p.shim, &byte, 20), 21);
    shim_close(&p.shim);
    ck_assert_str_eq(p.called, "close");
}
END_TEST

START_TEST(an_empty_batch_is_our_mistake)
{
    struct probe p = {.shim.ops = &ops};
    struct shim_frame frame = {.room = 7};
    shim_send(&p.shim, &frame, 0);
}
END_TEST

START_TEST(a_batch_too_large_is_our_mistake)
{
    struct probe p = {.shim.ops = &ops};
    struct shim_frame frame = {.room = 7};
    shim_receive(&p.shim, &frame, SHIM_BATCH + 1);
}
END_TEST

/* A shim without lanes, and one whose room is told elsewhere than its frames. */
START_TEST(descriptors_that_a_shim_need_not_have)
{
    struct shim_ops own = ops;
    struct probe p = {.shim.ops = &own};
    ck_assert_int_eq(shim_urgent_fd(&p.shim), -1);
    ck_assert_int_eq(shim_room_fd(&p.shim), 6);
    own.room_fd = probe_event_fd;
    own.urgent_fd = probe_event_fd;
    ck_assert_int_eq(shim_room_fd(&p.shim), 8);
    ck_assert_int_eq(shim_urgent_fd(&p.shim), 8);
    ck_assert_int_eq(shim_data_fd(&p.shim), 6);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(descriptors_that_a_shim_need_not_have),
    SUITE_TEST(each_call_reaches_the_shim),
    SUITE_ABORTS(an_empty_batch_is_our_mistake),
    SUITE_ABORTS(a_batch_too_large_is_our_mistake),
};

SUITE_MAIN("shim", tests)
