/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/entry/command.h"

#include "base/base64.h"
#include "base/text.h"
#include "base/words.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"
#include "services/store/ask/asker.h"
#include "services/store/common.h"
#include "services/store/disk/journal.h"
#include "services/store/durable.h"
#include "services/store/lead.h"
#include "services/store/making.h"
#include "services/store/warden.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAIT_MOST_MS = 3600000 };

const cw_command store_commands[] = {
    {"create", "disk|memory [copies=N]",
     "Make the store, on all servers: each value is on 3 (or 4) of them, on their disks or in their memory."},
    {"get", "KEY [job=N] [form=base64] [wait_ms=N]", "The value of a name, and its version."},
    {"head", "KEY [job=N] [wait_ms=N]", "The version and the length of the value of a name."},
    {"put", "KEY VALUE [version=N] [flags=N] [ttl_ms=N] [job=N] [form=base64] [wait_ms=N]",
     "Put a value; with version=N, only if that is the version there."},
    {"cas", "KEY VERSION VALUE [flags=N] [ttl_ms=N] [job=N] [form=base64] [wait_ms=N]",
     "Put a value if that is the version there."},
    {"insert", "KEY VALUE [flags=N] [ttl_ms=N] [job=N] [form=base64] [wait_ms=N]", "Put a value if there is none."},
    {"delete", "KEY [version=N] [job=N] [wait_ms=N]", "Delete a value; with version=N, if that is the version there."},
    {"list", "[PREFIX [after=NAME] [limit=N] [job=N] [form=base64] [wait_ms=N]]",
     "A page of names that begin so, in order, and behind them a row that says whether there are more."},
    {"watch", "NAME [prefix=1] [cursor=HEX] [job=N] [form=base64] [wait_ms=N]",
     "Waits for changes of a name, or of all that begin so; and behind them a row with the cursor for the next call."},
    {"status", "", "The store as this server knows it."},
    {"explain", "KEY [job=N]", "Which shard a name is in, and who its members are."},
    {NULL, NULL, NULL},
};

/* ---- Words ------------------------------------------------------------------------------------------------------- */

struct wishes {
    cw_job job;
    bool base64, conditional;
    uint64_t version;
    uint32_t flags;
    cw_span wait, ttl;
};

static bool read_version(const char *word, uint64_t *version)
{
    return words_number(word, 0, UINT64_MAX, version) == 0;
}

