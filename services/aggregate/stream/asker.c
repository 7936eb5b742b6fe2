/* SPDX-License-Identifier: Apache-2.0 */
#include "base/words.h"
#include "services/aggregate/sorted/mapper.h"
#include "services/aggregate/stream/internal.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 64, REASON = 200 };

/* A run that was ordered at this server. */
struct asker {
    struct list_node link;
    struct stream *st;
    cw_request *request;
    uint32_t number;
    struct wish wish;
    cw_server root;
    uint64_t members[MESSAGE_SET_WORDS];
    int64_t id; /* of the transport's request */
    bool cancelled;
    cw_time began;
};

static struct asker *find(const struct stream *st, uint32_t number)
{
    for (struct list_node *n = list_first(&st->askers); n != NULL; n = list_next(&st->askers, n)) {
        struct asker *a = container_of(n, struct asker, link);
        if (a->number == number) {
            return a;
        }
    }
    return NULL;
}

static void asker_free(struct asker *a)
{
    list_remove(&a->link);
    a->st->asker_count--;
    free(a);
}

/* ---- Sentences --------------------------------------------------------------------------------------------------- */

const char *asker_reason(int status)
{
    switch (status) {
    case -ENOENT:
        return "there is no such file in its data folder";
    case -EACCES:
    case -EPERM:
        return "the daemon there may not open the file or the folder";
    case -EXDEV:
    case -ELOOP:
        return "the name leads out of its data folder";
    case -EISDIR:
        return "it is no regular file";
    case -EINVAL:
        return "its input is not what the mapper or the combination takes";
    case -EMSGSIZE:
        return "a line, a word or a value is too long";
    case -EBADMSG:
        return "the records of its input are not sorted, or damaged";
    case -ENODATA:
        return "its input ends too early";
    case -ERANGE:
        return "a sum is too large";
    case -EOPNOTSUPP:
        return "no data folder is set there: service aggregate { options { data = \"/path\" } }";
    case -ENOTDIR:
        return "its records do not fit into memory, and no spool folder is set there (options memory and spool)";
    case -ENOSPC:
    case -EDQUOT:
        return "its spool folder, or its disk, is full";
    case -EFBIG:
        return "the result is more than its memory holds (option memory)";
    case -ENOBUFS:
        return "it has no room for another run (option memory)";
    case -EBUSY:
        return "another run is about to write its result to that name there";
    case -ENETUNREACH:
        return "it is not in view";
    case -ECONNRESET:
        return "it has died, restarted or left";
    case -ETIMEDOUT:
        return "it does not answer, or nothing has moved for the limit";
    case -ECANCELED:
        return "the run was ended";
    default:
        return strerror(-status);
    }
}

