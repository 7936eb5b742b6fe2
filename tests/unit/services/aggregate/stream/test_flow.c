/* SPDX-License-Identifier: Apache-2.0 */
#include "sanitized.h"
#include "services/aggregate/sorted/record.h"
#include "stream_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { ALL = 0x1ff };

/* A junction between server 8 and the root 0, with an open partition; *child is whom it takes blocks from. */
static struct flow *open_one(struct fake_net *net, struct junction **j, cw_server *child)
{
    struct letter l = {.kind = LETTER_ANNOUNCE, .run = {0, 77, 1}, .attempt = 1, .partitions = 5, .each = 4096};
    l.open = STREAM_OPEN;
    l.servers = STREAM_TOWN;
    l.members[0] = 1 << 8;
    strcpy(l.wish.combine, "sum");
    for (cw_server s = 1; s < 8; s++) {
        struct stream *st = stream_town_at(net, s);
        ck_assert_int_eq(junction_begin(st, &l, NULL), 0);
        *j = junction_find(st, &l.run);
        for (cw_link tree = 0; tree < CW_LINK_COUNT; tree++) {
            cw_links children = (*j)->plan.tree[tree].children;
            if ((*j)->plan.tree[tree].in && children != 0) {
                *child = torus_neighbour(&st->torus, s, (cw_link)__builtin_ctz(children));
                return flow_open(*j, tree, 2, (cw_bytes){NULL, 0});
            }
        }
    }
    ck_abort_msg("nobody is on the way");
}

START_TEST(a_child_has_so_many_blocks)
{
    struct fake_net *net = stream_town_open(NULL);
    struct junction *j;
    cw_server child;
    struct flow *f = open_one(net, &j, &child);
    struct letter l = {.kind = LETTER_BLOCK, .partition = 2, .sequence = STREAM_WINDOW_MOST};
    ck_assert(f != NULL && flow_partition(f) == 2 && !flow_done(f));
    ck_assert_int_eq(flow_block(f, &l, child, NULL, 0), -EPROTO); /* more than there is room for (rule 24) */
    l.sequence = 1;
    ck_assert_int_eq(flow_block(f, &l, child, NULL, 0), 0);                /* they may overtake each other */
    ck_assert_int_eq(flow_block(f, &l, child, NULL, 0), -EPROTO);          /* the same again (rule 22) */
    ck_assert_int_eq(flow_block(f, &l, CW_SERVER_NONE, NULL, 0), -EPROTO); /* no child of it */
    l.sequence = 0;
    ck_assert_int_eq(flow_block(f, &l, child, NULL, STREAM_BLOCK + 1), -EPROTO);
    ck_assert_int_eq(flow_block(f, &l, child, NULL, 0), 0);
    flow_free(f);
    stream_town_close(net);
}
END_TEST

START_TEST(damaged_records_void_it)
{
    struct fake_net *net = stream_town_open(NULL);
    struct junction *j;
    cw_server child;
    struct flow *f = open_one(net, &j, &child);
    const struct letter l = {.kind = LETTER_BLOCK, .partition = 2, .last = true};
    ck_assert_int_eq(flow_block(f, &l, child, (const uint8_t *)"\xff\xff\xff\xff", 4), 0);
    flow_pump(f);
    ck_assert(j->broken);
    ck_assert_int_eq(j->cause, -EBADMSG);
    flow_free(f);
    stream_town_close(net);
}
END_TEST

/* Long records, longer than the blocks of a short run, and many of them. */
START_TEST(records_of_all_lengths)
{
    enum { LONG = 60000 };
    static char text[LONG + 100];
    struct fake_net *net = stream_town_open(NULL);
    stream_town_fill(10);
    memset(text, 'x', LONG);
    memcpy(text, "key\t", 4);
    memcpy(text + LONG, "\nother\t1\n", 10);
    stream_town_put(7, text);
    ck_assert_int_eq(stream_town_ask(net, 0, "run map=kv combine=first from=in to=0,0,0:out partitions=2")->rc, 0);
    const char *at = strstr(stream_town_result(0), "key\txxxx");
    ck_assert(at != NULL && strcspn(at, "\n") == LONG);
    ck_assert(strstr(stream_town_result(0), "\nother\t1\n") != NULL);
    stream_town_close(net);
}
END_TEST

START_TEST(all_the_same_and_none)
{
    struct fake_net *net = stream_town_open(NULL);
    stream_town_fill(0);
    /* Each part has buffers of its own, which a sanitizer maps and unmaps: minutes for 10,000. */
    for (unsigned parts = 1; parts <= (SANITIZED ? 100 : 10000); parts *= 10) {
        char line[100];
        snprintf(line, sizeof line, "run map=kv from=in to=0,0,0:out partitions=%u", parts);
        ck_assert_int_eq(stream_town_ask(net, 3, line)->rc, 0);
        ck_assert(stream_town_right(0, 0, ALL));
    }
    for (cw_server s = 0; s < STREAM_TOWN; s++) {
        stream_town_put(s, "");
    }
    ck_assert_int_eq(stream_town_ask(net, 3, "run from=in to=0,0,0:out")->rc, 0);
    ck_assert_str_eq(stream_town_result(0), "");
    stream_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_child_has_so_many_blocks), SUITE_TEST(damaged_records_void_it),
                                          SUITE_TEST(records_of_all_lengths), SUITE_TEST(all_the_same_and_none)};
SUITE_MAIN("flow", tests)
