/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/entry/transact.h"

#include "base/base64.h"
#include "base/utf8.h"
#include "base/words.h"
#include "services/reply/refuse.h"
#include "services/store/ask/asker.h"
#include "services/store/common.h"
#include "services/store/entry/pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WAIT_MOST_MS = 3600000, IF_WORDS = 3, PUT_WORDS = 3, NAME_WORDS = 2 };

/* A transaction as it is read, and until it is answered: names are kept, to be told with what came of them. */
struct deal {
    struct store *store;
    cw_request *request;
    bool base64, key_base64;
    cw_store_txn txn;
    cw_store_guard guard[CW_STORE_TXN_GUARDS_MAX];
    cw_store_step step[CW_STORE_TXN_STEPS_MAX];
    uint8_t guard_name[CW_STORE_TXN_GUARDS_MAX][CW_STORE_NAME_MAX + 3];
    uint8_t step_name[CW_STORE_TXN_STEPS_MAX][CW_STORE_NAME_MAX + 3];
    uint8_t value[CW_STORE_TXN_STEPS_MAX][CW_STORE_TXN_VALUE_MAX + 3];
};

/* ---- Words ------------------------------------------------------------------------------------------------------- */

/* Options first: how names and values are to be read they say, wherever they stand. */
static int read_options(struct deal *d, cw_request *r, int argc, const char *const *argv)
{
    uint64_t job = STORE_JOB, wait = 0;
    const struct words_option all[] = {{"job", 1, UINT32_MAX, &job}, {"wait_ms", 1, WAIT_MOST_MS, &wait}};
    for (int i = 1; i < argc; i++) {
        const char *w = argv[i];
        const bool option = words_value(w, "job") != NULL || words_value(w, "wait_ms") != NULL;
        if (strcmp(w, "if") == 0) {
            i += IF_WORDS - 1 + (i + 2 < argc && strcmp(argv[i + 2], "=") == 0);
        } else if (strcmp(w, "put") == 0) {
            i += PUT_WORDS - 1;
        } else if (strcmp(w, "get") == 0 || strcmp(w, "delete") == 0) {
            i += NAME_WORDS - 1;
        } else if (option && words_options(1, &w, all, 2) == 0) {
            return refuse_option(r, w, all, 2);
        }
        d->base64 = d->base64 || strcmp(w, "form=base64") == 0;
        d->key_base64 = d->key_base64 || strcmp(w, "key=base64") == 0;
    }
    d->txn.job = (cw_job)job;
    d->txn.timeout = CW_MS((int64_t)wait);
    return 0;
}

/* The bytes that the word stands for, at most so many; -1: they are no such. */
static int read_bytes(const char *word, bool base64, size_t most, uint8_t *out)
{
    size_t length = strlen(word);
    if (base64) {
        int bytes = length <= (most + 2) / 3 * 4 ? base64_decode(word, out, most + 3) : -1;
        return bytes <= (int)most ? bytes : -1;
    }
    if (length > most) {
        return -1;
    }
    memcpy(out, word, length);
    return (int)length;
}

enum { SHOWN = 64 };

/* The name as people know it, for a sentence: as much of it as there is room for. */
static const char *shown(const struct deal *d, const char *word, char out[static SHOWN])
{
    uint8_t bytes[CW_STORE_NAME_MAX + 3];
    int length = read_bytes(word, d->key_base64, CW_STORE_NAME_MAX, bytes);
    (void)utf8_show(length < 0 ? word : (const char *)bytes, length < 0 ? strlen(word) : (size_t)length, out, SHOWN);
    return out;
}

static int read_name(const struct deal *d, cw_request *r, const char *word, uint8_t *out, const void **name,
                     size_t *length)
{
    char text[SHOWN];
    int bytes = read_bytes(word, d->key_base64, CW_STORE_NAME_MAX, out);
    if (bytes < 1) {
        return refuse_request(r, "a name has 1 to %d bytes: '%s'", CW_STORE_NAME_MAX, shown(d, word, text));
    }
    *name = out;
    *length = (size_t)bytes;
    return 0;
}

