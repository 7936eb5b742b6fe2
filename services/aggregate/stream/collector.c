/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/stream/internal.h"
#include "services/aggregate/stream/lead.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct collector *collector_at(struct list_node *n)
{
    return (struct collector *)(void *)n;
}

struct collector *collector_of_run(struct stream *st, const struct run_name *run)
{
    for (struct list_node *n = list_first(&st->collectors); n != NULL; n = list_next(&st->collectors, n)) {
        if (run_name_equal(&collector_at(n)->run, run)) {
            return collector_at(n);
        }
    }
    return NULL;
}

struct collector *collector_of_lead(struct stream *st, const struct run_name *lead)
{
    for (struct list_node *n = list_first(&st->collectors); n != NULL; n = list_next(&st->collectors, n)) {
        if (run_name_equal(&collector_at(n)->lead, lead)) {
            return collector_at(n);
        }
    }
    return NULL;
}

void collector_moved(struct collector *c)
{
    c->moved = cw_now(c->st->s);
}

/* ---- The beginning ----------------------------------------------------------------------------------------------- */

static int check(struct stream *st, const struct letter *l)
{
    struct combine combine;
    const struct collector *before = collector_of_lead(st, &l->run);
    bool writes = (l->wish.flags & LETTER_CALLER) == 0;
    unsigned count = 0;
    int rc = functions_combine(st, l->wish.combine, &combine);
    if (l->servers != st->torus.servers || rc < 0 || l->wish.top > BEST_MOST || (writes && l->wish.to[0] == '\0') ||
        stream_first(st, l->members) == CW_SERVER_NONE) {
        return rc == -ELIBACC || rc == -ELIBBAD ? rc : -EPROTO;
    }
    if (before != NULL && before->round >= l->attempt) {
        return -ESTALE;
    }
    if (writes && (st->host == NULL || st->folder[0] == '\0')) {
        return -EOPNOTSUPP;
    }
    if (writes && copy_has_name(st, &l->run, l->wish.to)) {
        return -EBUSY;
    }
    for (struct list_node *n = list_first(&st->collectors); n != NULL; n = list_next(&st->collectors, n)) {
        count++;
    }
    return count < STREAM_TASKS ? 0 : -ENOBUFS;
}

static struct collector *make(struct stream *st)
{
    enum { SETS = 5 };
    size_t words = stream_words(st);
    struct collector *c = calloc(1, sizeof *c);
    uint64_t *sets = calloc(SETS * words, sizeof *sets);
    if (c == NULL || sets == NULL) {
        free(c);
        free(sets);
        return NULL;
    }
    c->st = st;
    c->members = sets;
    c->dead = sets + words;
    c->involved = sets + 2 * words;
    c->silent = sets + 3 * words;
    c->copies = sets + 4 * words;
    c->who = CW_SERVER_NONE;
    c->pause = STREAM_PAUSE_FIRST;
    c->run = (struct run_name){st->self, st->life, ++st->numbers};
    return c;
}

static void collector_free(struct collector *c);

