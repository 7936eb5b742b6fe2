/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.c - what operators ask in words: `cwctl kv`, `cwctl service kvcache` and the simulator alike. overview.c has
 * the commands about all servers.
 */
#include "services/kvcache/command.h"

#include "base/base64.h"
#include "base/words.h"
#include "services/kvcache/common.h"
#include "services/kvcache/overview.h"
#include "services/kvcache/report.h"
#include "services/reply/refuse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1000, HOT_SHOWN = 10 };

/* ---- Words behind a command -------------------------------------------------------------------------------------- */

/* Options, name=value, that stand behind the words that a command needs. */
struct wishes {
    cw_job job;
    bool base64;     /* values are in base64 */
    uint64_t upload; /* 0, or the number of the upload that is the value */
    uint32_t flags;
    cw_span expiry;
    bool some; /* a piece is told, that begins at `from`; of the value with that cas, if it is there still */
    uint64_t from, cas;
};

static int read_wish(struct wishes *w, cw_request *r, bool get, const char *word)
{
    uint64_t job = w->job, flags = w->flags, expire_us = (uint64_t)(w->expiry.ns / CW_US(1).ns);
    const struct words_option options[] = {
        {"job", 1, UINT32_MAX, &job},        {"stage", 1, UINT64_MAX, &w->upload},
        {"flags", 0, UINT32_MAX, &flags},    {"expire_us", 0, UINT32_MAX * UINT64_C(1000000), &expire_us},
        {"from", 0, KV_VALUE_MAX, &w->from}, {"cas", 0, UINT64_MAX, &w->cas}};
    const size_t count = sizeof options / sizeof *options - (get ? 0 : 2);
    if (strcmp(word, "form=base64") == 0) {
        w->base64 = true;
        return 0;
    }
    if (words_options(1, &word, options, count) == 0) {
        char shown[64], why[256];
        snprintf(shown, sizeof shown, "%.60s", word);
        words_explain(shown, options, count, why, sizeof why);
        return refuse_request(r, "behind what it needs a command takes form=base64 and options: %s", why);
    }
    w->some = w->some || words_value(word, "from") != NULL;
    w->job = (cw_job)job;
    w->flags = (uint32_t)flags;
    w->expiry = CW_US((int64_t)expire_us);
    return 0;
}

static int read_wishes(struct wishes *w, cw_request *r, bool get, int argc, const char *const *argv)
{
    *w = (struct wishes){.job = KVCACHE_JOB};
    int rc = 0;
    for (int i = 0; i < argc && rc == 0; i++) {
        rc = read_wish(w, r, get, argv[i]);
    }
    return rc;
}

/* ---- get, set, delete -------------------------------------------------------------------------------------------- */

struct command {
    struct kvcache *k;
    cw_request *request;
    bool get, sync, answered;
    int rc;
    struct wishes wishes;
    size_t key_length;
    char key[KV_KEY_MAX];
};

static struct download_of download_of(const struct command *a, uint64_t cas)
{
    return (struct download_of){a->wishes.job, a->key, a->key_length, cas};
}

/* Of which bytes a piece is, of a value of that length: *from to what is given. */
static size_t piece_of(const struct wishes *w, size_t length, size_t *from)
{
    *from = w->from < length ? (size_t)w->from : length;
    return length - *from > DOWNLOAD_PIECE ? *from + DOWNLOAD_PIECE : length;
}

static void tell_piece(const struct command *a, uint64_t cas, const uint8_t *bytes, size_t length)
{
    char text[DOWNLOAD_PIECE / 3 * 4 + 8], number[24];
    size_t from, end = piece_of(&a->wishes, length, &from);
    base64_encode(bytes + from, end - from, text);
    snprintf(number, sizeof number, "%" PRIu64, cas);
    cw_request_text(a->request, "base64", text);
    cw_request_text(a->request, "cas", number);
}

static void tell_status(cw_request *r, unsigned status)
{
    cw_request_text(r, "status", kv_status_text(status));
    cw_request_int(r, "code", status);
}

