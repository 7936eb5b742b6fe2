/* SPDX-License-Identifier: Apache-2.0 */
/*
 * muster.c - the first half of a run at its root: the order, and the contributors that prepare their inputs.
 */
#include "services/aggregate/stream/internal.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 200 };

/* A preparation that is asked for. */
struct asked {
    struct stream *st;
    struct run_name run;
    cw_server server;
};

/* ---- Who contributes --------------------------------------------------------------------------------------------- */

static void refuse(struct collector *c, cw_server server, int status, uint64_t line)
{
    if (c->refusals < LETTER_REFUSALS_MOST) {
        c->refusal[c->refusals++] = (struct refusal){server, (uint16_t)(-status > 4095 ? EIO : -status), line};
    }
}

static bool is_gone(int status)
{
    return status == -ENETUNREACH || status == -ECONNRESET || status == -ETIMEDOUT;
}

static void prepared(struct collector *c, cw_server server, int status, const struct letter *l)
{
    c->request[server] = 0;
    stream_set_remove(c->silent, server);
    c->awaited--;
    collector_moved(c);
    if (status == 0) {
        c->records[server] = l->records;
        c->bytes += l->bytes;
    } else if (is_gone(status) && (c->wish.flags & LETTER_WITHOUT) != 0) {
        stream_set_remove(c->counted, server);
    } else {
        refuse(c, server, status, l != NULL ? l->line : 0);
    }
    stream_soon(c->st);
}

static void heard(void *context, void *arg, int status, const uint8_t *bytes, uint64_t size,
                  const struct transport_message *m)
{
    struct stream *st = context;
    struct asked a = *(struct asked *)arg;
    struct letter l;
    (void)m;
    free(arg);
    struct collector *c = st->closing ? NULL : collector_of_run(st, &a.run);
    if (c == NULL || c->request[a.server] == 0) {
        return;
    }
    bool whole = size > 0 && letter_decode(bytes, (size_t)size, &l) == 0 && l.kind == LETTER_PREPARED;
    prepared(c, a.server, status == 0 && !whole ? -EPROTO : status, whole ? &l : NULL);
}

static void prepare(struct collector *c, cw_server server)
{
    struct stream *st = c->st;
    uint8_t bytes[LETTER_BYTES_MOST];
    struct asked *a = malloc(sizeof *a);
    struct letter l = {.kind = LETTER_PREPARE, .run = c->run, .wish = c->wish, .servers = st->torus.servers};
    int64_t id = -ENOMEM;
    if (a != NULL) {
        *a = (struct asked){st, c->run, server};
        memcpy(l.members, c->members, stream_words(st) * sizeof *l.members);
        letter_encode(&l, bytes);
        const struct transport_data data = {.bytes = bytes, .size = letter_size(&l)};
        const struct transport_send_options options = {TRANSPORT_SEND_INIT, .flags = TRANSPORT_COPY,
                                                       .timeout = STREAM_PATIENCE};
        cw_to to = to_server(st->s, AGGREGATE_JOB, AGGREGATE_PORT_STREAM_CALL, server);
        id = transport_request(st->call, &to, &data, &options, heard, a);
    }
    if (id < 0) {
        free(a);
        prepared(c, server, (int)id, NULL);
        return;
    }
    c->request[server] = id;
}

void muster_down(struct collector *c, cw_server server)
{
    /* Of one that prepares its request tells; one that has prepared is not asked any more. */
    if (!trees_set_has(c->counted, server) || trees_set_has(c->silent, server)) {
        return;
    }
    if ((c->wish.flags & LETTER_WITHOUT) != 0) {
        stream_set_remove(c->counted, server);
    } else {
        refuse(c, server, -ECONNRESET, 0);
    }
    stream_soon(c->st);
}

void muster_forget(struct collector *c)
{
    for (cw_server s = 0; s < c->st->torus.servers; s++) {
        if (c->request[s] > 0) {
            int64_t id = c->request[s];
            c->request[s] = 0;
            (void)transport_cancel(c->st->call, id);
        }
    }
}

/* ---- The beginning ----------------------------------------------------------------------------------------------- */

static int check(const struct stream *st, const struct letter *l)
{
    struct combine combine;
    if (l->servers != st->torus.servers || combine_read(l->wish.combine, &combine) < 0 || l->wish.to[0] == '\0' ||
        l->wish.top > BEST_MOST) {
        return -EPROTO;
    }
    if (st->host == NULL || st->folder[0] == '\0') {
        return -EOPNOTSUPP;
    }
    unsigned count = 0;
    for (struct list_node *n = list_first(&st->collectors); n != NULL; n = list_next(&st->collectors, n)) {
        count++;
        if (strcmp(((const struct collector *)(const void *)n)->wish.to, l->wish.to) == 0) {
            return -EBUSY;
        }
    }
    return count < STREAM_RUNS ? 0 : -ENOBUFS;
}

