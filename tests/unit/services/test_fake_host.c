/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fake_host.c - the fake host that authors test their services on gives what service.h says, function by function;
 * and a key's packets reach its heir when its root has died.
 */
#include "fake_net.h"
#include "suite.h"

#include <errno.h>
#include <limits.h>

enum { JOB = 5000, PORT = 1 };

struct state {
    unsigned packets, events, timers, answers;
    int status;
    cw_event last;
    bool busy; /* cw_offload() in open */
};

static void work(void *arg)
{
    (void)arg;
}

static void tick(cw_svc *s, void *state, void *arg)
{
    (void)s, (void)arg;
    ((struct state *)state)->timers++;
}

static int on_open(cw_svc *s, void *state)
{
    struct state *st = state;
    st->busy = cw_offload(s, work, tick, NULL, CW_NS(0)) == -EBUSY;
    return 0;
}

static cw_verdict on_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)p;
    ((struct state *)state)->packets++;
    if (rx->call != 0) {
        (void)cw_reply(s, rx->call, 5, NULL);
    }
    return CW_FORWARD;
}

static void on_event(cw_svc *s, void *state, const cw_event *ev)
{
    struct state *st = state;
    ck_assert_uint_eq(ev->epoch, cw_epoch(s));
    st->events++;
    st->last = *ev;
}

static void answered(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    size_t length = 1;
    struct state *st = state;
    (void)s, (void)arg;
    st->answers++;
    st->status = status;
    cw_packet_keep(NULL);
    ck_assert_int_eq(reply == NULL, rx == NULL);
    if (reply == NULL) {
        ck_assert_ptr_null(cw_packet_data(reply, &length));
        ck_assert_uint_eq(length, 0);
    }
}

static const cw_service table = {
    CW_SERVICE_INIT, .name = "fake",         .version = "1",       .job = JOB, .state_size = sizeof(struct state),
    .open = on_open, .on_packet = on_packet, .on_event = on_event,
};

static cw_svc *s;
static struct state *st;

static void setup(void)
{
    s = fake_open(&table, (cw_dims){3, 3, 1}, (cw_coord){0, 0, 0});
    st = s->state;
}

static void teardown(void)
{
    ck_assert_uint_eq(fake_close(s), 0);
}

static cw_to to_key(const char *name)
{
    return (cw_to){.kind = CW_TO_KEY, .job = JOB, .port = PORT, .key = cw_key_of(s, name, strlen(name))};
}

START_TEST(a_packet_that_is_null_is_borne)
{
    setup();
    size_t length = 1;
    cw_trace_hop hop = {.size = sizeof hop};
    ck_assert_ptr_null(cw_packet_data(NULL, &length));
    ck_assert_uint_eq(length, 0);
    ck_assert_ptr_null(cw_packet_data(NULL, NULL));
    ck_assert_int_eq(cw_packet_resize(NULL, 1), -EINVAL);
    ck_assert_uint_eq(cw_packet_pad(NULL), 0);
    ck_assert_int_eq(cw_packet_trace(NULL, 0, &hop), -EINVAL);
    cw_packet_free(s, NULL);
    cw_packet_keep(NULL);
    ck_assert_ptr_null(cw_packet_new_padded(s, 1, SIZE_MAX));
    teardown();
}
END_TEST

START_TEST(a_bad_destination_gives_an_error)
{
    setup();
    cw_packet *p = cw_packet_new(s, 1);
    cw_to to = to_key("a");
    cw_send_options options = {CW_SEND_INIT, .place = CW_PLACE_BACKGROUND};
    ck_assert_int_eq(cw_send(s, NULL, &to, NULL), -EINVAL);
    ck_assert_int_eq(cw_send(s, p, NULL, NULL), -EINVAL);
    ck_assert_int_eq(cw_send(s, p, &to, &options), -EINVAL);
    cw_poll_links(s, CW_PLACE_BACKGROUND, 1);
    to = (cw_to){.kind = CW_TO_SERVER, .job = JOB, .server = {1, 1, 0}, .process = 0};
    ck_assert_int_eq(cw_send(s, p, &to, NULL), -EINVAL); /* not that server's process */
    to.server = (cw_coord){7, 7, 7};
    ck_assert_int_eq(cw_send(s, p, &to, NULL), -EINVAL);
    to = (cw_to){.kind = CW_TO_LINK, .job = JOB, .link = CW_LINK_ZP, .process = 0};
    ck_assert_int_eq(cw_send(s, p, &to, NULL), -EINVAL); /* an axis of the length 1 */
    cw_packet_free(s, p);
    teardown();
}
END_TEST

