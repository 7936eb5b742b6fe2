/* SPDX-License-Identifier: Apache-2.0 */
/* Server 1 as a vertex of a reduction to server 0 whose one member is server 2: beyond it in some trees. */
#include "dense_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { SELF = 1, ROOT = 0, MEMBER = 2, ELEMENTS = 100 };
static struct fake_net *net;
static struct dense *d;
static struct message announce;
static uint64_t elements[ELEMENTS];
static cw_link tree;    /* in which the member is the child */
static cw_server below; /* the child */

static void setup(void)
{
    net = town_open();
    d = town_dense(net, SELF);
    announce = (struct message){.kind = MESSAGE_ANNOUNCE, .run = {ROOT, 77, 1}, .attempt = 1, .servers = TOWN_SERVERS};
    announce.spec = (struct spec){CW_NUMBER_UINT64, CW_COMBINE_SUM, 0, 10 * ELEMENTS};
    announce.each = ELEMENTS;
    announce.window = 4;
    announce.ahead = 8;
    for (cw_server s = 2; s < TOWN_SERVERS; s++) {
        trees_set_add(announce.members, s); /* so that this server has a child somewhere */
    }
}

static struct vertex *begin(void)
{
    ck_assert_int_eq(vertex_begin(d, &announce, NULL), 0);
    struct vertex *v = vertex_find(d, &announce.run);
    for (tree = 0; v->plan.tree[tree].children == 0; tree++) {
    }
    below = torus_neighbour(&d->torus, SELF, (cw_link)__builtin_ctz(v->plan.tree[tree].children));
    return v;
}

static struct message deal(void)
{
    struct message m = {.kind = MESSAGE_DEAL, .run = announce.run, .attempt = announce.attempt, .tree = (uint8_t)tree};
    m.runs = 1;
    m.deal[0] = (struct deal_run){3, 2};
    return m;
}

static struct message block(uint32_t position, uint32_t number)
{
    struct message m = {.kind = MESSAGE_BLOCK, .run = announce.run, .attempt = announce.attempt, .tree = (uint8_t)tree};
    m.position = position;
    m.block = number;
    m.elements = (const uint8_t *)elements;
    m.bytes = sizeof elements;
    return m;
}

static cw_server parent_of(const struct vertex *v)
{
    return v->plan.tree[tree].parent;
}

/* A block of a child comes in one packet. */
static int take(const struct message *b, cw_server from)
{
    int rc = parts_begin(d, b, from);
    rc = rc < 0 ? rc : parts_piece(d, b, from, 0, b->elements, b->bytes);
    return rc < 0 ? rc : parts_whole(d, b, from);
}

/* aggregate rules 2, 3 and 4, block by block. */
START_TEST(blocks_of_children)
{
    setup();
    struct vertex *v = begin();
    struct message m = deal(), b = block(0, 3);
    ck_assert_int_eq(vertex_deal(d, &m, parent_of(v)), 0);
    b.attempt = 2;
    ck_assert_int_eq(take(&b, below), -ESTALE);
    b.attempt = 1;
    b.run.number = 2;
    ck_assert_int_eq(take(&b, below), -EAGAIN); /* the child may have heard of that run first */
    b.attempt = 2;
    ck_assert_int_eq(take(&b, below), -ESTALE);
    ck_assert(!v->broken);
    b = block(0, 3);
    bool single = (v->plan.tree[tree].children & (v->plan.tree[tree].children - 1)) == 0;
    ck_assert_int_eq(take(&b, below), 0);
    ck_assert_int_eq(column_slot(&v->column[tree], 0)->state, single ? COLUMN_LENT : COLUMN_WAITING);
    ck_assert_int_eq(take(&b, below), -EPROTO); /* twice: no honest child does that */
    ck_assert(v->broken);
    ck_assert_int_eq(take(&b, below), -ESTALE);
    town_close(net);
}
END_TEST

START_TEST(blocks_that_do_not_fit)
{
    for (unsigned fault = 0; fault < 5; fault++) {
        setup();
        struct vertex *v = begin();
        struct message m = deal(), b = block(0, 3);
        ck_assert_int_eq(vertex_deal(d, &m, parent_of(v)), 0);
        b.position += fault == 0 ? 2 : 0;
        b.block += fault == 1 ? 1 : 0;
        b.bytes -= fault == 2 ? 8 : 0;
        cw_server from = fault == 3 ? parent_of(v) : below;
        if (fault == 4) {
            b.tree = (uint8_t)((tree + 1) % CW_LINK_COUNT);
        }
        SUITE_HOLDS(take(&b, from) == -EPROTO, "fault %u", fault);
        SUITE_HOLDS(v->broken, "fault %u", fault);
        town_close(net);
    }
}
END_TEST

