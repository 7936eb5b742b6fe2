/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/number.h"
#include "services/aggregate/order/internal.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 64, NAMES = 200 };

enum order_step { ORDER_LOOKS, ORDER_GOES };

/* What a server has said. */
struct said {
    int status;
    int64_t request; /* the transport's, while the server is waited for */
    bool noted;      /* it said so itself, by a note */
    bool reduced;    /* the reduction went well there: a status < 0 is that of writing the result */
    uint64_t bytes, wrong;
};

/* An order whose desk is here. */
struct order {
    struct list_node link;
    struct orders *o;
    cw_request *request;
    struct wanted wanted;
    enum order_step step;
    bool cancelled;
    cw_server failed;                  /* the first server whose part failed so that the others would wait in vain */
    uint64_t named[MESSAGE_SET_WORDS]; /* the members as the operator named them */
    uint64_t asked[MESSAGE_SET_WORDS], waiting[MESSAGE_SET_WORDS];
    struct said *said; /* by server */
    size_t element;
    cw_time began;
    struct note done; /* the root's answer */
    cw_timer *soon;
};

/* A request of the transport that is under way. */
struct asked {
    struct orders *o;
    uint32_t number;
    enum order_step step;
    cw_server server;
};

static void answered(struct order *w, cw_server server, int status, const struct note *n);
static void all_said(struct order *w);

static struct order *find(const struct orders *o, uint64_t number)
{
    for (struct list_node *l = list_first(&o->desk); l != NULL; l = list_next(&o->desk, l)) {
        struct order *w = container_of(l, struct order, link);
        if (w->wanted.look.number == number) {
            return w;
        }
    }
    return NULL;
}

static void order_free(struct order *w)
{
    list_remove(&w->link);
    w->o->desk_count--;
    cw_timer_stop(w->o->s, w->soon);
    free(w->said);
    free(w);
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

static void heard(void *context, void *arg, int status, const uint8_t *bytes, uint64_t size,
                  const struct transport_message *m)
{
    struct orders *o = context;
    struct asked a = *(struct asked *)arg;
    struct note n = {.kind = NOTE_DROP};
    struct order *w = o->closing ? NULL : find(o, a.number);
    (void)m;
    free(arg);
    if (w == NULL || w->step != a.step) {
        return;
    }
    enum note_kind kind = a.step == ORDER_LOOKS ? NOTE_LOOKED : NOTE_DONE;
    bool whole = size > 0 && note_decode(bytes, (size_t)size, &n) == 0 && n.kind == kind;
    answered(w, a.server, status == 0 && !whole ? -EPROTO : status, whole ? &n : NULL);
}

static int ask(struct order *w, cw_server server, const struct note *n)
{
    struct orders *o = w->o;
    uint8_t bytes[NOTE_BYTES_MOST];
    struct asked *a = malloc(sizeof *a);
    if (a == NULL) {
        return -ENOMEM;
    }
    *a = (struct asked){o, n->number, w->step, server};
    note_encode(n, bytes);
    const struct transport_data data = {.bytes = bytes, .size = note_size(n)};
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .flags = TRANSPORT_COPY,
                                                   .timeout = ORDERS_PATIENCE};
    cw_to to = to_server(o->s, AGGREGATE_JOB, AGGREGATE_PORT_ORDER, server);
    int64_t id = transport_request(o->transport, &to, &data, &options, heard, a);
    w->said[server].request = id;
    if (id < 0) {
        free(a);
    }
    return id < 0 ? (int)id : 0;
}

static void drop(const struct order *w)
{
    struct orders *o = w->o;
    const struct note n = {.kind = NOTE_DROP, .number = w->wanted.look.number, .life = o->life};
    uint8_t bytes[NOTE_BYTES_MOST];
    note_encode(&n, bytes);
    for (cw_server s = 0; s < o->torus.servers; s++) {
        if (orders_has(w->asked, s)) {
            const struct transport_data data = {.bytes = bytes, .size = note_size(&n)};
            const struct transport_send_options options = {TRANSPORT_SEND_INIT, .flags = TRANSPORT_COPY};
            cw_to to = to_server(o->s, AGGREGATE_JOB, AGGREGATE_PORT_ORDER, s);
            int64_t id = transport_send(o->transport, &to, &data, &options, NULL, NULL);
            (void)id; /* who cannot be told is gone, or forgets in time */
        }
    }
}

