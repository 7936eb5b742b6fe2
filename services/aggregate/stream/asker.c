/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"
#include "base/nearest.h"
#include "base/words.h"
#include "services/aggregate/query/tallies.h"
#include "services/aggregate/sorted/mapper.h"
#include "services/aggregate/stream/internal.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 64, REASON = 200, HEIRS = 400, TEXT_ROW = 36 * 1024 };

/* ---- Sentences --------------------------------------------------------------------------------------------------- */

static void reason(char out[static REASON], const struct refusal *f)
{
    const char *why = muster_reason(f->status);
    if (f->line > 0) {
        snprintf(out, REASON, "line %" PRIu64 ": %s", f->line, why);
    } else {
        snprintf(out, REASON, "%s", why);
    }
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static const char *const to_names[] = {
    [LEAD_TO_SERVERS] = "servers", [LEAD_TO_EACH] = "each", [LEAD_TO_ALL] = "all", [LEAD_TO_CALLER] = "caller"};

static void row_server(const struct lead *l, cw_server s, const char *state, int status, const char *why)
{
    cw_request *r = l->request;
    cw_request_row(r);
    tell_server_id(l->st->s, r, "server", s);
    cw_request_text(r, "state", state);
    cw_request_int(r, "status", status);
    cw_request_text(r, "reason", why);
}

/* The server is gone, and nobody stands in for it. */
static int refuse_heirless(cw_request *r, const struct lead *l, const char *name)
{
    char unlike[TORUS_TEXT + 200] = "", server[TORUS_TEXT];
    if (l->unlike != CW_SERVER_NONE) {
        torus_format(torus_coord(&l->st->torus, l->unlike), server);
        snprintf(unlike, sizeof unlike, "; server %s: %s", server,
                 l->unlike_status == -EILSEQ ? "it has another file" : muster_reason(l->unlike_status));
    }
    return refuse_with(
        r, -ECONNRESET,
        "the run failed: server %s has died, restarted or left, and nobody in view can read its copy (%s)%s", name,
        l->copies, unlike);
}

static int refuse_inputs(cw_request *r, const struct lead *l)
{
    const struct refusal *f = &l->refusal[0];
    char name[TORUS_TEXT] = "", why[REASON], others[32] = "";
    torus_format(torus_coord(&l->st->torus, f->server), name);
    if (f->status == -ECONNRESET && l->copies[0] != '\0' && !f->writing) {
        return refuse_heirless(r, l, name);
    }
    reason(why, f);
    if (l->refusals > 1) {
        snprintf(others, sizeof others, "; and %u others", l->refusals - 1);
    }
    if (f->status == -ELIBACC || f->status == -ELIBBAD) {
        return refuse_with(r, f->status, "server %s: %s%s", name, why, others);
    }
    return f->writing ? refuse_with(r, f->status, "server %s, which is to write the result: %s%s", name, why, others)
                      : refuse_with(r, f->status, "server %s, %s: %s%s", name, l->wish.from, why, others);
}

static int refuse_failed(cw_request *r, const struct lead *l)
{
    const struct torus *torus = &l->st->torus;
    char name[TORUS_TEXT] = "";
    if (l->cancelled) {
        return refuse_with(r, -ECANCELED, "it was cancelled");
    }
    if (l->refusals > 0) {
        return refuse_inputs(r, l);
    }
    if (l->who >= torus->servers) {
        return refuse_with(r, l->status, "the run failed: %s", muster_reason(l->status));
    }
    torus_format(torus_coord(torus, l->who), name);
    if (l->at_root) {
        return refuse_with(r, l->status, "server %s, which is to write the result: %s", name, muster_reason(l->status));
    }
    if (l->copies[0] != '\0' && l->status == -ECONNRESET) {
        return refuse_heirless(r, l, name);
    }
    bool hint = l->status == -ECONNRESET && (l->wish.flags & LETTER_WITHOUT) == 0;
    return refuse_with(r, l->status, "the run failed: server %s: %s%s", name, muster_reason(l->status),
                       hint ? " (--without goes on without servers that are gone)" : "");
}

/* Writers that have the result. */
static unsigned with_result(const struct lead *l)
{
    unsigned n = 0;
    for (size_t i = 0; i < stream_words(l->st); i++) {
        n += (unsigned)__builtin_popcountll(l->writers[i] & ~l->bare[i]);
    }
    return n;
}

static void row_end(const struct lead *l, bool well)
{
    const struct stream *st = l->st;
    cw_request *r = l->request;
    uint64_t records = 0, keys = 0, bytes = 0;
    uint32_t attempts = 0;
    for (cw_server s = 0; s < st->torus.servers; s++) {
        records += trees_set_has(l->counted, s) ? l->records[s] : 0;
    }
    for (unsigned i = 0; i < l->parts; i++) {
        keys += l->part[i].keys;
        bytes += l->part[i].bytes;
        attempts = l->part[i].attempts > attempts ? l->part[i].attempts : attempts;
    }
    cw_request_int(r, "id", l->number);
    cw_request_text(r, "operation", l->wish.combine);
    cw_request_text(r, "type", l->wish.mapper);
    cw_request_text(r, "to", to_names[l->to]);
    if (l->parts == 1 && l->to != LEAD_TO_ALL) {
        tell_server_id(st->s, r, "root", l->part[0].root);
    }
    cw_request_text(r, "file", l->wish.to);
    cw_request_int(r, "counted", well ? stream_count_of(st, l->counted) : 0);
    cw_request_int(r, "members", stream_count_of(st, l->members));
    cw_request_int(r, "parts", l->parts);
    cw_request_text(r, "path", l->direct ? "direct" : "trees");
    if (l->to != LEAD_TO_CALLER) {
        cw_request_int(r, "with_result", well ? with_result(l) : 0);
    }
    char heirs[HEIRS];
    heir_text(l, heirs, sizeof heirs);
    if (heirs[0] != '\0') {
        cw_request_text(r, "stood_in", heirs);
    }
    cw_request_int(r, "attempts", l->attempts + attempts);
    cw_request_int(r, "took_ns", cw_time_since(cw_now(st->s), l->began).ns);
    cw_request_int(r, "records", (int64_t)records);
    if (l->to != LEAD_TO_CALLER) {
        cw_request_int(r, "keys", (int64_t)keys);
        cw_request_int(r, "bytes", (int64_t)bytes);
    }
    if (l->cancelled && well) {
        cw_request_int(r, "cancelled_late", 1);
    }
}

static void rows_servers(const struct lead *l, bool well)
{
    unsigned rows = 0;
    for (unsigned i = 0; i < l->refusals; i++) {
        char why[REASON];
        reason(why, &l->refusal[i]);
        row_server(l, l->refusal[i].server, "refused", l->refusal[i].status, why);
    }
    for (cw_server s = 0; s < l->st->torus.servers && well && rows < ROWS_MOST; s++) {
        bool lost = trees_set_has(l->members, s) && !trees_set_has(l->counted, s);
        if (lost || trees_set_has(l->bare, s)) {
            int why = lost && l->why[s] < 0 ? l->why[s] : -ECONNRESET;
            row_server(l, s, lost ? "not counted" : "no result", why, muster_reason(why));
            rows++;
        }
    }
}

void asker_conclude(struct lead *l)
{
    if (l->done != NULL) {
        patron_conclude(l);
        return;
    }
    if (l->taker != NULL) {
        cw_request_done(l->taker, refuse_failed(l->taker, l));
        l->taker = NULL;
    }
    if (l->request == NULL) {
        return;
    }
    int rc = l->status < 0 ? refuse_failed(l->request, l) : 0;
    row_end(l, rc == 0);
    rows_servers(l, rc == 0);
    cw_request_done(l->request, rc);
    l->request = NULL;
}

/* ---- A result for the caller ------------------------------------------------------------------------------------- */

static void give(void *arg, int status, const uint8_t *text, size_t length, bool last)
{
    static const char none[] = "";
    struct lead *l = arg;
    cw_request *r = l->taker;
    char *row = malloc((TEXT_ROW + 2) / 3 * 4 + 1);
    l->taker = NULL;
    l->moved = cw_now(l->st->s);
    status = row == NULL ? -ENOMEM : status;
    if (status < 0) {
        cw_request_done(r, refuse_with(r, status, "the run failed: %s", muster_reason(status)));
        lead_fail(l, status, l->st->self, false);
        free(row);
        return;
    }
    for (size_t at = 0; at < length; at += TEXT_ROW) {
        base64_encode(text + at, length - at < TEXT_ROW ? length - at : TEXT_ROW, row);
        cw_request_text(r, "data", row);
        cw_request_row(r);
    }
    const struct collector *c = collector_of_lead(l->st, &l->run);
    cw_request_int(r, "last", last);
    cw_request_int(r, "keys", c != NULL ? (int64_t)result_keys(c->result) : 0);
    cw_request_int(r, "bytes", c != NULL ? (int64_t)result_bytes(c->result) : 0);
    cw_request_text(r, "data", none);
    cw_request_done(r, 0);
    free(row);
    if (last) {
        lead_fail(l, 0, CW_SERVER_NONE, false); /* and that is its end */
    }
}

int asker_take(struct stream *st, cw_request *r, uint32_t number)
{
    struct lead *l = lead_of_number(st, number);
    struct collector *c = l != NULL && l->state == LEAD_GIVES && !l->over ? collector_of_lead(st, &l->run) : NULL;
    if (c == NULL || c->state != COLLECTOR_HOLDS) {
        return refuse_with(r, -ENOENT, "no result of a run %u waits here for its caller", number);
    }
    if (l->taker != NULL || result_give(c->result, give, l) < 0) {
        return refuse_with(r, -EBUSY, "somebody else fetches this result");
    }
    l->taker = r;
    l->moved = cw_now(st->s);
    return 1;
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static const char usage[] = "expected: run from=FILE to=SERVER:FILE|each:FILE|all:FILE|- [map= combine= top= path= "
                            "partitions= copies= limit_ms=] [of=SERVER].. [without=1]";

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

/* A file below the data folder of each server, or what programs feed there. */
static int read_from(cw_request *r, const char *value, struct wish *w)
{
    const char *feed = intake_name_of(value);
    if (feed != NULL && !tallies_name_valid(feed)) {
        return refuse_request(r, "from: a feed is called by 1 to %d of a-z A-Z 0-9 _ -, as feed:clicks; not '%.80s'",
                              TALLIES_NAME, feed);
    }
    return read_name(r, "from", value, w->from);
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

/* SERVER:FILE, which may come again for another server, each:FILE, all:FILE, or -. */
static int read_to(const struct stream *st, cw_request *r, const char *value, struct lead *l)
{
    size_t length = strcspn(value, ":");
    bool each = strncmp(value, "each:", 5) == 0, all = strncmp(value, "all:", 4) == 0, first = l->wish.to[0] == '\0';
    enum lead_to to = each ? LEAD_TO_EACH : all ? LEAD_TO_ALL : LEAD_TO_SERVERS;
    char name[LETTER_NAME_MOST + 1];
    cw_server s = CW_SERVER_NONE;
    if (strcmp(value, "-") == 0 && first) {
        l->to = LEAD_TO_CALLER;
        l->wish.flags |= LETTER_CALLER;
        snprintf(l->wish.to, sizeof l->wish.to, "-");
        return 0;
    }
    if (!first && (to != l->to || to != LEAD_TO_SERVERS)) {
        return refuse_request(
            r, "to: several results are SERVER:FILE, of one name; each:FILE, all:FILE and - stand alone");
    }
    if (value[length] != ':') {
        return refuse_request(r, "to: expected SERVER:FILE, each:FILE, all:FILE or -, as 0,0,0:top.txt; not '%.80s'",
                              value);
    }
    int rc = each || all ? 0 : read_server_of(st, r, value, length, &s);
    rc = rc < 0 ? rc : read_name(r, "to", value + length + 1, name);
    if (rc == 0 && !first && strcmp(name, l->wish.to) != 0) {
        return refuse_request(r, "to: the parts of a result have one name; not '%s' and '%s'", l->wish.to, name);
    }
    if (rc == 0) {
        l->to = to;
        memcpy(l->wish.to, name, sizeof name);
    }
    if (rc == 0 && s != CW_SERVER_NONE) {
        trees_set_add(l->writers, s);
    }
    return rc;
}

/* near: the name that was perhaps meant; NULL: none is. */
static int refuse_name(cw_request *r, const char *word, const char *what, const char *near, const char *all)
{
    return refuse_request(r, "'%.40s' is no %s%s%s%s %s", word, what, near != NULL ? "; did you mean " : "",
                          near != NULL ? near : "", near != NULL ? "? There are" : ": there are", all);
}

static int read_mapper(const struct stream *st, cw_request *r, const char *word, struct wish *w)
{
    static const char *const names[] = {"words", "lines", "kv", "field:1", "records", NULL};
    struct mapper_kind_of of;
    int rc = modules_agree(&st->modules, MODULES_MAPPER, word, w->mapper);
    if (rc == -ELIBACC || rc == -ELIBBAD) {
        return functions_refuse(st, r, MODULES_MAPPER, word, rc);
    }
    if (rc < 0 || modules_mapper(&st->modules, w->mapper, &of) < 0) {
        return refuse_name(
            r, word, "mapper", nearest_word(word, names),
            "words, lines, kv (lines KEY TAB VALUE), field:N, field:N:SEPARATOR, records and module:NAME");
    }
    return 0;
}

static int read_combine(const struct stream *st, cw_request *r, const char *word, struct wish *w)
{
    static const char *const names[] = {"sum",  "min",    "max",   "count", "avg", "first",
                                        "last", "topk:3", "set:3", "none",  NULL};
    struct combine c;
    int rc = modules_agree(&st->modules, MODULES_COMBINER, word, w->combine);
    if (rc == -ELIBACC || rc == -ELIBBAD) {
        return functions_refuse(st, r, MODULES_COMBINER, word, rc);
    }
    if (rc < 0 || modules_combine(&st->modules, w->combine, &c) < 0) {
        return refuse_name(r, word, "combination", nearest_word(word, names),
                           "sum, min, max, count, avg, first, last, topk:K, set:K, module:NAME and none");
    }
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

static const char *const path_names[] = {
    [LEAD_PATH_AUTO] = "auto", [LEAD_PATH_TREES] = "trees", [LEAD_PATH_DIRECT] = "direct"};

static int read_path(cw_request *r, const char *word, struct lead *l)
{
    for (unsigned i = 0; i < sizeof path_names / sizeof *path_names; i++) {
        if (strcmp(word, path_names[i]) == 0) {
            l->path = (enum lead_path)i;
            return 0;
        }
    }
    return refuse_request(r,
                          "path: records go over trees, direct to who writes them, or auto, whichever is faster; "
                          "not '%.40s'",
                          word);
}

static int read_word(const struct stream *st, cw_request *r, const char *word, struct lead *l)
{
    struct wish *w = &l->wish;
    const char *value;
    if ((value = words_value(word, "from")) != NULL) {
        return read_from(r, value, w);
    }
    if ((value = words_value(word, "to")) != NULL) {
        return read_to(st, r, value, l);
    }
    if ((value = words_value(word, "copies")) != NULL) {
        int rc = heir_check(r, value);
        return rc < 0 ? rc : read_name(r, "copies", value, l->copies);
    }
    if ((value = words_value(word, "map")) != NULL) {
        return read_mapper(st, r, value, w);
    }
    if ((value = words_value(word, "combine")) != NULL) {
        return read_combine(st, r, value, w);
    }
    if ((value = words_value(word, "path")) != NULL) {
        return read_path(r, value, l);
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
            trees_set_add(l->members, s);
        }
        return rc;
    }
    if ((value = words_value(word, "without")) != NULL && strcmp(value, "1") == 0) {
        w->flags |= LETTER_WITHOUT;
        return 0;
    }
    return refuse_request(r, "%s; not '%.80s'", usage, word);
}

/* Who contributes and who writes, where that was not said; and how many partitions there are. */
static void fill(const struct stream *st, struct lead *l)
{
    size_t bytes = stream_words(st) * sizeof *l->members;
    for (cw_server s = 0; s < st->torus.servers && stream_count_of(st, l->members) == s; s++) {
        trees_set_add(l->members, s); /* nobody is named: all */
    }
    if (l->to == LEAD_TO_EACH || l->to == LEAD_TO_ALL) {
        memcpy(l->writers, l->members, bytes);
    }
    uint32_t roots = l->to == LEAD_TO_SERVERS || l->to == LEAD_TO_EACH ? stream_count_of(st, l->writers) : 1;
    uint32_t each = (uint32_t)CW_LINK_COUNT * ((STREAM_PARTS + roots - 1) / roots);
    uint32_t wanted = l->wish.partitions != 0 ? l->wish.partitions : roots * each;
    wanted = wanted < LETTER_PARTITIONS_MOST ? wanted : LETTER_PARTITIONS_MOST;
    l->wish.partitions = wanted > roots ? wanted : roots;
}

/* whole: they must be a run together, and not only be words of one. */
static int read_words(const struct stream *st, cw_request *r, int argc, const char *const *argv, bool whole,
                      struct lead *l)
{
    l->wish = (struct wish){.mapper = "words", .combine = "sum"};
    l->wish.limit_ms = (uint32_t)(STREAM_LIMIT.ns / CW_MS(1).ns);
    int rc = 0;
    for (int i = 1; i < argc && rc == 0; i++) {
        rc = read_word(st, r, argv[i], l);
    }
    if (rc == 0 && whole && (l->wish.from[0] == '\0' || l->wish.to[0] == '\0')) {
        return refuse_request(r, "%s", usage);
    }
    if (rc == 0 && whole && l->copies[0] != '\0' && intake_name_of(l->wish.from) != NULL) {
        return refuse_request(r, "copies are of files: of what a program feeds there are none");
    }
    if (rc == 0 && l->wish.top > 0 && (l->to == LEAD_TO_EACH || stream_count_of(st, l->writers) > 1)) {
        return refuse_request(r, "top is of one result: to=SERVER:FILE, all:FILE or -");
    }
    return rc;
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

/* `run check=word|run ..`: are these words of a run, or all words of one? Nothing is begun. */
static int check(struct stream *st, cw_request *r, int argc, const char *const *argv)
{
    bool whole = strcmp(argv[1], "check=run") == 0;
    struct lead *l = lead_make(st);
    int rc = l == NULL ? -ENOMEM : read_words(st, r, argc - 1, argv + 1, whole, l);
    if (l != NULL) {
        lead_free(l);
    }
    return rc;
}

int asker_read(struct stream *st, const void *owner, cw_request *r, int argc, const char *const *argv,
               struct lead **out)
{
    if (st->lead_count >= STREAM_LEADS || lead_count_of(st, owner) >= STREAM_LEADS_EACH) {
        bool all = st->lead_count >= STREAM_LEADS;
        return refuse_with(r, -EBUSY, "%d runs%s are under way from here; wait until one ends",
                           all ? STREAM_LEADS : STREAM_LEADS_EACH, all ? "" : " of operators");
    }
    struct lead *l = lead_make(st);
    int rc = l == NULL ? -ENOMEM : read_words(st, r, argc, argv, true, l);
    if (rc < 0) {
        if (l != NULL) {
            lead_free(l);
        }
        return rc;
    }
    fill(st, l);
    /* With one root, trees are never worse: its links bring all, or less. */
    l->keys = l->path == LEAD_PATH_AUTO && stream_count_of(st, l->writers) > 1 && l->to != LEAD_TO_ALL
                  ? calloc(1, sizeof *l->keys)
                  : NULL;
    *out = l;
    return 0;
}

int asker_command(struct stream *st, cw_request *r, int argc, const char *const *argv, uint32_t number)
{
    struct lead *l;
    if (argc > 2 && (strcmp(argv[1], "check=word") == 0 || strcmp(argv[1], "check=run") == 0)) {
        return check(st, r, argc, argv);
    }
    int rc = asker_read(st, NULL, r, argc, argv, &l);
    if (rc < 0) {
        return rc;
    }
    l->request = r;
    l->number = number;
    lead_begin(st, l);
    return 1;
}

int asker_cancel(struct stream *st, uint32_t number)
{
    struct lead *l = lead_of_number(st, number);
    if (l == NULL) {
        return -ENOENT;
    }
    lead_cancel(l);
    return 0;
}

void asker_status(const struct stream *st, cw_request *r, bool *first)
{
    static const char *const states[] = {"inputs are read", "roots collect", "results get their names",
                                         "the caller fetches it"};
    for (struct list_node *n = list_first(&st->leads); n != NULL; n = list_next(&st->leads, n)) {
        const struct lead *l = (const struct lead *)(const void *)n;
        unsigned held = 0;
        for (unsigned i = 0; i < l->parts; i++) {
            held += l->part[i].state == LEAD_PART_HELD;
        }
        if (!*first) {
            cw_request_row(r);
        }
        *first = false;
        cw_request_int(r, "id", l->number);
        cw_request_text(r, "role", "desk");
        if (l->parts == 1) {
            tell_server_id(st->s, r, "root", l->part[0].root);
        }
        cw_request_text(r, "name", l->wish.to);
        cw_request_text(r, "to", to_names[l->to]);
        cw_request_text(r, "operation", l->wish.combine);
        cw_request_text(r, "type", l->wish.mapper);
        cw_request_text(r, "state", l->cancelled ? "is cancelled" : states[l->state]);
        cw_request_int(r, "members", stream_count_of(st, l->members));
        cw_request_int(r, "parts", l->parts);
        cw_request_int(r, "held_parts", held);
        cw_request_int(r, "took_ns", cw_time_since(cw_now(st->s), l->began).ns);
        stream_tell_set(st, r, "waits_for", l->silent);
    }
}

void asker_collector(const struct collector *c, cw_request *r)
{
    static const char *const states[] = {"pauses",
                                         "announced",
                                         "runs",
                                         "result is written",
                                         "result is held",
                                         "result gets its name",
                                         "result has its name"};
    const struct stream *st = c->st;
    cw_request_text(r, "role", "root");
    tell_server_id(st->s, r, "root", st->self);
    cw_request_int(r, "job", AGGREGATE_JOB);
    cw_request_text(r, "name", c->wish.to);
    cw_request_text(r, "operation", c->wish.combine);
    cw_request_text(r, "type", c->wish.mapper);
    cw_request_text(r, "state", states[c->state]);
    cw_request_int(r, "attempts", c->attempt);
    cw_request_int(r, "bytes", (int64_t)c->bytes);
    cw_request_int(r, "still_ns", cw_time_since(cw_now(st->s), c->moved).ns);
    cw_request_int(r, "settled_bytes", (int64_t)(c->bytes * result_count(c->result) / c->count));
    cw_request_int(r, "partitions", c->count);
    cw_request_int(r, "settled_partitions", result_count(c->result));
    cw_request_int(r, "members", stream_count_of(st, c->members));
    stream_tell_set(st, r, "waits_for", c->silent);
}
