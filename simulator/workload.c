/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/workload.h"

#include "simulator/world_internal.h"
#include "wire/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BENCH_STAMP_BYTES = 32, /* of services/bench: which run, who, which number, when */
    HEADS = FRAME_HEAD_BYTES + PACKET_HEAD_BYTES,
    WORDS_MAX = 6,
    WORD_BYTES = 40,
};
static const cw_job bench_job = 2;
static const char bench_name[] = "bench";

/* The words of the command that every server gets. */
struct words {
    int count;
    char text[WORDS_MAX][WORD_BYTES];
    const char *word[WORDS_MAX];
};

static void say(struct words *words, const char *name, uint64_t value)
{
    char *text = words->text[words->count];
    CHECK(words->count < WORDS_MAX);
    (void)snprintf(text, WORD_BYTES, "%s=%" PRIu64, name, value);
    words->word[words->count++] = text;
}

static void say_word(struct words *words, const char *word)
{
    CHECK(words->count < WORDS_MAX);
    (void)snprintf(words->text[words->count], WORD_BYTES, "%s", word);
    words->word[words->count] = words->text[words->count];
    words->count++;
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

struct answer {
    struct workload_result *sum; /* NULL: only the result is wanted */
    uint64_t bytes;
    int rc;
};

static void on_row(void *context)
{
    (void)context;
}

static void on_integer(void *context, const char *name, int64_t value)
{
    struct answer *a = context;
    struct workload_result *sum = a->sum;
    if (sum == NULL) {
        return;
    }
    const struct {
        const char *name;
        uint64_t *field;
    } fields[] = {
        {"sent", &sum->sent},       {"refused", &sum->refused},       {"unreachable", &sum->unreachable},
        {"skipped", &sum->skipped}, {"received", &sum->received},     {"bytes", &sum->bytes},
        {"lost", &sum->lost},       {"duplicated", &sum->duplicated}, {"reordered", &sum->reordered},
        {"old", &sum->old},         {"hops_sum", &sum->hops_sum},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strcmp(name, fields[i].name) == 0) {
            *fields[i].field += (uint64_t)value;
        }
    }
    if (strcmp(name, "bytes") == 0) {
        a->bytes = (uint64_t)value;
    } else if (strcmp(name, "hops_max") == 0) {
        sum->hops_max = (uint64_t)value > sum->hops_max ? (uint64_t)value : sum->hops_max;
    } else if (strcmp(name, "latency_sum_ns") == 0) {
        sum->latency_sum_ns += value;
    } else if (strcmp(name, "latency_min_ns") == 0 && (sum->latency_min_ns == 0 || value < sum->latency_min_ns)) {
        sum->latency_min_ns = value;
    } else if (strcmp(name, "latency_max_ns") == 0 && value > sum->latency_max_ns) {
        sum->latency_max_ns = value;
    }
}

static void on_text(void *context, const char *name, const char *value)
{
    (void)context;
    (void)name;
    (void)value;
}

static void on_done(void *context, int rc)
{
    struct answer *a = context;
    a->rc = rc;
}

/* Bench answers at once, so that the answer may live on the stack. */
static int command(struct world *w, cw_server s, const struct words *words, struct answer *answer)
{
    struct node_request_sink sink = {
        .context = answer, .row = on_row, .integer = on_integer, .text = on_text, .done = on_done};
    answer->rc = -EINPROGRESS;
    int rc = world_command(w, s, bench_name, words->count, words->word, &sink);
    CHECK(rc < 0 || answer->rc != -EINPROGRESS);
    return rc < 0 ? rc : answer->rc;
}