static void reason(char out[static REASON], const struct refusal *f)
{
    const char *why = asker_reason(-(int)f->status);
    if (f->line > 0) {
        snprintf(out, REASON, "line %" PRIu64 ": %s", f->line, why);
    } else {
        snprintf(out, REASON, "%s", why);
    }
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static unsigned count_of(const struct stream *st, const uint64_t *set)
{
    unsigned n = 0;
    for (size_t i = 0; i < stream_words(st); i++) {
        n += (unsigned)__builtin_popcountll(set[i]);
    }
    return n;
}

static void row_server(const struct asker *a, cw_server s, const char *state, int status, const char *why)
{
    cw_request *r = a->request;
    cw_request_row(r);
    tell_server_id(a->st->s, r, "server", s);
    cw_request_text(r, "state", state);
    cw_request_int(r, "status", status);
    cw_request_text(r, "reason", why);
}

static int refuse_failed(const struct asker *a, int status, const struct letter *l)
{
    const struct torus *torus = &a->st->torus;
    char name[TORUS_TEXT] = "", why[REASON];
    if (a->cancelled) {
        return refuse_with(a->request, -ECANCELED, "it was cancelled");
    }
    if (l == NULL) { /* the root has not begun, or is gone */
        torus_format(torus_coord(torus, a->root), name);
        return refuse_with(a->request, status, "server %s, which is to write the result: %s", name,
                           asker_reason(status));
    }
    if (l->refusals > 0) {
        char others[32] = "";
        torus_format(torus_coord(torus, l->refusal[0].server), name);
        reason(why, &l->refusal[0]);
        if (l->refusals > 1) {
            snprintf(others, sizeof others, "; and %u others", l->refusals - 1);
        }
        return refuse_with(a->request, status, "server %s, %s: %s%s", name, a->wish.from, why, others);
    }
    if (l->who < torus->servers) {
        torus_format(torus_coord(torus, l->who), name);
        return refuse_with(a->request, status, "the run failed: server %s: %s%s", name, asker_reason(status),
                           status == -ECONNRESET && (a->wish.flags & LETTER_WITHOUT) == 0
                               ? " (--without goes on without servers that are gone)"
                               : "");
    }
    return refuse_with(a->request, status, "the run failed: %s", asker_reason(status));
}

static void row_end(const struct asker *a, const struct letter *l, bool well)
{
    cw_request *r = a->request;
    cw_request_int(r, "id", a->number);
    cw_request_text(r, "operation", a->wish.combine);
    cw_request_text(r, "type", a->wish.mapper);
    tell_server_id(a->st->s, r, "root", a->root);
    cw_request_text(r, "file", a->wish.to);
    cw_request_int(r, "counted", well ? count_of(a->st, l->members) : 0);
    cw_request_int(r, "members", count_of(a->st, a->members));
    cw_request_int(r, "attempts", l->attempts);
    cw_request_int(r, "took_ns", (int64_t)l->took_ns);
    cw_request_int(r, "records", (int64_t)l->records);
    cw_request_int(r, "keys", (int64_t)l->keys);
    cw_request_int(r, "bytes", (int64_t)l->bytes);
    if (a->cancelled && well) {
        cw_request_int(r, "cancelled_late", 1);
    }
}

static void rows_servers(const struct asker *a, const struct letter *l, bool well)
{
    unsigned rows = 0;
    for (unsigned i = 0; i < l->refusals; i++) {
        char why[REASON];
        reason(why, &l->refusal[i]);
        row_server(a, l->refusal[i].server, "refused", -(int)l->refusal[i].status, why);
    }
    for (cw_server s = 0; s < a->st->torus.servers && well && rows < ROWS_MOST; s++) {
        if (trees_set_has(a->members, s) && !trees_set_has(l->members, s)) {
            row_server(a, s, "not counted", -ECONNRESET, asker_reason(-ECONNRESET));
            rows++;
        }
    }
}

static void conclude(struct asker *a, int status, const struct letter *l)
{
    int rc = status < 0 ? refuse_failed(a, status, l) : 0;
    if (l != NULL) {
        row_end(a, l, rc == 0);
        rows_servers(a, l, rc == 0);
    }
    cw_request_done(a->request, rc);
    asker_free(a);
}

static void heard(void *context, void *arg, int status, const uint8_t *bytes, uint64_t size,
                  const struct transport_message *m)
{
    struct stream *st = context;
    struct asker *a = arg;
    struct letter l;
    (void)m;
    if (st->closing) {
        return;
    }
    bool whole = size > 0 && letter_decode(bytes, (size_t)size, &l) == 0 && l.kind == LETTER_ORDERED &&
                 l.servers == st->torus.servers;
    conclude(a, status == 0 && !whole ? -EPROTO : status, whole ? &l : NULL);
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static const char usage[] = "expected: run from=FILE to=SERVER:FILE [map=MAPPER] [combine=COMBINE] [top=N] "
                            "[partitions=N] [of=SERVER].. [without=1] [limit_ms=N]";

static int read_name(cw_request *r, const char *option, const char *name, char out[static LETTER_NAME_MOST + 1])
{
    if (name[0] == '\0' || name[0] == '/' || strlen(name) > LETTER_NAME_MOST) {
        return refuse_request(r,
                              "%s: the name of a file is 1 to %d bytes, and relative to the data folder of its server; "
                              "not '%.80s'",
                              option, LETTER_NAME_MOST, name);
    }
    snprintf(out, LETTER_NAME_MOST + 1, "%s", name);
    return 0;
}

static int read_server_of(const struct stream *st, cw_request *r, const char *word, size_t length, cw_server *out)
{
    cw_coord c;
    if (torus_parse(&st->torus, word, length, &c) < 0) {
        int shown = (int)(length < 80 ? length : 80);
        return refuse_request(r, "'%.*s' is not a server of this torus: expected X,Y,Z", shown, word);
    }
    *out = torus_id(&st->torus, c);
    return 0;
}

static int read_to(const struct stream *st, cw_request *r, const char *value, struct asker *a)
{
    size_t length = strcspn(value, ":");
    int rc = read_server_of(st, r, value, length, &a->root);
    if (rc == 0 && value[length] != ':') {
        return refuse_request(r, "to: expected SERVER:FILE, as 0,0,0:top.txt; not '%.80s'", value);
    }
    return rc < 0 ? rc : read_name(r, "to", value + length + 1, a->wish.to);
}

static int read_mapper(cw_request *r, const char *word, struct wish *w)
{
    struct mapper_kind_of of;
    if (strlen(word) > LETTER_WORD_MOST || mapper_read(word, &of) < 0) {
        return refuse_request(r,
                              "'%.40s' is no mapper: there are words, lines, kv (lines KEY TAB VALUE), field:N, "
                              "field:N:SEPARATOR and records",
                              word);
    }
    snprintf(w->mapper, sizeof w->mapper, "%s", word);
    return 0;
}

static int read_combine(cw_request *r, const char *word, struct wish *w)
{
    struct combine c;
    if (strlen(word) > LETTER_WORD_MOST || combine_read(word, &c) < 0) {
        return refuse_request(r,
                              "'%.40s' is no combination: there are sum, min, max, count, avg, first, last, topk:K, "
                              "set:K and none",
                              word);
    }
    snprintf(w->combine, sizeof w->combine, "%s", word);
    return 0;
}

static int read_number(cw_request *r, const char *option, const char *word, uint32_t most, uint32_t *out)
{
    uint64_t n;
    if (words_number(word, 1, most, &n) < 0) {
        return refuse_request(r, "%s is a whole number from 1 to %u; not '%.80s'", option, most, word);
    }
    *out = (uint32_t)n;
    return 0;
}

static int read_word(const struct stream *st, cw_request *r, const char *word, struct asker *a)
{
    struct wish *w = &a->wish;
    const char *value;
    if ((value = words_value(word, "from")) != NULL) {
        return read_name(r, "from", value, w->from);
    }
    if ((value = words_value(word, "to")) != NULL) {
        return read_to(st, r, value, a);
    }
    if ((value = words_value(word, "map")) != NULL) {
        return read_mapper(r, value, w);
    }
    if ((value = words_value(word, "combine")) != NULL) {
        return read_combine(r, value, w);
    }
    if ((value = words_value(word, "top")) != NULL) {
        return read_number(r, "top", value, BEST_MOST, &w->top);
    }
    if ((value = words_value(word, "partitions")) != NULL) {
        return read_number(r, "partitions", value, LETTER_PARTITIONS_MOST, &w->partitions);
    }
    if ((value = words_value(word, "limit_ms")) != NULL) {
        return read_number(r, "limit_ms", value, LETTER_LIMIT_MOST_MS, &w->limit_ms);
    }
    if ((value = words_value(word, "of")) != NULL) {
        cw_server s = 0;
        int rc = read_server_of(st, r, value, strlen(value), &s);
        if (rc == 0) {
            trees_set_add(a->members, s);
        }
        return rc;
    }
    if ((value = words_value(word, "without")) != NULL && strcmp(value, "1") == 0) {
        w->flags |= LETTER_WITHOUT;
        return 0;
    }
    return refuse_request(r, "%s; not '%.80s'", usage, word);
}

static int read_words(const struct stream *st, cw_request *r, int argc, const char *const *argv, struct asker *a)
{
    *a = (struct asker){.root = CW_SERVER_NONE, .wish = {.mapper = "words", .combine = "sum"}};
    a->wish.partitions = STREAM_PARTITIONS;
    a->wish.limit_ms = (uint32_t)(STREAM_LIMIT.ns / CW_MS(1).ns);
    int rc = 0;
    for (int i = 1; i < argc && rc == 0; i++) {
        rc = read_word(st, r, argv[i], a);
    }
    if (rc == 0 && (a->wish.from[0] == '\0' || a->wish.to[0] == '\0')) {
        return refuse_request(r, "%s", usage);
    }
    for (cw_server s = 0; s < st->torus.servers && rc == 0 && count_of(st, a->members) == s; s++) {
        trees_set_add(a->members, s); /* nobody is named: all */
    }
    return rc;
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static int say(struct asker *a, struct letter *l, bool request)
{
    struct stream *st = a->st;
    uint8_t bytes[LETTER_BYTES_MOST];
    l->servers = st->torus.servers;
    l->wish = a->wish;
    memcpy(l->members, a->members, sizeof l->members);
    letter_encode(l, bytes);
    const struct transport_data data = {.bytes = bytes, .size = letter_size(l)};
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .flags = TRANSPORT_COPY,
                                                   .timeout = request ? STREAM_PATIENCE : CW_NS(0)};
    cw_to to = to_server(st->s, AGGREGATE_JOB, AGGREGATE_PORT_STREAM_CALL, a->root);
    int64_t id = request ? transport_request(st->call, &to, &data, &options, heard, a)
                         : transport_send(st->call, &to, &data, &options, NULL, NULL);
    a->id = request ? id : a->id;
    return id < 0 ? (int)id : 0;
}

int asker_command(struct stream *st, cw_request *r, int argc, const char *const *argv, uint32_t number)
{
    struct asker words;
    int rc = read_words(st, r, argc, argv, &words);
    if (rc < 0) {
        return rc;
    }
    if (st->asker_count >= STREAM_ASKERS) {
        return refuse_with(r, -EBUSY, "%d runs are under way from here; wait until one ends", STREAM_ASKERS);
    }
    struct asker *a = malloc(sizeof *a);
    if (a == NULL) {
        return -ENOMEM;
    }
    *a = words;
    a->st = st;
    a->request = r;
    a->number = number;
    a->wish.desk_life = st->life;
    a->wish.desk_number = number;
    a->began = cw_now(st->s);
    list_push_back(&st->askers, &a->link);
    st->asker_count++;
    struct letter l = {.kind = LETTER_ORDER};
    rc = say(a, &l, true);
    if (rc < 0) {
        rc = refuse_failed(a, rc, NULL);
        asker_free(a);
    }
    return rc < 0 ? rc : 1;
}

int asker_cancel(struct stream *st, uint32_t number)
{
    struct asker *a = find(st, number);
    if (a == NULL) {
        return -ENOENT;
    }
    struct letter l = {.kind = LETTER_CANCEL};
    a->cancelled = true;
    return say(a, &l, false);
}

void asker_status(const struct stream *st, cw_request *r, bool *first)
{
    for (struct list_node *n = list_first(&st->askers); n != NULL; n = list_next(&st->askers, n)) {
        const struct asker *a = container_of(n, struct asker, link);
        if (!*first) {
            cw_request_row(r);
        }
        *first = false;
        cw_request_int(r, "id", a->number);
        cw_request_text(r, "role", "desk");
        tell_server_id(st->s, r, "root", a->root);
        cw_request_text(r, "name", a->wish.to);
        cw_request_text(r, "operation", a->wish.combine);
        cw_request_text(r, "type", a->wish.mapper);
        cw_request_text(r, "state", a->cancelled ? "is cancelled" : "runs");
        cw_request_int(r, "members", count_of(st, a->members));
        cw_request_int(r, "took_ns", cw_time_since(cw_now(st->s), a->began).ns);
    }
}

void asker_close(struct stream *st)
{
    while (!list_is_empty(&st->askers)) { /* their requests are answered by the runtime */
        asker_free(container_of(list_first(&st->askers), struct asker, link));
    }
}
