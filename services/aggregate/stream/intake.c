/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/stream/intake.h"

#include "base/words.h"
#include "services/aggregate/query/lines.h"
#include "services/aggregate/query/tallies.h"
#include "services/aggregate/stream/internal.h"
#include "services/aggregate/stream/lead.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNDER_WAY = 1 };

struct intake {
    struct list_node link; /* the first member */
    struct stream *st;
    cw_job job; /* of whoever feeds, and of the run */
    char name[TALLIES_NAME + 1];
    uint64_t feeder;   /* the program's own number: another one is not heard; 0: a service feeds, */
    const void *owner; /* this one, */
    cw_fed_fn fed;     /* which waits for an answer, if this is not NULL, */
    void *fed_arg;
    bool within;    /* and not while its own call is under way */
    uint64_t at;    /* bytes that have come */
    uint8_t *bytes; /* the piece that was not mapped yet; NULL: there is none */
    size_t length;
    bool ended;         /* nothing follows */
    bool gone;          /* the program is: the task has been told */
    int status;         /* UNDER_WAY; or how it has ended for the task, which is what the program is told next */
    struct task *taker; /* NULL: no run takes it yet, or any more */
    cw_request *waits;  /* NULL: the program is not waiting for an answer */
    cw_time answer_by, until;
    cw_span keep;
};

static struct intake *intake_at(struct list_node *n)
{
    return (struct intake *)(void *)n;
}

const char *intake_name_of(const char *from)
{
    size_t length = strlen(INTAKE_PREFIX);
    return strncmp(from, INTAKE_PREFIX, length) == 0 ? from + length : NULL;
}

static struct intake *find(const struct stream *st, cw_job job, const char *name)
{
    for (struct list_node *n = list_first(&st->feeds); n != NULL; n = list_next(&st->feeds, n)) {
        if (intake_at(n)->job == job && strcmp(intake_at(n)->name, name) == 0) {
            return intake_at(n);
        }
    }
    return NULL;
}

static void intake_free(struct intake *f)
{
    list_remove(&f->link);
    f->st->feed_count--;
    free(f->bytes);
    free(f);
}

/* ---- The program's side ------------------------------------------------------------------------------------------ */

/* The answer to a piece: was it taken, and has a run all of the feed? Or why it will not. Gives on_command()'s rc. */
static int tell(const struct intake *f, cw_request *r)
{
    if (f->status < 0) {
        return refuse_with(r, f->status, "the run that took feed '%s' has ended without it: %s", f->name,
                           muster_reason(f->status));
    }
    cw_request_int(r, "taken", f->bytes == NULL);
    cw_request_int(r, "done", f->status == 0);
    cw_request_int(r, "has_run", f->taker != NULL || f->status == 0);
    return 0;
}

static bool waits(const struct intake *f)
{
    return f->waits != NULL || f->fed != NULL;
}

static void answer_service(struct intake *f)
{
    cw_fed_fn fed = f->fed;
    void *arg = f->fed_arg;
    int status = f->status == UNDER_WAY ? 0 : f->status;
    if (f->within) {
        f->answer_by = cw_now(f->st->s); /* with the next tick */
        return;
    }
    f->fed = NULL;
    if (f->status != UNDER_WAY) {
        intake_free(f);
    }
    fed(arg, status);
}

/* The program gets its answer. What has ended is forgotten then. */
static void answer(struct intake *f)
{
    if (f->fed != NULL) {
        answer_service(f);
        return;
    }
    cw_request *r = f->waits;
    f->waits = NULL;
    f->until = cw_time_add(cw_now(f->st->s), f->keep);
    cw_request_done(r, tell(f, r));
    if (f->status != UNDER_WAY) {
        intake_free(f);
    }
}

static int open_feed(struct stream *st, cw_request *r, cw_job job, const char *name, uint64_t feeder,
                     struct intake **out)
{
    unsigned mine = 0;
    for (struct list_node *n = list_first(&st->feeds); n != NULL; n = list_next(&st->feeds, n)) {
        mine += intake_at(n)->job == job;
    }
    if (st->feed_count >= INTAKES_MOST || mine >= INTAKES_EACH) {
        return refuse_with(r, -ENOSPC, "%d programs%s feed runs at this server: there is no room for another one",
                           mine >= INTAKES_EACH ? INTAKES_EACH : INTAKES_MOST,
                           mine >= INTAKES_EACH ? " of one job" : "");
    }
    struct intake *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return -ENOMEM;
    }
    f->st = st;
    f->job = job;
    f->feeder = feeder;
    f->status = UNDER_WAY;
    snprintf(f->name, sizeof f->name, "%s", name);
    list_push_back(&st->feeds, &f->link);
    st->feed_count++;
    *out = f;
    return 0;
}

