/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.c - the result to all members, when it is longer than what goes with an END. The root sends it in pieces by the
 * service multicast, out of its caller's memory. When a piece did not reach somebody who lives, it is sent to that
 * server again. Then the root asks every contributor whether it holds all pieces of this attempt, and only when all
 * that live do, END is said: that is the commit.
 */
#include "services/aggregate/dense/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SHARE_BYTES = 4 * 1024 * 1024, SHARE_AT_ONCE = 2 };
#define SHARE_AGAIN CW_MS(5) /* after the first time that a piece did not reach all; doubled up to the most */
#define SHARE_AGAIN_MOST CW_SEC(1)
/* A server that says for so long that nobody there listens has no multicast, or aggregate does not use it there. */
#define SHARE_DEAF CW_MS(600)
static const char topic[] = "result";

/* A piece that is on its way. */
struct flight {
    struct share *sh; /* NULL: the share is gone, and the end of the piece concerns nobody */
    bool used, out;   /* it has a piece; multicast has it */
    uint32_t piece;
    uint64_t *lacking; /* a set: who has not got it yet */
    cw_time again;
    cw_span pause; /* before `again` */
};

struct share {
    struct reducer *r;
    uint32_t pieces, next;
    uint64_t each;     /* elements of a piece */
    uint64_t *holders; /* a set: who must have it: the contributors that live, but this server */
    uint64_t *waits;   /* of them, those that were asked for HOLD and have not answered */
    uint64_t *lacks;   /* of them, those that lack a piece that is under way (share_waits()) */
    cw_server deaf;    /* where nobody listens, as the multicast says again and again; CW_SERVER_NONE */
    bool asks;         /* all pieces are there: HOLD was said */
    cw_time asked;
    struct flight *flight[SHARE_AT_ONCE];
};

static bool is_empty(const struct dense *d, const uint64_t *set)
{
    for (size_t i = 0; i < dense_words(d); i++) {
        if (set[i] != 0) {
            return false;
        }
    }
    return true;
}

/* ---- At members -------------------------------------------------------------------------------------------------- */

static struct member *member_of_run(struct dense *d, const struct run_name *run)
{
    for (struct list_node *n = list_first(&d->members); n != NULL; n = list_next(&d->members, n)) {
        struct member *m = container_of(n, struct member, link);
        if (run_name_equal(&m->run, run) && m->reducer == NULL) {
            return m;
        }
    }
    return NULL;
}

static uint64_t elements_of_piece(size_t element)
{
    return SHARE_BYTES / element;
}

static uint32_t pieces_of(uint64_t elements, size_t element)
{
    return (uint32_t)((elements - 1) / elements_of_piece(element) + 1);
}

/* Is the piece one of those that the member's result is cut into, whole and in its place? */
static bool piece_fits(const struct member *m, const struct message *piece)
{
    uint64_t each = elements_of_piece(m->element), first = piece->piece * each;
    if (spec_is_small(&m->spec) || piece->pieces != pieces_of(m->spec.elements, m->element) ||
        piece->piece >= piece->pieces || piece->first != first) {
        return false;
    }
    uint64_t left = m->spec.elements - first;
    return piece->bytes == (left < each ? left : each) * m->element;
}

/* Makes room for what is held of the attempt; nothing of an earlier one counts (aggregate rule 2). */
static bool prepare(struct member *m, const struct message *piece)
{
    if (m->held_attempt == piece->attempt && m->held != NULL) {
        return true;
    }
    free(m->held);
    m->held = calloc(((size_t)piece->pieces + 63) / 64, sizeof *m->held);
    m->held_count = 0;
    m->held_pieces = piece->pieces;
    m->held_attempt = piece->attempt;
    return m->held != NULL;
}

static void put(struct member *m, const struct message *piece)
{
    size_t n = piece->bytes / m->element;
    if (trees_set_has(m->held, piece->piece)) {
        return;
    }
    if (m->out != NULL) {
        memcpy((uint8_t *)m->out + piece->first * m->element, piece->elements, piece->bytes);
    } else {
        _Alignas(16) uint8_t aligned[4096]; /* take() is given aligned memory */
        size_t most = sizeof aligned / m->element;
        for (size_t at = 0; at < n; at += most) {
            size_t count = n - at < most ? n - at : most;
            memcpy(aligned, piece->elements + at * m->element, count * m->element);
            m->take(m->context, piece->first + at, count, aligned);
        }
    }
    trees_set_add(m->held, piece->piece);
    m->held_count++;
    m->moved = cw_now(m->d->s);
}

