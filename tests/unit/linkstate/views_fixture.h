/* SPDX-License-Identifier: Apache-2.0 */
/* views_fixture.h - a cluster, and what one of its servers has heard and makes of it. For the tests of views.c. */
#ifndef TEST_VIEWS_FIXTURE_H
#define TEST_VIEWS_FIXTURE_H

#include "linkstate/views.h"

#include "links.h"
#include "suite.h"

enum { HOLD_US = 60000 };

struct fixture {
    struct cluster cluster;
    struct lsdb db;
    struct views views;
    struct arena arena;
    cw_time now;
};

static inline void fixture_layout(struct fixture *f, cw_server self, struct arena *arena)
{
    lsdb_init(&f->db, &f->cluster.torus, f->cluster.neighbours, arena);
    views_init(&f->views, self, f->cluster.torus.servers, CW_US(HOLD_US), arena);
}

static inline struct fixture *fixture_open(cw_dims dims, cw_server self)
{
    struct fixture *f = calloc(1, sizeof *f);
    cluster_init(&f->cluster, dims);
    struct arena measure = arena_measure();
    fixture_layout(f, self, &measure);
    ck_assert_int_eq(arena_open(&f->arena, arena_used(&measure)), 0);
    fixture_layout(f, self, &f->arena);
    ck_assert(arena_is_full(&f->arena));
    return f;
}

static inline void fixture_close(struct fixture *f)
{
    arena_close(&f->arena);
    free(f);
}

/* Hears what s says now, if it is news. */
static inline void hear(struct fixture *f, cw_server s)
{
    struct lsdb_change change;
    if (lsdb_apply(&f->db, &f->cluster.record[s], &change) == LSDB_NEWER) {
        views_applied(&f->views, &f->db, &change);
    }
}

static inline void hear_all(struct fixture *f)
{
    for (cw_server s = 0; s < f->cluster.torus.servers; s++) {
        hear(f, s);
    }
}

static inline bool refresh(struct fixture *f)
{
    return views_refresh(&f->views, &f->db, f->now);
}

static inline void pass(struct fixture *f, int64_t us)
{
    f->now = cw_time_add(f->now, CW_US(us));
}

#endif