/* What the words of a command say. */
struct piece {
    struct lines lines;
    uint64_t feeder, at;
    bool end;
};

static int read_piece(cw_request *r, int argc, const char *const *argv, struct piece *out)
{
    const char *feeder = argc >= 3 + LINES_WORDS ? words_value(argv[1 + LINES_WORDS], "feeder") : NULL;
    const char *at = argc >= 3 + LINES_WORDS ? words_value(argv[2 + LINES_WORDS], "at") : NULL;
    out->end = argc == 4 + LINES_WORDS;
    if (feeder == NULL || at == NULL || words_number(feeder, 1, INT64_MAX, &out->feeder) < 0 ||
        words_number(at, 0, INT64_MAX, &out->at) < 0 || argc > 4 + LINES_WORDS ||
        (out->end && strcmp(argv[3 + LINES_WORDS], "end=1") != 0)) {
        return refuse_request(r, "expected: feed NAME keep_ms=N data=BASE64 feeder=N at=N [end=1]");
    }
    return lines_read(r, argv + 1, &out->lines);
}

/* The feed that the piece is for: its own, or one that begins with it. */
static int intake_for(struct stream *st, cw_request *r, const struct piece *p, struct intake **out)
{
    struct intake *f = find(st, AGGREGATE_JOB, p->lines.name);
    if (f != NULL && f->feeder != p->feeder && f->status != UNDER_WAY) {
        intake_free(f); /* its program has not come to hear how it ended */
        f = NULL;
    }
    if (f != NULL && f->feeder != p->feeder) {
        return refuse_with(r, -EBUSY, "another program feeds '%s' at this server", p->lines.name);
    }
    if (f != NULL ? f->gone : p->at > 0) {
        return refuse_with(r, -ESTALE,
                           "this server does not know the feed '%s' any more: it was not fed for too long, or the "
                           "daemon has been restarted",
                           p->lines.name);
    }
    if (f == NULL) {
        return open_feed(st, r, AGGREGATE_JOB, p->lines.name, p->feeder, out);
    }
    if (f->waits != NULL || (f->status == UNDER_WAY && f->at != p->at) ||
        ((f->bytes != NULL || f->ended) && p->lines.length > 0)) {
        return refuse_with(r, -ESTALE, "that is not the next piece of feed '%s', of which %" PRIu64 " bytes are here",
                           f->name, f->at);
    }
    *out = f;
    return 0;
}

/* Takes the bytes of a piece. */
static void put(struct intake *f, struct piece *p)
{
    f->keep = p->lines.keep;
    f->until = cw_time_add(cw_now(f->st->s), f->keep);
    f->ended = f->ended || p->end;
    if (f->status == UNDER_WAY && p->lines.length > 0) {
        f->bytes = p->lines.bytes;
        f->length = p->lines.length;
        f->at += f->length;
        p->lines.bytes = NULL;
    }
}

int intake_command(struct stream *st, cw_request *r, int argc, const char *const *argv)
{
    struct piece p;
    struct intake *f = NULL;
    int rc = read_piece(r, argc, argv, &p);
    if (rc < 0) {
        return rc;
    }
    rc = intake_for(st, r, &p, &f);
    if (rc < 0) {
        free(p.lines.bytes);
        return rc;
    }
    put(f, &p);
    free(p.lines.bytes);
    f->waits = r;
    f->answer_by = cw_time_add(cw_now(st->s), INTAKE_HOLD);
    if (f->status == UNDER_WAY && f->taker == NULL) {
        f->taker = task_offer(st, f->job, f->name, f);
    }
    if (f->status != UNDER_WAY || (f->bytes == NULL && !f->ended)) {
        answer(f);
    } else if (f->taker != NULL) {
        task_fed(f->taker);
    }
    stream_wake(st);
    return 1;
}

/* ---- Services ---------------------------------------------------------------------------------------------------- */

/* The feed of a service, or a new one. */
static int feed_of(struct stream *st, const void *owner, cw_job job, const char *name, struct intake **out)
{
    struct intake *f = find(st, job, name);
    if (f != NULL && f->status != UNDER_WAY) {
        int status = f->owner == owner ? f->status : 0;
        intake_free(f);
        f = NULL;
        if (status < 0) {
            return status;
        }
    }
    if (f != NULL && (f->owner != owner || f->fed != NULL || f->ended)) {
        return f->owner == owner && f->fed == NULL ? -EINVAL : -EBUSY;
    }
    int rc = f == NULL ? open_feed(st, NULL, job, name, 0, &f) : 0;
    *out = f;
    return rc;
}

