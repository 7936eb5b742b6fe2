/* SPDX-License-Identifier: Apache-2.0 */
#include "sr_patron.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 3000 /* bytes that are fed at a time */ };

struct patron_run patron_runs[PATRON_RUNS];

static uint64_t lives; /* of all instances so far */
static uint64_t life_of[2][PATRON_SERVERS];

/* The state of an instance. */
struct patron {
    cw_svc *peer;
    cw_server self;
    bool greedy;
    uint64_t life;
    const cw_aggregate_api *api;
    cw_aggregate *handle; /* for what it orders; each feed has its own */
};

uint64_t patron_life(bool greedy, cw_server server)
{
    return life_of[greedy][server];
}

void patron_forget(void)
{
    for (unsigned i = 0; i < PATRON_RUNS; i++) {
        for (cw_server s = 0; s < PATRON_SERVERS; s++) {
            free(patron_runs[i].feed[s].text);
        }
        free(patron_runs[i].text);
    }
    memset(patron_runs, 0, sizeof patron_runs);
}

/* ---- What it feeds ----------------------------------------------------------------------------------------------- */

/* Closes: what a run has not taken to its end is gone for it. */
static void leave(struct patron *p, struct patron_feed *f)
{
    if (f->life == p->life && f->handle != NULL) {
        p->api->close(f->handle);
        f->handle = NULL;
    }
}

static void leave_soon(cw_svc *s, void *state, void *arg)
{
    (void)s;
    leave(state, arg);
}

static void fed(void *arg, int status);

static void give(struct patron_feed *f)
{
    size_t most = f->length < f->dies ? f->length : f->dies, left = most - f->sent, n = left < PIECE ? left : PIECE;
    if (f->sent >= f->dies) {
        (void)cw_timer_start(f->s, CW_NS(0), leave_soon, f); /* not within an upcall */
        return;
    }
    f->ended = f->sent + n == f->length;
    f->waits = true;
    f->waits = f->p->api->feed(f->handle, f->name, f->text + f->sent, n, f->ended, fed, f) == 0;
    f->sent += n;
}

static void fed(void *arg, int status)
{
    struct patron_feed *f = arg;
    f->heard += !f->waits;
    f->waits = false;
    f->taken = status == 0 && f->ended;
    if (status == 0 && !f->ended) {
        give(f);
    }
}

static int feed(struct patron *p, cw_svc *s, struct patron_run *run)
{
    struct patron_feed *f = &run->feed[p->self];
    if (f->text == NULL || f->life != 0 || p->api->open(p->peer, s, &f->handle) < 0) {
        return -EINVAL;
    }
    f->life = p->life;
    f->p = p;
    f->s = s;
    f->name = run->name;
    give(f);
    return 0;
}

/* ---- What it orders ---------------------------------------------------------------------------------------------- */

static void take(void *arg, const void *bytes, size_t length)
{
    struct patron_run *run = arg;
    run->late = run->late || run->ends > 0;
    run->text = realloc(run->text, run->length + length + 1);
    memcpy(run->text + run->length, bytes, length);
    run->length += length;
}

static void done(void *arg, const cw_run_result *result)
{
    struct patron_run *run = arg;
    run->ends++;
    run->status = result->status;
    run->named = result->named;
    run->keys = result->keys;
    run->limit = result->limit;
    for (unsigned i = 0; i < result->count; i++) {
        run->counted |= UINT64_C(1) << cw_server_id(run->s, result->counted[i]);
    }
}

static int order(struct patron *p, cw_svc *s, struct patron_run *run)
{
    const char *words[CW_RUN_WORDS];
    for (unsigned i = 0; i < run->words; i++) {
        words[i] = run->word[i];
    }
    const cw_run what = {CW_RUN_INIT, .word = words, .words = run->words, .take = run->takes ? take : NULL};
    run->life = p->life;
    run->s = s;
    run->ticket = p->api->run(p->handle, &what, done, run);
    return run->ticket < 0 ? (int)run->ticket : 0;
}

/* ---- The instance ------------------------------------------------------------------------------------------------ */

static void begin(cw_svc *s, void *state, void *arg)
{
    struct patron *p = state;
    (void)arg;
    p->api = cw_find(s, "aggregate", CW_AGGREGATE_API, &p->peer);
    if (p->api == NULL || p->api->open(p->peer, s, &p->handle) < 0) {
        abort();
    }
}

static int open_job(cw_svc *s, void *state, bool greedy)
{
    struct patron *p = state;
    p->self = cw_server_id(s, cw_self(s));
    p->greedy = greedy;
    p->life = life_of[greedy][p->self] = ++lives;
    return cw_timer_start(s, CW_NS(0), begin, NULL) == NULL ? -ENOMEM : 0;
}

static int open_patron(cw_svc *s, void *state)
{
    return open_job(s, state, false);
}

static int open_greedy(cw_svc *s, void *state)
{
    return open_job(s, state, true);
}

/* A server that is killed is not even asked. */
static void on_close(cw_svc *s, void *state)
{
    struct patron *p = state;
    (void)s;
    life_of[p->greedy][p->self] = 0;
    for (unsigned i = 0; i < PATRON_RUNS && p->api != NULL; i++) {
        leave(p, &patron_runs[i].feed[p->self]);
    }
    if (p->api != NULL) {
        p->api->close(p->handle);
    }
}

static cw_verdict on_packet(cw_svc *s, void *state, cw_packet *packet, const cw_rx *rx)
{
    (void)s;
    (void)state;
    (void)packet;
    (void)rx;
    return CW_DROP;
}

static int on_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    struct patron *p = state;
    unsigned number = argc == 2 ? (unsigned)strtoul(argv[1], NULL, 10) : PATRON_RUNS;
    (void)r;
    if (number >= PATRON_RUNS || p->handle == NULL) {
        return -EINVAL;
    }
    struct patron_run *run = &patron_runs[number];
    if (strcmp(argv[0], "order") == 0) {
        return order(p, s, run);
    }
    if (strcmp(argv[0], "feed") == 0) {
        return feed(p, s, run);
    }
    if (strcmp(argv[0], "leave") == 0) {
        leave(p, &run->feed[p->self]);
        return 0;
    }
    return run->life == p->life && run->ticket > 0 && run->ends == 0 ? p->api->cancel(p->handle, run->ticket) : -ENOENT;
}

#define PATRON(title, number, opens)                                                                            \
    {                                                                                                           \
        CW_SERVICE_INIT, .name = (title), .version = "1", .job = (number), .state_size = sizeof(struct patron), \
                         .open = (opens), .close = on_close, .on_packet = on_packet, .on_command = on_command,  \
    }
const cw_service patron_service = PATRON("patron", PATRON_JOB, open_patron);
const cw_service greedy_service = PATRON("greedy", GREEDY_JOB, open_greedy);
