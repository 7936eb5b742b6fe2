/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.c - a result that goes to several servers. Its root makes one text after the other, and all get each by two
 * broadcasts of vectors (cubeway/aggregate.h): how long it is, and its bytes. Who gets it writes it before it takes
 * part in the next broadcast; so nobody has more than one text in memory, and the slowest disk is waited for.
 */
#include "services/aggregate/stream/internal.h"
#include "services/aggregate/stream/lead.h"

#include "base/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEAD = 8,  /* bytes of the first broadcast: length (4), last (4) */
    NAME = 28, /* of a broadcast: the run, its round, and how many came before */
    NS_PER_BYTE = 1,
};
#define SYNC CW_US(100) /* what writing a text takes, for the simulator's clock */

/* ---- Broadcasts -------------------------------------------------------------------------------------------------- */

/* One after the other, of one root. */
struct channel {
    struct stream *st;
    struct run_name run;
    uint32_t round, turn; /* turn: of the next broadcast */
    cw_server root;
    cw_coord *member;
    unsigned members;
    uint32_t limit_ms;
    int64_t ticket; /* 0: none is under way */
    cw_reduce_done_fn done;
    void *arg;
};

static int channel_open(struct channel *ch, const uint64_t *others)
{
    struct stream *st = ch->st;
    ch->member = calloc(st->torus.servers, sizeof *ch->member);
    for (cw_server s = 0; s < st->torus.servers && ch->member != NULL; s++) {
        if (s == ch->root || trees_set_has(others, s)) {
            ch->member[ch->members++] = torus_coord(&st->torus, s);
        }
    }
    return ch->member != NULL ? 0 : -ENOMEM;
}

/* Sends (at the root) or takes that many bytes; done() tells how that has ended. */
static int channel_cast(struct channel *ch, uint8_t *bytes, size_t length)
{
    struct stream *st = ch->st;
    uint8_t name[NAME];
    struct writer w = writer_of(name, sizeof name);
    writer_be32(&w, 0x636f7079); /* "copy" */
    writer_be32(&w, ch->run.root);
    writer_be64(&w, ch->run.life);
    writer_be32(&w, ch->run.number);
    writer_be32(&w, ch->round);
    writer_be32(&w, ch->turn++);
    bool root = ch->root == st->self;
    cw_reduce r = {CW_REDUCE_INIT, .name = (const char *)name, .name_length = sizeof name};
    r.root = torus_coord(&st->torus, ch->root);
    r.member = ch->member;
    r.members = ch->members;
    r.type = CW_NUMBER_UINT8;
    r.combine = CW_COMBINE_SUM;
    r.elements = length;
    r.flags = CW_REDUCE_TO_ALL | CW_REDUCE_FROM_ROOT;
    r.limit = CW_MS((int64_t)ch->limit_ms);
    r.in = root ? bytes : NULL;
    r.out = root ? NULL : bytes;
    int64_t ticket = dense_reduce(st->dense, st, AGGREGATE_JOB, &r, ch->done, ch->arg);
    ch->ticket = ticket > 0 ? ticket : 0;
    return ticket > 0 ? 0 : (int)ticket;
}

static void channel_close(struct channel *ch)
{
    int64_t ticket = ch->ticket;
    ch->ticket = 0;
    if (ticket != 0) {
        (void)dense_cancel(ch->st->dense, ch->st, ticket);
    }
    free(ch->member);
    ch->member = NULL;
}

static cw_server channel_who(const struct channel *ch, const cw_reduce_result *result)
{
    return result->named ? torus_id(&ch->st->torus, result->who) : CW_SERVER_NONE;
}

/* ---- At the root ------------------------------------------------------------------------------------------------- */

struct sharing {
    struct channel ch;
    struct collector *c;
    sharing_ready_fn ready;
    void *arg;
    const uint8_t *text;
    size_t length;
    bool last, sent, closing; /* sent: the last text */
    bool told;                /* of a failure */
    unsigned awaited;         /* copies that have not said that they hold the result */
    int64_t *asked;           /* by server: the transport's request; 0: none */
    uint8_t head[HEAD];
    unsigned uses; /* answers that have this in their argument */
};

