/* SPDX-License-Identifier: Apache-2.0 */
/* look.c - what operators see of reductions. Nothing is changed here. */
#include "services/aggregate/dense/internal.h"

#include <string.h>

void dense_look(const struct dense *d, struct dense_overview *out)
{
    *out = (struct dense_overview){.members = d->member_count, .vertices = d->vertex_count};
    for (const struct list_node *n = list_first(&d->reducers); n != NULL; n = list_next(&d->reducers, n)) {
        out->roots++;
    }
    out->memory = (size_t)d->memory;
}

static void describe(struct dense_run *run, const struct dense *d, cw_server root, const struct spec *spec)
{
    *run = (struct dense_run){.root = torus_coord(&d->torus, root)};
    run->type = (cw_number)spec->type;
    run->combine = (cw_combine)spec->combine;
    run->bytes = spec->elements * number_element(run->type, run->combine);
}

/* Who is waited for: members that have not called, or servers that have not answered the root's last question. */
static void find_waits(const struct reducer *r, uint64_t *waits)
{
    const uint64_t *lack = r->state == REDUCER_SHARES ? share_waits(r) : r->silent;
    for (size_t i = 0; i < dense_words(r->d); i++) {
        waits[i] = r->state == REDUCER_GATHERS  ? r->members[i] & ~r->joined[i]
                   : r->state == REDUCER_PAUSES ? 0
                                                : lack[i];
    }
}

static void describe_root(struct dense_run *run, const struct reducer *r, uint64_t *waits)
{
    static const char *const states[] = {
        [REDUCER_GATHERS] = "waits for members", [REDUCER_ANNOUNCES] = "announces", [REDUCER_RUNS] = "runs",
        [REDUCER_PAUSES] = "begins again",       [REDUCER_SHARES] = "tells all",
    };
    run->role = DENSE_IS_ROOT;
    run->state = states[r->state];
    run->attempt = r->attempt;
    uint64_t settled = r->cut ? (uint64_t)r->frontier.settled * r->blocks.each * r->blocks.element : 0;
    run->settled_bytes = settled < run->bytes ? settled : run->bytes;
    run->members = r->members;
    find_waits(r, waits);
    run->waits = waits;
    run->still = cw_time_since(cw_now(r->d->s), r->moved);
}

void dense_each(const struct dense *d, void (*row)(void *context, const struct dense_run *run), void *context)
{
    uint64_t waits[MESSAGE_SET_WORDS];
    struct dense_run run;
    for (const struct list_node *n = list_first(&d->members); n != NULL; n = list_next(&d->members, n)) {
        const struct member *m = container_of_const(n, struct member, link);
        describe(&run, d, m->root, &m->spec);
        run.job = m->job;
        run.name = m->name;
        run.name_length = m->name_length;
        if (m->reducer != NULL) {
            describe_root(&run, m->reducer, waits);
        } else {
            run.role = DENSE_IS_MEMBER;
            run.state = m->run.life == 0 ? "waits for the root" : "runs";
            run.still = cw_time_since(cw_now(d->s), m->moved);
        }
        row(context, &run);
    }
    for (const struct list_node *n = list_first(&d->vertices); n != NULL; n = list_next(&d->vertices, n)) {
        const struct vertex *v = container_of_const(n, struct vertex, link);
        if (v->own == NULL && v->reducer == NULL) {
            describe(&run, d, v->run.root, &v->spec);
            run.role = DENSE_IS_VERTEX;
            run.state = v->broken ? "ends" : "runs";
            run.attempt = v->attempt;
            row(context, &run);
        }
    }
}
