/* SPDX-License-Identifier: Apache-2.0 */
/*
 * farewell.c - what the root said at the end of a run is kept for some seconds. Messages of a pair of servers may
 * overtake each other: a member that asks for its run while the END is on its way would hear that the run is gone, and
 * fail, though all others succeed. So whoever was in the run is told its end again.
 */
#include "services/aggregate/dense/internal.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void farewell_free(struct farewell *f)
{
    free(f->ticket);
    free(f);
}

/*
 * Remembers the name of the run, and what is said, in the place of the oldest; takes r->ticket. Without memory it
 * remembers the name alone, and whoever asks hears that the run is gone.
 */
static void farewell_keep(struct reducer *r, const struct message *end)
{
    struct dense *d = r->d;
    size_t words = dense_words(d);
    struct farewell *f = calloc(1, sizeof *f + 2 * words * sizeof *f->joined);
    struct ended *e = &d->ended[d->ended_next++ % DENSE_ENDED];
    if (e->farewell != NULL) {
        farewell_free(e->farewell);
    }
    *e = (struct ended){r->caller->hash, cw_now(d->s), f};
    if (f == NULL) {
        return;
    }
    f->end = *end;
    f->end.elements = f->result;
    if (end->bytes > 0) {
        memcpy(f->result, end->elements, end->bytes);
    }
    f->joined = (uint64_t *)(f + 1);
    f->involved = f->joined + words;
    memcpy(f->joined, r->joined, words * sizeof *f->joined);
    memcpy(f->involved, r->involved, words * sizeof *f->involved);
    f->ticket = r->ticket;
    r->ticket = NULL;
}

/* Of small vectors the END goes over a tree, to all that joined: nobody else has heard of the run. False: no memory. */
static bool spread(struct reducer *r, const struct message *end)
{
    struct dense *d = r->d;
    struct message m = *end;
    m.kind = MESSAGE_SPREAD;
    m.record_count = 0;
    uint8_t *records = malloc((size_t)d->torus.servers * MESSAGE_RECORD_BYTES);
    if (records == NULL) {
        return false;
    }
    for (cw_server s = 0; s < d->torus.servers; s++) {
        if (s != d->self && trees_set_has(r->joined, s)) {
            const struct message_record record = {.server = s, .ticket = r->ticket[s]};
            message_record_put(&m, &record, records + m.record_count++ * MESSAGE_RECORD_BYTES);
        }
    }
    m.records = records;
    together_spread(d, &m, r->members);
    free(records);
    return true;
}

void farewell_tell(struct reducer *r, int status, cw_server who)
{
    struct dense *d = r->d;
    struct message m = {.kind = MESSAGE_END, .run = r->run, .attempt = r->attempt, .who = who};
    m.status = (uint16_t)(-status);
    m.unlike = (uint8_t)(status == -EINVAL ? r->caller->unlike : 0);
    m.servers = d->torus.servers;
    CHECK(dense_words(d) <= MESSAGE_SET_WORDS); /* dense_open() refuses a larger torus */
    memcpy(m.members, r->counted, dense_words(d) * sizeof *m.members);
    m.everyone = memcmp(r->counted, r->members, dense_words(d) * sizeof *m.members) == 0;
    if (status == 0 && (r->caller->spec.flags & CW_REDUCE_TO_ALL) != 0) {
        m.elements = r->part; /* a small result goes with it */
        m.bytes = spec_small(&r->caller->spec);
    }
    bool together = spec_is_small(&r->caller->spec) && spread(r, &m);
    for (cw_server s = 0; s < d->torus.servers && !together; s++) {
        if (s != d->self && (trees_set_has(r->joined, s) || trees_set_has(r->involved, s)) && dense_sees(d, s)) {
            m.ticket = trees_set_has(r->joined, s) ? r->ticket[s] : 0;
            (void)dense_say(d, s, &m); /* whoever does not hear of it asks, and is told then */
        }
    }
    farewell_keep(r, &m);
}

bool farewell_was(const struct dense *d, uint64_t hash)
{
    for (unsigned i = 0; i < DENSE_ENDED; i++) {
        const struct ended *e = &d->ended[i];
        if (e->hash == hash && e->at.ns != 0 && !cw_time_due(cw_time_add(e->at, DENSE_ENDED_SPAN), cw_now(d->s))) {
            return true;
        }
    }
    return false;
}

bool farewell_say(struct dense *d, const struct farewell_question *q, int *status)
{
    for (unsigned i = 0; i < DENSE_ENDED; i++) {
        const struct farewell *f = d->ended[i].farewell;
        bool same =
            f != NULL && (q->run->life == 0 ? d->ended[i].hash == q->hash : run_name_equal(q->run, &f->end.run));
        if (!same || cw_time_due(cw_time_add(d->ended[i].at, DENSE_FAREWELL_SPAN), cw_now(d->s))) {
            continue;
        }
        bool joined = trees_set_has(f->joined, q->from);
        bool knows =
            q->ticket == 0 ? joined || trees_set_has(f->involved, q->from) : joined && f->ticket[q->from] == q->ticket;
        if (knows) {
            struct message end = f->end;
            end.ticket = joined ? f->ticket[q->from] : 0;
            *status = dense_say(d, q->from, &end) < 0 ? -ENOBUFS : 0; /* then it asks once more */
            return true;
        }
    }
    return false;
}

void farewell_sweep(struct dense *d, bool all)
{
    for (unsigned i = 0; i < DENSE_ENDED; i++) {
        struct ended *e = &d->ended[i];
        if (e->farewell != NULL && (all || cw_time_due(cw_time_add(e->at, DENSE_FAREWELL_SPAN), cw_now(d->s)))) {
            farewell_free(e->farewell);
            e->farewell = NULL;
        }
    }
}