struct copy_asked {
    struct sharing *p;
    cw_server server;
};

static void sharing_free(struct sharing *p)
{
    if (p->closing && p->uses == 0) {
        free(p->asked);
        free(p);
    }
}

static void sharing_fail(struct sharing *p, int status, cw_server who)
{
    if (!p->told && !p->closing) {
        p->told = true;
        p->ready(p->arg, status, who);
    }
}

static void sharing_ended(struct sharing *p)
{
    if (p->sent && p->awaited == 0 && !p->told) {
        p->ready(p->arg, 0, CW_SERVER_NONE);
    }
}

static void copy_heard(void *context, void *arg, int status, const uint8_t *bytes, uint64_t size,
                       const struct transport_message *m)
{
    struct copy_asked a = *(struct copy_asked *)arg;
    struct sharing *p = a.p;
    struct letter said;
    (void)context;
    (void)m;
    free(arg);
    p->uses--;
    p->asked[a.server] = 0;
    p->awaited--;
    if (p->closing) {
        sharing_free(p);
    } else if (status < 0) {
        bool whole = size > 0 && letter_decode(bytes, (size_t)size, &said) == 0 && said.kind == LETTER_ORDERED;
        p->c->limit = whole ? said.limit : 0;
        sharing_fail(p, status, a.server);
    } else {
        sharing_ended(p);
    }
}

static int ask_for_copy(struct sharing *p, cw_server server)
{
    struct collector *c = p->c;
    struct stream *st = c->st;
    struct letter l = {.kind = LETTER_COPY, .run = c->lead, .attempt = c->round, .wish = c->wish};
    l.servers = st->torus.servers;
    memcpy(l.members, c->members, stream_words(st) * sizeof *l.members);
    memcpy(l.others, c->copies, stream_words(st) * sizeof *l.others);
    struct copy_asked *a = malloc(sizeof *a);
    if (a == NULL) {
        return -ENOMEM;
    }
    *a = (struct copy_asked){p, server};
    int64_t id = stream_ask(st, server, &l, copy_heard, a);
    if (id < 0) {
        free(a);
        return (int)id;
    }
    p->uses++;
    p->asked[server] = id;
    p->awaited++;
    return 0;
}

static void sharing_cast_done(void *arg, const cw_reduce_result *result)
{
    struct sharing *p = arg;
    bool was_head = p->ch.turn % 2 == 1;
    if (p->ch.ticket == 0) {
        return; /* it was closed */
    }
    p->ch.ticket = 0;
    int rc = result->status;
    cw_server who = channel_who(&p->ch, result);
    if (rc == 0 && was_head && p->length > 0) {
        rc = channel_cast(&p->ch, (uint8_t *)(uintptr_t)p->text, p->length); /* which is only read */
        who = p->ch.st->self;
        if (rc == 0) {
            return;
        }
    } else if (was_head) {
        p->ch.turn++;
    }
    if (rc < 0) {
        sharing_fail(p, rc, who);
    } else if (p->last) {
        p->sent = true;
        sharing_ended(p);
    } else {
        p->ready(p->arg, 0, CW_SERVER_NONE);
    }
}

struct sharing *sharing_open(struct collector *c, sharing_ready_fn ready, void *arg)
{
    struct stream *st = c->st;
    struct sharing *p = calloc(1, sizeof *p);
    int64_t *asked = calloc(st->torus.servers, sizeof *asked);
    if (p == NULL || asked == NULL || st->dense == NULL) {
        free(p);
        free(asked);
        return NULL;
    }
    *p = (struct sharing){.c = c, .ready = ready, .arg = arg, .asked = asked};
    p->ch = (struct channel){.st = st, .run = c->lead, .round = c->round, .root = st->self};
    p->ch.limit_ms = c->wish.limit_ms;
    p->ch.done = sharing_cast_done;
    p->ch.arg = p;
    int rc = channel_open(&p->ch, c->copies);
    for (cw_server s = 0; s < st->torus.servers && rc == 0; s++) {
        rc = trees_set_has(c->copies, s) ? ask_for_copy(p, s) : 0;
    }
    if (rc < 0) {
        sharing_close(p);
        return NULL;
    }
    return p;
}