static void on_message(void *context, const cw_multicast_message *message)
{
    struct dense *d = context;
    struct message piece;
    if (message_decode(message->bytes, message->length, &piece) < 0 || piece.kind != MESSAGE_RESULT) {
        dense_note(d, DENSE_COUNT_MALFORMED, 1);
        return;
    }
    if (piece.run.root != torus_id(&d->torus, message->from)) {
        dense_note(d, DENSE_COUNT_REFUSED, 1);
        return;
    }
    struct member *m = member_of_run(d, &piece.run);
    const struct vertex *v = m == NULL ? NULL : vertex_find(d, &piece.run);
    if (v == NULL || v->attempt != piece.attempt || (m->spec.flags & CW_REDUCE_TO_ALL) == 0) {
        dense_note(d, DENSE_COUNT_STALE, 1);
        return;
    }
    if (!piece_fits(m, &piece)) {
        dense_note(d, DENSE_COUNT_MALFORMED, 1);
    } else if (prepare(m, &piece)) {
        put(m, &piece);
    }
}

bool share_has(const struct member *m, uint32_t attempt)
{
    return m->held != NULL && m->held_attempt == attempt && m->held_count == m->held_pieces;
}

int share_hold(struct dense *d, const struct message *m)
{
    const struct member *own = member_of_ticket(d, m->ticket);
    bool has = own != NULL && run_name_equal(&own->run, &m->run) && share_has(own, m->attempt);
    return has && own->held_pieces == m->pieces ? 0 : -ESTALE;
}

/* ---- At the root: pieces ----------------------------------------------------------------------------------------- */

static void pump(struct share *sh);

static void flight_free(struct flight *f)
{
    free(f->lacking);
    free(f);
}

/* Those that have it lack it no more; whoever is out of view is the business of share_down(). */
static void sent(void *arg, const cw_multicast_result *result)
{
    struct flight *f = arg;
    f->out = false;
    if (f->sh == NULL) {
        flight_free(f);
        return;
    }
    struct reducer *r = f->sh->r;
    uint64_t failed[MESSAGE_SET_WORDS] = {0};
    cw_server deaf = CW_SERVER_NONE;
    for (unsigned i = 0; i < result->rows; i++) {
        if (result->row[i].status != 0) {
            cw_server s = torus_id(&r->d->torus, result->row[i].server);
            trees_set_add(failed, s);
            deaf = result->row[i].status == -ENOENT && trees_set_has(f->sh->holders, s) ? s : deaf;
        }
    }
    if (deaf != CW_SERVER_NONE && f->pause.ns > SHARE_DEAF.ns) {
        f->sh->deaf = deaf;
        dense_soon(r->d); /* which ends the reduction: that cannot be done from within the multicast's upcall */
    }
    for (size_t i = 0; i < dense_words(r->d); i++) {
        f->lacking[i] &= result->status == 0 ? failed[i] & f->sh->holders[i] : f->sh->holders[i];
    }
    if (is_empty(r->d, f->lacking)) {
        f->used = false;
        reducer_moved(r);
    }
    f->again = cw_time_add(cw_now(r->d->s), f->pause);
    f->pause.ns = 2 * f->pause.ns < SHARE_AGAIN_MOST.ns ? 2 * f->pause.ns : SHARE_AGAIN_MOST.ns;
    if (result->status != -ECANCELED) {
        pump(f->sh); /* a multicast that cancels is closing, and takes nothing more */
    }
}

