/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_town.h"
#include "suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

START_TEST(refusals_name_server_and_line)
{
    struct fake_net *net = stream_town_open(NULL);
    stream_town_fill(3);
    stream_town_put(5, "a\t1\nb\t2\nno value\n");
    const struct fake_result *r = stream_town_ask(net, 0, "run map=kv from=in to=0,0,0:out");
    ck_assert_int_eq(r->rc, -EINVAL);
    ck_assert_msg(strstr(fake_text(r, 0, "error"), "server 1,2,0, in: line 3: ") != NULL, "%s",
                  fake_text(r, 0, "error"));
    ck_assert_str_eq(fake_text(r, 1, "server"), "1,2,0");
    ck_assert_str_eq(fake_text(r, 1, "state"), "refused");
    stream_town_put(5, "a\tone\n");
    r = stream_town_ask(net, 0, "run map=kv from=in to=0,0,0:out");
    ck_assert_int_eq(r->rc, -EINVAL);
    char *large = malloc(100001);
    memset(large, 'x', 100000);
    large[100000] = '\0';
    stream_town_put(5, large);
    r = stream_town_ask(net, 0, "run map=lines from=in to=0,0,0:out");
    ck_assert_int_eq(r->rc, -EMSGSIZE);
    free(large);
    ck_assert_str_eq(stream_town_result(0), "-");
    stream_town_close(net);
}
END_TEST

START_TEST(spills_what_has_no_room)
{
    static const char *const small[] = {"data=/d", "spool=/s", "memory=32M", NULL};
    enum { LINES = 120000 };
    struct fake_net *net = stream_town_open(small);
    stream_town_fill(LINES);
    const struct fake_result *r = stream_town_ask(net, 0, "run map=kv from=in to=1,0,0:out of=0,0,0 of=2,2,0");
    ck_assert_int_eq(r->rc, 0);
    ck_assert_uint_gt(stream_disks[0].spooled, 500000);
    ck_assert(stream_town_right(3, LINES, 0x101));
    stream_disks[8].spool_error = -ENOSPC;
    r = stream_town_ask(net, 0, "run map=kv from=in to=1,0,0:out of=0,0,0 of=2,2,0");
    ck_assert_int_eq(r->rc, -ENOSPC);
    ck_assert(strstr(fake_text(r, 0, "error"), "server 2,2,0, in: its spool folder") != NULL);
    stream_town_close(net);
    net = stream_town_open((const char *const[]){"data=/d", "memory=32M", NULL});
    stream_town_fill(LINES);
    r = stream_town_ask(net, 0, "run map=kv from=in to=1,0,0:out of=0,0,0");
    ck_assert_int_eq(r->rc, -ENOTDIR);
    ck_assert(strstr(fake_text(r, 0, "error"), "no spool folder is set") != NULL);
    stream_town_close(net);
}
END_TEST

START_TEST(nothing_is_kept)
{
    struct fake_net *net = stream_town_open(NULL);
    struct stream_overview look;
    stream_town_fill(100);
    ck_assert_int_eq(stream_town_ask(net, 0, "run map=kv from=in to=1,0,0:out")->rc, 0);
    fake_net_run(net, CW_SEC(2));
    for (cw_server s = 0; s < STREAM_TOWN; s++) {
        stream_look(stream_town_at(net, s), &look);
        ck_assert(look.tasks == 0 && look.junctions == 0 && look.collectors == 0 && look.memory == 0);
    }
    stream_town_close(net);
}
END_TEST

START_TEST(closes_in_the_middle)
{
    static struct fake_result r;
    for (int us = 100; us < 3000; us += 300) {
        struct fake_net *net = stream_town_open(NULL);
        stream_town_fill(1000);
        stream_town_begin(net, 2, "run map=kv from=in to=0,0,0:out", &r);
        fake_net_run(net, CW_US(us));
        stream_town_close(net);
    }
}
END_TEST

/* A lead or a root that was gone before its message came, so that no event tells that it has left. */
START_TEST(nobody_sees_the_lead)
{
    struct fake_net *net = stream_town_open(NULL);
    struct stream *st = stream_town_at(net, 0);
    const struct transport_reply_to reply = {
        .job = AGGREGATE_JOB, .server = {1, 1, 0}, .port = AGGREGATE_PORT_STREAM_CALL};
    struct letter l = {.kind = LETTER_PREPARE, .run = {4, 77, 1}, .servers = STREAM_TOWN, .members = {1}};
    l.wish = (struct wish){.limit_ms = 1000, .partitions = 3, .from = "in", .to = "out", .mapper = "kv"};
    strcpy(l.wish.combine, "sum");
    stream_town_fill(10);
    net->server[0]->down[4] = true;
    ck_assert_int_eq(task_begin(st, &l, &reply), 0);
    l = (struct letter){.kind = LETTER_ANNOUNCE, .run = {4, 78, 1}, .attempt = 1, .partitions = 5, .each = 4096};
    l.lead = (struct run_name){4, 77, 2};
    l.open = STREAM_OPEN;
    l.servers = STREAM_TOWN;
    l.members[0] = 1 << 8;
    strcpy(l.wish.combine, "sum");
    ck_assert_int_eq(junction_begin(st, &l, NULL), 0);
    fake_net_run(net, CW_MS(300));
    ck_assert(st->task_count == 1 && st->junction_count == 1);
    fake_net_run(net, CW_MS(400));
    ck_assert(st->task_count == 0 && st->junction_count == 0);
    stream_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(nobody_sees_the_lead), SUITE_TEST(refusals_name_server_and_line),
                                          SUITE_TEST(spills_what_has_no_room), SUITE_TEST(nothing_is_kept),
                                          SUITE_TEST(closes_in_the_middle)};
SUITE_MAIN("task", tests)