int collector_open(struct stream *st, const struct letter *l, const struct transport_reply_to *reply)
{
    size_t bytes = stream_words(st) * sizeof *l->members;
    int rc = check(st, l);
    if (rc == 0) {
        collector_drop(st, &l->run, l->attempt - 1, false); /* of an earlier round nothing counts (aggregate rule 25) */
    }
    struct collector *c = rc < 0 ? NULL : make(st);
    if (c == NULL) {
        return rc < 0 ? rc : -ENOBUFS;
    }
    c->lead = l->run;
    c->round = l->attempt;
    c->wish = l->wish;
    c->first = l->first;
    c->count = l->count;
    c->bytes = l->bytes;
    memcpy(c->members, l->members, bytes);
    memcpy(c->copies, l->others, bytes);
    c->reply = *reply;
    list_push_back(&st->collectors, &c->link);
    rc = result_open(st, c, &c->wish, c->first, c->count, &c->result);
    if (rc < 0) {
        struct letter none = {.kind = LETTER_ORDERED, .run = l->run, .attempt = l->attempt, .who = st->self};
        none.limit = account_limit(st, rc);
        stream_answer(st, reply, rc, &none); /* only the answer says which limit was in the way */
        collector_free(c);
        return 0;
    }
    c->asked = true;
    c->state = COLLECTOR_PAUSES;
    c->next = c->heard = cw_now(st->s);
    collector_moved(c);
    stream_note(st, STREAM_COUNT_BEGUN, 1);
    stream_soon(st);
    stream_wake(st);
    return 0;
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static void collector_free(struct collector *c)
{
    if (c->junction != NULL) {
        junction_free(c->junction);
    }
    if (c->result != NULL) {
        result_drop(c->result);
    }
    list_remove(&c->link);
    free(c->members); /* and the sets behind it */
    free(c);
}

/* All attempts are over; who does not hear of it asks, and is told. */
static void tell_junctions(struct collector *c, int status)
{
    struct stream *st = c->st;
    struct letter l = {.kind = LETTER_END, .run = c->run, .attempt = c->attempt, .status = (uint16_t)-status};
    for (cw_server s = 0; s < st->torus.servers; s++) {
        if (s != st->self && trees_set_has(c->involved, s) && stream_sees(st, s)) {
            (void)stream_say(st, s, &l);
        }
    }
    memset(c->involved, 0, stream_words(st) * sizeof *c->involved);
    if (c->junction != NULL) {
        junction_free(c->junction);
        c->junction = NULL;
    }
}

static void tell_lead(struct collector *c, int status, cw_server who)
{
    struct letter l = {.kind = LETTER_ORDERED, .run = c->lead, .attempt = c->round, .who = who};
    if (!c->asked) {
        return;
    }
    c->asked = false;
    l.attempts = c->attempt;
    l.keys = result_keys(c->result);
    l.bytes = result_bytes(c->result);
    l.limit = who == c->st->self ? account_limit(c->st, status) : c->limit;
    stream_answer(c->st, &c->reply, status, &l);
}

void collector_end(struct collector *c, int status, cw_server who)
{
    tell_junctions(c, status);
    tell_lead(c, status, who);
    stream_note(c->st, status == 0 ? STREAM_COUNT_DONE : STREAM_COUNT_FAILED, 1);
    collector_free(c);
}

/* The same with the next tick, for those that may not end it themselves. */
void collector_blame(struct collector *c, int status, cw_server who)
{
    if (c->status == 0) {
        c->status = status;
        c->who = who;
    }
    stream_soon(c->st);
}

/* The lead is gone: has it told others that the result gets its name? */
static void wait_for_others(struct collector *c)
{
    c->orphan = c->orphan.ns != 0 ? c->orphan : cw_now(c->st->s);
}

void collector_drop(struct stream *st, const struct run_name *lead, uint32_t round, bool gone)
{
    for (struct list_node *n = list_first(&st->collectors), *next; n != NULL; n = next) {
        struct collector *c = collector_at(n);
        next = list_next(&st->collectors, n);
        bool given = c->state == COLLECTOR_HOLDS && (c->wish.flags & LETTER_CALLER) != 0;
        bool mine = run_name_equal(&c->lead, lead) && (round == 0 || c->round <= round);
        if (mine && gone && !given && c->state == COLLECTOR_HOLDS) {
            wait_for_others(c);
        } else if (mine && c->state == COLLECTOR_NAMED) {
            collector_end(c, 0, CW_SERVER_NONE);
        } else if (mine && c->state != COLLECTOR_NAMES) {
            collector_end(c, given ? 0 : -ECANCELED, CW_SERVER_NONE);
        }
    }
}

int collector_commit(struct stream *st, const struct letter *l, const struct transport_reply_to *reply)
{
    struct collector *c = collector_of_lead(st, &l->run);
    bool named = c != NULL && (c->state == COLLECTOR_NAMES || c->state == COLLECTOR_NAMED);
    if (c == NULL || c->round != l->attempt || (c->state != COLLECTOR_HOLDS && !named) || (reply != NULL && c->asked)) {
        return -ESTALE;
    }
    if (reply != NULL) {
        c->reply = *reply;
        c->asked = true;
        stream_soon(st);
    }
    if (!named) {
        c->state = COLLECTOR_NAMES;
        result_commit(c->result);
        lead_pass_commit(st, l);
    }
    return 0;
}

/* ---- What happens ------------------------------------------------------------------------------------------------ */

void collector_down(struct collector *c, cw_server server)
{
    if (server == c->lead.root && server != c->st->self && c->state == COLLECTOR_HOLDS) {
        wait_for_others(c);
    } else if (server == c->lead.root && server != c->st->self && c->state < COLLECTOR_HOLDS) {
        collector_end(c, -ECANCELED, CW_SERVER_NONE); /* nobody wants it any more */
    } else if (trees_set_has(c->involved, server)) {
        attempt_give_up(c);
    }
}

void collector_take(struct collector *c, uint32_t partition, const uint8_t *bytes, size_t size, bool last)
{
    int rc = result_put(c->result, partition, bytes, size, last);
    c->taken += size + 1;
    if (last || c->taken > c->taken_most) { /* an attempt that gets no further than those before is no progress */
        c->taken_most = last ? 0 : c->taken;
        c->taken = last ? 0 : c->taken;
        collector_moved(c);
    }
    if (rc < 0) {
        collector_blame(c, rc == -ENOBUFS ? -EFBIG : rc, c->st->self);
        return;
    }
    if (last) {
        c->pause = STREAM_PAUSE_FIRST;
        c->finished = result_count(c->result) == c->count;
        stream_soon(c->st);
    }
}

void collector_written(struct collector *c, int status, bool named)
{
    if (status < 0) {
        collector_blame(c, status, c->st->self);
    } else {
        c->written = true;
        c->named = named;
        stream_soon(c->st);
    }
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

/* All partitions are whole: nobody else is needed any more. */
static void write(struct collector *c)
{
    tell_junctions(c, 0);
    c->state = COLLECTOR_WRITES;
    if ((c->wish.flags & LETTER_CALLER) != 0) {
        c->state = COLLECTOR_HOLDS;
        tell_lead(c, 0, CW_SERVER_NONE);
        return;
    }
    const struct letter l = {.kind = LETTER_COLLECTED, .run = c->lead, .attempt = c->round};
    (void)stream_say(c->st, c->lead.root, &l); /* who does not hear of it waits for the result */
    result_write(c->result);
}

/* The lead may have been forgotten, or have restarted. */
static void ask_lead(struct collector *c)
{
    struct stream *st = c->st;
    const struct letter l = {.kind = LETTER_PROBE, .run = c->lead};
    if (c->lead.root != st->self && cw_time_due(cw_time_add(c->heard, STREAM_ASK_EVERY), cw_now(st->s))) {
        c->heard = cw_now(st->s);
        (void)stream_say(st, c->lead.root, &l);
    }
}

void collector_tick(struct collector *c)
{
    ask_lead(c);
    if (c->status < 0) {
        collector_end(c, c->status, c->who);
        return;
    }
    if (c->named) {
        c->state = COLLECTOR_NAMED;
        if (c->asked || !stream_sees(c->st, c->lead.root)) {
            collector_end(c, 0, CW_SERVER_NONE);
            return;
        }
    }
    if (c->orphan.ns != 0 && c->state == COLLECTOR_HOLDS &&
        cw_time_due(cw_time_add(c->orphan, STREAM_ORPHAN), cw_now(c->st->s))) {
        collector_end(c, -ECANCELED, CW_SERVER_NONE);
        return;
    }
    if (c->finished && c->state == COLLECTOR_RUNS) {
        write(c);
    }
    if (c->written && c->state == COLLECTOR_WRITES) {
        c->state = COLLECTOR_HOLDS;
        tell_lead(c, 0, CW_SERVER_NONE);
    }
    if (c->state == COLLECTOR_PAUSES || c->state == COLLECTOR_ANNOUNCES || c->state == COLLECTOR_RUNS) {
        attempt_tick(c);
    }
}

cw_span collector_due(const struct collector *c)
{
    return c->state == COLLECTOR_PAUSES ? cw_time_since(c->next, cw_now(c->st->s)) : STREAM_TICK;
}

void collector_close(struct stream *st)
{
    while (!list_is_empty(&st->collectors)) {
        collector_free(collector_at(list_first(&st->collectors)));
    }
}
