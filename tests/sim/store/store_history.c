/* SPDX-License-Identifier: Apache-2.0 */
#include "store_history.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* A state: the write that made it, and all events that met it. */
struct state {
    uint64_t version;
    const struct store_event *maker; /* NULL: one of the writes without an answer, or the beginning */
    bool present, absent;            /* it was met with a value; without one */
    int64_t first_end, last_begin;   /* of all its events */
    int64_t begun;                   /* of its maker, or the earliest that it can be */
    int64_t later_end;               /* the first end in the blocks behind it */
};

struct judge {
    struct store_event *event;
    size_t count;
    struct state *state; /* by rising version; the first is the beginning */
    size_t states;
    size_t asked_deletes; /* deletes without an answer that somebody asked for */
    size_t puts, deletes; /* writes without an answer of which nobody knows what they made */
    int64_t first_unknown;
    uint32_t key;
    char *why;
    size_t room;
    bool good;
};

__attribute__((format(printf, 2, 3))) static void blame(struct judge *j, const char *format, ...)
{
    va_list args;
    if (!j->good) {
        return;
    }
    int at = snprintf(j->why, j->room, "key %u: ", j->key);
    va_start(args, format);
    if (at >= 0 && (size_t)at < j->room) {
        (void)vsnprintf(j->why + at, j->room - (size_t)at, format, args);
    }
    va_end(args);
    j->good = false;
}

static bool is_write(const struct store_event *e)
{
    return e->kind == STORE_EVENT_PUT || e->kind == STORE_EVENT_DELETE;
}

/* ---- Whose values were read -------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const struct store_event *x = a, *y = b;
    if (x->value != y->value) {
        return x->value < y->value ? -1 : 1;
    }
    return (x->kind == STORE_EVENT_READ) - (y->kind == STORE_EVENT_READ); /* the write first */
}

static void resolve_read(struct judge *j, struct store_event *maker, const struct store_event *read)
{
    if (maker == NULL || maker->kind == STORE_EVENT_READ) {
        blame(j, "value %" PRIu64 " was read and nobody wrote it", read->value);
    } else if (maker->kind == STORE_EVENT_FAILED) {
        blame(j, "value %" PRIu64 " was read, and its writer was told that nothing was done", read->value);
    } else if (maker->version == 0) {
        maker->version = read->version;
    } else if (maker->version != read->version) {
        blame(j, "value %" PRIu64 " has two versions: %" PRIu64 " and %" PRIu64, read->value, maker->version,
              read->version);
    }
}

/* A put without an answer that was read gets the version that was read with it. */
static void resolve(struct judge *j)
{
    struct store_event *maker = NULL;
    qsort(j->event, j->count, sizeof *j->event, by_value);
    for (size_t i = 0; i < j->count && j->good; i++) {
        struct store_event *e = &j->event[i];
        if (e->value == 0) {
            continue;
        }
        if (e->kind != STORE_EVENT_READ) {
            maker = e;
        } else {
            resolve_read(j, maker != NULL && maker->value == e->value ? maker : NULL, e);
        }
    }
}

/* ---- States ------------------------------------------------------------------------------------------------------ */

static int by_version(const void *a, const void *b)
{
    const struct store_event *x = a, *y = b;
    if (x->version != y->version) {
        return x->version < y->version ? -1 : 1;
    }
    return is_write(y) - is_write(x);
}

static bool meets(const struct store_event *e)
{
    return (is_write(e) && e->version != 0) || e->kind == STORE_EVENT_READ || e->kind == STORE_EVENT_ABSENT;
}

static void take(struct judge *j, struct state *s, const struct store_event *e)
{
    bool value = e->kind == STORE_EVENT_PUT || e->kind == STORE_EVENT_READ;
    s->present = s->present || value;
    s->absent = s->absent || !value;
    if (s->present && s->absent) {
        blame(j, "version %" PRIu64 " was met with a value and without", s->version);
    }
    if (is_write(e) && s->maker != NULL) {
        blame(j, "version %" PRIu64 " was made twice", s->version);
    }
    s->maker = is_write(e) ? e : s->maker;
    s->first_end = e->ended < s->first_end ? e->ended : s->first_end;
    s->last_begin = e->begun > s->last_begin ? e->begun : s->last_begin;
}

