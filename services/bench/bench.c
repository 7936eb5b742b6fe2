/* SPDX-License-Identifier: Apache-2.0 */
#include "services/bench/bench.h"

#include "base/quantity.h"
#include "base/words.h"
#include "services/bench/engine.h"
#include "services/reply/refuse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- What operators say ------------------------------------------------------------------------------------------ */

static enum bench_mode mode_of(const char *word)
{
    static const char *const names[] = {
        [BENCH_ALL] = "mode=all", [BENCH_KEYS] = "mode=keys", [BENCH_LINKS] = "mode=links"};
    for (enum bench_mode mode = BENCH_ALL; mode <= BENCH_LINKS; mode++) {
        if (strcmp(word, names[mode]) == 0) {
            return mode;
        }
    }
    return BENCH_IDLE;
}

static int start(cw_svc *s, struct engine *e, cw_request *r, int argc, const char *const *argv)
{
    enum bench_mode mode = argc >= 2 ? mode_of(argv[1]) : BENCH_IDLE;
    if (mode == BENCH_IDLE) {
        return refuse_request(r, "start needs mode=all, mode=keys or mode=links first, not: '%s'",
                              argc >= 2 ? argv[1] : "");
    }
    uint64_t size = 1024, run = 0, rate = 0, track = 1, count = CW_LINK_COUNT, own = 0;
    const struct words_option paced[] = {
        {"size", BENCH_RECORD_BYTES, cw_mtu(s), &size},
        {"run", 1, UINT32_MAX, &run},
        {"rate", 1, UINT64_C(1000) * 1000 * 1000 * 1000 * 1000, &rate},
        {"track", 0, 1, &track},
    };
    const struct words_option links[] = {
        {"size", BENCH_RECORD_BYTES, cw_mtu(s), &size},
        {"run", 1, UINT32_MAX, &run},
        {"count", 1, CW_LINK_COUNT, &count},
        {"own", 0, 1, &own},
    };
    const struct words_option *options = mode == BENCH_LINKS ? links : paced;
    int good = words_options(argc - 2, argv + 2, options, 4);
    if (good < argc - 2) {
        return refuse_option(r, argv[2 + good], options, 4);
    }
    if (mode != BENCH_LINKS && rate == 0) {
        return refuse_request(r, "an option is missing: '%s'", "rate");
    }
    const struct bench_plan plan = {
        .mode = mode,
        .rate = rate,
        .size = (uint32_t)size,
        .count = (uint32_t)count,
        .run = (uint32_t)run,
        .own = own != 0,
        .untracked = track == 0,
    };
    return engine_start(s, e, &plan);
}

struct field {
    const char *name;
    size_t at; /* of an uint64_t or int64_t */
};
#define STATS(f)                            \
    {                                       \
#f, offsetof(struct bench_stats, f) \
    }
#define LINK_STATS(f)                            \
    {                                            \
#f, offsetof(struct bench_link_stats, f) \
    }

static void tell_fields(cw_request *r, const struct field *fields, size_t n, const void *stats)
{
    for (size_t i = 0; i < n; i++) {
        int64_t value;
        memcpy(&value, (const char *)stats + fields[i].at, sizeof value);
        cw_request_int(r, fields[i].name, value);
    }
}

static void tell_stats(const struct engine *e, cw_request *r)
{
    static const struct field fields[] = {
        STATS(sent),      STATS(refused),  STATS(unreachable), STATS(skipped),   STATS(received),
        STATS(bytes),     STATS(lost),     STATS(duplicated),  STATS(reordered), STATS(old),
        STATS(malformed), STATS(hops_sum), STATS(hops_max),
    };
    struct bench_stats stats;
    engine_stats(e, &stats);
    tell_fields(r, fields, sizeof fields / sizeof *fields, &stats);
    if (stats.received > 0) {
        cw_request_int(r, "latency_sum_ns", stats.latency_sum_ns);
        cw_request_int(r, "latency_min_ns", stats.latency_min_ns);
        cw_request_int(r, "latency_mean_ns", stats.latency_sum_ns / (int64_t)stats.received);
        cw_request_int(r, "latency_max_ns", stats.latency_max_ns);
    }
}