void sharing_text(struct sharing *p, const uint8_t *text, size_t length, bool last)
{
    struct writer w = writer_of(p->head, sizeof p->head);
    writer_be32(&w, (uint32_t)length);
    writer_be32(&w, last);
    p->text = text;
    p->length = length;
    p->last = last;
    int rc = p->told ? 0 : channel_cast(&p->ch, p->head, sizeof p->head);
    if (rc < 0) {
        sharing_fail(p, rc, p->ch.st->self);
    }
}

void sharing_close(struct sharing *p)
{
    if (p == NULL) {
        return;
    }
    struct stream *st = p->ch.st;
    p->closing = true;
    p->uses++; /* this function's */
    channel_close(&p->ch);
    for (cw_server s = 0; s < st->torus.servers; s++) {
        int64_t id = p->asked[s];
        if (id > 0 && !st->closing) {
            (void)transport_cancel(st->call, id);
        }
    }
    p->uses--;
    sharing_free(p);
}

/* ---- Where a copy is written ------------------------------------------------------------------------------------- */

struct copy {
    struct list_node link; /* the first member */
    struct channel ch;
    struct account *account;
    char to[LETTER_NAME_MOST + 1];
    struct transport_reply_to reply;
    bool asked;         /* somebody waits for that answer: the root, and then the lead */
    bool away, dropped; /* work has it; it is freed when that has ended */
    bool head, last, holds, committing, named;
    size_t length;
    struct vectors_file *file;
    int status; /* of the work */
    uint64_t bytes;
    cw_time heard, orphan; /* orphan: as a collector's */
    uint8_t text[STREAM_TEXT_MOST];
};

static struct copy *copy_at(struct list_node *n)
{
    return (struct copy *)(void *)n;
}

static struct copy *copy_of(struct stream *st, const struct run_name *lead)
{
    for (struct list_node *n = list_first(&st->copies); n != NULL; n = list_next(&st->copies, n)) {
        if (run_name_equal(&copy_at(n)->ch.run, lead) && !copy_at(n)->dropped) {
            return copy_at(n);
        }
    }
    return NULL;
}

bool copy_has_name(const struct stream *st, const struct run_name *lead, const char *to)
{
    for (struct list_node *n = list_first(&st->collectors); n != NULL; n = list_next(&st->collectors, n)) {
        const struct collector *c = (const struct collector *)(const void *)n;
        if ((c->wish.flags & LETTER_CALLER) == 0 && !run_name_equal(&c->lead, lead) && strcmp(c->wish.to, to) == 0) {
            return true;
        }
    }
    for (struct list_node *n = list_first(&st->copies); n != NULL; n = list_next(&st->copies, n)) {
        if (!run_name_equal(&copy_at(n)->ch.run, lead) && strcmp(copy_at(n)->to, to) == 0) {
            return true;
        }
    }
    return false;
}

static void copy_free(struct copy *c)
{
    struct stream *st = c->ch.st;
    if (c->file != NULL) {
        st->host->abandon(st->host->context, c->file);
    }
    account_give(c->account, sizeof *c);
    account_close(c->account);
    list_remove(&c->link);
    free(c);
}

static void answer(struct copy *c, int status)
{
    struct letter l = {.kind = LETTER_ORDERED, .run = c->ch.run, .attempt = c->ch.round, .who = CW_SERVER_NONE};
    l.bytes = c->bytes;
    l.limit = account_limit(c->ch.st, status);
    if (c->asked) {
        c->asked = false;
        stream_answer(c->ch.st, &c->reply, status, &l);
    }
}