START_TEST(deals_that_do_not_fit)
{
    for (unsigned fault = 0; fault < 4; fault++) {
        setup();
        struct vertex *v = begin();
        struct message m = deal();
        m.from += fault == 0;
        m.deal[0].first += fault == 1 ? 6 : 0; /* blocks 9 and 10 of 10 */
        m.deal[0].count += fault == 2 ? 7 : 0;
        cw_server from = fault == 3 ? below : parent_of(v);
        SUITE_HOLDS(vertex_deal(d, &m, from) == -EPROTO && v->broken, "fault %u", fault);
        town_close(net);
    }
}
END_TEST

/* In a broadcast no blocks move: it takes no memory, and whoever deals all the same is refused. */
START_TEST(broadcasts_have_no_blocks)
{
    setup();
    struct vertex *v = begin();
    cw_server parent = parent_of(v);
    announce.spec.flags = CW_REDUCE_TO_ALL | CW_REDUCE_FROM_ROOT;
    announce.attempt = 2;
    v = begin();
    ck_assert_uint_eq(d->memory, 0);
    vertex_pump(v);
    struct message m = deal(), b = block(0, 3);
    ck_assert_int_eq(vertex_deal(d, &m, parent), -EPROTO);
    ck_assert(v->broken);
    announce.attempt = 3;
    v = begin();
    b.attempt = 3;
    ck_assert_int_eq(take(&b, below), -EPROTO);
    ck_assert(v->broken);
    town_close(net);
}
END_TEST

/* A later attempt takes the place of an earlier one, and gives its memory back. */
START_TEST(attempts)
{
    setup();
    (void)begin();
    uint64_t memory = d->memory;
    ck_assert_uint_gt(memory, 0);
    ck_assert_int_eq(vertex_begin(d, &announce, NULL), -ESTALE);
    announce.attempt = 3;
    struct vertex *v = begin();
    ck_assert_uint_eq(v->attempt, 3);
    ck_assert_uint_eq(d->memory, memory);
    ck_assert_uint_eq(d->vertex_count, 1);
    announce.attempt = 2;
    ck_assert_int_eq(vertex_begin(d, &announce, NULL), -ESTALE);
    vertex_free(v);
    ck_assert_uint_eq(d->memory, 0);
    town_close(net);
}
END_TEST

START_TEST(announcements_that_do_not_fit)
{
    for (unsigned fault = 0; fault < 9; fault++) {
        setup();
        struct message *m = &announce;
        m->servers += fault == 0;
        m->window = fault == 1 ? 0 : m->window;
        m->ahead = fault == 2 ? 3 : m->ahead;
        m->run.root = fault == 3 ? TOWN_SERVERS : m->run.root;
        m->dead[0] = fault == 4 ? 1 << ROOT : fault == 5 ? 1 << SELF : 0;
        m->ticket = fault == 6 ? 5 : 0;
        m->each = fault == 7 ? 0 : m->each;
        m->attempt = fault == 8 ? 0 : m->attempt;
        SUITE_HOLDS(vertex_begin(d, m, NULL) == -EPROTO, "fault %u", fault);
        SUITE_HOLDS(d->vertex_count == 0 && d->memory == 0, "fault %u", fault);
        town_close(net);
    }
}
END_TEST

/* One job has half of what there is, and another one the rest. */
START_TEST(jobs)
{
    setup();
    announce.job = 5;
    for (announce.run.number = 1; announce.run.number <= DENSE_RUNS_EACH; announce.run.number++) {
        ck_assert_int_eq(vertex_begin(d, &announce, NULL), 0);
    }
    ck_assert_int_eq(vertex_begin(d, &announce, NULL), -ENOBUFS);
    announce.job = 6;
    ck_assert_int_eq(vertex_begin(d, &announce, NULL), 0);
    town_close(net);
    setup(); /* wide windows of the longest blocks, and as many for children; nothing of them is touched */
    announce.spec.flags = CW_REDUCE_FIXED;
    announce.spec.elements = UINT64_C(1) << 30;
    announce.each = BLOCKS_BYTES_MOST / sizeof(uint64_t);
    announce.window = COLUMN_WINDOW_MOST;
    announce.ahead = COLUMN_AHEAD_MOST;
    announce.job = 5;
    while (vertex_begin(d, &announce, NULL) == 0) {
        announce.run.number++;
    }
    ck_assert_uint_gt(announce.run.number, 2);
    ck_assert_uint_le(announce.run.number, DENSE_RUNS_EACH); /* it was the memory */
    ck_assert_uint_le(d->memory, DENSE_MEMORY_EACH);
    announce.job = 6;
    ck_assert_int_eq(vertex_begin(d, &announce, NULL), 0);
    ck_assert_uint_gt(d->memory, DENSE_MEMORY_EACH);
    town_close(net);
}
END_TEST

