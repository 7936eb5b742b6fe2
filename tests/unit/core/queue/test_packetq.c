/* SPDX-License-Identifier: Apache-2.0 */
#include "core/queue/packetq.h"
#include "rng.h"
#include "suite.h"

enum { PACKETS = 400 };

/* One list in the order of arrival, searched from its start: what the queue must be like. */
struct model {
    struct cw_packet *list[PACKETS];
    unsigned count;
    uint32_t bytes;
};

static uint32_t weight(const struct cw_packet *p)
{
    return p->length + p->pad;
}

static struct cw_packet *model_remove(struct model *m, unsigned i)
{
    struct cw_packet *p = m->list[i];
    for (m->count--; i < m->count; i++) {
        m->list[i] = m->list[i + 1];
    }
    m->bytes -= weight(p);
    return p;
}

static struct cw_packet *model_peek(const struct model *m, cw_link link, unsigned *at)
{
    for (unsigned i = 0; i < m->count; i++) {
        if (m->list[i]->links & cw_links_of(link)) {
            *at = i;
            return m->list[i];
        }
    }
    return NULL;
}

static void same_counts(const struct packetq *q, const struct model *m)
{
    cw_links links = 0;
    unsigned of[CW_LINK_COUNT] = {0};
    for (unsigned i = 0; i < m->count; i++) {
        links |= m->list[i]->links;
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            of[link] += (m->list[i]->links & cw_links_of(link)) != 0;
        }
    }
    ck_assert_uint_eq(packetq_links(q), links);
    ck_assert_uint_eq(q->packets, m->count);
    ck_assert_uint_eq(q->bytes, m->bytes);
    ck_assert(packetq_valid(q));
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        ck_assert_uint_eq(packetq_count(q, link), of[link]);
    }
}

/* A put, with the drops it must cause; everything that left goes back to the free packets. */
static void put(struct packetq *q, struct model *m, struct cw_packet *p)
{
    struct cw_packet *expect[PACKETS];
    unsigned expected = 0;
    bool fits = weight(p) <= q->bytes_max;
    if (q->drop == PACKETQ_DROP_OLDEST) {
        while (fits && m->count > 0 && (m->count == q->packets_max || m->bytes + weight(p) > q->bytes_max)) {
            expect[expected++] = model_remove(m, 0);
        }
    } else {
        fits = fits && m->count < q->packets_max && m->bytes + weight(p) <= q->bytes_max;
        ck_assert_int_eq(packetq_has_room(q, p), fits);
    }
    if (!fits) {
        expect[expected++] = p;
    } else {
        m->list[m->count++] = p;
        m->bytes += weight(p);
    }
    struct cw_packet *out = packetq_put(q, p);
    for (unsigned i = 0; i < expected; i++) {
        ck_assert_ptr_eq(out, expect[i]);
        out->place = 0; /* free again */
        out = out->next;
    }
    ck_assert_ptr_null(out);
}

static void life(uint64_t seed)
{
    static struct cw_packet packets[PACKETS];
    struct rng rng = {seed};
    struct packetq q;
    struct model m = {.count = 0};
    for (unsigned i = 0; i < PACKETS; i++) {
        packets[i] = (struct cw_packet){.place = 0};
    }
    enum packetq_drop drop = rng_below(&rng, 2) ? PACKETQ_DROP_TAIL : PACKETQ_DROP_OLDEST;
    packetq_init(&q, 1 + (uint32_t)rng_below(&rng, PACKETS), 1000 + (uint32_t)rng_below(&rng, 200000), drop);
    unsigned some = 1 + (unsigned)rng_below(&rng, 63); /* how many of the sets this life uses */
    for (unsigned step = 0; step < 20000; step++) {
        unsigned what = (unsigned)rng_below(&rng, 100);
        if (what < 52) {
            struct cw_packet *p = &packets[rng_below(&rng, PACKETS)];
            if (p->place != 0) {
                continue;
            }
            p->place = 1;
            p->order = step;
            p->links = (cw_links)(1 + rng_below(&rng, some));
            p->length = 32 + (uint32_t)rng_below(&rng, 1468);
            p->pad = rng_below(&rng, 10) == 0 ? (uint32_t)rng_below(&rng, 9000) : 0;
            put(&q, &m, p);
        } else if (what < 99) {
            cw_link link = (cw_link)rng_below(&rng, CW_LINK_COUNT);
            unsigned at = 0;
            struct cw_packet *expect = model_peek(&m, link, &at);
            if (packetq_peek(&q, link) != expect || packetq_take(&q, link) != expect) {
                ck_abort_msg("seed %lu step %u: not the oldest for link %u", (unsigned long)seed, step, link);
            }
            if (expect != NULL) {
                model_remove(&m, at);
                expect->place = 0;
            }
        } else {
            /* Drain, and put all back under other sets, as after a change of routes. */
            struct cw_packet *all = packetq_drain(&q);
            ck_assert_uint_eq(q.packets, 0);
            ck_assert_uint_eq(packetq_links(&q), 0);
            for (unsigned i = 0; i < m.count; i++) {
                struct cw_packet *next = all->next;
                ck_assert_ptr_eq(all, m.list[i]);
                all->links = (cw_links)(1 + rng_below(&rng, 63));
                packetq_put_back(&q, all);
                all = next;
            }
            ck_assert_ptr_null(all);
        }
        if (step % 50 == 0) {
            same_counts(&q, &m);
        }
    }
}

