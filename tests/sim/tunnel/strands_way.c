/* SPDX-License-Identifier: Apache-2.0 */
#include "strands_way.h"

#include "seeds.h"
#include "services/tunnel/strands.h"

#include <stdlib.h>
#include <string.h>

enum { SERVERS = 3, STRANDS = 2, PIECES = 3000, COPIES = 2 * PIECES, PIECE_BYTES = 9000 };

/* One piece as it was sent; what came is looked up by its place in the array. */
struct sent {
    struct piece_head head;
    cw_server from;
    cw_time came; /* the first time */
    unsigned delivered, copies;
};

/* One arrival. */
struct arrival {
    cw_time at;
    unsigned piece;
};

/* What a world has beside ways of different length. */
enum mode {
    QUIET,   /* nothing: and no way is longer than the least wait */
    DOUBLES, /* losses, and pieces that come twice */
    CHANGES, /* losses, new lives, long outages, servers that leave the view */
    MODES,
};

static struct world {
    struct rng *r;
    char *wrong;
    struct strands strands;
    struct sent sent[PIECES];
    struct arrival arrival[COPIES];
    unsigned pieces, arrivals;
    cw_time now;
    cw_span most, quick;
    enum mode mode;
    unsigned home;
    /* The greatest number that was delivered, by server and strand, and the life that it is of; and the first one. */
    struct last {
        bool known;
        uint16_t life;
        uint32_t number, first;
    } last[SERVERS][STRANDS];
    uint64_t out_of_order;
} w;

static unsigned below(unsigned n)
{
    return (unsigned)rng_below(w.r, n);
}

static void fail(const char *rule, unsigned piece, const char *what)
{
    const struct sent *p = &w.sent[piece];
    seeds_fail(w.wrong, rule, "server %u strand %u life %u number %u: %s", p->from, p->head.strand, p->head.life,
               p->head.number, what);
}

/* ---- Judges ------------------------------------------------------------------------------------------------------ */

static void delivered(void *context, cw_server from, void *piece)
{
    (void)context;
    unsigned i = (unsigned)((struct sent *)piece - w.sent);
    struct sent *p = piece;
    w.home++;
    if (p->delivered++ != 0) {
        fail("once", i, "is delivered twice");
    }
    if (from != p->from) {
        fail("once", i, "is delivered as that of another server");
    }
    if (cw_time_since(w.now, p->came).ns > w.most.ns) {
        fail("bounds", i, "waited for too long");
    }
    struct last *last = &w.last[from][p->head.strand];
    if (last->known && last->life == p->head.life && (int32_t)(p->head.number - last->number) < 0) {
        w.out_of_order++;
        /* The strand begins with the piece that comes first. */
        if (w.mode == QUIET && (int32_t)(p->head.number - last->first) > 0) {
            fail("order", i, "leaves late, and nothing pressed");
        }
        return;
    }
    bool begins = !last->known || last->life != p->head.life;
    *last = (struct last){true, p->head.life, p->head.number, begins ? p->head.number : last->first};
}

static void dropped(void *context, void *piece)
{
    (void)context;
    unsigned i = (unsigned)((struct sent *)piece - w.sent);
    w.home++;
    if (w.sent[i].copies < 2) {
        fail("once", i, "is dropped, and came once");
    }
}

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

/* Ways whose lengths differ by three orders of magnitude; quiet ones by less than what strands wait at least. */
static cw_span draw_way(unsigned scale)
{
    return CW_NS(1000 + below(1u << (w.mode == QUIET ? 16 : 10 + scale)));
}

static void arrive(unsigned piece, cw_time at)
{
    w.arrival[w.arrivals++] = (struct arrival){at, piece};
    w.sent[piece].copies++;
}