static void tell_links(const cw_svc *s, const struct engine *e, cw_request *r)
{
    static const struct field fields[] = {
        LINK_STATS(sent),       LINK_STATS(received),  LINK_STATS(bytes), LINK_STATS(lost),
        LINK_STATS(duplicated), LINK_STATS(reordered), LINK_STATS(old),
    };
    bool row = false;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        cw_link_info info = {.size = sizeof info};
        if (cw_link_get(s, link, &info) < 0) {
            continue;
        }
        struct bench_link_stats stats;
        engine_link_stats(e, link, &stats);
        if (row) {
            cw_request_row(r);
        }
        row = true;
        cw_request_text(r, "link", quantity_link_name(link));
        tell_fields(r, fields, sizeof fields / sizeof *fields, &stats);
    }
}

static int bench_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    struct engine *e = state;
    const char *word = argc >= 1 ? argv[0] : "";
    if (strcmp(word, "start") == 0) {
        return start(s, e, r, argc, argv);
    }
    if (strcmp(word, "stats") == 0 && argc == 2 && strcmp(argv[1], "links") == 0) {
        tell_links(s, e, r);
        return 0;
    }
    if (argc == 1 && strcmp(word, "stats") == 0) {
        tell_stats(e, r);
        return 0;
    }
    if (argc == 1 && strcmp(word, "stop") == 0) {
        engine_stop(s, e);
        return 0;
    }
    if (argc == 1 && strcmp(word, "reset") == 0) {
        engine_reset(e);
        return 0;
    }
    return refuse_request(r, "commands are start mode=.., stop, stats [links], reset; not: '%s'", word);
}

/* ---- What others on this server call ----------------------------------------------------------------------------- */

static int api_start(cw_svc *peer, const struct bench_plan *plan)
{
    return engine_start(peer, cw_state(peer), plan);
}

static void api_stop(cw_svc *peer)
{
    engine_stop(peer, cw_state(peer));
}

static void api_reset(cw_svc *peer)
{
    engine_reset(cw_state(peer));
}

static void api_stats(cw_svc *peer, struct bench_stats *out)
{
    engine_stats(cw_state(peer), out);
}

static void api_link_stats(cw_svc *peer, cw_link link, struct bench_link_stats *out)
{
    engine_link_stats(cw_state(peer), link, out);
}

static void api_watch(cw_svc *peer, void (*told)(void *context, const cw_rx *rx, uint32_t number), void *context)
{
    struct engine *e = cw_state(peer);
    e->told = told;
    e->told_context = context;
}

static const struct bench_api bench_api = {
    .size = sizeof bench_api,
    .start = api_start,
    .stop = api_stop,
    .reset = api_reset,
    .stats = api_stats,
    .link_stats = api_link_stats,
    .watch = api_watch,
};

/* ---- Upcalls ----------------------------------------------------------------------------------------------------- */

static int bench_open(cw_svc *s, void *state)
{
    return engine_open(s, state);
}

static void bench_close(cw_svc *s, void *state)
{
    engine_close(s, state);
}

static cw_verdict bench_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    return engine_packet(state, p, rx, cw_now(s));
}

static void bench_event(cw_svc *s, void *state, const cw_event *ev)
{
    if (ev->kind == CW_EVENT_LINK_UP) {
        engine_link_up(s, state);
    }
}

static void bench_writable(cw_svc *s, void *state)
{
    engine_writable(s, state);
}

static cw_packet *bench_next_packet(cw_svc *s, void *state, cw_place place, cw_link link)
{
    (void)place;
    return engine_next_packet(s, state, link);
}

static const cw_command commands[] = {
    {"start", "mode=all|keys|links [rate=N] [size=BYTES] [run=N] [track=0] [count=LINKS] [own=1]",
     "begin to send: to all servers, to random keys, or on links"},
    {"stop", "", "stop sending"},
    {"stats", "[links]", "what was sent and received since the last reset, in all or for each link"},
    {"reset", "", "begin to count anew"},
    {NULL, NULL, NULL},
};

const cw_service bench_service = {
    CW_SERVICE_INIT,
    .name = "bench",
    .version = "1.0",
    .job = BENCH_JOB,
    .state_size = sizeof(struct engine),
    .open = bench_open,
    .close = bench_close,
    .on_packet = bench_packet,
    .on_event = bench_event,
    .on_command = bench_command,
    .on_writable = bench_writable,
    .next_packet = bench_next_packet,
    .exports = &bench_api,
    .exports_version = BENCH_API_VERSION,
    .commands = commands,
};