START_TEST(a_call_is_tried_as_often_as_it_says)
{
    setup();
    cw_packet *p = cw_packet_new(s, 3);
    const cw_to to = to_key("a");
    cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(10), .retries = 2};
    cw_packet_data(p, NULL)[2] = 9;
    ck_assert_int_eq(cw_call(s, p, &to, &options, NULL, NULL), -EINVAL);
    options.timeout = CW_SEC(3601);
    ck_assert_int_eq(cw_call(s, p, &to, &options, answered, NULL), -EINVAL);
    options.timeout = CW_MS(10);
    int64_t call = cw_call(s, p, &to, &options, answered, NULL);
    ck_assert_int_gt(call, 0);
    fake_run(s, CW_MS(29));
    ck_assert_uint_eq(st->answers, 0);
    ck_assert_uint_eq(fake_sends(s), 3);
    for (struct fake_send send; fake_take(s, &send);) {
        ck_assert_uint_eq(send.call, (uint32_t)call);
        ck_assert_uint_eq(send.packet->data[2], 9);
        fake_free(send.packet);
    }
    fake_run(s, CW_MS(1));
    ck_assert_uint_eq(st->answers, 1);
    ck_assert_int_eq(st->status, -ETIMEDOUT);
    ck_assert_int_eq(cw_call_cancel(s, call), -ENOENT);
    ck_assert_int_eq(cw_call_cancel(s, -1), -ENOENT);
    teardown();
}
END_TEST

START_TEST(an_answer_is_given_once)
{
    setup();
    ck_assert_int_eq(cw_reply(s, 12345, 0, NULL), -ENOENT);
    uint32_t right = fake_right(s, (cw_coord){1, 0, 0}, 7);
    ck_assert_int_eq(cw_reply(s, right, 5000, NULL), -EINVAL); /* and the right remains */
    ck_assert_int_eq(cw_reply(s, right, EBUSY, NULL), 0);
    ck_assert_int_eq(cw_reply(s, right, 0, NULL), -ENOENT);
    struct fake_send send;
    ck_assert(fake_take(s, &send));
    ck_assert_int_eq(send.status, -EBUSY); /* the requester gets it negative */
    fake_free(send.packet);
    teardown();
}
END_TEST

START_TEST(a_timer_may_be_stopped_at_any_time)
{
    setup();
    cw_timer *t = cw_timer_start(s, CW_MS(1), tick, NULL);
    fake_run(s, CW_MS(2));
    ck_assert_uint_eq(st->timers, 1);
    cw_timer *second = cw_timer_start(s, CW_NS(-5), tick, NULL);
    cw_timer_stop(s, t); /* it has run: nothing happens, to the second one neither */
    cw_timer_stop(s, NULL);
    fake_run(s, CW_NS(0));
    ck_assert_uint_eq(st->timers, 2);
    cw_timer_stop(s, second);
    ck_assert_ptr_null(cw_timer_start(s, CW_MS(1), NULL, NULL));
    ck_assert_uint_eq(cw_random_below(s, 0), 0);
    teardown();
}
END_TEST

START_TEST(long_work_has_its_errors)
{
    setup();
    ck_assert(st->busy);
    ck_assert_int_eq(cw_offload(s, NULL, tick, NULL, CW_NS(0)), -EINVAL);
    ck_assert_int_eq(cw_offload(s, work, tick, NULL, CW_NS(-1)), -EINVAL);
    ck_assert_int_eq(cw_offload(s, work, tick, NULL, CW_MS(1)), 0);
    fake_run(s, CW_MS(1));
    ck_assert_uint_eq(st->timers, 1);
    teardown();
}
END_TEST

START_TEST(places_outside_are_answered)
{
    setup();
    const cw_coord out = {9, 9, 9}, in = {1, 1, 0};
    static const cw_key zeros;
    cw_link_info info = {.size = sizeof info};
    ck_assert_uint_eq(cw_distance(s, out, in), UINT_MAX);
    ck_assert_uint_eq(cw_distance(s, in, out), UINT_MAX);
    ck_assert_uint_eq(cw_server_id(s, out), CW_SERVER_NONE);
    ck_assert_uint_eq(cw_server_coord(s, 99).x, 0);
    ck_assert_uint_eq(cw_links_to(s, out), 0);
    ck_assert(cw_gone(s, out) && !cw_reachable(s, out));
    cw_key key = cw_key_at(s, out, 1);
    ck_assert_mem_eq(&key, &zeros, sizeof key);
    key = cw_key_at(s, in, UINT64_MAX); /* counted modulo the size of the range */
    cw_coord root;
    ck_assert_int_eq(cw_servers_for_key(s, &key, 1, &root), 1);
    ck_assert_uint_eq(cw_server_id(s, root), cw_server_id(s, in));
    ck_assert_int_eq(cw_link_get(s, CW_LINK_COUNT, &info), -EINVAL);
    ck_assert_int_eq(cw_link_get(s, CW_LINK_XP, NULL), -EINVAL);
    ck_assert_int_eq(cw_link_get(s, CW_LINK_ZP, &info), -ENODEV);
    teardown();
}
END_TEST

