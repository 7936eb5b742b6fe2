/* SPDX-License-Identifier: Apache-2.0 */
/* test_strict.c - each misuse of the service API is counted; in strict mode it is logged by its function, and what was
 * freed is filled. */
#include "node_bench.h"
#include "sanitized.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static enum {
    NOTHING,
    FREES,
    NO_VERDICT,
    FREES_AND_FORWARDS,
    KEEPS_AND_FORWARDS,
    REPLIES_TWICE,
    REPLIES_TO_NOBODY
} how;

static cw_verdict on_packet(cw_svc *s, cw_packet *p, const cw_rx *rx)
{
    switch (how) {
    case FREES:
        cw_packet_free(s, p);
        cw_packet_free(s, p);
        return CW_TAKE;
    case NO_VERDICT:
        return (cw_verdict)7;
    case FREES_AND_FORWARDS:
        cw_packet_free(s, p);
        return CW_FORWARD;
    case KEEPS_AND_FORWARDS:
        cw_packet_keep(p);
        return CW_FORWARD;
    case REPLIES_TWICE:
        ck_assert_int_eq(cw_reply(s, rx->call, 0, NULL), 0);
        ck_assert_int_eq(cw_reply(s, rx->call, 0, NULL), -ENOENT);
        return CW_DROP;
    case REPLIES_TO_NOBODY:
        ck_assert_int_eq(cw_reply(s, rx->call, 0, p), -ENOENT);
        return CW_TAKE;
    case NOTHING:
        break;
    }
    return CW_DROP;
}

static struct bench *alone(bool strict)
{
    struct bench *b = bench_open((cw_dims){1, 1, 1});
    b->config.alone = true;
    b->config.strict = strict;
    b->hooks.on_packet = on_packet;
    how = NOTHING;
    bench_start(b, 0);
    bench_settle(b);
    b->logs = 0;
    b->logged[0] = '\0';
    return b;
}

static struct node_service_info info(struct bench *b)
{
    struct node_service_info out;
    ck_assert(node_service_at(b->node[0], 0, &out));
    return out;
}

/* Lets a packet arrive at the probe, which does with it what is said; as a call, if it is to answer. */
static void arrive(struct bench *b, int what, bool call)
{
    cw_svc *s = bench_svc(b, 0);
    cw_to to = to_server(b, 0);
    how = what;
    if (call) {
        ck_assert_int_gt(cw_call(s, packet_of(b, 0, "ask", 0), &to, NULL, probe_reply, NULL), 0);
    } else {
        ck_assert_int_eq(cw_send(s, packet_of(b, 0, "go", 0), &to, NULL), 0);
    }
    bench_run(b, CW_MS(1));
    how = NOTHING;
}

/* Each of these is one misuse, and in strict mode a line that begins so. */
static const struct misuse {
    int how;
    bool call;
    const char *says;
} misuses[] = {
    {FREES, false, "cw_packet_free: the packet is not in the service's hands"},
    {NO_VERDICT, false, "on_packet: its verdict is none of"},
    {FREES_AND_FORWARDS, false, "on_packet: CW_FORWARD of a packet that it has freed"},
    {REPLIES_TWICE, true, "cw_reply: the request was answered before"},
    {REPLIES_TO_NOBODY, false, "cw_reply: the packet was no request"},
};

static void misuse_all(bool strict)
{
    struct bench *b = alone(strict);
    /* The address sanitizer ends the program where a freed packet is looked at: it needs no strict mode. */
    for (unsigned i = 0; !SANITIZED && i < sizeof misuses / sizeof *misuses; i++) {
        arrive(b, misuses[i].how, misuses[i].call);
        ck_assert_uint_eq(info(b).misuses, i + 1);
        ck_assert_uint_eq(b->logs, strict ? i + 1 : 0);
        const char *says = strict ? misuses[i].says : "";
        ck_assert_msg(strncmp(b->logged, says, strlen(says)) == 0, "%s", b->logged);
    }
    bench_close(b);
}

START_TEST(each_misuse_is_logged_in_strict_mode)
{
    misuse_all(true);
}
END_TEST

START_TEST(else_it_is_counted)
{
    misuse_all(false);
}
END_TEST