static void gather(struct judge *j)
{
    qsort(j->event, j->count, sizeof *j->event, by_version);
    j->state[0] = (struct state){.absent = true, .first_end = STORE_NO_END, .last_begin = INT64_MIN};
    j->states = 1;
    for (size_t i = 0; i < j->count && j->good; i++) {
        const struct store_event *e = &j->event[i];
        if (!meets(e)) {
            continue;
        }
        if (e->version != j->state[j->states - 1].version) {
            j->state[j->states++] =
                (struct state){.version = e->version, .first_end = STORE_NO_END, .last_begin = INT64_MIN};
        }
        take(j, &j->state[j->states - 1], e);
    }
}

/* The writes that nobody knows the versions of, and the states that nobody knows the makers of: there are enough. */
static void match(struct judge *j)
{
    size_t puts = 0, deletes = 0;
    j->first_unknown = STORE_NO_END;
    for (size_t i = 0; i < j->count; i++) {
        const struct store_event *e = &j->event[i];
        if (is_write(e) && e->version == 0) {
            j->puts += e->kind == STORE_EVENT_PUT;
            j->deletes += e->kind == STORE_EVENT_DELETE;
            j->asked_deletes += e->kind == STORE_EVENT_DELETE && !e->expires;
            j->first_unknown = e->begun < j->first_unknown ? e->begun : j->first_unknown;
        }
    }
    for (size_t i = 1; i < j->states; i++) {
        struct state *s = &j->state[i];
        s->begun = s->maker != NULL ? s->maker->begun : j->first_unknown;
        puts += s->maker == NULL && s->present;
        deletes += s->maker == NULL && s->absent;
        s->last_begin = s->begun > s->last_begin && s->begun != STORE_NO_END ? s->begun : s->last_begin;
    }
    if (puts > j->puts || deletes > j->deletes) {
        blame(j, "%zu values and %zu absences were met that nobody can have made", puts, deletes);
    }
    j->puts -= puts < j->puts ? puts : j->puts;
    j->deletes -= deletes < j->deletes ? deletes : j->deletes;
}

/* What a write found must have been what stood right before its own state. */
static void follow(struct judge *j)
{
    for (size_t i = 1; i < j->states && j->good; i++) {
        const struct store_event *e = j->state[i].maker;
        const struct state *before = &j->state[i - 1];
        if (e == NULL) {
            continue;
        }
        bool absent = before->absent, needs_value = e->kind == STORE_EVENT_DELETE && e->any;
        bool unseen = e->found > before->version && e->found < e->version && j->puts > 0; /* made by one of these */
        if (!e->any && e->found != 0 && before->version != e->found && !unseen) {
            blame(j, "version %" PRIu64 " was made from %" PRIu64 ", and between them was %" PRIu64, e->version,
                  e->found, before->version);
        } else if (!e->any && e->found == 0 && !absent && j->deletes == 0) {
            blame(j, "version %" PRIu64 " was inserted where %" PRIu64 " was", e->version, before->version);
        } else if (!e->any && e->found != 0 && absent && before->version == e->found) {
            blame(j, "version %" PRIu64 " was made from %" PRIu64 ", which is no value", e->version, e->found);
        } else if (needs_value && absent && j->puts == 0) {
            blame(j, "version %" PRIu64 " deleted nothing", e->version);
        }
    }
}

/*
 * What went by itself had a ttl, and went when that was over: where nobody can have deleted it, and no value that
 * nobody knows of can have stood between. Clocks go with true time to a fiftieth.
 */