/* A long answer holds up the thread that serves the links: none has more than a piece. 0, or refused. */
static int report_value(struct command *a, const struct kv_result *result)
{
    static const char *const sources[] = {"here", "copy", "root"};
    struct kvcache *k = a->k;
    cw_request *r = a->request;
    const size_t length = result->value_length;
    const struct download_of of = download_of(a, result->cas);
    char text[TEXT_MAX + 8];
    size_t from, end = piece_of(&a->wishes, length, &from);
    int rc = 0;
    if (a->wishes.base64 && !a->wishes.some && length > DOWNLOAD_PIECE) {
        return refuse_with(r, -EFBIG,
                           "the value has %zu bytes, and an answer at most %d: cwctl kv get joins them; by "
                           "hand, get KEY form=base64 from=0, then from=%d cas=%" PRIu64 " and so on",
                           length, DOWNLOAD_PIECE, DOWNLOAD_PIECE, result->cas);
    }
    if (a->wishes.some && end < length) {
        rc = download_keep(&k->downloads, &of, result->flags, result->value, length, cw_now(k->svc));
    }
    if (rc < 0) {
        return rc != -EBUSY ? rc
                            : refuse_with(r, rc,
                                          "%d long values are being read at this server already: try again in "
                                          "%d s",
                                          DOWNLOADS, DOWNLOAD_LIFE_S);
    }
    tell_status(r, KV_OK);
    if (a->wishes.base64) {
        tell_piece(a, result->cas, result->value, length);
    } else { /* a long value is cut */
        kv_text(result->value, length, text, TEXT_MAX);
        cw_request_text(r, "value", text);
    }
    cw_request_int(r, "bytes", (int64_t)length);
    cw_request_int(r, "flags", result->flags);
    cw_request_text(r, "from", sources[result->source]);
    return 0;
}

/* A piece of what is kept from the one before. False: nothing is. */
static bool report_kept(const struct command *a)
{
    struct kvcache *k = a->k;
    const struct download_of of = download_of(a, a->wishes.cas);
    const struct download *d =
        a->get && a->wishes.some && a->wishes.from > 0 ? download_find(&k->downloads, &of) : NULL;
    size_t from;
    if (d == NULL) {
        return false;
    }
    tell_status(a->request, KV_OK);
    tell_piece(a, d->version, d->bytes, d->length);
    cw_request_int(a->request, "bytes", (int64_t)d->length);
    cw_request_int(a->request, "flags", d->flags);
    cw_request_text(a->request, "from", "here");
    download_was_read(&k->downloads, &of, piece_of(&a->wishes, d->length, &from), cw_now(k->svc));
    return true;
}

static void on_result(void *arg, const struct kv_result *result)
{
    struct command *a = arg;
    /* To a cache's client a miss is a miss; to a person the value is not gone, but on the other side. */
    bool apart = a->get && result->status == KV_MISS && !cw_in_majority(a->k->svc);
    if (result->status == KV_OK && a->get) {
        a->rc = report_value(a, result);
    } else {
        tell_status(a->request, apart ? KV_NO_MAJORITY : result->status);
    }
    a->answered = true;
    if (!a->sync) {
        cw_request_done(a->request, a->rc);
        free(a);
    }
}

static int run(struct kvcache *k, cw_request *r, struct kv_request *request, const char *key, const struct wishes *w)
{
    request->size = sizeof *request;
    request->job = w->job;
    request->flags = w->flags;
    request->expiry = w->expiry;
    request->key = (const uint8_t *)key;
    request->key_length = strlen(key);
    if (request->key_length < 1 || request->key_length > KV_KEY_MAX) {
        return refuse_request(r, "a key has 1 to 250 bytes: '%.60s'", key);
    }
    if (w->some && !w->base64) {
        return refuse_request(r, "a piece is told in base64: form=base64 goes with from=N");
    }
    struct command *a = calloc(1, sizeof *a);
    if (a == NULL) {
        return -ENOMEM;
    }
    *a = (struct command){.k = k, .request = r, .get = request->op == KV_GET, .sync = true, .wishes = *w};
    a->key_length = request->key_length;
    memcpy(a->key, key, a->key_length);
    a->answered = report_kept(a);
    int rc = a->answered ? 0 : kv_do(k->svc, request, on_result, a);
    a->sync = false;
    if (rc == 0 && !a->answered) {
        return 1;
    }
    rc = rc < 0 ? rc : a->rc;
    free(a);
    return rc;
}