/* Takes c: what was written is gone, unless it has its name. */
static void copy_end(struct copy *c, int status)
{
    channel_close(&c->ch);
    answer(c, status);
    c->dropped = true;
    if (!c->away || c->ch.st->closing) {
        copy_free(c);
    }
}

/* Work: the text is written, or the file gets its name. */
static void copy_work(void *arg)
{
    struct copy *c = arg;
    const struct stream *st = c->ch.st;
    const struct vectors_host *h = st->host;
    if (c->committing) {
        c->status = h->end(h->context, c->file);
        c->file = NULL;
        return;
    }
    int rc = c->file != NULL ? 0 : h->begin(h->context, st->folder, c->to, &c->file);
    for (size_t at = 0; rc == 0 && at < c->length; at += h->piece) {
        size_t left = c->length - at;
        rc = h->write(h->context, c->file, c->text + at, left < h->piece ? left : h->piece);
    }
    c->bytes += c->length;
    c->status = rc;
}

static void take_next(struct copy *c, size_t length)
{
    c->head = length == 0;
    int rc = channel_cast(&c->ch, c->text, length == 0 ? HEAD : length);
    if (rc < 0) {
        copy_end(c, rc);
    }
}

static void copy_done(cw_svc *s, void *state, void *arg)
{
    struct copy *c = arg;
    (void)s;
    (void)state;
    c->away = false;
    if (c->dropped) {
        copy_free(c);
    } else if (c->status == 0 && c->committing && !c->asked) {
        c->named = true; /* the lead asks, or is gone */
    } else if (c->status < 0 || c->committing) {
        copy_end(c, c->status);
    } else if (c->last) {
        c->holds = true;
        answer(c, 0);
    } else {
        take_next(c, 0);
    }
}

static void copy_offload(struct copy *c)
{
    int64_t cost = (int64_t)c->length * NS_PER_BYTE + SYNC.ns;
    int rc = cw_offload(c->ch.st->s, copy_work, copy_done, c, CW_NS(cost));
    c->away = rc == 0;
    if (rc < 0) {
        copy_end(c, rc == -EAGAIN ? -ENOBUFS : rc);
    }
}

static void copy_cast_done(void *arg, const cw_reduce_result *result)
{
    struct copy *c = arg;
    if (c->ch.ticket == 0) {
        return; /* it was closed */
    }
    c->ch.ticket = 0;
    if (result->status < 0) {
        copy_end(c, result->status);
        return;
    }
    if (!c->head) {
        copy_offload(c);
        return;
    }
    struct reader r = reader_of(c->text, HEAD);
    c->length = reader_be32(&r);
    c->last = reader_be32(&r) != 0;
    if (c->length > sizeof c->text) {
        copy_end(c, -EPROTO);
    } else if (c->length > 0) {
        take_next(c, c->length);
    } else {
        c->ch.turn++;
        copy_offload(c);
    }
}

/* Takes the memory of a copy. */
static int make(struct stream *st, cw_job job, struct copy **out)
{
    struct account *account = account_open(st, job);
    struct copy *c = malloc(sizeof *c);
    int rc = account == NULL || c == NULL ? -ENOBUFS : account_take(account, sizeof *c);
    if (rc < 0) {
        account_close(account);
        free(c);
        return rc;
    }
    memset(c, 0, offsetof(struct copy, text));
    c->account = account;
    *out = c;
    return 0;
}