START_TEST(what_is_allowed_is_no_misuse)
{
    struct bench *b = alone(true);
    cw_svc *s = bench_svc(b, 0);
    cw_timer *t = cw_timer_start(s, CW_MS(1), probe_timer, NULL);
    arrive(b, KEEPS_AND_FORWARDS, false);
    ck_assert_uint_eq(info(b).in_hand, 1);
    cw_timer_stop(s, t);
    cw_timer_stop(s, t);
    cw_packet_free(s, NULL);
    cw_packet_free(s, s->hands);
    ck_assert_uint_eq(info(b).misuses, 0);
    ck_assert_uint_eq(b->logs, 0);
    bench_close(b);
}
END_TEST

START_TEST(other_functions)
{
    struct bench *b = alone(true);
    cw_svc *s = bench_svc(b, 0);
    cw_to to = to_server(b, 0);
    cw_packet *p = cw_packet_new(s, 8);
    ck_assert_int_eq(cw_send(s, p, &to, NULL), 0);
    ck_assert_int_eq(cw_send(s, p, &to, NULL), -EINVAL);
    ck_assert_int_eq(strncmp(b->logged, "cw_send: ", 9), 0);
    ck_assert_int_lt(cw_call(s, p, &to, NULL, probe_reply, NULL), 0);
    ck_assert_int_eq(strncmp(b->logged, "cw_call: ", 9), 0);
    ck_assert_int_lt(cw_packet_address(s, p, &to, NULL), 0);
    ck_assert_int_eq(strncmp(b->logged, "cw_packet_address: ", 19), 0);
    ck_assert_ptr_null(cw_timer_start(s, CW_MS(1), NULL, NULL));
    ck_assert_int_eq(strncmp(b->logged, "cw_timer_start: ", 16), 0);
    (void)cw_counter_new(s, "not a name", "");
    ck_assert_int_eq(strncmp(b->logged, "cw_counter_new: ", 16), 0);
    ck_assert_uint_eq(info(b).misuses, 5);
    ck_assert_int_eq(cw_reply(s, 12345, 0, NULL), -ENOENT);
    ck_assert_int_eq(strncmp(b->logged, "cw_reply: no request came with this right", 41), 0);
    bench_close(b);
}
END_TEST

/* A service in a loop must not fill a disk. */
START_TEST(lines_of_one_kind_are_bounded)
{
    struct bench *b = alone(true);
    cw_svc *s = bench_svc(b, 0);
    for (unsigned i = 0; i < 1000; i++) {
        (void)cw_reply(s, 12345, 0, NULL);
    }
    ck_assert_uint_eq(b->logs, NODE_MISUSE_LINES + 1);
    ck_assert_str_eq(b->logged,
                     "cw_reply: misused again; from now on this is counted (cwctl services), and not logged");
    ck_assert_uint_eq(info(b).misuses, 1000);
    ck_assert_ptr_null(cw_timer_start(s, CW_MS(1), NULL, NULL));
    ck_assert_uint_eq(b->logs, NODE_MISUSE_LINES + 2); /* another kind */
    bench_close(b);
}
END_TEST

static int done_twice(cw_svc *s, cw_request *r, int argc, const char *const *argv)
{
    (void)s, (void)argv;
    cw_request_done(r, 0);
    if (argc == 0) {
        return 0; /* the answer is complete either way */
    }
    cw_request_done(r, 0);
    return 2;
}

static void on_done(void *context, int rc)
{
    ck_assert_int_eq(rc, 0);
    ++*(unsigned *)context;
}

START_TEST(a_command_is_answered_once)
{
    struct bench *b = alone(true);
    unsigned done = 0;
    static const char *const words[] = {"word"};
    const struct node_request_sink sink = {.context = &done, .done = on_done};
    b->hooks.on_command = done_twice;
    (void)node_command(b->node[0], "probe", 0, NULL, &sink, b->now);
    ck_assert_uint_eq(info(b).misuses, 0);
    (void)node_command(b->node[0], "probe", 1, words, &sink, b->now);
    ck_assert_uint_eq(info(b).misuses, 2);
    ck_assert_uint_eq(done, 2);
    bench_close(b);
}
END_TEST

static int never_answers(cw_svc *s, cw_request *r, int argc, const char *const *argv)
{
    (void)s, (void)argv;
    if (argc > 2) {
        cw_request_int(r, "field", 1);
    }
    return 1;
}

static void on_cancelled(void *context, int rc)
{
    ck_assert_int_eq(rc, -ECANCELED);
    ++*(unsigned *)context;
}