int intake_give(struct stream *st, const void *owner, cw_job job, const char *name, const void *bytes, size_t length,
                bool last, cw_fed_fn fed, void *arg)
{
    struct intake *f;
    if (name == NULL || !tallies_name_valid(name) || fed == NULL || length > LINES_BYTES || (length == 0 && !last) ||
        (length > 0 && bytes == NULL)) {
        return -EINVAL;
    }
    uint8_t *copy = length > 0 ? malloc(length) : NULL;
    int rc = length > 0 && copy == NULL ? -ENOMEM : feed_of(st, owner, job, name, &f);
    if (rc < 0) {
        free(copy);
        return rc;
    }
    if (length > 0) {
        memcpy(copy, bytes, length);
    }
    f->owner = owner;
    f->bytes = copy;
    f->length = length;
    f->at += length;
    f->ended = last;
    f->fed = fed;
    f->fed_arg = arg;
    f->answer_by = f->until = CW_NEVER;
    f->within = true; /* it cannot be freed meanwhile: it waits for its answer */
    if (f->taker == NULL) {
        f->taker = task_offer(st, f->job, f->name, f);
    }
    if (f->taker != NULL) {
        task_fed(f->taker);
    }
    f->within = false;
    stream_wake(st);
    return 0;
}

void intake_disown(struct stream *st, const void *owner)
{
    for (struct list_node *n = list_first(&st->feeds), *next; n != NULL; n = next) {
        struct intake *f = intake_at(n);
        cw_fed_fn fed = f->fed;
        next = list_next(&st->feeds, n);
        if (f->owner != owner || owner == NULL) {
            continue;
        }
        f->fed = NULL;
        f->owner = NULL;
        f->until = cw_now(st->s); /* it is freed with the next tick, or when its task is done */
        if (fed != NULL) {
            fed(f->fed_arg, -ECANCELED);
        }
    }
    stream_wake(st);
}

/* ---- The task's side --------------------------------------------------------------------------------------------- */

int intake_take(struct stream *st, cw_job job, const char *name, struct task *t, struct intake **out)
{
    struct intake *f = find(st, job, name);
    *out = NULL;
    if (f == NULL || f->status != UNDER_WAY) {
        return 0;
    }
    if (f->taker != NULL) {
        return -EALREADY;
    }
    f->taker = t;
    *out = f;
    return 0;
}

bool intake_piece(const struct intake *f, const uint8_t **bytes, size_t *length, bool *last)
{
    *bytes = f->bytes;
    *length = f->length;
    *last = f->ended;
    return f->bytes != NULL || f->ended;
}

void intake_used(struct intake *f)
{
    free(f->bytes);
    f->bytes = NULL;
    f->length = 0;
    if (waits(f) && !f->ended) {
        answer(f);
    }
}

void intake_leave(struct intake *f, int status)
{
    free(f->bytes);
    f->bytes = NULL;
    f->length = 0;
    f->taker = NULL;
    f->status = status;
    if (f->gone) {
        intake_free(f);
    } else if (waits(f) && !f->st->closing) {
        answer(f);
    }
}

/* The program has not been heard of for too long. */
static void expire(struct intake *f)
{
    if (f->taker == NULL) {
        intake_free(f);
    } else if (STREAM_MUTANT(FEED_CUT)) {
        f->ended = true;
        task_fed(f->taker);
    } else if (!f->ended && !f->gone) {
        f->gone = true;
        task_feeder_gone(f->taker);
    }
}

void intake_tick(struct stream *st)
{
    cw_time now = cw_now(st->s);
    for (struct list_node *n = list_first(&st->feeds), *next; n != NULL; n = next) {
        struct intake *f = intake_at(n);
        next = list_next(&st->feeds, n);
        if (waits(f) && cw_time_due(f->answer_by, now)) {
            answer(f);
        } else if (!waits(f) && cw_time_due(f->until, now)) {
            expire(f);
        }
    }
}

void intake_status(const struct stream *st, cw_request *r, bool *first)
{
    for (struct list_node *n = list_first(&st->feeds); n != NULL; n = list_next(&st->feeds, n)) {
        const struct intake *f = intake_at(n);
        if (!*first) {
            cw_request_row(r);
        }
        *first = false;
        cw_request_text(r, "role", "feed");
        cw_request_int(r, "job", f->job);
        cw_request_text(r, "name", f->name);
        cw_request_text(r, "state",
                        f->status != UNDER_WAY ? "a run has taken it"
                        : f->taker == NULL     ? "waits for a run"
                                               : "a run takes it");
        cw_request_int(r, "bytes", (int64_t)f->at);
    }
}

void intake_close(struct stream *st)
{
    while (!list_is_empty(&st->feeds)) { /* requests are answered by the runtime */
        intake_free(intake_at(list_first(&st->feeds)));
    }
}