static int command_all(struct world *w, const struct words *words)
{
    for (cw_server s = 0; s < w->servers; s++) {
        struct answer answer = {.sum = NULL};
        int rc = w->server[s].state != WORLD_DEAD ? command(w, s, words, &answer) : 0;
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* ---- Start and stop ---------------------------------------------------------------------------------------------- */

static void join(struct world *w, cw_server s, void *context)
{
    struct answer answer = {.sum = NULL};
    (void)command(w, s, context, &answer);
}

static uint32_t frame_bytes(const struct world *w, uint32_t bytes)
{
    return bytes == 0 ? w->config.node.mtu : bytes;
}

int workload_start(struct world *w, const struct workload *load)
{
    uint32_t bytes = frame_bytes(w, load->bytes);
    if (bytes < HEADS + BENCH_STAMP_BYTES || bytes > w->config.node.mtu || load->links > CW_LINK_COUNT) {
        return -EINVAL;
    }
    struct words *words = calloc(1, sizeof *words);
    if (words == NULL) {
        return -ENOMEM;
    }
    say_word(words, "start");
    switch (load->kind) {
    case WORKLOAD_KEYS:
        say_word(words, "mode=keys");
        say(words, "rate", load->rate);
        break;
    case WORKLOAD_ALL_TO_ALL:
        say_word(words, "mode=all");
        say(words, "rate", workload_rate(w, load->load_ppm, bytes));
        break;
    default:
        say_word(words, "mode=links");
        say(words, "count", load->links == 0 ? CW_LINK_COUNT : load->links);
        break;
    }
    say(words, "size", bytes - HEADS);
    if (load->kind != WORKLOAD_NEIGHBOURS && w->servers > CHECK_ALL_SERVERS) {
        say(words, "track", 0); /* memory that is quadratic in all */
    }
    workload_stop(w);
    world_stamps(w, &(struct world_stamp){.job = bench_job, .bytes = BENCH_STAMP_BYTES});
    int rc = command_all(w, words);
    if (rc < 0) {
        free(words);
        return rc;
    }
    w->started = join;
    w->started_context = words;
    return 0;
}

static void tell_all(struct world *w, const char *word)
{
    struct words words = {.count = 0};
    say_word(&words, word);
    (void)command_all(w, &words);
}

void workload_stop(struct world *w)
{
    if (w->started == join) {
        free(w->started_context);
        w->started = NULL;
        w->started_context = NULL;
        tell_all(w, "stop");
    }
}

void workload_reset(struct world *w)
{
    tell_all(w, "reset");
}

void workload_collect(struct world *w, struct workload_result *out)
{
    *out = (struct workload_result){.bytes_least = UINT64_MAX};
    struct words words = {.count = 0};
    say_word(&words, "stats");
    for (cw_server s = 0; s < w->servers; s++) {
        struct answer answer = {.sum = out};
        if (w->server[s].state == WORLD_DEAD || command(w, s, &words, &answer) < 0) {
            continue;
        }
        out->bytes_least = answer.bytes < out->bytes_least ? answer.bytes : out->bytes_least;
        out->bytes_most = answer.bytes > out->bytes_most ? answer.bytes : out->bytes_most;
    }
    if (out->bytes_least == UINT64_MAX) {
        out->bytes_least = 0;
    }
}

/* ---- Rates ------------------------------------------------------------------------------------------------------- */

uint64_t workload_bound(const struct torus *torus, uint64_t link_bits_per_second)
{
    /* h(a) = floor(a^2 / 4) / a, the mean distance on a ring; the longest one decides. */
    unsigned __int128 least = UINT64_MAX;
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        uint64_t a = torus->dim[axis];
        if (a > 1) {
            unsigned __int128 bits = (unsigned __int128)2 * link_bits_per_second * (torus->servers - 1) * a;
            bits /= (unsigned __int128)torus->servers * (a * a / 4);
            least = bits < least ? bits : least;
        }
    }
    return torus->servers > 1 ? (uint64_t)least : 0;
}

uint64_t workload_rate(const struct world *w, uint32_t load_ppm, uint32_t bytes)
{
    bytes = frame_bytes(w, bytes);
    unsigned __int128 bits = workload_bound(&w->torus, w->config.wire.bits_per_second);
    return (uint64_t)(bits * load_ppm * (bytes - HEADS) / wire_bytes(bytes) / WIRE_MILLION);
}