/* A command that the service keeps is shown, named in strict mode when nothing comes of it, and a misuse at the end. */
START_TEST(a_command_that_is_never_answered)
{
    for (int strict = 0; strict < 2; strict++) {
        struct bench *b = alone(strict);
        unsigned done = 0;
        static const char *const words[] = {"hold", "red\n", "firmly"};
        const struct node_request_sink sink = {.context = &done, .done = on_cancelled};
        struct node_service_info i = info(b);
        ck_assert(i.commands == 0 && i.command[0] == '\0');
        b->hooks.on_command = never_answers;
        cw_time began = b->now;
        (void)node_command(b->node[0], "probe", 2, words, &sink, b->now);
        bench_run(b, CW_SEC(5));
        (void)node_command(b->node[0], "probe", 3, words, &sink, b->now);
        i = info(b);
        ck_assert(i.commands == 2 && i.misuses == 0 && i.command_came.ns == began.ns);
        ck_assert_str_eq(i.command, "hold red\\x0a");
        ck_assert_uint_eq(b->logs, 0);
        bench_run(b, CW_SEC(6));
        ck_assert_uint_eq(b->logs, strict);
        ck_assert(!strict || strstr(b->logged, "cw_request_done: not called for the command 'hold red\\x0a', of whose "
                                               "answer nothing has come for 10 s") != NULL);
        bench_run(b, CW_SEC(20));
        ck_assert_uint_eq(b->logs, strict ? 2 : 0);
        ck_assert_uint_eq(info(b).misuses, 0);
        ck_assert_int_eq(node_service_remove(b->node[0], info(b).job, b->now), 0);
        ck_assert_uint_eq(b->logs, strict ? 4 : 0);
        ck_assert(!strict || strstr(b->logged, "cw_request_done: not called for the command 'hold red\\x0a firmly' "
                                               "when the service closed") != NULL);
        ck_assert_uint_eq(done, 2);
        bench_close(b);
    }
}
END_TEST

START_TEST(what_was_freed_is_filled)
{
    for (int strict = 0; strict < 2; strict++) {
        struct bench *b = alone(strict);
        cw_svc *s = bench_svc(b, 0);
        cw_packet *p = cw_packet_new(s, 8);
        struct cw_packet *other = pkt_ref(p); /* as somebody who still looks at it */
        uint8_t *data = cw_packet_data(p, NULL);
        memcpy(data, "contents", 8);
        node_poison(b->node[0], p);
        ck_assert_int_eq(memcmp(data, "contents", 8), 0); /* it is another's too */
        pkt_release(other);
        node_poison(b->node[0], p);
        ck_assert_int_eq(data[0], strict ? NODE_POISON : 'c');
        cw_packet_free(s, p);
        bench_close(b);
    }
}
END_TEST

START_TEST(what_it_holds_is_shown)
{
    struct bench *b = alone(false);
    cw_svc *s = bench_svc(b, 0);
    cw_to to = to_server(b, 0);
    cw_packet *p = cw_packet_new(s, 8);
    ck_assert_ptr_nonnull(cw_timer_start(s, CW_SEC(1), probe_timer, NULL));
    ck_assert_ptr_nonnull(cw_timer_start(s, CW_SEC(1), probe_timer, NULL));
    ck_assert_int_gt(cw_call(s, cw_packet_new(s, 8), &to, NULL, probe_reply, NULL), 0);
    struct node_service_info i = info(b);
    ck_assert(i.in_hand == 1 && i.timers == 2 && i.calls == 1 && i.misuses == 0);
    cw_packet_free(s, p);
    bench_run(b, CW_SEC(2));
    i = info(b);
    ck_assert(i.in_hand == 0 && i.timers == 0 && i.calls == 0);
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(each_misuse_is_logged_in_strict_mode),
    SUITE_TEST(else_it_is_counted),
    SUITE_TEST(what_is_allowed_is_no_misuse),
    SUITE_TEST(other_functions),
    SUITE_TEST(lines_of_one_kind_are_bounded),
    SUITE_TEST(a_command_is_answered_once),
    SUITE_TEST(a_command_that_is_never_answered),
    SUITE_TEST(what_was_freed_is_filled),
    SUITE_TEST(what_it_holds_is_shown),
};
SUITE_MAIN("strict", tests)