/* Nobody's answer is wanted any more. */
static void forget_requests(struct order *w)
{
    for (cw_server s = 0; s < w->o->torus.servers; s++) {
        if (orders_has(w->waiting, s)) {
            orders_remove(w->waiting, s); /* heard() is called from within, and does nothing then */
            (void)transport_cancel(w->o->transport, w->said[s].request);
        }
    }
}

/* ---- What becomes of it ------------------------------------------------------------------------------------------ */

static void row_server(const struct order *w, cw_server s, const char *state, int status, const char *reason)
{
    cw_request *r = w->request;
    cw_request_row(r);
    tell_server_id(w->o->s, r, "server", s);
    cw_request_text(r, "state", state);
    cw_request_int(r, "status", status);
    cw_request_text(r, "reason", reason);
}

static void end(struct order *w, int rc)
{
    cw_request_done(w->request, rc);
    order_free(w);
}

static bool is_gone(int status)
{
    return status == -ENETUNREACH || status == -ECONNRESET || status == -ETIMEDOUT;
}

/* A server that could not begin; it may be left out when it is gone and the order goes on without the dead. */
static bool may_miss(const struct order *w, cw_server s)
{
    return is_gone(w->said[s].status) && (w->wanted.look.spec.flags & CW_REDUCE_WITHOUT) != 0 &&
           s != w->wanted.look.root;
}

/* Refuses the order because of what servers have said; each of them gets a row. */
static void refuse_said(struct order *w, unsigned bad, cw_server first)
{
    const struct orders *o = w->o;
    char name[TORUS_TEXT];
    int rc = w->said[first].status;
    char others[32] = "";
    torus_format(torus_coord(&o->torus, first), name);
    if (bad > 1) {
        snprintf(others, sizeof others, "; and %u others", bad - 1);
    }
    bool gone = rc == -ENETUNREACH && (w->wanted.look.spec.flags & CW_REDUCE_WITHOUT) == 0;
    (void)refuse_with(w->request, rc, "server %s: %s%s%s", name, words_reason(rc), others,
                      gone && first != w->wanted.look.root ? " (--without goes on without servers that are gone)" : "");
    for (cw_server s = 0, rows = 0; s < o->torus.servers && rows < ROWS_MOST; s++) {
        if (orders_has(w->asked, s) && w->said[s].status < 0) {
            row_server(w, s, "refused", w->said[s].status, words_reason(w->said[s].status));
            rows++;
        }
    }
    drop(w);
    end(w, rc);
}

static void refuse_lengths(struct order *w, cw_server one, cw_server other)
{
    const struct orders *o = w->o;
    char name[TORUS_TEXT], name2[TORUS_TEXT];
    torus_format(torus_coord(&o->torus, one), name);
    torus_format(torus_coord(&o->torus, other), name2);
    (void)refuse_with(w->request, -EINVAL,
                      "the files differ in length: server %s has %" PRIu64 " bytes, server %s %" PRIu64, name,
                      w->said[one].bytes, name2, w->said[other].bytes);
    drop(w);
    end(w, -EINVAL);
}

static void refuse_rest(struct order *w, cw_server one)
{
    char name[TORUS_TEXT];
    torus_format(torus_coord(&w->o->torus, one), name);
    (void)refuse_with(w->request, -EINVAL, "server %s: %" PRIu64 " bytes are no whole number of elements of %zu bytes",
                      name, w->said[one].bytes, w->element);
    drop(w);
    end(w, -EINVAL);
}

static void go(struct order *w);

/* All have looked. */
static void judge(struct order *w)
{
    const struct orders *o = w->o;
    cw_server first = CW_SERVER_NONE, other = CW_SERVER_NONE, wrong = CW_SERVER_NONE;
    unsigned bad = 0;
    for (cw_server s = o->torus.servers; s-- > 0;) {
        bool member = orders_has(w->wanted.members, s);
        if (!orders_has(w->asked, s)) {
            continue;
        }
        if (w->said[s].status < 0 && may_miss(w, s)) {
            orders_remove(w->wanted.members, s);
            orders_remove(w->asked, s);
        } else if (w->said[s].status < 0) {
            wrong = s;
            bad++;
        } else if (member) {
            other = first != CW_SERVER_NONE && w->said[first].bytes != w->said[s].bytes ? first : other;
            first = s;
        }
    }
    if (bad > 0) {
        refuse_said(w, bad, wrong);
    } else if (first == CW_SERVER_NONE) {
        (void)refuse_with(w->request, -ENETUNREACH, "no member can be reached");
        drop(w);
        end(w, -ENETUNREACH);
    } else if (other != CW_SERVER_NONE) {
        refuse_lengths(w, first, other);
    } else if (w->said[first].bytes % w->element != 0) {
        refuse_rest(w, first);
    } else {
        w->wanted.look.spec.elements = w->said[first].bytes / w->element;
        go(w);
    }
}