static struct collector *make(struct stream *st)
{
    enum { SETS = 5 };
    size_t words = stream_words(st);
    struct collector *c = calloc(1, sizeof *c);
    uint64_t *sets = calloc(SETS * words, sizeof *sets);
    int64_t *request = calloc(st->torus.servers, sizeof *request);
    uint64_t *records = calloc(st->torus.servers, sizeof *records);
    if (c == NULL || sets == NULL || request == NULL || records == NULL) {
        free(c);
        free(sets);
        free(request);
        free(records);
        return NULL;
    }
    c->st = st;
    c->request = request;
    c->records = records;
    c->members = sets;
    c->counted = sets + words;
    c->dead = sets + 2 * words;
    c->involved = sets + 3 * words;
    c->silent = sets + 4 * words;
    c->who = CW_SERVER_NONE;
    c->keep = true;
    c->pause = STREAM_PAUSE_FIRST;
    c->run = (struct run_name){st->self, st->life, ++st->numbers};
    return c;
}

int collector_open(struct stream *st, const struct letter *l, cw_server desk, const struct transport_reply_to *reply)
{
    int rc = check(st, l);
    struct collector *c = rc < 0 ? NULL : make(st);
    if (c == NULL) {
        return rc < 0 ? rc : -ENOBUFS;
    }
    c->desk = desk;
    c->reply = *reply;
    c->wish = l->wish;
    memcpy(c->members, l->members, stream_words(st) * sizeof *c->members);
    memcpy(c->counted, l->members, stream_words(st) * sizeof *c->members);
    c->result = result_open(st, c, &c->wish);
    list_push_back(&st->collectors, &c->link);
    if (c->result == NULL || collector_first(c, c->members) == CW_SERVER_NONE) {
        collector_free(c);
        return -ENOBUFS;
    }
    c->began = cw_now(st->s);
    collector_moved(c);
    stream_note(st, STREAM_COUNT_BEGUN, 1);
    for (cw_server s = 0; s < st->torus.servers; s++) {
        if (trees_set_has(c->members, s)) {
            trees_set_add(c->silent, s);
            c->awaited++;
        }
    }
    for (cw_server s = 0; s < st->torus.servers; s++) {
        if (trees_set_has(c->members, s)) {
            prepare(c, s);
        }
    }
    stream_wake(st);
    return 0;
}

/* ---- What is seen ------------------------------------------------------------------------------------------------ */

static void names_of(const struct collector *c, char out[static NAMES])
{
    size_t length = 0;
    unsigned more = 0;
    out[0] = '\0';
    for (cw_server s = 0; s < c->st->torus.servers; s++) {
        char name[TORUS_TEXT];
        if (!trees_set_has(c->silent, s)) {
            continue;
        }
        torus_format(torus_coord(&c->st->torus, s), name);
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

void collector_status(const struct collector *c, cw_request *r)
{
    static const char *const states[] = {"inputs are read", "announced", "runs", "pauses", "result is written"};
    char names[NAMES];
    unsigned members = 0;
    for (size_t i = 0; i < stream_words(c->st); i++) {
        members += (unsigned)__builtin_popcountll(c->counted[i]);
    }
    names_of(c, names);
    cw_request_text(r, "role", "root");
    tell_server_id(c->st->s, r, "root", c->st->self);
    cw_request_int(r, "job", AGGREGATE_JOB);
    cw_request_text(r, "name", c->wish.to);
    cw_request_text(r, "operation", c->wish.combine);
    cw_request_text(r, "type", c->wish.mapper);
    cw_request_text(r, "state", states[c->state]);
    cw_request_int(r, "attempts", c->attempt);
    cw_request_int(r, "bytes", (int64_t)c->bytes);
    cw_request_int(r, "still_ns", cw_time_since(cw_now(c->st->s), c->moved).ns);
    cw_request_int(r, "settled_bytes", (int64_t)(c->bytes * result_count(c->result) / c->wish.partitions));
    cw_request_int(r, "partitions", c->wish.partitions);
    cw_request_int(r, "settled_partitions", result_count(c->result));
    cw_request_int(r, "members", members);
    cw_request_text(r, "waits_for", names);
}