static int set(struct kvcache *k, cw_request *r, const char *key, const char *word, const struct wishes *w)
{
    struct kv_request request = {.op = KV_SET};
    int rc;
    uint8_t *bytes =
        upload_value(&k->uploads, r, &(struct upload_word){word, w->upload, w->base64}, &request.value_length, &rc);
    if (bytes == NULL) {
        return rc;
    }
    request.value = bytes;
    rc = run(k, r, &request, key, w);
    free(bytes);
    return rc;
}

/* ---- The others -------------------------------------------------------------------------------------------------- */

static int stats(struct kvcache *k, cw_request *r)
{
    uint8_t bytes[SURVEY_BYTES];
    report_fields(r, bytes, report_stats(k, bytes));
    return 0;
}

static int extras(struct kvcache *k, cw_request *r, const char *word)
{
    uint64_t n;
    if (words_number(word, 0, KV_EXTRAS_MOST, &n) < 0) {
        return refuse_request(r, "extra keys are 0 to 8: '%.60s'", word);
    }
    k->limits.extras = (unsigned)n;
    cw_request_int(r, "extras", (int64_t)n);
    return 0;
}

static int hot(struct kvcache *k, cw_request *r, const char *word)
{
    uint64_t n = HOT_SHOWN;
    if (word != NULL && words_number(word, 1, 1000, &n) < 0) {
        return refuse_request(r, "how many keys to show is 1 to 1000: '%.60s'", word);
    }
    return overview_hot(k, r, (unsigned)n);
}

static int keyed(struct kvcache *k, cw_request *r, int argc, const char *const *argv, bool *known)
{
    struct kv_request request = {.op = strcmp(argv[0], "get") == 0 ? KV_GET : KV_DELETE};
    bool sets = strcmp(argv[0], "set") == 0;
    int needs = sets ? 3 : 2;
    struct wishes w;
    *known = (sets || strcmp(argv[0], "get") == 0 || strcmp(argv[0], "delete") == 0) && argc >= needs;
    int rc = *known ? read_wishes(&w, r, request.op == KV_GET && !sets, argc - needs, argv + needs) : 0;
    if (!*known || rc < 0) {
        upload_drop(&k->uploads, *known ? w.upload : 0); /* what is refused does not hold another value's place */
        return rc;
    }
    return sets ? set(k, r, argv[1], argv[2], &w) : run(k, r, &request, argv[1], &w);
}

int kv_command(struct kvcache *k, cw_request *r, int argc, const char *const *argv)
{
    const char *word = argc >= 1 ? argv[0] : "";
    struct wishes w;
    bool known = false;
    int rc = argc >= 1 ? keyed(k, r, argc, argv, &known) : 0;
    if (known) {
        return rc;
    }
    if (strcmp(word, "stage") == 0) { /* for a later `set` with stage=N; expiry_due() ends what stays */
        return upload_command(&k->uploads, r, argc, argv, KV_VALUE_MAX, cw_now(k->svc));
    }
    if (argc >= 1 && argc <= 2 && strcmp(word, "flush") == 0) {
        rc = read_wishes(&w, r, false, argc - 1, argv + 1);
        return rc < 0 ? rc : overview_flush(k, r, w.job);
    }
    if (strcmp(word, "stats") == 0 && (argc == 1 || (argc == 2 && strcmp(argv[1], "all") == 0))) {
        return argc == 1 ? stats(k, r) : overview_stats(k, r);
    }
    if (argc >= 1 && argc <= 2 && strcmp(word, "hot") == 0) {
        return hot(k, r, argc == 2 ? argv[1] : NULL);
    }
    if (argc == 2 && strcmp(word, "extras") == 0) {
        return extras(k, r, argv[1]);
    }
    return refuse_request(r,
                          "commands are get KEY, set KEY VALUE, delete KEY, flush (each with job=N behind it), stats "
                          "[all], hot [N], extras 0..8; not '%.60s'",
                          word);
}