/* The clause that begins at argv[0]. Gives its words, or -errno. */
static int read_guard(struct deal *d, cw_request *r, int argc, const char *const *argv)
{
    if (d->txn.guards == CW_STORE_TXN_GUARDS_MAX) {
        return refuse_request(r, "a transaction has at most %d guards", CW_STORE_TXN_GUARDS_MAX);
    }
    cw_store_guard *g = &d->guard[d->txn.guards];
    const char *how = argc >= IF_WORDS ? argv[2] : "";
    char text[SHOWN];
    int words = IF_WORDS;
    if (strcmp(how, "=") == 0 && argc > IF_WORDS && words_number(argv[3], 1, UINT64_MAX, &g->version) == 0) {
        g->kind = CW_STORE_IF_VERSION;
        words++;
    } else if (strcmp(how, "absent") == 0 || strcmp(how, "exists") == 0) {
        g->kind = how[0] == 'a' ? CW_STORE_IF_ABSENT : CW_STORE_IF_EXISTS;
    } else {
        return refuse_request(r, "a guard is: if NAME = VERSION, if NAME absent, or if NAME exists%s%s",
                              argc > 1 ? "; not with " : "", argc > 1 ? shown(d, argv[1], text) : "");
    }
    int rc = read_name(d, r, argv[1], d->guard_name[d->txn.guards], &g->name, &g->name_length);
    d->txn.guards++;
    return rc < 0 ? rc : words;
}

static int read_step(struct deal *d, cw_request *r, cw_store_op op, int argc, const char *const *argv)
{
    const unsigned i = d->txn.steps;
    const int words = op == CW_STORE_PUT ? PUT_WORDS : NAME_WORDS;
    char text[SHOWN];
    if (i == CW_STORE_TXN_STEPS_MAX) {
        return refuse_request(r, "a transaction has at most %d steps", CW_STORE_TXN_STEPS_MAX);
    }
    if (argc < words) {
        return refuse_request(r, "%s takes a name%s behind it", argv[0], op == CW_STORE_PUT ? " and a value" : "");
    }
    cw_store_step *s = &d->step[i];
    s->op = op;
    int rc = read_name(d, r, argv[1], d->step_name[i], &s->name, &s->name_length);
    if (rc == 0 && op == CW_STORE_PUT) {
        int bytes = read_bytes(argv[2], d->base64, CW_STORE_TXN_VALUE_MAX, d->value[i]);
        if (bytes < 0) {
            return refuse_request(r, "a transaction puts values of at most %d bytes%s: not that of '%s'",
                                  CW_STORE_TXN_VALUE_MAX, d->base64 ? ", in base64" : "", shown(d, argv[1], text));
        }
        s->value = d->value[i];
        s->value_length = (size_t)bytes;
    }
    d->txn.steps++;
    return rc < 0 ? rc : words;
}

/* flags=N and ttl_ms=N are of the put before; the others were read. */
static int read_other(struct deal *d, cw_request *r, const char *word)
{
    uint64_t flags = 0, ttl = 0;
    const struct words_option all[] = {{"flags", 0, UINT32_MAX, &flags},
                                       {"ttl_ms", 1, 1000 * (uint64_t)CW_STORE_TTL_MAX_S, &ttl}};
    cw_store_step *last = d->txn.steps > 0 ? &d->step[d->txn.steps - 1] : NULL;
    if (strcmp(word, "form=base64") == 0 || strcmp(word, "key=base64") == 0 || words_value(word, "job") != NULL ||
        words_value(word, "wait_ms") != NULL) {
        return 1;
    }
    if (last == NULL || last->op != CW_STORE_PUT || words_options(1, &word, all, 2) == 0) {
        return refuse_request(r, "a clause begins with if, put, delete or get: '%.60s'", word);
    }
    last->flags = flags > 0 ? (uint32_t)flags : last->flags;
    last->ttl = ttl > 0 ? CW_MS((int64_t)ttl) : last->ttl;
    return 1;
}

static int read_clause(struct deal *d, cw_request *r, int argc, const char *const *argv)
{
    static const struct {
        const char *word;
        cw_store_op op;
    } steps[] = {{"put", CW_STORE_PUT}, {"delete", CW_STORE_DELETE}, {"get", CW_STORE_GET}};
    if (strcmp(argv[0], "if") == 0) {
        return read_guard(d, r, argc, argv);
    }
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (strcmp(argv[0], steps[i].word) == 0) {
            return read_step(d, r, steps[i].op, argc, argv);
        }
    }
    return read_other(d, r, argv[0]);
}

