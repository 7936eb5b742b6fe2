/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/entry/operate.h"

#include "base/base64.h"
#include "base/words.h"
#include "services/reply/refuse.h"
#include "services/store/ask/asker.h"
#include "services/store/common.h"
#include "services/store/entry/pieces.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WAIT_MOST_MS = 3600000,
    LIST_BYTES = 2 * DOWNLOAD_PIECE, /* of names in one answer */
};

/* ---- Words ------------------------------------------------------------------------------------------------------- */

struct wishes {
    cw_job job;
    bool base64, key_base64, conditional;
    uint64_t version;
    uint32_t flags;
    cw_span wait, ttl;
    uint64_t upload; /* 0, or the number under which the value was brought */
    bool some;       /* a get of a piece, that begins at `from` */
    uint64_t from;
};

/* Which options an operation has, beside those that all have. */
enum sort { SORT_PLAIN, SORT_GET, SORT_DELETE, SORT_PUT };

static bool read_version(const char *word, uint64_t *version)
{
    return words_number(word, 0, UINT64_MAX, version) == 0;
}

static int read_wish(struct wishes *w, cw_request *r, const char *word, enum sort sort)
{
    uint64_t job = w->job, flags = w->flags, wait = 0, version = 0, ttl = 0, upload = w->upload, from = w->from;
    const struct words_option writes[] = {{"job", 1, UINT32_MAX, &job},
                                          {"wait_ms", 1, WAIT_MOST_MS, &wait},
                                          {"version", 0, UINT64_MAX, &version},
                                          {"flags", 0, UINT32_MAX, &flags},
                                          {"ttl_ms", 1, 1000 * (uint64_t)CW_STORE_TTL_MAX_S, &ttl},
                                          {"stage", 1, UINT64_MAX, &upload}};
    const struct words_option gets[] = {{"job", 1, UINT32_MAX, &job},
                                        {"wait_ms", 1, WAIT_MOST_MS, &wait},
                                        {"version", 0, UINT64_MAX, &version},
                                        {"from", 0, UINT64_MAX, &from}};
    static const size_t counts[] = {[SORT_PLAIN] = 2, [SORT_GET] = 4, [SORT_DELETE] = 3, [SORT_PUT] = 6};
    const struct words_option *all = sort == SORT_GET ? gets : writes;
    const size_t count = counts[sort];
    if (strcmp(word, "form=base64") == 0) {
        w->base64 = true;
        return 0;
    }
    if (strcmp(word, "key=base64") == 0) {
        w->key_base64 = true;
        return 0;
    }
    if (words_options(1, &word, all, count) == 0) {
        return refuse_option(r, word, all, count);
    }
    if (words_value(word, "version") != NULL) {
        w->conditional = true;
        w->version = version;
    }
    w->some = w->some || words_value(word, "from") != NULL;
    w->from = from;
    w->upload = upload;
    w->job = (cw_job)job;
    w->flags = (uint32_t)flags;
    w->wait = wait > 0 ? CW_MS((int64_t)wait) : w->wait;
    w->ttl = ttl > 0 ? CW_MS((int64_t)ttl) : w->ttl;
    return 0;
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

struct waiting {
    cw_request *request;
    bool base64;
    struct store *store;
    struct store_piece *get; /* owned; NULL: it is no get */
};

static void answered(void *arg, const cw_store_result *result)
{
    struct waiting *w = arg;
    cw_request *r = w->request;
    bool ok = result->status == CW_STORE_OK;
    int rc = 0;
    if (w->get != NULL && (ok || result->status == CW_STORE_NOT_FOUND)) {
        rc = store_pieces_tell(w->store, r, w->get, result);
    } else {
        cw_request_text(r, "status", store_status_text(result->status));
        cw_request_int(r, "code", result->status);
        if (ok || result->status == CW_STORE_CONFLICT) {
            cw_request_int(r, "version", (int64_t)result->version);
        }
        if (ok) {
            cw_request_int(r, "bytes", (int64_t)result->value_length);
            cw_request_int(r, "flags", result->flags);
        }
    }
    cw_request_done(r, rc);
    free(w->get);
    free(w);
}

/* What the get is to tell: to be freed. NULL: no memory. */
static struct store_piece *piece_of(const cw_store_request *q, const struct wishes *w)
{
    struct store_piece *p = malloc(sizeof *p);
    if (p != NULL) {
        *p = (struct store_piece){.job = w->job,
                                  .base64 = w->base64,
                                  .some = w->some,
                                  .same = w->conditional,
                                  .from = w->from,
                                  .version = w->version,
                                  .name_length = q->name_length};
        memcpy(p->name, q->name, q->name_length);
    }
    return p;
}

/* Takes get, which is NULL when it is no get. */
static int run(struct store *s, cw_request *r, cw_store_request *q, const struct wishes *w, struct store_piece *get)
{
    struct waiting *waiting = malloc(sizeof *waiting);
    if (waiting == NULL) {
        free(get);
        return -ENOMEM;
    }
    q->size = sizeof *q;
    q->job = w->job;
    q->conditional = get == NULL && w->conditional;
    q->version = get == NULL ? w->version : 0;
    q->flags = w->flags;
    q->timeout = w->wait;
    q->ttl = w->ttl;
    *waiting = (struct waiting){r, w->base64, s, get};
    int rc = store_asker_do(s, q, answered, waiting);
    if (rc == 0) {
        return 1;
    }
    free(waiting);
    free(get);
    if (rc == -EMSGSIZE) {
        return refuse_request(r, "a value has at most %d bytes: the one for '%.60s' has %zu", CW_STORE_VALUE_MAX,
                              (const char *)q->name, q->value_length);
    }
    return rc == -ENOBUFS ? refuse_with(r, rc, "%d questions, or %d MiB of values, wait at this server already",
                                        STORE_QUESTIONS_MOST, STORE_ASKED_MOST >> 20)
                          : rc;
}

static int run_get(struct store *s, cw_request *r, cw_store_request *q, const struct wishes *w)
{
    if (w->conditional && !w->some) {
        return refuse_request(r, "a get with version=N is of a piece: from=N goes with it");
    }
    if (w->some && !w->base64) {
        return refuse_request(r, "a piece is told in base64: form=base64 goes with from=N");
    }
    struct store_piece *get = piece_of(q, w);
    if (get == NULL) {
        return -ENOMEM;
    }
    if (store_pieces_kept(s, r, get)) {
        free(get);
        return 0;
    }
    return run(s, r, q, w, get);
}

int store_operate_name(cw_request *r, const char *name)
{
    size_t length = strnlen(name, CW_STORE_NAME_MAX + 1);
    return length >= 1 && length <= CW_STORE_NAME_MAX
               ? 0
               : refuse_request(r, "a name has 1 to %d bytes: '%.60s'", CW_STORE_NAME_MAX, name);
}

static int run_put(struct store *s, cw_request *r, cw_store_request *q, const char *word, const struct wishes *w)
{
    int rc;
    uint8_t *bytes =
        upload_value(&s->uploads, r, &(struct upload_word){word, w->upload, w->base64}, &q->value_length, &rc);
    if (bytes != NULL) {
        q->value = bytes;
        rc = run(s, r, q, w, NULL);
        free(bytes);
    }
    return rc;
}

/* An operation: how many words it needs behind its own, and which is what. */
static const struct form {
    const char *word;
    cw_store_op op;
    int needs;
    int version, value; /* places of these words; 0: it has none */
    enum sort sort;
} forms[] = {
    {"get", CW_STORE_GET, 1, 0, 0, SORT_GET},    {"head", CW_STORE_HEAD, 1, 0, 0, SORT_PLAIN},
    {"put", CW_STORE_PUT, 2, 0, 2, SORT_PUT},    {"cas", CW_STORE_PUT, 3, 2, 3, SORT_PUT},
    {"insert", CW_STORE_PUT, 2, 0, 2, SORT_PUT}, {"delete", CW_STORE_DELETE, 1, 0, 0, SORT_DELETE},
};

/* The name that the word stands for. In base64 it is any bytes, for which there is room in `bytes`. */
static int read_name(cw_request *r, cw_store_request *q, const char *word, bool base64,
                     uint8_t bytes[static CW_STORE_NAME_MAX + 4])
{
    if (!base64) {
        q->name = word;
        q->name_length = strlen(word);
        return store_operate_name(r, word);
    }
    int length = strlen(word) < 4 * CW_STORE_NAME_MAX / 3 + 4 ? base64_decode(word, bytes, CW_STORE_NAME_MAX + 3) : -1;
    if (length < 1 || length > CW_STORE_NAME_MAX) {
        return refuse_request(r, "with key=base64 a name is 1 to %d bytes in base64: '%.60s'", CW_STORE_NAME_MAX, word);
    }
    bytes[length] = '\0'; /* so that a refusal can show it */
    q->name = (const char *)bytes;
    q->name_length = (size_t)length;
    return 0;
}

static int operate(struct store *s, cw_request *r, const struct form *f, int argc, const char *const *argv)
{
    struct wishes w = {.job = STORE_JOB};
    uint8_t name[CW_STORE_NAME_MAX + 4];
    cw_store_request q = {.op = f->op};
    if (argc <= f->needs) {
        return refuse_request(r, "%s takes %s%s%s behind it", f->word, "a name", f->version > 0 ? ", a version" : "",
                              f->value > 0 ? " and a value" : "");
    }
    int rc = 0;
    for (int i = f->needs + 1; i < argc && rc == 0; i++) {
        rc = read_wish(&w, r, argv[i], f->sort);
    }
    rc = rc < 0 ? rc : read_name(r, &q, argv[1], w.key_base64, name);
    if (rc == 0 && f->version > 0 && !read_version(argv[f->version], &w.version)) {
        rc = refuse_request(r, "a version is a whole number, as get and put tell it: '%.60s'", argv[f->version]);
    }
    if (rc < 0) {
        upload_drop(&s->uploads, w.upload); /* what is refused does not hold the place of another value */
        return rc;
    }
    w.conditional = w.conditional || f->version > 0 || strcmp(f->word, "insert") == 0;
    return f->op == CW_STORE_GET ? run_get(s, r, &q, &w)
           : f->value > 0        ? run_put(s, r, &q, argv[f->value], &w)
                                 : run(s, r, &q, &w, NULL);
}

bool store_operate(struct store *s, cw_request *r, int argc, const char *const *argv, int *rc)
{
    for (size_t i = 0; argc >= 1 && i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(argv[0], forms[i].word) == 0) {
            *rc = operate(s, r, &forms[i], argc, argv);
            return true;
        }
    }
    return false;
}

