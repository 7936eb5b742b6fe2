/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

/* An attempt of a run whose root is server 0, in which server 8 contributes alone, as server `at` hears of it. */
static struct letter announcement(uint32_t attempt)
{
    struct letter l = {.kind = LETTER_ANNOUNCE, .run = {0, 77, 1}, .attempt = attempt, .partitions = 5, .each = 4096};
    l.open = STREAM_OPEN;
    l.servers = STREAM_TOWN;
    l.members[0] = 1 << 8;
    strcpy(l.wish.combine, "sum");
    return l;
}

/* A tree in which this junction has a child; *child is it. */
static cw_link tree_with_child(const struct junction *j, cw_server *child)
{
    for (cw_link tree = 0; tree < CW_LINK_COUNT; tree++) {
        cw_links children = j->plan.tree[tree].children;
        if (j->plan.tree[tree].in && children != 0) {
            *child = torus_neighbour(&j->st->torus, j->st->self, (cw_link)__builtin_ctz(children));
            return tree;
        }
    }
    ck_abort_msg("it is on no way");
}

/* The first server that is on the way of 8 to the root. */
static struct stream *on_the_way(struct fake_net *net)
{
    for (cw_server s = 1; s < 8; s++) {
        struct stream *st = stream_town_at(net, s);
        const struct letter l = announcement(1);
        ck_assert_int_eq(junction_begin(st, &l, NULL), 0);
        const struct junction *j = junction_find(st, &l.run);
        for (cw_link tree = 0; tree < CW_LINK_COUNT; tree++) {
            if (j->plan.tree[tree].in && j->plan.tree[tree].children != 0) {
                return st;
            }
        }
    }
    ck_abort_msg("nobody is on the way");
}

START_TEST(attempts_follow_each_other)
{
    struct fake_net *net = stream_town_open(NULL);
    struct stream *st = stream_town_at(net, 5);
    struct letter l = announcement(2);
    ck_assert_int_eq(junction_begin(st, &l, NULL), 0);
    ck_assert_int_eq(junction_begin(st, &l, NULL), -ESTALE);
    l.attempt = 1;
    ck_assert_int_eq(junction_begin(st, &l, NULL), -ESTALE);
    l.attempt = 3;
    ck_assert_int_eq(junction_begin(st, &l, NULL), 0);
    ck_assert_uint_eq(st->junction_count, 1);
    ck_assert_uint_eq(junction_find(st, &l.run)->attempt, 3);
    ck_assert_int_eq(junction_begin(stream_town_at(net, 8), &l, NULL), -ESTALE); /* it has no such input */
    l.servers = 27;
    ck_assert_int_eq(junction_begin(st, &l, NULL), -EPROTO);
    l = announcement(4);
    l.others[0] = 1 << 5;
    ck_assert_int_eq(junction_begin(st, &l, NULL), -EPROTO);
    l.others[0] = 1 << 8;
    ck_assert_int_eq(junction_begin(st, &l, NULL), -ENETUNREACH);
    ck_assert(st->junction_count == 0 && st->memory == 0);
    stream_town_close(net);
}
END_TEST

START_TEST(memory_is_taken_at_once)
{
    struct fake_net *net = stream_town_open((const char *const[]){"data=/d", "memory=2M", "job_memory=8M", NULL});
    struct stream *st = stream_town_at(net, 0);
    struct letter l = announcement(1);
    l.members[0] = 0x1fe;
    ck_assert_int_eq(junction_begin(st, &l, NULL), -ENOBUFS);
    ck_assert(st->junction_count == 0 && st->memory == 0 && list_is_empty(&st->accounts));
    stream_town_close(net);
    net = stream_town_open((const char *const[]){"data=/d", "memory=2M", NULL});
    st = stream_town_at(net, 0);
    ck_assert_int_eq(junction_begin(st, &l, NULL), 0); /* it is its job's limit: the root hears of that by VOID */
    struct junction *j = junction_find(st, &l.run);
    ck_assert(j->broken && j->cause == -ENOSR && j->cost == 0 && st->memory == 0);
    junction_free(j);
    stream_town_close(net);
}
END_TEST

START_TEST(grants_open_once)
{
    struct fake_net *net = stream_town_open(NULL);
    struct stream *st = on_the_way(net);
    const struct letter l = announcement(1);
    struct junction *j = junction_find(st, &l.run);
    cw_server child;
    cw_link tree = tree_with_child(j, &child);
    cw_server parent = j->plan.tree[tree].parent;
    struct letter grant = {.kind = LETTER_GRANT, .run = l.run, .attempt = 1, .tree = (uint8_t)tree, .partition = 3};
    struct letter block = {.kind = LETTER_BLOCK, .run = l.run, .attempt = 1, .tree = (uint8_t)tree, .partition = 3};
    grant.sequence = 2;
    ck_assert_int_eq(junction_grant(st, &grant, parent), 0);
    ck_assert_uint_eq(j->open[tree], 1);
    block.last = true;
    ck_assert_int_eq(junction_block(st, &block, NULL, 0, child), 0);
    fake_net_run(net, CW_MS(100)); /* the parent has no such run, or it has: in both cases the block has ended */
    if (!j->broken && !list_is_empty(&st->junctions)) {
        ck_assert_uint_eq(j->open[tree], 0);
        ck_assert_int_eq(junction_grant(st, &grant, parent), 0); /* it is late (rule 27) */
        ck_assert_uint_eq(j->open[tree], 0);
    }
    stream_town_close(net);
}
END_TEST

START_TEST(strangers_void_it)
{
    struct fake_net *net = stream_town_open(NULL);
    struct stream *st = on_the_way(net);
    const struct letter l = announcement(1);
    struct junction *j = junction_find(st, &l.run);
    cw_server child;
    cw_link tree = tree_with_child(j, &child);
    struct letter grant = {.kind = LETTER_GRANT, .run = l.run, .attempt = 2, .tree = (uint8_t)tree, .partition = 3};
    struct letter block = {.kind = LETTER_BLOCK, .run = l.run, .attempt = 2, .tree = (uint8_t)tree, .partition = 3};
    ck_assert_int_eq(junction_grant(st, &grant, j->plan.tree[tree].parent), -ESTALE); /* of another attempt (rule 21) */
    ck_assert_int_eq(junction_block(st, &block, NULL, 0, child), -ESTALE);
    ck_assert(!j->broken);
    grant.attempt = 1;
    ck_assert_int_eq(junction_grant(st, &grant, child), -EPROTO); /* not the parent */
    ck_assert(j->broken);
    ck_assert_int_eq(junction_grant(st, &grant, j->plan.tree[tree].parent), -ESTALE);
    stream_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(attempts_follow_each_other), SUITE_TEST(memory_is_taken_at_once),
                                          SUITE_TEST(grants_open_once), SUITE_TEST(strangers_void_it)};
SUITE_MAIN("junction", tests)