int copy_open(struct stream *st, const struct letter *l, cw_server root, const struct transport_reply_to *reply)
{
    const struct copy *before = copy_of(st, &l->run);
    if (l->servers != st->torus.servers || l->wish.to[0] == '\0' || !trees_set_has(l->others, st->self)) {
        return -EPROTO;
    }
    if (st->host == NULL || st->folder[0] == '\0' || st->dense == NULL) {
        return -EOPNOTSUPP;
    }
    if (before != NULL && before->ch.round >= l->attempt) {
        return -ESTALE;
    }
    if (copy_has_name(st, &l->run, l->wish.to)) {
        return -EBUSY;
    }
    copy_drop(st, &l->run, l->attempt - 1, false);
    struct copy *c;
    int rc = make(st, l->wish.job, &c);
    if (rc < 0) {
        const struct letter none = {
            .kind = LETTER_ORDERED, .run = l->run, .attempt = l->attempt, .limit = account_limit(st, rc)};
        stream_answer(st, reply, rc, &none);
        return 0;
    }
    c->ch = (struct channel){.st = st, .run = l->run, .round = l->attempt, .root = root, .limit_ms = l->wish.limit_ms};
    c->ch.done = copy_cast_done;
    c->ch.arg = c;
    memcpy(c->to, l->wish.to, sizeof c->to);
    c->heard = cw_now(st->s);
    list_push_back(&st->copies, &c->link);
    rc = channel_open(&c->ch, l->others);
    if (rc < 0) {
        copy_free(c);
        return -ENOBUFS;
    }
    c->reply = *reply;
    c->asked = true;
    take_next(c, 0);
    stream_wake(st);
    return 0;
}

int copy_commit(struct stream *st, const struct letter *l, const struct transport_reply_to *reply)
{
    struct copy *c = copy_of(st, &l->run);
    if (c == NULL || c->ch.round != l->attempt || !c->holds || (reply != NULL && c->asked)) {
        return -ESTALE;
    }
    if (reply != NULL) {
        c->reply = *reply;
        c->asked = true;
    }
    if (c->named && c->asked) {
        copy_end(c, 0);
    } else if (!c->committing) {
        c->committing = true;
        lead_pass_commit(st, l);
        copy_offload(c);
    }
    return 0;
}

static void wait_for_others(struct copy *c)
{
    c->orphan = c->orphan.ns != 0 ? c->orphan : cw_now(c->ch.st->s);
}

void copy_drop(struct stream *st, const struct run_name *lead, uint32_t round, bool gone)
{
    for (struct list_node *n = list_first(&st->copies), *next; n != NULL; n = next) {
        struct copy *c = copy_at(n);
        next = list_next(&st->copies, n);
        bool old = round == 0 || c->ch.round <= round;
        if (!run_name_equal(&c->ch.run, lead) || !old || c->dropped) {
            continue;
        }
        if (gone && c->holds && !c->committing) {
            wait_for_others(c);
        } else if (!c->committing || c->named) {
            copy_end(c, c->named ? 0 : -ECANCELED);
        }
    }
}

void copy_down(struct stream *st, cw_server server)
{
    for (struct list_node *n = list_first(&st->copies), *next; n != NULL; n = next) {
        struct copy *c = copy_at(n);
        next = list_next(&st->copies, n);
        if (c->ch.run.root != server || c->dropped) {
            continue;
        }
        if (c->holds && !c->committing) {
            wait_for_others(c);
        } else if (!c->committing || c->named) {
            copy_end(c, c->named ? 0 : -ECANCELED);
        }
    }
}

void copy_tick(struct stream *st)
{
    cw_time now = cw_now(st->s);
    for (struct list_node *n = list_first(&st->copies), *next; n != NULL; n = next) {
        struct copy *c = copy_at(n);
        next = list_next(&st->copies, n);
        bool late = c->orphan.ns != 0 && !c->committing && cw_time_due(cw_time_add(c->orphan, STREAM_ORPHAN), now);
        bool alone = c->named && !stream_sees(st, c->ch.run.root);
        if (!c->dropped && (late || alone)) {
            copy_end(c, alone ? 0 : -ECANCELED);
            continue;
        }
        const struct letter l = {.kind = LETTER_PROBE, .run = c->ch.run};
        if (cw_time_due(cw_time_add(c->heard, STREAM_ASK_EVERY), now) && l.run.root != st->self) {
            c->heard = now;
            (void)stream_say(st, l.run.root, &l);
        }
    }
}

void copy_close(struct stream *st)
{
    while (!list_is_empty(&st->copies)) {
        struct copy *c = copy_at(list_first(&st->copies));
        c->asked = false;
        c->away = false;
        copy_end(c, -ECANCELED);
    }
}