/* Gives the piece to the multicast. What cannot be sent now is tried again. */
static void send_piece(struct flight *f)
{
    struct share *sh = f->sh;
    struct reducer *r = sh->r;
    struct dense *d = r->d;
    const struct member *c = r->caller;
    uint64_t first = f->piece * sh->each, left = c->spec.elements - first;
    size_t bytes = (size_t)(left < sh->each ? left : sh->each) * c->element;
    struct message m = {.kind = MESSAGE_RESULT, .run = r->run, .attempt = r->attempt, .first = first};
    m.piece = f->piece;
    m.pieces = sh->pieces;
    uint8_t *copy = malloc(MESSAGE_RESULT_HEAD + bytes);
    cw_coord *to = calloc(d->torus.servers, sizeof *to);
    unsigned count = 0;
    for (cw_server s = 0; s < d->torus.servers && to != NULL; s++) {
        if (trees_set_has(f->lacking, s)) {
            to[count++] = torus_coord(&d->torus, s);
        }
    }
    f->again = cw_time_add(cw_now(d->s), SHARE_AGAIN);
    if (copy != NULL && to != NULL) {
        message_encode(&m, copy);
        const uint8_t *result = (c->spec.flags & CW_REDUCE_FROM_ROOT) != 0 ? c->in : c->out;
        memcpy(copy + MESSAGE_RESULT_HEAD, result + first * c->element, bytes);
        const cw_multicast_content content = {.bytes = copy, .length = MESSAGE_RESULT_HEAD + bytes};
        f->out = d->multicast_api->send(d->multicast, to, count, topic, sizeof topic - 1, &content, sent, f) == 0;
        f->again = cw_now(d->s); /* when the multicast has room again */
    }
    free(copy);
    free(to);
}

static void say_hold(struct share *sh)
{
    struct reducer *r = sh->r;
    struct message m = {.kind = MESSAGE_HOLD, .run = r->run, .attempt = r->attempt, .pieces = sh->pieces};
    sh->asked = cw_now(r->d->s);
    for (cw_server s = 0; s < r->d->torus.servers; s++) {
        if (trees_set_has(sh->waits, s)) {
            m.ticket = r->ticket[s];
            (void)dense_say(r->d, s, &m); /* if it is not sent, it is said again */
        }
    }
}

/* Sends what can be sent, and asks for HOLD when everybody has got everything. */
static void pump(struct share *sh)
{
    struct reducer *r = sh->r;
    cw_time now = cw_now(r->d->s);
    unsigned used = 0;
    for (unsigned i = 0; i < SHARE_AT_ONCE; i++) {
        struct flight *f = sh->flight[i];
        if (!f->used && sh->next < sh->pieces) {
            f->used = true;
            f->piece = sh->next++;
            memcpy(f->lacking, sh->holders, dense_words(r->d) * sizeof *f->lacking);
            f->again = now;
            f->pause = SHARE_AGAIN;
        }
        if (f->used && !f->out && is_empty(r->d, f->lacking)) {
            f->used = false;
        }
        used += f->used;
        if (f->used && !f->out && cw_time_due(f->again, now)) {
            send_piece(f);
        }
    }
    bool all = used == 0 && sh->next == sh->pieces;
    if (AGG_MUTANT(COMMIT_EARLY) && sh->next == sh->pieces) {
        r->finished = true; /* as soon as everything was sent */
        dense_soon(r->d);
    } else if (all && !sh->asks) {
        sh->asks = true;
        memcpy(sh->waits, sh->holders, dense_words(r->d) * sizeof *sh->waits);
        say_hold(sh);
        r->finished = is_empty(r->d, sh->waits);
        dense_soon(r->d);
    } else if (used == 0 && !all) {
        dense_soon(r->d); /* nobody lacks what was under way, and there is more */
    }
}

/* ---- At the root: the end ---------------------------------------------------------------------------------------- */

/* The server need not have it: it is gone. */
static void release(struct share *sh, cw_server server)
{
    struct reducer *r = sh->r;
    trees_set_remove(sh->holders, server);
    trees_set_remove(sh->waits, server);
    for (unsigned i = 0; i < SHARE_AT_ONCE; i++) {
        trees_set_remove(sh->flight[i]->lacking, server);
    }
    if (sh->asks && is_empty(r->d, sh->waits)) {
        r->finished = true;
    }
    dense_soon(r->d);
}

/*
 * What is in the result stays in it. So a reduction that goes on without the dead needs no other attempt: those that
 * live get what names the dead one, too.
 */
bool share_down(struct reducer *r, cw_server server)
{
    if (!trees_set_has(r->share->holders, server)) {
        return true;
    }
    if ((r->caller->spec.flags & CW_REDUCE_WITHOUT) == 0) {
        reducer_end(r, -ECONNRESET, server);
        return false;
    }
    release(r->share, server);
    return true;
}

void share_held(struct reducer *r, cw_server from, int status)
{
    struct share *sh = r->share;
    if (!sh->asks || !trees_set_has(sh->waits, from) || status == -ETIMEDOUT || status == -ENOBUFS) {
        return; /* who has not answered is asked again */
    }
    if (status < 0) {
        (void)share_down(r, from);
        return;
    }
    reducer_moved(r);
    trees_set_remove(sh->waits, from);
    if (is_empty(r->d, sh->waits)) {
        r->finished = true;
        dense_soon(r->d);
    }
}