static void expire(struct judge *j)
{
    for (size_t i = 1; i < j->states && j->good && j->asked_deletes == 0 && j->puts == 0; i++) {
        const struct state *s = &j->state[i];
        const struct store_event *e = j->state[i - 1].maker;
        if (s->maker != NULL || !s->absent || e == NULL || e->kind != STORE_EVENT_PUT) {
            continue;
        }
        if (e->ttl == 0) {
            blame(j, "version %" PRIu64 " went by itself and had no ttl", e->version);
        } else if (s->first_end < e->begun + e->ttl - e->ttl / 50) {
            blame(j, "version %" PRIu64 " was gone at %" PRId64 ", put at %" PRId64 " for %" PRId64, e->version,
                  s->first_end, e->begun, e->ttl);
        }
    }
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

/* Nothing ends before something begins that stands ahead of it. */
static void fit(struct judge *j)
{
    int64_t ahead = INT64_MIN; /* the last beginning in the blocks before */
    for (size_t i = 0; i < j->states && j->good; i++) {
        const struct state *s = &j->state[i];
        int64_t own = i > 0 && s->begun > ahead ? s->begun : ahead; /* its readers stand behind its maker */
        if (s->first_end < own) {
            blame(j,
                  "something about version %" PRIu64 " ended at %" PRId64 ", before %" PRId64
                  ", when something older was asked for",
                  s->version, s->first_end, own);
        }
        ahead = s->last_begin > ahead ? s->last_begin : ahead;
    }
}

/* Can it stand in the block, behind all that began `ahead` of it? */
static bool stands(const struct store_event *e, const struct state *s, int64_t ahead)
{
    return s->absent && e->ended >= ahead && s->later_end >= e->begun;
}

/* Or in an absence that nobody met, between the value, which went by itself, and the next state? */
static bool stands_behind(const struct store_event *e, const struct state *s, int64_t ahead)
{
    const struct store_event *maker = s->maker; /* NULL: it may have had any ttl */
    return s->present && e->ended >= ahead && s->later_end >= e->begun &&
           (maker == NULL || (maker->ttl > 0 && e->ended >= maker->begun + maker->ttl - maker->ttl / 50));
}

/* Of one that met some value: can that be this one? */
static bool stands_on(const struct store_event *e, const struct state *s, int64_t ahead)
{
    return s->present && e->ended >= ahead && s->later_end >= e->begun;
}

/*
 * Refusals that met no value, and names that a list did not tell: each stands in some absence. With unknown deletes
 * about, that may be one of those; not with those of values that went by themselves, whose time is known. Guards that
 * met some value stand on one, unless it may be one that nobody knows; they are not compared with those that met none.
 */
static void fit_nothings(struct judge *j)
{
    int64_t end = STORE_NO_END;
    bool known = j->deletes == 0 || (j->asked_deletes == 0 && j->puts == 0);
    for (size_t i = j->states; i-- > 0;) {
        j->state[i].later_end = end;
        end = j->state[i].first_end < end ? j->state[i].first_end : end;
    }
    for (size_t i = 0; i < j->count && j->good; i++) {
        const struct store_event *e = &j->event[i];
        bool some = e->kind == STORE_EVENT_SOME;
        bool found = some ? j->puts > 0 : e->kind != STORE_EVENT_NOTHING || !known;
        int64_t ahead = INT64_MIN;
        for (size_t k = 0; k < j->states && !found; k++) {
            const struct state *s = &j->state[k];
            ahead = k > 0 && s->begun > ahead ? s->begun : ahead;
            found = some ? stands_on(e, s, ahead) : stands(e, s, ahead) || stands_behind(e, s, ahead);
            ahead = s->last_begin > ahead ? s->last_begin : ahead;
        }
        if (!found) {
            blame(j, "somebody met %s value from %" PRId64 " to %" PRId64 ", when there was %s", some ? "some" : "no",
                  e->begun, e->ended, some ? "none" : "one");
        }
    }
}

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    const struct store_event *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1) : 0;
}

static void judge_key(struct judge *j)
{
    void (*const steps[])(struct judge *) = {resolve, gather, match, follow, expire, fit, fit_nothings};
    j->puts = 0;
    j->deletes = 0;
    j->asked_deletes = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && j->good; i++) {
        steps[i](j);
    }
}

bool store_history_check(struct store_event *event, size_t count, char *why, size_t room)
{
    struct judge j = {.state = malloc((count + 2) * sizeof *j.state), .why = why, .room = room, .good = true};
    qsort(event, count, sizeof *event, by_key);
    for (size_t at = 0; at < count && j.good; at += j.count) {
        j.event = event + at;
        j.key = event[at].key;
        for (j.count = 1; at + j.count < count && event[at + j.count].key == j.key;) {
            j.count++;
        }
        judge_key(&j);
    }
    free(j.state);
    return j.good;
}