START_TEST(oldest_first_like_a_list)
{
    for (uint64_t seed = 1; seed <= 16; seed++) {
        life(seed);
    }
}
END_TEST

START_TEST(too_large_for_the_whole_queue)
{
    struct packetq q;
    struct cw_packet big = {.links = 1, .length = 100, .pad = 1000, .order = 2}, small = {.links = 2, .length = 50};
    packetq_init(&q, 10, 1000, PACKETQ_DROP_OLDEST);
    ck_assert_ptr_null(packetq_put(&q, &small));
    /* Nobody makes room in vain. */
    ck_assert_ptr_eq(packetq_put(&q, &big), &big);
    ck_assert_ptr_null(big.next);
    ck_assert_ptr_eq(packetq_take(&q, CW_LINK_XM), &small);
}
END_TEST

/* Four packets inside, 100 bytes each; one more comes: which go, in which order? */
START_TEST(priority_by_table)
{
    enum { INSIDE = 4, NEW = INSIDE, NONE = -1 };
    static const struct {
        uint8_t inside[INSIDE]; /* oldest first */
        uint8_t came;
        uint32_t length;
        uint32_t bytes_max;
        int gone[INSIDE + 1];
    } table[] = {
        {{0, 0, 0, 0}, 0, 100, 9999, {NEW, NONE}},      /* all equal: drop tail */
        {{0, 0, 0, 0}, 1, 100, 9999, {3, NONE}},        /* the youngest of the equal */
        {{5, 1, 1, 5}, 1, 100, 9999, {NEW, NONE}},      /* the newcomer is the youngest of the lowest */
        {{5, 1, 1, 5}, 2, 100, 9999, {2, NONE}},        /* from the middle */
        {{1, 5, 5, 5}, 255, 100, 9999, {0, NONE}},      /* from the head */
        {{7, 7, 7, 7}, 6, 100, 9999, {NEW, NONE}},      /* the newcomer alone is lowest */
        {{3, 0, 2, 1}, 3, 250, 400, {1, 3, 2, NONE}},   /* bytes: as many as it takes, the lowest first */
        {{3, 0, 2, 1}, 2, 250, 400, {NEW, NONE}},       /* two would not be enough: nobody goes in vain */
        {{0, 0, 0, 0}, 9, 500, 400, {NEW, NONE}},       /* larger than the whole queue */
        {{0, 0, 0, 0}, 9, 400, 400, {3, 2, 1, 0, NONE}} /* as large */
    };
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        for (unsigned spread = 0; spread < 2; spread++) {
            struct packetq q;
            struct cw_packet p[INSIDE + 1];
            packetq_init(&q, INSIDE, table[i].bytes_max, PACKETQ_DROP_PRIORITY);
            for (unsigned k = 0; k < INSIDE; k++) {
                cw_links links = (cw_links)(spread ? 1 + k % 3 : 1);
                p[k] = (struct cw_packet){.order = k, .links = links, .length = 100, .priority = table[i].inside[k]};
                ck_assert_ptr_null(packetq_put(&q, &p[k]));
            }
            p[NEW] = (struct cw_packet){.order = NEW, .links = 2, .length = table[i].length, .priority = table[i].came};
            ck_assert_int_eq(packetq_takes(&q, &p[NEW]), table[i].gone[0] != NEW);
            struct cw_packet *out = packetq_put(&q, &p[NEW]);
            bool gone[INSIDE + 1] = {false};
            for (unsigned k = 0; table[i].gone[k] != NONE; k++, out = out->next) {
                ck_assert_ptr_eq(out, &p[table[i].gone[k]]);
                gone[table[i].gone[k]] = true;
            }
            ck_assert_ptr_null(out);
            ck_assert_uint_eq(q.count[1] + q.count[2] + q.count[3], q.packets); /* all the sets in use here */
            ck_assert(packetq_valid(&q));
            struct cw_packet *left = packetq_drain(&q);
            for (unsigned k = 0; k <= INSIDE; k++) {
                if (!gone[k]) {
                    ck_assert_ptr_eq(left, &p[k]);
                    left = left->next;
                }
            }
            ck_assert_ptr_null(left);
            ck_assert_uint_eq(q.bytes, 0);
        }
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(oldest_first_like_a_list),
    SUITE_TEST(too_large_for_the_whole_queue),
    SUITE_TEST(priority_by_table),
};
SUITE_MAIN("packetq", tests)
