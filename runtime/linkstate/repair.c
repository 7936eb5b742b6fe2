/* SPDX-License-Identifier: Apache-2.0 */
#include "linkstate/repair.h"

enum { NONE = 0 };

/*
 * The room that is lent holds two things. From its front on, servers that are to be looked at: for each level a list of
 * cells, and a cell is two ids, the server and the next cell. From its end down, the servers whose level has changed.
 */
struct repair {
    struct routes *routes;
    const cw_server *neighbours;
    const cw_links *links;
    cw_server from;
    const struct repair_moves *moves;
    uint8_t *level;
    cw_server *room;
    uint32_t used;             /* ids that cells take */
    uint32_t moved, end;       /* room[moved] to room[end - 1]: whose level has changed; some may be there twice */
    uint32_t low, high;        /* no level outside of these has a list */
    uint32_t head[ROUTES_FAR]; /* by level: where the first cell's second id is; NONE: the list is empty */
    bool failed;               /* there was no room, or a server is too far away for levels */
};

static bool has_room(struct repair *p, uint32_t ids)
{
    p->failed = p->failed || p->moved - p->used < ids;
    return !p->failed;
}

/* Puts s on the list of the level. */
static void put(struct repair *p, uint32_t level, cw_server s)
{
    p->failed = p->failed || level >= ROUTES_DEEP;
    if (!has_room(p, 2)) {
        return;
    }
    p->room[p->used] = s;
    p->room[p->used + 1] = p->head[level];
    p->head[level] = p->used + 1;
    p->used += 2;
    p->low = level < p->low ? level : p->low;
    p->high = level > p->high ? level : p->high;
}

/* Takes a server of the lowest level that has one. False: all lists are empty, or the repair has failed. */
static bool take(struct repair *p, uint32_t *level, cw_server *s)
{
    while (p->low <= p->high && p->head[p->low] == NONE) {
        p->low++;
    }
    if (p->low > p->high || p->failed) {
        p->used = 0;
        p->low = ROUTES_FAR;
        p->high = 0;
        return false;
    }
    uint32_t cell = p->head[p->low];
    *level = p->low;
    *s = p->room[cell - 1];
    p->head[p->low] = p->room[cell];
    return true;
}

static void set_level(struct repair *p, cw_server s, uint32_t level)
{
    p->level[s] = (uint8_t)level;
    if (has_room(p, 1)) {
        p->room[--p->moved] = s;
    }
}

static cw_server far_end(const struct repair *p, cw_server s, unsigned left)
{
    return p->neighbours[s * CW_LINK_COUNT + (unsigned)__builtin_ctz(left)];
}

static uint32_t nearest_level(const struct repair *p, cw_server s)
{
    uint32_t nearest = ROUTES_FAR;
    for (unsigned left = p->links[s]; left != 0; left &= left - 1) {
        uint32_t level = p->level[far_end(p, s, left)];
        nearest = level < nearest ? level : nearest;
    }
    return nearest;
}

/* Puts the neighbours of s, which was at this level, that may have been reached by way of it on their list. */
static void put_behind(struct repair *p, cw_server s, uint32_t level)
{
    for (unsigned left = p->links[s]; left != 0; left &= left - 1) {
        cw_server behind = far_end(p, s, left);
        if (p->level[behind] == level + 1) {
            put(p, level + 1, behind);
        }
    }
}

/*
 * Finds those to whom no nearer neighbour leads any more: their levels are not known. All of one level are judged
 * before the next.
 */
static void lose(struct repair *p)
{
    uint32_t level;
    cw_server s;
    for (uint32_t i = 0; i < p->moves->count; i++) {
        s = p->moves->end[i];
        if (s != p->from && p->level[s] != ROUTES_FAR) {
            put(p, p->level[s], s);
        }
    }
    while (take(p, &level, &s)) {
        bool lost = p->level[s] == level && nearest_level(p, s) >= level;
        if (lost) {
            set_level(p, s, ROUTES_FAR);
            put_behind(p, s, level);
        }
    }
}