int store_operate_job(cw_request *r, const char *word, cw_job *job)
{
    struct wishes w = {.job = *job};
    int rc = read_wish(&w, r, word, SORT_PLAIN);
    *job = w.job;
    return rc;
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

/* How many names of the page one answer tells: what they are on its thread is bounded as a value is (pieces.h). */
static size_t names_told(const cw_store_page *page)
{
    size_t bytes = 0;
    for (size_t i = 0; i < page->count; i++) {
        bytes += page->entry[i].name_length;
        if (bytes > LIST_BYTES && i > 0) {
            return i;
        }
    }
    return page->count;
}

static void listed(void *arg, const cw_store_page *page)
{
    struct waiting *w = arg;
    cw_request *r = w->request;
    const size_t count = names_told(page);
    for (size_t i = 0; i < count; i++) {
        const cw_store_entry *e = &page->entry[i];
        store_pieces_bytes(r, w->base64 ? "base64" : "name", w->base64, e->name, e->name_length);
        cw_request_int(r, "version", (int64_t)e->version);
        cw_request_int(r, "bytes", (int64_t)e->value_length);
        cw_request_int(r, "flags", e->flags);
        cw_request_row(r);
    }
    cw_request_text(r, "status", store_status_text(page->status));
    cw_request_int(r, "code", page->status);
    cw_request_int(r, "names", (int64_t)count);
    cw_request_int(r, "more", page->more || count < page->count);
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
    *waiting = (struct waiting){r, l->wishes.base64, s, NULL};
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

int store_operate_list(struct store *s, cw_request *r, int argc, const char *const *argv)
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
        store_pieces_bytes(r, w->base64 ? "base64" : "name", w->base64, e->name, e->name_length);
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

int store_operate_watch(struct store *s, cw_request *r, int argc, const char *const *argv)
{
    struct wishes w = {.job = STORE_JOB};
    cw_store_watch q = {CW_STORE_WATCH_INIT, .name = argc > 1 ? argv[1] : NULL};
    int rc = argc > 1 ? store_operate_name(r, argv[1]) : refuse_request(r, "watch takes a name behind it");
    for (int i = 2; i < argc && rc == 0; i++) {
        const char *cursor = words_value(argv[i], "cursor");
        if (strcmp(argv[i], "prefix=1") == 0) {
            q.prefix = true;
        } else if (cursor == NULL) {
            rc = read_wish(&w, r, argv[i], SORT_PLAIN);
        } else if (!read_cursor(cursor, &q.cursor)) {
            rc = refuse_request(r, "a cursor is one that watch has told: '%.60s'", cursor);
        }
    }
    struct waiting *waiting = rc == 0 ? malloc(sizeof *waiting) : NULL;
    if (waiting == NULL) {
        return rc < 0 ? rc : -ENOMEM;
    }
    *waiting = (struct waiting){r, w.base64, s, NULL};
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