static void send_all(struct strands_way_sums *sums)
{
    uint16_t life[SERVERS];
    uint32_t number[SERVERS][STRANDS];
    unsigned scale[SERVERS];
    cw_time at = {CW_SEC(5).ns};
    for (unsigned s = 0; s < SERVERS; s++) {
        life[s] = (uint16_t)rng_next(w.r);
        scale[s] = 4 + below(11);
        for (unsigned k = 0; k < STRANDS; k++) {
            number[s][k] = below(3) == 0 ? UINT32_MAX - below(50) : (uint32_t)rng_next(w.r);
        }
    }
    for (unsigned i = 0; i < PIECES; i++) {
        unsigned s = below(SERVERS), k = below(STRANDS);
        at = cw_time_add(at, CW_NS(below(20000)));
        if (w.mode == CHANGES && below(700) == 0) {
            life[s]++; /* it begins anew, and its numbers with it */
            memset(number[s], 0, sizeof number[s]);
            sums->lives++;
        }
        if (w.mode == CHANGES && below(300) == 0) {
            number[s][k] += 100 + below(2000); /* a long outage */
        }
        w.sent[i] = (struct sent){
            .from = s, .head = {.kind = PIECE_PLAIN, .strand = (uint8_t)k, .life = life[s], .number = number[s][k]++}};
        if (w.mode == QUIET || below(60) != 0) {
            arrive(i, cw_time_add(at, draw_way(scale[s])));
            if (w.mode == DOUBLES && below(40) == 0) {
                arrive(i, cw_time_add(at, draw_way(8)));
            }
        }
    }
}

static int by_time(const void *a, const void *b)
{
    const struct arrival *x = a, *y = b;
    int64_t d = x->at.ns - y->at.ns;
    return d != 0 ? (d < 0 ? -1 : 1) : (int)x->piece - (int)y->piece;
}

/* ---- Taking ------------------------------------------------------------------------------------------------------ */

static void tick_until(cw_time at)
{
    while (strands_due(&w.strands).ns < at.ns) {
        cw_time due = strands_due(&w.strands);
        if (cw_time_before(due, w.now)) {
            due = w.now;
        }
        w.now = due;
        strands_tick(&w.strands, due);
        if (!cw_time_before(due, strands_due(&w.strands))) {
            seeds_fail(w.wrong, "bounds", "a hole that is due is not given up");
            return;
        }
    }
    w.now = at;
}

static void take(const struct arrival *a, size_t memory)
{
    struct sent *p = &w.sent[a->piece];
    p->came = p->came.ns == 0 ? a->at : p->came;
    strands_take(&w.strands, p->from, &p->head, p, PIECE_BYTES, false, w.now);
    if (w.strands.held > memory) {
        fail("bounds", a->piece, "more waits than is allowed");
    }
}

static void disturb(void)
{
    if (below(400) == 0) {
        unsigned gone = below(SERVERS);
        strands_forget(&w.strands, gone);
        memset(w.last[gone], 0, sizeof w.last[gone]); /* it begins anew */
    }
    if (below(400) == 0) {
        strands_hurry(&w.strands, cw_time_add(w.now, CW_MS(2)));
    }
}

void strands_way(struct rng *r, char *wrong, struct strands_way_sums *sums)
{
    memset(&w, 0, sizeof w);
    w.r = r;
    w.wrong = wrong;
    w.mode = (enum mode)below(MODES);
    w.most = CW_MS(20);
    size_t memory = w.mode == QUIET || below(2) == 0 ? 16u << 20 : 20u * PIECE_BYTES;
    struct strands_config config = {.servers = SERVERS,
                                    .bounds = {.first = CW_MS(5), .least = CW_US(100), .most = w.most},
                                    .memory_most = memory,
                                    .deliver = delivered,
                                    .drop = dropped};
    if (strands_open(&w.strands, &config) != 0) {
        abort();
    }
    send_all(sums);
    qsort(w.arrival, w.arrivals, sizeof *w.arrival, by_time);
    for (unsigned i = 0; i < w.arrivals && wrong[0] == '\0'; i++) {
        tick_until(w.arrival[i].at);
        if (w.mode == CHANGES) {
            disturb();
        }
        take(&w.arrival[i], memory);
    }
    tick_until(cw_time_add(w.now, CW_SEC(1)));
    const struct strands_counts *c = &w.strands.counts;
    if (wrong[0] == '\0' && (w.home != w.arrivals || w.strands.held != 0 || !list_is_empty(&w.strands.open))) {
        seeds_fail(wrong, "home", "%u pieces came, %u are home, %zu bytes wait", w.arrivals, w.home, w.strands.held);
    }
    if (wrong[0] == '\0' && w.out_of_order > c->late_after_all + c->former) {
        seeds_fail(wrong, "order", "%lu pieces left out of order, and %lu were late", (unsigned long)w.out_of_order,
                   (unsigned long)(c->late_after_all + c->former));
    }
    strands_close(&w.strands);
    sums->pieces += w.arrivals;
    sums->waited += c->waited;
    sums->filled += c->filled;
    sums->given_up += c->given_up;
    sums->late += c->late_after_all;
    sums->doubles += c->doubles;
}