static uint64_t wrong_of(const struct order *w)
{
    uint64_t wrong = 0;
    for (cw_server s = 0; s < w->o->torus.servers; s++) {
        wrong += w->said[s].wrong;
    }
    return wrong;
}

/* have: how many servers have the result. */
static void row_sum(const struct order *w, unsigned have)
{
    const struct orders *o = w->o;
    const struct note *look = &w->wanted.look, *done = &w->done;
    cw_request *r = w->request;
    uint64_t bytes = look->spec.elements * w->element;
    unsigned __int128 bits = (unsigned __int128)bytes * 8 * (uint64_t)CW_NS_PER_SEC;
    cw_request_int(r, "id", look->number);
    cw_request_text(r, "operation", number_combine_name((cw_combine)look->spec.combine));
    cw_request_text(r, "type", number_name((cw_number)look->spec.type));
    cw_request_int(r, "elements", (int64_t)look->spec.elements);
    cw_request_int(r, "bytes", (int64_t)bytes);
    tell_server_id(o->s, r, "root", look->root);
    cw_request_text(r, "to", (look->spec.flags & CW_REDUCE_TO_ALL) != 0 ? "all" : "root");
    if (look->sink == NOTE_SINK_FILE) {
        cw_request_text(r, "file", look->to);
    }
    cw_request_int(r, "counted", have > 0 ? orders_count(o, done->set) : 0);
    cw_request_int(r, "members", orders_count(o, w->named));
    cw_request_int(r, "attempts", done->attempts);
    cw_request_int(r, "took_ns", (int64_t)done->took_ns);
    cw_request_int(r, "bits_per_second", done->took_ns > 0 ? (int64_t)(bits / done->took_ns) : 0);
    if (look->sink == NOTE_SINK_COMPARE) {
        cw_request_int(r, "wrong_elements", (int64_t)wrong_of(w));
    }
    if ((look->spec.flags & CW_REDUCE_TO_ALL) != 0) {
        cw_request_int(r, "with_result", have);
    }
    if (w->cancelled && have > 0) {
        cw_request_int(r, "cancelled_late", 1);
    }
}

static bool to_all(const struct order *w)
{
    return (w->wanted.look.spec.flags & CW_REDUCE_TO_ALL) != 0;
}

/* Has the server the result, in its file or compared? */
static bool has_result(const struct order *w, cw_server s)
{
    bool gets = s == w->wanted.look.root || (to_all(w) && orders_has(w->done.set, s));
    return gets && orders_has(w->asked, s) && w->said[s].status == 0;
}

static unsigned with_result(const struct order *w)
{
    unsigned n = 0;
    for (cw_server s = 0; s < w->o->torus.servers; s++) {
        n += has_result(w, s);
    }
    return n;
}

/* Why the server has no result. */
static const char *reason(const struct order *w, cw_server s, int status)
{
    bool store = w->said[s].reduced && w->wanted.look.sink == NOTE_SINK_FILE;
    return store ? words_store(status) : words_reason(status);
}

/* Nobody has the result. */
static int refuse_failed(struct order *w)
{
    cw_server root = w->wanted.look.root, failed = w->failed != CW_SERVER_NONE ? w->failed : root;
    /* The root's note says whose fault it was: mostly it only tells of a server that has died. */
    cw_server who = failed == root && w->said[root].noted ? w->done.who : failed;
    int rc = w->cancelled ? -ECANCELED : w->said[failed].status;
    char name[TORUS_TEXT] = "";
    rc = rc < 0 ? rc : -EPROTO;
    if (!w->cancelled && w->said[root].reduced && w->wanted.look.sink == NOTE_SINK_FILE) {
        torus_format(torus_coord(&w->o->torus, root), name);
        return refuse_with(w->request, rc, "the result cannot be written to %s on %s: %s", w->wanted.look.to, name,
                           words_store(rc));
    }
    if (!w->cancelled && who < w->o->torus.servers) {
        torus_format(torus_coord(&w->o->torus, who), name);
    }
    return refuse_with(w->request, rc, "the reduction failed: %s%s%s%s", words_end(rc),
                       name[0] != '\0' ? " (server " : "", name, name[0] != '\0' ? ")" : "");
}

