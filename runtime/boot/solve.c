/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/solve.h"
#include "base/check.h"
#include "boot/inspect.h"
#include "boot/join.h"
#include "boot/squares.h"
#include "boot/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    SUSPECTS_MAX = 24,
    ATTEMPT_SERVERS = 40 * 1000, /* bounds attempts times servers when cables are left out: a fraction of a second */
};

/*
 * Takes directions from labels; a port without a label gets its direction from the other end of its cable. False when a
 * port gets none, or two ports of a server get the same.
 */
static bool take_labels(const struct graph *g, struct solution *s)
{
    bool complete = true;
    for (uint32_t i = 0; i < g->count; i++) {
        unsigned used = 0;
        for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
            unsigned direction = g->server[i].label[port];
            struct graph_end far = graph_far(g, i, port);
            if (direction == BOOT_UNLABELLED && far.server != GRAPH_NONE) {
                unsigned theirs = g->server[far.server].label[far.port];
                direction = theirs < CW_LINK_COUNT ? cw_link_opposite((cw_link)theirs) : theirs;
            }
            s->spot[i].direction[port] = (uint8_t)direction;
            complete = complete && (direction < CW_LINK_COUNT || direction == BOOT_ABSENT);
            if (direction < CW_LINK_COUNT) {
                complete = complete && (used & 1u << direction) == 0;
                used |= 1u << direction;
            }
        }
    }
    return complete;
}

/* Forgets all positions and directions, for another attempt. */
static void clear(const struct graph *g, struct solution *s)
{
    s->dims = (cw_dims){0};
    memset(s->shift, 0, sizeof s->shift);
    for (uint32_t i = 0; i < g->count; i++) {
        s->spot[i] = (struct graph_spot){.torus = 0};
        memset(s->spot[i].direction, BOOT_UNLABELLED, CW_LINK_COUNT);
    }
}

struct attempt {
    const struct graph *g;
    struct solution *s;
    uint8_t *doubtful;
    uint32_t best;          /* the fewest faults so far */
    uint8_t *best_doubtful; /* the doubtful cables with which they were reached */
};

/* How many faults remain when the doubtful cables are left out; UINT32_MAX when no shape is found. 0 or -ENOMEM. */
static int faults_without(struct attempt *a, uint32_t *faults)
{
    clear(a->g, a->s);
    int rc = squares_directions(a->g, a->doubtful, a->s);
    rc = rc < 0 ? rc : boot_walk(a->g, a->s);
    struct fault_list none = {0};
    rc = rc < 0 ? rc : boot_inspect(a->g, a->s, &none);
    *faults = rc == 0 ? none.grave : UINT32_MAX;
    return rc == -EDOM ? 0 : rc;
}

static int attempt(struct attempt *a)
{
    uint32_t faults;
    int rc = faults_without(a, &faults);
    if (rc == 0 && faults < a->best) {
        a->best = faults;
        memcpy(a->best_doubtful, a->doubtful, (size_t)a->g->count * CW_LINK_COUNT);
    }
    return rc;
}

static void doubt(struct attempt *a, uint32_t number, bool on)
{
    struct graph_end far = graph_far(a->g, number / CW_LINK_COUNT, number % CW_LINK_COUNT);
    a->doubtful[number] = on;
    a->doubtful[far.server * CW_LINK_COUNT + far.port] = on;
}

struct suspect {
    uint32_t cable;
    unsigned odd; /* how far its number of squares is from the usual one */
};

/* Finds the cables whose number of squares differs most from the usual one, the oddest first. Gives how many. */
static unsigned find_suspects(const struct graph *g, struct suspect out[SUSPECTS_MAX])
{
    uint32_t histogram[CW_LINK_COUNT] = {0};
    unsigned usual = 0, count = 0;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < g->count * CW_LINK_COUNT; i++) {
            if (!graph_is_first(g, i / CW_LINK_COUNT, i % CW_LINK_COUNT)) {
                continue;
            }
            unsigned squares = squares_count(g, i / CW_LINK_COUNT, i % CW_LINK_COUNT);
            if (pass == 0) {
                histogram[squares]++;
                usual = histogram[squares] > histogram[usual] ? squares : usual;
                continue;
            }
            struct suspect suspect = {i, squares > usual ? squares - usual : usual - squares};
            if (suspect.odd == 0 || (count == SUSPECTS_MAX && out[count - 1].odd >= suspect.odd)) {
                continue;
            }
            unsigned at = count < SUSPECTS_MAX ? count++ : count - 1;
            for (; at > 0 && out[at - 1].odd < suspect.odd; at--) {
                out[at] = out[at - 1];
            }
            out[at] = suspect;
        }
    }
    return count;
}

/* Leaves out all very odd cables, and then the suspects one by one and two by two; the work is bounded. */
static int try_suspects(struct attempt *a)
{
    struct suspect suspect[SUSPECTS_MAX];
    unsigned count = find_suspects(a->g, suspect);
    unsigned tries = ATTEMPT_SERVERS / (a->g->count + 1);
    int rc = 0;
    for (unsigned i = 0; i < count; i++) {
        if (suspect[i].odd >= 2) {
            doubt(a, suspect[i].cable, true);
        }
    }
    rc = attempt(a);
    memset(a->doubtful, 0, (size_t)a->g->count * CW_LINK_COUNT);
    for (unsigned i = 0; i < count && rc == 0 && a->best > 2; i++) {
        for (unsigned j = 0; j <= i && rc == 0 && a->best > 2 && tries > 0; j++, tries--) {
            doubt(a, suspect[i].cable, true);
            doubt(a, suspect[j].cable, true);
            rc = attempt(a);
            doubt(a, suspect[i].cable, false);
            doubt(a, suspect[j].cable, false);
        }
    }
    return rc;
}

static int solve_unlabelled(const struct graph *g, struct solution *s)
{
    size_t ports = (size_t)g->count * CW_LINK_COUNT;
    struct attempt a = {
        .g = g, .s = s, .best = UINT32_MAX, .doubtful = calloc(ports, 1), .best_doubtful = calloc(ports, 1)};
    int rc = a.doubtful == NULL || a.best_doubtful == NULL ? -ENOMEM : attempt(&a);
    if (rc == 0 && a.best > 0) {
        rc = try_suspects(&a);
        memcpy(a.doubtful, a.best_doubtful, ports);
        uint32_t faults;
        rc = rc == 0 ? faults_without(&a, &faults) : rc;
        if (rc == 0 && faults == UINT32_MAX) {
            clear(g, s);
        }
    }
    free(a.doubtful);
    free(a.best_doubtful);
    return rc;
}

static bool somebody_is_placed(const struct graph *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        if (g->server[i].placed) {
            return true;
        }
    }
    return false;
}

int boot_solve(const struct graph *g, struct solution *s)
{
    CHECK(g->count > 0);
    int rc = solution_make(s, g->count);
    if (rc != 0) {
        return rc;
    }
    if (somebody_is_placed(g)) {
        boot_join(g, s);
    } else if (take_labels(g, s)) {
        rc = boot_walk(g, s);
    } else {
        rc = solve_unlabelled(g, s);
    }
    if (rc == -ENOMEM) {
        solution_free(s);
        return rc;
    }
    return 0;
}
