/* SPDX-License-Identifier: Apache-2.0 */
#include "node_bench.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What the operator sees, as one line. */
static struct {
    char text[512];
    unsigned done;
    int rc;
    cw_request *late;
} seen;

static void say(const char *text)
{
    strncat(seen.text, text, sizeof seen.text - strlen(seen.text) - 1);
}

static void see_row(void *context)
{
    ck_assert_ptr_eq(context, &seen);
    say("| ");
}

static void see_integer(void *context, const char *name, int64_t value)
{
    char text[64];
    ck_assert_ptr_eq(context, &seen);
    snprintf(text, sizeof text, "%s=%ld ", name, (long)value);
    say(text);
}

static void see_text(void *context, const char *name, const char *value)
{
    ck_assert_ptr_eq(context, &seen);
    say(name);
    say("=");
    say(value);
    say(" ");
}

static void see_done(void *context, int rc)
{
    ck_assert_ptr_eq(context, &seen);
    seen.done++;
    seen.rc = rc;
}

static const struct node_request_sink sink = {&seen, see_row, see_integer, see_text, see_done};

static int command(cw_svc *s, cw_request *r, int argc, const char *const *argv)
{
    (void)s;
    ck_assert_int_ge(argc, 1);
    if (strcmp(argv[0], "later") == 0) {
        seen.late = r;
        return 1;
    }
    if (strcmp(argv[0], "bad") == 0) {
        return -EDOM;
    }
    cw_request_int(r, "argc", argc);
    cw_request_row(r);
    cw_request_text(r, "last", argv[argc - 1]);
    cw_request_text(r, "none", NULL);
    cw_request_int(r, NULL, 1);
    if (strcmp(argv[0], "itself") == 0) {
        cw_request_done(r, 7);
    }
    return 0;
}

static struct bench *listening(void)
{
    struct bench *b = bench_open((cw_dims){1, 1, 1});
    b->config.alone = true;
    b->hooks.on_command = command;
    memset(&seen, 0, sizeof seen);
    bench_start(b, 0);
    bench_settle(b);
    return b;
}

static void tell(struct bench *b, const char *service, const char *word)
{
    const char *const argv[] = {word, "x"};
    seen.done = 0;
    seen.text[0] = '\0';
    node_command(b->node[0], service, 2, argv, &sink, b->now);
}

START_TEST(answers)
{
    struct bench *b = listening();
    tell(b, "probe", "now");
    ck_assert_str_eq(seen.text, "argc=2 | last=x none= ");
    ck_assert(seen.done == 1 && seen.rc == 0);
    tell(b, "probe", "itself");
    ck_assert(seen.done == 1 && seen.rc == 7); /* once */
    tell(b, "probe", "bad");
    ck_assert(seen.done == 1 && seen.rc == -EDOM);
    tell(b, "nobody", "now");
    ck_assert(seen.done == 1 && seen.rc == -ENOENT);
    bench_close(b);
}
END_TEST

START_TEST(answers_later_and_too_late)
{
    struct bench *b = listening();
    tell(b, "probe", "later");
    ck_assert_uint_eq(seen.done, 0);
    cw_request *r = seen.late;
    cw_request_int(r, "n", 1);
    cw_request_done(r, 3);
    ck_assert(seen.done == 1 && seen.rc == 3);
    cw_request_int(r, "n", 2);
    cw_request_row(r);
    cw_request_text(r, "t", "u");
    cw_request_done(r, 4);
    cw_request_done(NULL, 4);
    cw_request_int(NULL, "n", 2);
    ck_assert_uint_eq(seen.done, 1);
    ck_assert_str_eq(seen.text, "n=1 ");
    for (unsigned i = 0; i < NODE_REQUESTS; i++) {
        tell(b, "probe", "later");
        ck_assert_uint_eq(seen.done, 0);
    }
    tell(b, "probe", "later");
    ck_assert(seen.done == 1 && seen.rc == -EBUSY);
    seen.done = 0;
    ck_assert_int_eq(node_service_remove(b->node[0], PROBE_JOB, b->now), 0);
    ck_assert(seen.done == NODE_REQUESTS && seen.rc == -ECANCELED);
    cw_request_done(r, 0);
    ck_assert_uint_eq(seen.done, NODE_REQUESTS);
    bench_close(b);
}
END_TEST

static cw_verdict drop(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s, (void)state, (void)p, (void)rx;
    return CW_DROP;
}

START_TEST(some_take_no_commands)
{
    struct bench *b = listening();
    const cw_service mute = {CW_SERVICE_INIT, .name = "mute", .job = 3, .on_packet = drop};
    ck_assert_int_eq(node_service_add(b->node[0], &mute, b->now), 0);
    tell(b, "mute", "now");
    ck_assert(seen.done == 1 && seen.rc == -EOPNOTSUPP);
    /* A sink that wants only the end. */
    const struct node_request_sink deaf = {.context = &seen, .done = see_done};
    const char *const argv[] = {"now"};
    seen.done = 0;
    node_command(b->node[0], "probe", 1, argv, &deaf, b->now);
    ck_assert(seen.done == 1 && seen.rc == 0);
    bench_close(b);
}
END_TEST

static const int exported = 42;
static unsigned visits;

static void visit(void *context, cw_svc *s, const void *exports)
{
    ck_assert_ptr_eq(context, &visits);
    ck_assert_ptr_eq(exports, &exported);
    ck_assert_uint_eq(cw_job_of(s), 3);
    visits++;
}

START_TEST(gateways_visit_services)
{
    struct bench *b = listening();
    const cw_service mute = {CW_SERVICE_INIT,   .name = "mute",       .job = 3,
                             .on_packet = drop, .exports = &exported, .exports_version = 2};
    ck_assert_int_eq(node_service_add(b->node[0], &mute, b->now), 0);
    cw_links links = CW_LINKS_ALL;
    ck_assert(node_visit(b->node[0], "mute", 2, visit, &visits, b->now, &links));
    ck_assert_uint_eq(visits, 1);
    ck_assert_uint_eq(links, CW_LINKS_NONE);
    ck_assert(!node_visit(b->node[0], "mute", 1, visit, &visits, b->now, &links));  /* another version */
    ck_assert(!node_visit(b->node[0], "probe", 2, visit, &visits, b->now, &links)); /* exports nothing */
    ck_assert(!node_visit(b->node[0], "nobody", 2, visit, &visits, b->now, &links));
    ck_assert_uint_eq(visits, 1);
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(answers),
    SUITE_TEST(answers_later_and_too_late),
    SUITE_TEST(some_take_no_commands),
    SUITE_TEST(gateways_visit_services),
};
SUITE_MAIN("node_command", tests)