void share_tick(struct reducer *r)
{
    struct share *sh = r->share;
    if (sh->deaf != CW_SERVER_NONE && trees_set_has(sh->holders, sh->deaf)) {
        reducer_end(r, -EOPNOTSUPP, sh->deaf);
    } else if (!sh->asks) {
        pump(sh);
    } else if (cw_time_due(cw_time_add(sh->asked, DENSE_ASK_EVERY), cw_now(r->d->s))) {
        say_hold(sh);
    }
}

const uint64_t *share_waits(const struct reducer *r)
{
    struct share *sh = r->share;
    for (size_t i = 0; i < dense_words(r->d); i++) {
        sh->lacks[i] = 0;
        for (unsigned k = 0; k < SHARE_AT_ONCE; k++) {
            sh->lacks[i] |= sh->flight[k]->used ? sh->flight[k]->lacking[i] : 0;
        }
    }
    return sh->asks ? sh->waits : sh->lacks;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

void share_free(struct share *sh)
{
    if (sh == NULL) {
        return;
    }
    for (unsigned i = 0; i < SHARE_AT_ONCE; i++) {
        struct flight *f = sh->flight[i];
        if (f != NULL && f->out) {
            f->sh = NULL; /* its end is still told */
        } else if (f != NULL) {
            flight_free(f);
        }
    }
    free(sh->holders);
    free(sh->waits);
    free(sh->lacks);
    free(sh);
}

static struct share *make(struct reducer *r)
{
    size_t words = dense_words(r->d);
    struct share *sh = calloc(1, sizeof *sh);
    if (sh == NULL) {
        return NULL;
    }
    sh->r = r;
    sh->deaf = CW_SERVER_NONE;
    sh->each = elements_of_piece(r->caller->element);
    sh->pieces = pieces_of(r->caller->spec.elements, r->caller->element);
    sh->holders = calloc(words, sizeof *sh->holders);
    sh->waits = calloc(words, sizeof *sh->waits);
    sh->lacks = calloc(words, sizeof *sh->lacks);
    bool good = sh->holders != NULL && sh->waits != NULL && sh->lacks != NULL;
    for (unsigned i = 0; i < SHARE_AT_ONCE; i++) {
        struct flight *f = sh->flight[i] = calloc(1, sizeof *f);
        if (f != NULL) {
            f->sh = sh;
            f->lacking = calloc(words, sizeof *f->lacking);
        }
        good = good && f != NULL && f->lacking != NULL;
    }
    if (!good) {
        share_free(sh);
        return NULL;
    }
    return sh;
}

void share_begin(struct reducer *r)
{
    struct dense *d = r->d;
    struct share *sh = d->multicast == NULL ? NULL : make(r);
    if (sh == NULL) {
        reducer_end(r, d->multicast == NULL ? -EOPNOTSUPP : -ENOBUFS, d->self);
        return;
    }
    r->share = sh;
    r->state = REDUCER_SHARES;
    memcpy(sh->holders, r->counted, dense_words(d) * sizeof *sh->holders);
    trees_set_remove(sh->holders, d->self);
    reducer_moved(r);
    for (cw_server s = 0; s < d->torus.servers; s++) {
        if (trees_set_has(sh->holders, s) && !dense_sees(d, s) && !share_down(r, s)) {
            return;
        }
    }
    pump(sh);
}

static void writable(void *context)
{
    dense_soon(context);
}

void share_open(struct dense *d)
{
    cw_svc *peer = NULL;
    const cw_multicast_api *api = cw_find(d->s, "multicast", CW_MULTICAST_API, &peer);
    const cw_multicast_config config = {CW_MULTICAST_INIT, .context = d, .deliver = on_message, .writable = writable};
    if (api == NULL || api->open(peer, d->s, &config, &d->multicast) < 0) {
        return;
    }
    d->multicast_api = api;
    if (api->listen(d->multicast, topic, sizeof topic - 1) < 0) {
        share_close(d);
    }
}

void share_close(struct dense *d)
{
    if (d->multicast != NULL) {
        d->multicast_api->close(d->multicast);
        d->multicast = NULL;
    }
}