/* A row for each server that has no result; when others have it, then one for each of those, too. */
static void rows_servers(const struct order *w, bool some)
{
    const struct orders *o = w->o;
    unsigned rows = 0;
    bool lacking = false;
    for (cw_server s = 0; s < o->torus.servers && rows < ROWS_MOST; s++) {
        int status = w->said[s].status;
        if (!orders_has(w->named, s)) {
            continue;
        }
        if (!orders_has(w->done.set, s)) {
            status = status < 0 ? status : -ECONNRESET;
            row_server(w, s, "not counted", status, words_reason(status));
            rows++;
        } else if (to_all(w) && status < 0) { /* counted, and yet it has no result */
            row_server(w, s, "no result", status, reason(w, s, status));
            lacking = true;
            rows++;
        }
    }
    for (cw_server s = 0; s < o->torus.servers && rows < ROWS_MOST && some && lacking; s++) {
        if (has_result(w, s)) {
            row_server(w, s, "has result", 0, "");
            rows++;
        }
    }
}

/* All have ended. The order is done when somebody has the result: the root; or, of a result for all, any member. */
static void conclude(struct order *w)
{
    unsigned have = with_result(w);
    bool wrong = have > 0 && wrong_of(w) > 0;
    int rc = have == 0 ? refuse_failed(w) : 0;
    if (wrong) {
        rc = refuse_with(w->request, -EBADMSG, "%" PRIu64 " elements of the result are wrong", wrong_of(w));
    }
    row_sum(w, have);
    if (orders_count(w->o, w->done.set) > 0) {
        rows_servers(w, have > 0);
    }
    end(w, rc);
}

/*
 * A member whose part has failed and that still lives: the others would wait for it until the limit. They are told to
 * end, and their answers are waited for. (A server that is gone is noticed by the reduction itself.)
 */
static void note_failure(struct order *w, cw_server server, int status, bool refused)
{
    bool vain = refused ? !is_gone(status) : server == w->wanted.look.root && !w->said[server].reduced;
    if (w->step == ORDER_GOES && status < 0 && vain && !w->cancelled && w->failed == CW_SERVER_NONE) {
        w->failed = server;
        drop(w);
    }
}

static void answered(struct order *w, cw_server server, int status, const struct note *n)
{
    struct said *said = &w->said[server];
    if (!orders_has(w->waiting, server)) {
        return;
    }
    orders_remove(w->waiting, server);
    said->status = status;
    if (n != NULL && n->kind == NOTE_LOOKED) {
        said->bytes = n->bytes;
    }
    if (n != NULL && n->kind == NOTE_DONE && n->servers == w->o->torus.servers) {
        bool best = server == w->wanted.look.root || w->done.servers == 0;
        said->wrong = n->wrong;
        said->noted = true;
        said->reduced = orders_count(w->o, n->set) > 0;
        w->done = best ? *n : w->done; /* a root that is gone says nothing; all know the same who are counted */
    }
    note_failure(w, server, status, n == NULL);
    if (orders_count(w->o, w->waiting) == 0) {
        all_said(w);
    }
}

/* All that were asked have answered, or could not be asked. */
static void all_said(struct order *w)
{
    if (w->step == ORDER_GOES) {
        conclude(w);
    } else {
        judge(w);
    }
}

static void nobody_asked(cw_svc *s, void *state, void *arg)
{
    struct order *w = arg;
    (void)s;
    (void)state;
    w->soon = NULL;
    all_said(w);
}

/*
 * Sends the note to everybody who takes part. A root that is no member has no vector to look for. False: nobody could
 * be asked, so that nobody will answer.
 */
static bool ask_all(struct order *w, const struct note *n)
{
    struct orders *o = w->o;
    struct note no_member = *n;
    no_member.source = NOTE_SOURCE_NONE;
    no_member.from[0] = '\0';
    memcpy(w->waiting, w->asked, sizeof w->waiting);
    for (cw_server s = 0; s < o->torus.servers; s++) {
        const struct note *its = orders_has(w->wanted.members, s) ? n : &no_member;
        int rc = orders_has(w->asked, s) ? ask(w, s, its) : 0;
        if (rc < 0) {
            orders_remove(w->waiting, s);
            w->said[s].status = rc;
            note_failure(w, s, rc, true);
        }
    }
    return orders_count(o, w->waiting) > 0;
}