static void put_if_nearer(struct repair *p, cw_server s)
{
    uint32_t level = nearest_level(p, s) + 1;
    if (level < p->level[s]) {
        put(p, level, s);
    }
}

/* Finds the levels of those whose level is not known, and of those who have come nearer. */
static void gain(struct repair *p)
{
    uint32_t level;
    cw_server s;
    for (uint32_t i = p->moved; i < p->end; i++) {
        put_if_nearer(p, p->room[i]);
    }
    for (uint32_t i = 0; i < p->moves->count; i++) {
        put_if_nearer(p, p->moves->end[i]);
    }
    while (take(p, &level, &s)) {
        if (p->level[s] <= level) {
            continue;
        }
        set_level(p, s, level);
        for (unsigned left = p->links[s]; left != 0; left &= left - 1) {
            cw_server behind = far_end(p, s, left);
            if (p->level[behind] > level + 1) {
                put(p, level + 1, behind);
            }
        }
    }
}

/* The first links of s are to be found anew. A way without its mark is on a list already. */
static void put_way(struct repair *p, cw_server s)
{
    uint8_t *way = &p->routes->way[s];
    if (s == p->from) {
        return;
    }
    if (p->level[s] == ROUTES_FAR) {
        *way = 0;
    } else if (*way == 0 || *way >= ROUTES_STEP) {
        *way &= CW_LINKS_ALL;
        put(p, p->level[s], s);
    }
}

static cw_links first_links(const struct repair *p, cw_server s, uint32_t level)
{
    cw_links via = CW_LINKS_NONE;
    for (unsigned left = p->links[s]; left != 0; left &= left - 1) {
        cw_server near = far_end(p, s, left);
        if (p->level[near] + 1U == level) {
            via |= near == p->from ? cw_links_of(cw_link_opposite((cw_link)__builtin_ctz(left)))
                                   : routes_next(p->routes, near);
        }
    }
    return via;
}

/*
 * Finds the first links of whoever is at another level now, of those beside them, and of all behind whom that changes
 * anything.
 */
static void lead(struct repair *p)
{
    uint32_t level;
    cw_server s;
    for (uint32_t i = p->moved; i < p->end; i++) {
        s = p->room[i];
        put_way(p, s);
        for (unsigned left = p->links[s]; left != 0; left &= left - 1) {
            put_way(p, far_end(p, s, left));
        }
    }
    for (uint32_t i = 0; i < p->moves->count; i++) {
        put_way(p, p->moves->end[i]);
    }
    while (take(p, &level, &s)) {
        uint8_t before = p->routes->way[s];
        if (before >= ROUTES_STEP) {
            continue; /* it was on the list twice */
        }
        cw_links via = first_links(p, s, level);
        p->routes->way[s] = (uint8_t)(routes_mark(level) | via);
        for (unsigned left = via != before ? p->links[s] : CW_LINKS_NONE; left != 0; left &= left - 1) {
            cw_server behind = far_end(p, s, left);
            if (p->level[behind] == level + 1) {
                put_way(p, behind);
            }
        }
    }
}

void repair_note(struct repair_moves *m, const cw_server *neighbours, cw_server s, cw_links links)
{
    for (unsigned left = links; left != 0; left &= left - 1) {
        if (m->count + 2 > REPAIR_ENDS) {
            repair_give_up(m);
            return;
        }
        m->end[m->count++] = s;
        m->end[m->count++] = neighbours[s * CW_LINK_COUNT + (unsigned)__builtin_ctz(left)];
    }
}

bool repair_routes(struct routes *r, const cw_server *neighbours, const cw_links *links, cw_server from,
                   const struct repair_moves *moves, cw_server *order)
{
    if (moves->count > REPAIR_ENDS || r->is_deep) {
        return false;
    }
    struct repair p = {
        .routes = r,
        .neighbours = neighbours,
        .links = links,
        .from = from,
        .moves = moves,
        .level = routes_levels(r),
        .room = order,
        .moved = r->servers + 1,
        .end = r->servers + 1,
        .low = ROUTES_FAR,
    };
    lose(&p);
    gain(&p);
    lead(&p);
    return !p.failed;
}
