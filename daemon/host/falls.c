/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/falls.h"

#include <stddef.h>

/* A device reports a lost carrier that much later at most, and a neighbour that it heard nothing meanwhile. */
static const cw_span late = CW_SEC(2);

static bool near(cw_time a, cw_time b)
{
    return cw_time_since(a, b).ns <= late.ns && cw_time_since(b, a).ns <= late.ns;
}

/* The last one, while the link is not up again. */
static struct fall *open_one(struct falls *f)
{
    struct fall *last = f->count > 0 ? &f->kept[(f->count - 1) % FALLS_KEPT] : NULL;
    return last != NULL && last->after == 0 ? last : NULL;
}

void falls_note(struct falls *f, cw_time at, uint64_t life, enum falls_why why)
{
    const struct fall *last = falls_at(f, 0);
    if (why == FALLS_SILENT && f->away_why != FALLS_SILENT && near(at, f->away)) {
        why = f->away_why;
    }
    if (last == NULL || last->at.ns != at.ns) {
        f->kept[f->count++ % FALLS_KEPT] = (struct fall){.at = at, .life = life, .why = why};
    }
}

void falls_carrier(struct falls *f, cw_time at, enum falls_why why)
{
    struct fall *last = open_one(f);
    if (last != NULL && last->why == FALLS_SILENT && cw_time_since(at, last->at).ns <= late.ns) {
        last->why = why;
    }
    f->away = at;
    f->away_why = why;
}

void falls_back(struct falls *f, cw_time at)
{
    f->away = at;
}

void falls_up(struct falls *f, uint64_t life)
{
    struct fall *last = open_one(f);
    if (last != NULL) {
        last->after = life;
    }
}

void falls_left(struct falls *f)
{
    struct fall *last = open_one(f);
    if (last != NULL) {
        last->left = true;
    }
}

const struct fall *falls_at(const struct falls *f, unsigned back)
{
    return back < f->count && back < FALLS_KEPT ? &f->kept[(f->count - 1 - back) % FALLS_KEPT] : NULL;
}