/* A member is told with its ticket; one that is not known has given up, or belongs to an earlier life. */
START_TEST(tickets)
{
    const struct town_plan plan = {.name = "a", .root = ROOT, .members = 6, .elements = 10 * ELEMENTS};
    setup();
    trees_set_add(announce.members, SELF);
    announce.ticket = 12345;
    ck_assert_int_eq(vertex_begin(d, &announce, NULL), -ESTALE);
    announce.ticket = (uint32_t)town_reduce(net, SELF, &plan);
    announce.spec.elements++;
    ck_assert_int_eq(vertex_begin(d, &announce, NULL), -EINVAL);
    announce.spec.elements--;
    ck_assert_int_eq(vertex_begin(d, &announce, NULL), 0);
    ck_assert(vertex_find(d, &announce.run)->own != NULL);
    ck_assert_int_eq(dense_cancel(d, net, town_calls[SELF].ticket), 0);
    ck_assert(vertex_find(d, &announce.run) == NULL);
    town_close(net);
}
END_TEST

/* What the vertex sends up when its children's parts come in this order: element 0, as bits. */
static uint32_t sum_of(bool backwards, uint8_t flags)
{
    static float part[CW_LINK_COUNT][ELEMENTS];
    cw_link child[CW_LINK_COUNT];
    unsigned children = 0;
    uint32_t bits = 0;
    setup();
    announce.spec = (struct spec){CW_NUMBER_FLOAT32, CW_COMBINE_SUM, flags, 10 * ELEMENTS};
    struct vertex *v = begin();
    for (tree = 0; tree < CW_LINK_COUNT && __builtin_popcount(v->plan.tree[tree].children) < 3; tree++) {
    }
    ck_assert_uint_lt(tree, CW_LINK_COUNT);
    for (cw_links left = v->plan.tree[tree].children; left != 0; left &= (cw_links)(left - 1)) {
        static const float values[] = {1e8F, -1e8F, 3.0F, 0.5F, 0.25F, 0.1F}; /* the sum depends on the order */
        part[children][0] = values[children];
        child[children++] = (cw_link)__builtin_ctz(left);
    }
    struct message m = deal();
    ck_assert_int_eq(vertex_deal(d, &m, parent_of(v)), 0);
    for (unsigned i = 0; i < children; i++) {
        unsigned k = backwards ? children - 1 - i : i;
        struct message b = block(0, 3);
        b.elements = (const uint8_t *)part[k];
        b.bytes = sizeof part[k];
        ck_assert_int_eq(take(&b, torus_neighbour(&d->torus, SELF, child[k])), 0);
    }
    ck_assert_int_eq(column_slot(&v->column[tree], 0)->state, COLUMN_LENT);
    memcpy(&bits, column_memory(&v->column[tree], 0), sizeof bits);
    town_close(net);
    return bits;
}

/* aggregate rule 9: the same bits, whatever comes first. */
START_TEST(fixed_order)
{
    ck_assert_uint_ne(sum_of(false, 0), sum_of(true, 0)); /* so the order shows */
    ck_assert_uint_eq(sum_of(false, CW_REDUCE_FIXED), sum_of(true, CW_REDUCE_FIXED));
    ck_assert_uint_eq(sum_of(false, CW_REDUCE_FIXED), sum_of(false, 0));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(broadcasts_have_no_blocks),
                                          SUITE_TEST(blocks_of_children),
                                          SUITE_TEST(blocks_that_do_not_fit),
                                          SUITE_TEST(deals_that_do_not_fit),
                                          SUITE_TEST(attempts),
                                          SUITE_TEST(announcements_that_do_not_fit),
                                          SUITE_TEST(jobs),
                                          SUITE_TEST(tickets),
                                          SUITE_TEST(fixed_order)};
SUITE_MAIN("vertex", tests)