static int read_wish(struct wishes *w, cw_request *r, const char *word, bool puts, bool writes)
{
    uint64_t job = w->job, flags = w->flags, wait = 0, version = 0, ttl = 0;
    const struct words_option all[] = {{"job", 1, UINT32_MAX, &job},
                                       {"wait_ms", 1, WAIT_MOST_MS, &wait},
                                       {"version", 0, UINT64_MAX, &version},
                                       {"flags", 0, UINT32_MAX, &flags},
                                       {"ttl_ms", 1, 1000 * (uint64_t)CW_STORE_TTL_MAX_S, &ttl}};
    size_t count = puts ? 5 : writes ? 3 : 2;
    if (strcmp(word, "form=base64") == 0) {
        w->base64 = true;
        return 0;
    }
    if (words_options(1, &word, all, count) == 0) {
        return refuse_option(r, word, all, count);
    }
    if (words_value(word, "version") != NULL) {
        w->conditional = true;
        w->version = version;
    }
    w->job = (cw_job)job;
    w->flags = (uint32_t)flags;
    w->wait = wait > 0 ? CW_MS((int64_t)wait) : w->wait;
    w->ttl = ttl > 0 ? CW_MS((int64_t)ttl) : w->ttl;
    return 0;
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

struct waiting {
    cw_request *request;
    bool get, base64;
};

/* Bytes as a field of that name, with what is no plain letter as \xNN; or in base64. */
static void tell_bytes(cw_request *r, const char *field, bool base64, const uint8_t *bytes, size_t length)
{
    const size_t room = 4 * length + 8;
    char *text = malloc(room);
    size_t at = 0;
    if (text == NULL) {
        return;
    }
    if (base64) {
        base64_encode(bytes, length, text);
        cw_request_text(r, field, text);
        free(text);
        return;
    }
    for (size_t i = 0; i < length; i++) {
        uint8_t c = bytes[i];
        bool plain = c >= ' ' && c <= '~' && c != '\\';
        at += (size_t)snprintf(text + at, room - at, plain ? "%c" : "\\x%02x", c);
    }
    text[at] = '\0';
    cw_request_text(r, field, text);
    free(text);
}

static void answered(void *arg, const cw_store_result *result)
{
    struct waiting *w = arg;
    cw_request *r = w->request;
    bool ok = result->status == CW_STORE_OK;
    cw_request_text(r, "status", store_status_text(result->status));
    cw_request_int(r, "code", result->status);
    if (ok && w->get) {
        tell_bytes(r, w->base64 ? "base64" : "value", w->base64, result->value, result->value_length);
    }
    if (ok || result->status == CW_STORE_CONFLICT) {
        cw_request_int(r, "version", (int64_t)result->version);
    }
    if (ok) {
        cw_request_int(r, "bytes", (int64_t)result->value_length);
        cw_request_int(r, "flags", result->flags);
    }
    cw_request_done(r, 0);
    free(w);
}

static int run(struct store *s, cw_request *r, cw_store_request *q, const struct wishes *w)
{
    struct waiting *waiting = malloc(sizeof *waiting);
    if (waiting == NULL) {
        return -ENOMEM;
    }
    q->size = sizeof *q;
    q->job = w->job;
    q->conditional = w->conditional;
    q->version = w->version;
    q->flags = w->flags;
    q->timeout = w->wait;
    q->ttl = w->ttl;
    *waiting = (struct waiting){r, q->op == CW_STORE_GET, w->base64};
    int rc = store_asker_do(s, q, answered, waiting);
    if (rc == 0) {
        return 1;
    }
    free(waiting);
    if (rc == -EMSGSIZE) {
        return refuse_request(r,
                              "a value has at most %d bytes, and with its name at most %zu: this one has %zu and %zu",
                              CW_STORE_VALUE_MAX, store_room(s), q->value_length, q->name_length);
    }
    return rc == -ENOBUFS ? refuse_with(r, rc, "%d questions wait at this server already", STORE_QUESTIONS_MOST) : rc;
}

static int check_name(cw_request *r, const char *name)
{
    size_t length = strnlen(name, CW_STORE_NAME_MAX + 1);
    return length >= 1 && length <= CW_STORE_NAME_MAX
               ? 0
               : refuse_request(r, "a name has 1 to %d bytes: '%.60s'", CW_STORE_NAME_MAX, name);
}

static int run_put(struct store *s, cw_request *r, cw_store_request *q, const char *value, const struct wishes *w)
{
    size_t room = strlen(value) + 1;
    uint8_t *bytes = malloc(room);
    if (bytes == NULL) {
        return -ENOMEM;
    }
    int length = w->base64 ? base64_decode(value, bytes, room) : (int)(room - 1);
    if (!w->base64) {
        memcpy(bytes, value, room);
    }
    q->value = bytes;
    q->value_length = length > 0 ? (size_t)length : 0;
    int rc = length < 0 ? refuse_request(r, "no base64: '%.60s'", value) : run(s, r, q, w);
    free(bytes);
    return rc;
}

/* An operation: how many words it needs behind its own, and which is what. */
struct form {
    const char *word;
    cw_store_op op;
    int needs;
    int version, value; /* places of these words; 0: it has none */
};

static int operation(struct store *s, cw_request *r, const struct form *f, int argc, const char *const *argv)
{
    struct wishes w = {.job = STORE_JOB};
    cw_store_request q = {.op = f->op, .name = argc > 1 ? argv[1] : NULL};
    bool puts = f->op == CW_STORE_PUT, writes = puts || f->op == CW_STORE_DELETE;
    if (argc <= f->needs) {
        return refuse_request(r, "%s takes %s%s%s behind it", f->word, "a name", f->version > 0 ? ", a version" : "",
                              f->value > 0 ? " and a value" : "");
    }
    int rc = check_name(r, argv[1]);
    for (int i = f->needs + 1; i < argc && rc == 0; i++) {
        rc = read_wish(&w, r, argv[i], puts, writes);
    }
    if (rc < 0) {
        return rc;
    }
    if (f->version > 0 && !read_version(argv[f->version], &w.version)) {
        return refuse_request(r, "a version is a whole number, as get and put tell it: '%.60s'", argv[f->version]);
    }
    w.conditional = w.conditional || f->version > 0 || strcmp(f->word, "insert") == 0;
    q.name_length = strlen(argv[1]);
    return f->value > 0 ? run_put(s, r, &q, argv[f->value], &w) : run(s, r, &q, &w);
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

static void listed(void *arg, const cw_store_page *page)
{
    struct waiting *w = arg;
    cw_request *r = w->request;
    for (size_t i = 0; i < page->count; i++) {
        const cw_store_entry *e = &page->entry[i];
        tell_bytes(r, w->base64 ? "base64" : "name", w->base64, e->name, e->name_length);
        cw_request_int(r, "version", (int64_t)e->version);
        cw_request_int(r, "bytes", (int64_t)e->value_length);
        cw_request_int(r, "flags", e->flags);
        cw_request_row(r);
    }
    cw_request_text(r, "status", store_status_text(page->status));
    cw_request_int(r, "code", page->status);
    cw_request_int(r, "names", (int64_t)page->count);
    cw_request_int(r, "more", page->more);
    cw_request_done(r, 0);
    free(w);
}

/* The words of a list: borrowed, and a name that was given in base64. */
struct list_words {
    cw_store_list list;
    struct wishes wishes;
    const char *after;
    uint8_t name[CW_STORE_NAME_MAX + 3];
};

static int read_list_word(struct list_words *l, cw_request *r, const char *word)
{
    uint64_t job = l->wishes.job, wait = 0, limit = l->list.limit;
    const struct words_option all[] = {
        {"job", 1, UINT32_MAX, &job}, {"wait_ms", 1, WAIT_MOST_MS, &wait}, {"limit", 1, CW_STORE_LIST_MAX, &limit}};
    const char *after = words_value(word, "after");
    if (strcmp(word, "form=base64") == 0) {
        l->wishes.base64 = true;
    } else if (after != NULL) {
        l->after = after;
    } else if (words_options(1, &word, all, 3) == 0) {
        return refuse_option(r, word, all, 3);
    }
    l->wishes.job = (cw_job)job;
    l->wishes.wait = wait > 0 ? CW_MS((int64_t)wait) : l->wishes.wait;
    l->list.limit = (unsigned)limit;
    return 0;
}

/* after=NAME is a name, which may be in base64, as names are told. */
static int read_after(struct list_words *l, cw_request *r)
{
    size_t length = l->after != NULL ? strlen(l->after) : 0;
    if (length == 0) {
        return 0;
    }
    bool fits = l->wishes.base64 ? length < 4 * CW_STORE_NAME_MAX / 3 + 4 : length <= CW_STORE_NAME_MAX;
    int bytes = !fits ? -EINVAL : l->wishes.base64 ? base64_decode(l->after, l->name, sizeof l->name) : (int)length;
    if (bytes < 1 || bytes > CW_STORE_NAME_MAX) {
        return refuse_request(r, "after=NAME takes a name of 1 to %d bytes%s: '%.60s'", CW_STORE_NAME_MAX,
                              l->wishes.base64 ? " in base64" : "", l->after);
    }
    l->list.after = l->wishes.base64 ? (const void *)l->name : l->after;
    l->list.after_length = (size_t)bytes;
    return 0;
}

static int run_list(struct store *s, cw_request *r, struct list_words *l)
{
    struct waiting *waiting = malloc(sizeof *waiting);
    if (waiting == NULL) {
        return -ENOMEM;
    }
    *waiting = (struct waiting){r, false, l->wishes.base64};
    l->list.size = sizeof l->list;
    l->list.job = l->wishes.job;
    l->list.timeout = l->wishes.wait;
    int rc = store_lister_do(s, &l->list, listed, waiting);
    if (rc == 0) {
        return 1;
    }
    free(waiting);
    if (rc == -EINVAL) {
        return refuse_request(r, "after=NAME is a name of the list before: it begins with the prefix");
    }
    return rc == -ENOBUFS ? refuse_with(r, rc, "%d lists are under way at this server already", STORE_LISTINGS_MOST)
                          : rc;
}

static int list_names(struct store *s, cw_request *r, int argc, const char *const *argv)
{
    struct list_words l = {.wishes = {.job = STORE_JOB}, .list = {.prefix = argc > 1 ? argv[1] : NULL}};
    int rc = 0;
    l.list.prefix_length = argc > 1 ? strnlen(argv[1], CW_STORE_NAME_MAX + 1) : 0;
    if (l.list.prefix_length > CW_STORE_NAME_MAX) {
        return refuse_request(r, "a prefix has at most %d bytes: '%.60s'", CW_STORE_NAME_MAX, argv[1]);
    }
    for (int i = 2; i < argc && rc == 0; i++) {
        rc = read_list_word(&l, r, argv[i]);
    }
    rc = rc == 0 ? read_after(&l, r) : rc;
    return rc < 0 ? rc : run_list(s, r, &l);
}

/* ---- Changes ----------------------------------------------------------------------------------------------------- */

static void changed(void *arg, const cw_store_changes *c)
{
    struct waiting *w = arg;
    cw_request *r = w->request;
    char cursor[64];
    for (size_t i = 0; i < c->count; i++) {
        const cw_store_entry *e = &c->change[i].entry;
        tell_bytes(r, w->base64 ? "base64" : "name", w->base64, e->name, e->name_length);
        cw_request_int(r, "version", (int64_t)e->version);
        cw_request_int(r, "bytes", (int64_t)e->value_length);
        cw_request_int(r, "flags", e->flags);
        cw_request_int(r, "deleted", c->change[i].deleted);
        cw_request_row(r);
    }
    snprintf(cursor, sizeof cursor, "%016" PRIx64 "%016" PRIx64 "%016" PRIx64, c->cursor.word[0], c->cursor.word[1],
             c->cursor.word[2]);
    cw_request_text(r, "status", store_status_text(c->status));
    cw_request_int(r, "code", c->status);
    cw_request_int(r, "names", (int64_t)c->count);
    cw_request_text(r, "cursor", cursor);
    cw_request_done(r, 0);
    free(w);
}

static bool read_cursor(const char *text, cw_store_cursor *out)
{
    char word[17];
    if (strlen(text) != 48 || strspn(text, "0123456789abcdef") != 48) {
        return false;
    }
    for (unsigned i = 0; i < 3; i++) {
        memcpy(word, text + (size_t)16 * i, 16);
        word[16] = '\0';
        out->word[i] = strtoull(word, NULL, 16);
    }
    return true;
}

static int watch(struct store *s, cw_request *r, int argc, const char *const *argv)
{
    struct wishes w = {.job = STORE_JOB};
    cw_store_watch q = {CW_STORE_WATCH_INIT, .name = argc > 1 ? argv[1] : NULL};
    int rc = argc > 1 ? check_name(r, argv[1]) : refuse_request(r, "watch takes a name behind it");
    for (int i = 2; i < argc && rc == 0; i++) {
        const char *cursor = words_value(argv[i], "cursor");
        if (strcmp(argv[i], "prefix=1") == 0) {
            q.prefix = true;
        } else if (cursor == NULL) {
            rc = read_wish(&w, r, argv[i], false, false);
        } else if (!read_cursor(cursor, &q.cursor)) {
            rc = refuse_request(r, "a cursor is one that watch has told: '%.60s'", cursor);
        }
    }
    struct waiting *waiting = rc == 0 ? malloc(sizeof *waiting) : NULL;
    if (waiting == NULL) {
        return rc < 0 ? rc : -ENOMEM;
    }
    *waiting = (struct waiting){r, false, w.base64};
    q.job = w.job;
    q.name_length = strlen(argv[1]);
    q.timeout = w.wait;
    rc = store_watcher_do(s, &q, changed, waiting);
    if (rc < 0) {
        free(waiting);
    }
    return rc == -EINVAL ? refuse_request(r, "only a prefix that begins with a whole {tag} is in one shard")
           : rc < 0      ? rc
                         : 1;
}

/* ---- The others -------------------------------------------------------------------------------------------------- */

static int create(struct store *s, cw_request *r, int argc, const char *const *argv)
{
    uint64_t copies = STORE_COPIES_LEAST;
    const struct words_option options[] = {{"copies", STORE_COPIES_LEAST, STORE_COPIES_MOST, &copies}};
    bool disk = argc >= 2 && strcmp(argv[1], "disk") == 0;
    if (argc < 2 || (!disk && strcmp(argv[1], "memory") != 0)) {
        return refuse_request(r, "a store is on 'disk' or in 'memory': '%.60s'", argc < 2 ? "" : argv[1]);
    }
    if (s->health == STORE_OPENING) {
        return refuse_request(r, "this server is still reading its store's folder; try again in a moment");
    }
    int used = words_options(argc - 2, argv + 2, options, 1);
    if (used < argc - 2) {
        return refuse_option(r, argv[2 + used], options, 1);
    }
    return store_making_begin(s, r, argv[1], disk, (unsigned)copies);
}

static void tell_disk(const struct store *s, cw_request *r)
{
    struct journal_status disk;
    cw_request_text(r, "disk", store_durable_text(s));
    if (store_durable_ready(s)) {
        journal_status(s->journal, &disk);
        cw_request_int(r, "disk_bytes", (int64_t)disk.bytes);
        cw_request_int(r, "disk_live", (int64_t)disk.live);
        cw_request_int(r, "disk_groups", (int64_t)disk.groups);
        cw_request_int(r, "disk_records", (int64_t)disk.put);
    }
}

static int status(struct store *s, cw_request *r)
{
    unsigned leading = 0, trying = 0, lagging = 0, lost = 0, member_of = 0;
    const struct store_warden_status warden = store_warden_status(s);
    for (unsigned i = 0; i < s->shards; i++) {
        const struct store_lead *lead = s->shard[i]->lead;
        bool open = lead != NULL && lead->phase == STORE_PHASE_OPEN;
        leading += open;
        trying += lead != NULL && !open;
        lagging += open && lead->lagging != 0;
        member_of += s->shard[i]->role == STORE_ROLE_MEMBER;
        for (unsigned m = 0; m < s->shard[i]->config.count; m++) {
            lost += s->shard[i]->lost[m];
        }
    }
    tell_server(r, "server", cw_self(s->svc));
    cw_request_text(r, "store", s->of.id != 0 ? s->of.name : "none");
    cw_request_int(r, "copies", s->of.copies);
    cw_request_int(r, "member_of", member_of);
    cw_request_int(r, "leading", leading);
    cw_request_int(r, "trying", trying);
    cw_request_int(r, "short", lagging);
    cw_request_int(r, "members_lost", lost);
    cw_request_int(r, "to_replace", warden.replacing);
    cw_request_int(r, "filling", warden.filling);
    cw_request_int(r, "bytes_to_go", (int64_t)warden.to_go);
    cw_request_int(r, "copies_missing", (int64_t)warden.copies_missing);
    cw_request_int(r, "registers", (int64_t)s->registers);
    cw_request_int(r, "bytes", (int64_t)s->bytes);
    cw_request_int(r, "bytes_max", (int64_t)s->limits.bytes_max);
    tell_disk(s, r);
    cw_request_int(r, "waiting", (int64_t)(s->question_count + s->serving_count));
    for (unsigned i = 0; i < STORE_COUNTS; i++) {
        cw_request_int(r, store_count_names[i].name, (int64_t)s->count[i]);
    }
    return 0;
}

static const char *role_of(const struct store *s, const struct store_shard *shard, cw_server hint, cw_server member)
{
    bool mine = shard != NULL && member == s->self;
    if (mine && shard->lead != NULL) {
        return shard->lead->phase == STORE_PHASE_OPEN ? "leads" : "is about to lead";
    }
    if (member == hint) {
        return "led when it answered this server last";
    }
    unsigned m = shard != NULL ? store_config_place(&shard->config, member) : 0;
    if (shard != NULL && m < shard->config.count && shard->lost[m]) {
        return "was a member in a former life";
    }
    return shard != NULL ? "member" : "member at first";
}

static int explain(struct store *s, cw_request *r, int argc, const char *const *argv)
{
    struct wishes w = {.job = STORE_JOB};
    cw_server member[STORE_COPIES_MOST];
    int rc = argc >= 2 ? check_name(r, argv[1]) : refuse_request(r, "explain takes a name behind it");
    for (int i = 2; i < argc && rc == 0; i++) {
        rc = read_wish(&w, r, argv[i], false, false);
    }
    if (rc < 0) {
        return rc;
    }
    const struct store_name name = {w.job, (const uint8_t *)argv[1], strlen(argv[1])};
    cw_key key = store_places_key(&name);
    uint32_t number = store_places_shard(&s->torus, &key);
    struct store_shard *shard = store_shard_find(s, number);
    const struct store_register *have = shard != NULL ? store_table_find(&shard->acceptor.table, &name) : NULL;
    unsigned count = store_places_members(&s->torus, number, s->of.id != 0 ? s->of.copies : STORE_COPIES_LEAST, member);
    if (shard != NULL && shard->config.count > 0) {
        count = shard->config.count;
        memcpy(member, shard->config.member, count * sizeof *member);
    }
    for (unsigned m = 0; m < count; m++) {
        cw_coord c = cw_server_coord(s->svc, member[m]);
        if (m > 0) {
            cw_request_row(r);
        }
        cw_request_int(r, "shard", number);
        tell_server(r, "member", c);
        cw_request_text(r, "state", cw_reachable(s->svc, c) ? "in view" : "not in view");
        cw_request_text(r, "role", role_of(s, shard, store_asker_hint(s, number), member[m]));
        cw_request_int(r, "epoch", shard != NULL ? shard->config.epoch : 0);
        if (have != NULL && member[m] == s->self) {
            cw_request_int(r, "version", (int64_t)have->version);
            cw_request_int(r, "ttl_ms", have->ttl_ms);
            cw_request_text(r, "holds", have->deleted ? "that it was deleted" : "a value");
        }
    }
    return 0;
}

int store_command(struct store *s, cw_request *r, int argc, const char *const *argv)
{
    static const struct form forms[] = {
        {"get", CW_STORE_GET, 1, 0, 0}, {"head", CW_STORE_HEAD, 1, 0, 0},  {"put", CW_STORE_PUT, 2, 0, 2},
        {"cas", CW_STORE_PUT, 3, 2, 3}, {"insert", CW_STORE_PUT, 2, 0, 2}, {"delete", CW_STORE_DELETE, 1, 0, 0},
    };
    const char *word = argc >= 1 ? argv[0] : "";
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(word, forms[i].word) == 0) {
            return operation(s, r, &forms[i], argc, argv);
        }
    }
    if (strcmp(word, "list") == 0) {
        return list_names(s, r, argc, argv);
    }
    if (strcmp(word, "watch") == 0) {
        return watch(s, r, argc, argv);
    }
    if (strcmp(word, "create") == 0) {
        return create(s, r, argc, argv);
    }
    if (strcmp(word, "explain") == 0) {
        return explain(s, r, argc, argv);
    }
    if (strcmp(word, "status") == 0 && argc == 1) {
        return status(s, r);
    }
    return refuse_request(
        r, "there are: create, get, head, put, cas, insert, delete, list, watch, status, explain; not '%.60s'", word);
}
