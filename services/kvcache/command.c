/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.c - get, set, delete, stats and limits for operators: cwctl and the simulator alike.
 */
#include "services/kvcache/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1000 };

/* A value as text: what does not print is an escape, what is long is cut. */
static void say_value(cw_request *r, const uint8_t *value, size_t length)
{
    char text[TEXT_MAX + 8];
    size_t at = 0;
    for (size_t i = 0; i < length && at < TEXT_MAX - 4; i++) {
        if (value[i] >= ' ' && value[i] <= '~' && value[i] != '\\') {
            text[at++] = (char)value[i];
        } else {
            at += (size_t)snprintf(text + at, 5, "\\x%02x", value[i]);
        }
    }
    text[at] = '\0';
    cw_request_text(r, "value", text);
}

static int refuse(cw_request *r, const char *what, const char *word)
{
    char text[200];
    snprintf(text, sizeof text, "%s: '%.60s'", what, word);
    cw_request_text(r, "error", text);
    return -EINVAL;
}

struct asked {
    cw_request *request;
    bool get, sync, answered;
};

static void answered(void *arg, const struct kv_result *result)
{
    static const char *const sources[] = {"here", "copy", "root"};
    struct asked *a = arg;
    cw_request *r = a->request;
    cw_request_text(r, "status", kv_status_text(result->status));
    if (result->status == KV_OK && a->get) {
        say_value(r, result->value, result->value_length);
        cw_request_int(r, "bytes", (int64_t)result->value_length);
        cw_request_int(r, "flags", result->flags);
        cw_request_text(r, "from", sources[result->source]);
    }
    a->answered = true;
    if (!a->sync) {
        cw_request_done(r, 0);
        free(a);
    }
}

static int run(struct kvcache *k, cw_request *r, enum kv_op op, const char *key, const char *value, cw_job job)
{
    struct kv_request request = {KV_REQUEST_INIT,
                                 .op = op,
                                 .job = job,
                                 .key = (const uint8_t *)key,
                                 .key_length = strlen(key),
                                 .value = (const uint8_t *)value,
                                 .value_length = value != NULL ? strlen(value) : 0};
    if (request.key_length < 1 || request.key_length > KV_KEY_MAX) {
        return refuse(r, "a key has 1 to 250 bytes", key);
    }
    struct asked *a = calloc(1, sizeof *a);
    if (a == NULL) {
        return -ENOMEM;
    }
    a->request = r;
    a->get = op == KV_GET;
    a->sync = true;
    int rc = kv_do(k->svc, &request, answered, a);
    a->sync = false;
    if (rc == 0 && !a->answered) {
        return 1;
    }
    free(a);
    return rc;
}

static int stats(struct kvcache *k, cw_request *r)
{
    for (unsigned i = 0; i < KV_COUNTS; i++) {
        cw_request_int(r, kv_count_names[i].name, (int64_t)k->count[i]);
    }
    cw_request_int(r, "values", (int64_t)k->values.count);
    cw_request_int(r, "value_bytes", (int64_t)items_bytes(&k->values));
    cw_request_int(r, "value_bytes_max", (int64_t)k->values.bytes_max);
    cw_request_int(r, "evicted", (int64_t)k->values.evicted);
    cw_request_int(r, "copies", (int64_t)k->copies.count);
    cw_request_int(r, "copy_bytes", (int64_t)items_bytes(&k->copies));
    cw_request_int(r, "held_keys", (int64_t)k->holders.count);
    cw_request_int(r, "extras", k->limits.extras);
    cw_request_int(r, "under_way", (int64_t)k->question_count);
    return 0;
}

static int extras(struct kvcache *k, cw_request *r, const char *word)
{
    char *end;
    long n = strtol(word, &end, 10);
    if (end == word || *end != '\0' || n < 0 || n > KV_EXTRAS_MOST) {
        return refuse(r, "extra keys are 0 to 8", word);
    }
    k->limits.extras = (unsigned)n;
    cw_request_int(r, "extras", n);
    return 0;
}

/* job=N, the last word: in whose name space. True: it was there, and *job is set (0: it is no number). */
static bool job_word(const char *word, cw_job *job)
{
    if (strncmp(word, "job=", 4) != 0) {
        return false;
    }
    char *end;
    unsigned long n = strtoul(word + 4, &end, 10);
    *job = end != word + 4 && *end == '\0' && n <= UINT32_MAX ? (cw_job)n : 0;
    return true;
}

int kv_command(struct kvcache *k, cw_request *r, int argc, const char *const *argv)
{
    cw_job job = KVCACHE_JOB;
    const char *word = argc >= 1 ? argv[0] : "";
    if (argc >= 3 && job_word(argv[argc - 1], &job)) {
        if (job == 0) {
            return refuse(r, "a job is a number from 1 on", argv[argc - 1]);
        }
        argc--;
    }
    if (argc == 2 && strcmp(word, "get") == 0) {
        return run(k, r, KV_GET, argv[1], NULL, job);
    }
    if (argc == 3 && strcmp(word, "set") == 0) {
        return run(k, r, KV_SET, argv[1], argv[2], job);
    }
    if (argc == 2 && strcmp(word, "delete") == 0) {
        return run(k, r, KV_DELETE, argv[1], NULL, job);
    }
    if (argc == 1 && strcmp(word, "stats") == 0) {
        return stats(k, r);
    }
    if (argc == 2 && strcmp(word, "extras") == 0) {
        return extras(k, r, argv[1]);
    }
    return refuse(
        r, "commands are get KEY, set KEY VALUE, delete KEY (each with job=N at its end), stats, extras 0..8; not",
        word);
}