START_TEST(a_key_has_its_sequence)
{
    setup();
    const cw_to to = to_key("a");
    cw_coord out[12];
    ck_assert_int_eq(cw_servers_for_key(s, &to.key, 12, out), 9);
    ck_assert_int_eq(cw_servers_for_key(s, &to.key, 3, out), 3);
    ck_assert_int_eq(cw_servers_for_key(s, NULL, 3, out), -EINVAL);
    ck_assert_int_eq(cw_servers_for_key(s, &to.key, 3, NULL), -EINVAL);
    ck_assert(!cw_is_root(s, NULL) && cw_key_moved(s, NULL, UINT64_MAX) && !cw_key_steady(s, NULL, UINT64_MAX));
    const cw_coord heir = out[1];
    uint64_t before = cw_epoch(s);
    ck_assert(!cw_key_moved(s, &to.key, before) && cw_key_steady(s, &to.key, before));
    fake_view(s, out[0], false);
    ck_assert_uint_eq(st->events, 2);
    ck_assert_int_eq(st->last.kind, CW_EVENT_ROOTS);
    ck_assert(cw_key_moved(s, &to.key, before) && !cw_key_steady(s, &to.key, before));
    ck_assert(!cw_key_moved(s, &to.key, cw_epoch(s)) && cw_key_steady(s, &to.key, cw_epoch(s)));
    ck_assert_int_eq(cw_servers_for_key(s, &to.key, 1, out), 1);
    ck_assert_uint_eq(cw_server_id(s, out[0]), cw_server_id(s, heir));
    teardown();
}
END_TEST

START_TEST(numbers_of_one_name_are_one)
{
    setup();
    cw_svc *peer = NULL;
    ck_assert_ptr_eq(cw_counter_new(s, "a", "An a."), cw_counter_new(s, "a", "An a."));
    ck_assert_ptr_eq(cw_histogram_new(s, "a", "An a."), cw_histogram_new(s, "a", "An a."));
    ck_assert_ptr_null(cw_histogram_new(s, "a b", "Bad."));
    ck_assert_ptr_null(cw_histogram_new(s, NULL, "Bad."));
    cw_counter_add(NULL, 1);
    cw_histogram_note(NULL, CW_MS(1));
    ck_assert_uint_eq(cw_histogram_count(NULL), 0);
    ck_assert_int_eq(cw_histogram_quantile(NULL, 500).ns, 0);
    ck_assert_ptr_null(cw_find(s, NULL, 0, &peer));
    ck_assert_ptr_null(cw_find(s, "fake", 0, NULL)); /* it exports nothing */
    ck_assert_ptr_null(cw_option(s, NULL));
    cw_log(s, CW_LOG_INFO, NULL);
    teardown();
}
END_TEST

START_TEST(a_key_of_a_dead_root_reaches_its_heir)
{
    struct fake_net *net = fake_net_open(&table, (cw_dims){5, 1, 1});
    cw_svc *asks = net->server[0];
    cw_key key = cw_key_at(asks, (cw_coord){1, 0, 0}, 0);
    const cw_to to = {.kind = CW_TO_KEY, .job = JOB, .port = PORT, .key = key};
    const cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(1), .retries = 1};
    for (unsigned round = 0; round < 3; round++) { /* the root, its heir, the root again */
        cw_server root = round == 1 ? 2 : 1;
        struct state *there = net->server[root]->state;
        unsigned before = there->packets;
        ck_assert_int_gt(cw_call(asks, cw_packet_new(asks, 1), &to, &options, answered, NULL), 0);
        fake_net_run(net, CW_MS(5));
        ck_assert_uint_eq(there->packets, before + 1);
        ck_assert_int_eq(((struct state *)asks->state)->status, -5);
        if (round == 0) {
            fake_net_down(net, 1);
            ck_assert(cw_is_root(net->server[2], &key));
        } else if (round == 1) {
            fake_net_up(net, 1);
            ck_assert_uint_eq(((struct state *)net->server[1]->state)->packets, 0);
        }
    }
    net->server[1]->fenced = true;
    ck_assert_int_gt(cw_call(asks, cw_packet_new(asks, 1), &to, &options, answered, NULL), 0);
    fake_net_run(net, CW_MS(5));
    ck_assert_int_eq(((struct state *)asks->state)->status, -ETIMEDOUT);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_packet_that_is_null_is_borne),      SUITE_TEST(a_bad_destination_gives_an_error),
    SUITE_TEST(a_call_is_tried_as_often_as_it_says), SUITE_TEST(an_answer_is_given_once),
    SUITE_TEST(a_timer_may_be_stopped_at_any_time),  SUITE_TEST(long_work_has_its_errors),
    SUITE_TEST(places_outside_are_answered),         SUITE_TEST(a_key_has_its_sequence),
    SUITE_TEST(numbers_of_one_name_are_one),         SUITE_TEST(a_key_of_a_dead_root_reaches_its_heir),
};
SUITE_MAIN("fake_host", tests)