static void go(struct order *w)
{
    struct note n = {.kind = NOTE_GO, .number = w->wanted.look.number, .life = w->o->life};
    n.spec.elements = w->wanted.look.spec.elements;
    n.servers = w->o->torus.servers;
    memcpy(n.set, w->wanted.members, orders_words(w->o) * sizeof *n.set);
    w->step = ORDER_GOES;
    w->done.who = CW_SERVER_NONE;
    if (!ask_all(w, &n)) {
        all_said(w);
    }
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

int desk_begin(struct orders *o, cw_request *r, const struct wanted *wanted)
{
    if (o->desk_count >= ORDERS_DESK) {
        return refuse_with(r, -EBUSY, "%d reductions of operators are under way from here; wait until one ends",
                           ORDERS_DESK);
    }
    struct order *w = calloc(1, sizeof *w);
    struct said *said = calloc(o->torus.servers, sizeof *said);
    if (w == NULL || said == NULL) {
        free(w);
        free(said);
        return -ENOMEM;
    }
    w->o = o;
    w->request = r;
    w->wanted = *wanted;
    w->wanted.look.number = ++o->numbers;
    w->wanted.look.life = o->life;
    w->said = said;
    w->failed = CW_SERVER_NONE;
    w->element = number_element((cw_number)wanted->look.spec.type, (cw_combine)wanted->look.spec.combine);
    w->began = cw_now(o->s);
    memcpy(w->named, wanted->members, sizeof w->named);
    memcpy(w->asked, wanted->members, sizeof w->asked);
    orders_add(w->asked, wanted->look.root);
    list_push_back(&o->desk, &w->link);
    o->desk_count++;
    if (ask_all(w, &w->wanted.look)) {
        return 1;
    }
    w->soon = cw_timer_start(o->s, CW_NS(0), nobody_asked, w); /* the request is answered after this call */
    if (w->soon == NULL) {
        order_free(w);
        return refuse_with(r, -ENOBUFS, "nobody can be asked now: this server has too many timers; try again");
    }
    return 1;
}

int desk_cancel(struct orders *o, cw_request *r, uint64_t number)
{
    struct order *w = find(o, number);
    if (w == NULL) {
        return refuse_with(r, -ENOENT, "no order %" PRIu64 " has been given at this server, or it has ended", number);
    }
    w->cancelled = true;
    drop(w);
    if (w->step == ORDER_LOOKS) { /* nothing has begun: those that look forget it */
        forget_requests(w);
        (void)refuse_with(w->request, -ECANCELED, "it was cancelled");
        end(w, -ECANCELED);
    }
    return 0;
}

static void names_of(const struct orders *o, const uint64_t *set, char out[static NAMES])
{
    size_t length = 0;
    unsigned more = 0;
    out[0] = '\0';
    for (cw_server s = 0; s < o->torus.servers; s++) {
        char name[TORUS_TEXT];
        torus_format(torus_coord(&o->torus, s), name);
        if (!orders_has(set, s)) {
            continue;
        }
        if (length + strlen(name) + 24 > NAMES) {
            more++;
        } else {
            length += (size_t)snprintf(out + length, NAMES - length, "%s%s", length > 0 ? " " : "", name);
        }
    }
    if (more > 0) {
        snprintf(out + length, NAMES - length, " +%u", more);
    }
}

void desk_status(const struct orders *o, cw_request *r, bool *first)
{
    for (const struct list_node *l = list_first(&o->desk); l != NULL; l = list_next(&o->desk, l)) {
        const struct order *w = container_of_const(l, struct order, link);
        const struct note *look = &w->wanted.look;
        char names[NAMES];
        if (!*first) {
            cw_request_row(r);
        }
        *first = false;
        names_of(o, w->waiting, names);
        cw_request_int(r, "id", look->number);
        cw_request_text(r, "role", "desk");
        tell_server_id(o->s, r, "root", look->root);
        cw_request_text(r, "operation", number_combine_name((cw_combine)look->spec.combine));
        cw_request_text(r, "type", number_name((cw_number)look->spec.type));
        cw_request_text(r, "state", w->step == ORDER_LOOKS ? "files are read" : "runs");
        cw_request_int(r, "bytes", (int64_t)(look->spec.elements * w->element));
        cw_request_int(r, "members", orders_count(o, w->wanted.members));
        cw_request_int(r, "took_ns", cw_time_since(cw_now(o->s), w->began).ns);
        cw_request_text(r, "waits_for", w->step == ORDER_LOOKS ? names : "");
    }
}

void desk_close(struct orders *o)
{
    while (!list_is_empty(&o->desk)) {
        struct order *w = container_of(list_first(&o->desk), struct order, link);
        cw_request_done(w->request, -ECANCELED);
        order_free(w);
    }
}