/* A clause that is one word, with blanks between its parts: the value of a put is all that is left. */
static int read_whole(struct deal *d, cw_request *r, const char *word)
{
    const char *part[IF_WORDS + 2];
    const bool puts = strncmp(word, "put ", 4) == 0;
    size_t size = strlen(word) + 1;
    char *text = malloc(size);
    int parts = 0;
    if (text == NULL) {
        return -ENOMEM;
    }
    memcpy(text, word, size);
    for (char *at = text; at != NULL && parts < IF_WORDS + 2;) {
        part[parts++] = at;
        at = puts && parts == PUT_WORDS ? NULL : strchr(at, ' ');
        if (at != NULL) {
            *at++ = '\0';
        }
    }
    int rc = read_clause(d, r, parts, part);
    if (rc >= 0 && rc != parts) {
        char name[SHOWN];
        rc = refuse_request(r, "there are words too many in the clause of '%s'", shown(d, part[1], name));
    }
    free(text);
    return rc < 0 ? rc : 1;
}

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

static void tell_name(const struct deal *d, const void *name, size_t length)
{
    store_pieces_bytes(d->request, d->key_base64 ? "name_base64" : "name", d->key_base64, name, length);
}

/* One answer has at most a piece of values: what is longer is left out, and has to be got by itself. */
static void tell_step(const struct deal *d, const cw_store_step *s, const cw_store_got *got, size_t *told)
{
    static const char *const names[] = {"", "get", "", "put", "delete"};
    cw_request *r = d->request;
    cw_request_text(r, "step", names[s->op]);
    tell_name(d, s->name, s->name_length);
    cw_request_text(r, "status", store_status_text(got->status));
    cw_request_int(r, "code", got->status);
    cw_request_int(r, "version", (int64_t)got->version);
    if (s->op == CW_STORE_GET && got->status == CW_STORE_OK) {
        cw_request_int(r, "bytes", (int64_t)got->value_length);
        cw_request_int(r, "flags", got->flags);
        *told += got->value_length;
        if (*told <= DOWNLOAD_PIECE) {
            store_pieces_bytes(r, d->base64 ? "base64" : "value", d->base64, got->value, got->value_length);
        } else {
            cw_request_int(r, "left_out", 1);
        }
    }
    cw_request_row(r);
}

static void answered(void *arg, const cw_store_outcome *out)
{
    struct deal *d = arg;
    cw_request *r = d->request;
    size_t told = 0;
    for (unsigned i = 0; i < out->count; i++) {
        tell_step(d, &d->step[i], &out->got[i], &told);
    }
    cw_request_text(r, "status", store_status_text(out->status));
    cw_request_int(r, "code", out->status);
    if (out->status == CW_STORE_CONFLICT && out->which < d->txn.guards) {
        const cw_store_guard *g = &d->guard[out->which];
        cw_request_int(r, "guard", out->which + 1);
        tell_name(d, g->name, g->name_length);
        cw_request_int(r, "version", (int64_t)out->version);
    }
    cw_request_done(r, 0);
    free(d);
}

static int read_all(struct deal *d, cw_request *r, int argc, const char *const *argv)
{
    int rc = read_options(d, r, argc, argv);
    for (int i = 1; i < argc && rc >= 0; i += rc) {
        rc = strchr(argv[i], ' ') != NULL ? read_whole(d, r, argv[i]) : read_clause(d, r, argc - i, argv + i);
    }
    return rc < 0 ? rc : d->txn.steps == 0 ? refuse_request(r, "a transaction has a step: put, delete or get") : 0;
}

/* Why it is not asked for: that of store_asker_txn(). */
static int say_why(cw_request *r, int rc)
{
    if (rc == -EINVAL) {
        return refuse_request(
            r,
            "all names of a transaction begin with the same whole {tag}, of at most %d bytes, and each "
            "is put or deleted once at most",
            CW_STORE_TAG_MAX);
    }
    return rc == -ENOBUFS ? refuse_with(r, rc, "%d questions, or %d MiB of values, wait at this server already",
                                        STORE_QUESTIONS_MOST, STORE_ASKED_MOST >> 20)
                          : rc;
}

int store_transact(struct store *s, cw_request *r, int argc, const char *const *argv)
{
    struct deal *d = calloc(1, sizeof *d);
    if (d == NULL) {
        return -ENOMEM;
    }
    d->store = s;
    d->request = r;
    d->txn.size = sizeof d->txn;
    d->txn.guard = d->guard;
    d->txn.step = d->step;
    int rc = read_all(d, r, argc, argv);
    if (rc == 0) {
        rc = store_asker_txn(s, &d->txn, answered, d);
        if (rc == 0) {
            return 1;
        }
        rc = say_why(r, rc);
    }
    free(d);
    return rc;
}
