/* SPDX-License-Identifier: Apache-2.0 */
#include "services/bench/engine.h"

#include "base/bytes.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 *  0       4     8        12       16         24     25      26
 *  | magic | run | source | number | time ns  | mode | flags | zeros to 32      network order
 */
enum { AT_MAGIC = 0, AT_RUN = 4, AT_SOURCE = 8, AT_NUMBER = 12, AT_SENT = 16, AT_MODE = 24, AT_FLAGS = 25 };
enum { FLAG_TRACKED = 1 };
static const uint32_t magic = 0x43574265; /* "CWBe" */

enum {
    /*
     * Bits of all windows of a server. The fewer servers, the wider each window: one sender's packets then come thick.
     */
    WINDOWS_BITS = 64 * 1024,
    WINDOW_BITS_MIN = 64,
    DRAWS_MAX = 64,   /* destinations tried, when many servers are down */
    FILL_MAX = 4096,  /* packets queued at one go */
    BURST_MAX = 1024, /* packets of one tick */
};
static const cw_span tick_least = CW_US(10); /* beats closer than this are sent together */
static const cw_span late_most = CW_MS(20);  /* later than this: passed over */
static const cw_span refill_after = CW_MS(1);
static const uint64_t rate_max = UINT64_C(1000) * 1000 * 1000 * 1000 * 1000;
static const uint64_t ns_per_s = 1000 * 1000 * 1000;

/* ---- Packets out ------------------------------------------------------------------------------------------------- */

static cw_packet *new_packet(cw_svc *s, struct engine *e, uint32_t number)
{
    cw_packet *p = cw_packet_new_padded(s, BENCH_RECORD_BYTES, e->plan.size - BENCH_RECORD_BYTES);
    if (p == NULL) {
        e->stats.refused++;
        return NULL;
    }
    uint8_t *data = cw_packet_data(p, NULL);
    put_be32(data + AT_MAGIC, magic);
    put_be32(data + AT_RUN, e->run);
    put_be32(data + AT_SOURCE, e->self);
    put_be32(data + AT_NUMBER, number);
    put_be64(data + AT_SENT, (uint64_t)cw_now(s).ns);
    data[AT_MODE] = (uint8_t)e->plan.mode;
    data[AT_FLAGS] = e->plan.untracked ? 0 : FLAG_TRACKED;
    return p;
}

/* Counts the result of a send, and frees p when it was refused. True: the packet is on its way. */
static bool count_send(cw_svc *s, struct engine *e, cw_packet *p, int rc)
{
    if (rc >= 0) {
        e->stats.sent++;
        return true;
    }
    if (rc == -ENETUNREACH) {
        e->stats.unreachable++;
    } else {
        e->stats.refused++;
    }
    cw_packet_free(s, p);
    return false;
}

static void send_to_server(cw_svc *s, struct engine *e)
{
    cw_packet *p = new_packet(s, e, 0);
    if (p == NULL) {
        return;
    }
    uint8_t *number = cw_packet_data(p, NULL) + AT_NUMBER;
    int rc = -ENETUNREACH;
    cw_server id = 0;
    for (int draw = 0; draw < DRAWS_MAX && rc == -ENETUNREACH; draw++) {
        id = (cw_server)cw_random_below(s, e->servers - 1);
        id += id >= e->self;
        const cw_to to = to_server(s, cw_job_of(s), 0, id);
        put_be32(number, e->numbers != NULL ? e->numbers[id] : e->at_once);
        rc = cw_send(s, p, &to, NULL);
    }
    if (count_send(s, e, p, rc)) {
        ++*(e->numbers != NULL ? &e->numbers[id] : &e->at_once);
    }
}

static void send_to_key(cw_svc *s, struct engine *e)
{
    cw_packet *p = new_packet(s, e, e->number);
    if (p == NULL) {
        return;
    }
    cw_to to = {.kind = CW_TO_KEY, .job = cw_job_of(s)};
    put_be64(to.key.b + CW_KEY_BYTES - 8, cw_random(s));
    if (count_send(s, e, p, cw_send(s, p, &to, NULL))) {
        e->number++;
    }
}

static cw_to over_link(const cw_svc *s, cw_link link, cw_server process)
{
    return (cw_to){.kind = CW_TO_LINK, .job = cw_job_of(s), .link = link, .process = process};
}

/* The link in use with the fewest packets queued, so that a slow link delays no other. CW_LINK_SELF: none is up. */
static cw_link emptiest_link(const cw_svc *s, const struct engine *e, cw_server *neighbour)
{
    cw_link best = CW_LINK_SELF;
    size_t least = SIZE_MAX;
    for (cw_links left = e->used; left != 0; left &= (cw_links)(left - 1)) {
        cw_link link = (cw_link)__builtin_ctz(left);
        cw_link_info info = {.size = sizeof info};
        if (cw_link_get(s, link, &info) == 0 && info.up && info.queued_packets < least) {
            best = link;
            least = info.queued_packets;
            *neighbour = cw_server_id(s, info.neighbour);
        }
    }
    return best;
}

static int send_over_link(cw_svc *s, struct engine *e, cw_link link, cw_server neighbour)
{
    struct engine_link *l = &e->link[link];
    cw_packet *p = new_packet(s, e, l->number);
    if (p == NULL) {
        return -ENOMEM;
    }
    cw_to to = over_link(s, link, neighbour);
    int rc = cw_send(s, p, &to, NULL);
    if (rc == -EAGAIN) {
        cw_packet_free(s, p); /* what is asked for is a full queue: no loss, and not counted as one */
        return rc;
    }
    if (count_send(s, e, p, rc)) {
        l->number++;
        l->stats.sent++;
    }
    return rc;
}

static void refill(cw_svc *s, void *state, void *arg);

/* Fills the queue until it is full (on_writable then goes on) or no link is up (the event of a link then goes on). */
static void fill_links(cw_svc *s, struct engine *e)
{
    cw_server neighbour;
    for (int i = 0; i < FILL_MAX; i++) {
        cw_link link = emptiest_link(s, e, &neighbour);
        int rc = link == CW_LINK_SELF ? -EAGAIN : send_over_link(s, e, link, neighbour);
        if (rc == -EAGAIN) {
            return;
        }
        if (rc < 0) {
            break;
        }
    }
    if (e->timer == NULL) {
        e->timer = cw_timer_start(s, refill_after, refill, NULL);
    }
}

static void refill(cw_svc *s, void *state, void *arg)
{
    (void)arg;
    struct engine *e = state;
    e->timer = NULL;
    fill_links(s, e);
}

cw_packet *engine_next_packet(cw_svc *s, struct engine *e, cw_link link)
{
    if (e->plan.mode != BENCH_LINKS || !e->plan.own || !(e->used & cw_links_of(link))) {
        return NULL;
    }
    cw_link_info info = {.size = sizeof info};
    struct engine_link *l = &e->link[link];
    cw_packet *p = cw_link_get(s, link, &info) == 0 ? new_packet(s, e, l->number) : NULL;
    if (p == NULL) {
        return NULL;
    }
    cw_to to = over_link(s, link, cw_server_id(s, info.neighbour));
    if (!count_send(s, e, p, cw_packet_address(s, p, &to, NULL))) {
        return NULL;
    }
    l->number++;
    l->stats.sent++;
    return p;
}

void engine_writable(cw_svc *s, struct engine *e)
{
    if (e->plan.mode == BENCH_LINKS && !e->plan.own) {
        fill_links(s, e);
    }
}

void engine_link_up(cw_svc *s, struct engine *e)
{
    if (e->plan.mode != BENCH_LINKS) {
        return;
    }
    if (e->plan.own) {
        cw_poll_links(s, CW_PLACE_MAIN, e->used);
    } else {
        fill_links(s, e);
    }
}

/* ---- Beats ------------------------------------------------------------------------------------------------------- */

static void tick(cw_svc *s, void *state, void *arg)
{
    (void)arg;
    struct engine *e = state;
    e->timer = NULL;
    cw_time now = cw_now(s);
    cw_time oldest = cw_time_add(now, (cw_span){-late_most.ns});
    e->stats.skipped += pace_skip(&e->pace, oldest);
    e->at_once = 0;
    for (int i = 0; i < BURST_MAX && !cw_time_before(now, e->pace.next); i++) {
        if (e->plan.mode == BENCH_ALL) {
            send_to_server(s, e);
        } else {
            send_to_key(s, e);
        }
        pace_step(&e->pace);
    }
    cw_span after = cw_time_since(e->pace.next, now);
    e->timer = cw_timer_start(s, after.ns > tick_least.ns ? after : tick_least, tick, NULL);
    if (e->timer == NULL) {
        cw_log(s, CW_LOG_ERROR, "no timer to be had: the run has ended");
        e->plan.mode = BENCH_IDLE;
    }
}

/* ---- Start and stop ---------------------------------------------------------------------------------------------- */

/* The first `count` links that have a cable. */
static cw_links first_links(const cw_svc *s, unsigned count)
{
    cw_links links = CW_LINKS_NONE;
    for (cw_link link = 0; link < CW_LINK_COUNT && count > 0; link++) {
        cw_link_info info = {.size = sizeof info};
        if (cw_link_get(s, link, &info) == 0) {
            links |= cw_links_of(link);
            count--;
        }
    }
    return links;
}

static int check_plan(const cw_svc *s, const struct engine *e, const struct bench_plan *plan)
{
    bool paced = plan->mode == BENCH_ALL || plan->mode == BENCH_KEYS;
    bool links = plan->mode == BENCH_LINKS;
    if ((!paced && !links) || plan->size < BENCH_RECORD_BYTES || plan->size > cw_mtu(s) ||
        (paced && (plan->rate < 1 || plan->rate > rate_max)) ||
        (links && (plan->count < 1 || plan->count > CW_LINK_COUNT))) {
        return -EINVAL;
    }
    return e->servers > 1 || plan->mode == BENCH_KEYS ? 0 : -ENETUNREACH;
}

/* The numbers of a new run begin at 0. */
static void begin_run(cw_svc *s, struct engine *e, uint32_t run)
{
    if (run == 0) {
        run = (uint32_t)((uint64_t)cw_now(s).ns / (1000 * 1000)) | 1;
    }
    if (run == e->run) {
        return;
    }
    e->run = run;
    e->number = 0;
    if (e->numbers != NULL) {
        memset(e->numbers, 0, e->servers * sizeof *e->numbers);
    }
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        e->link[link].number = 0;
    }
}

int engine_start(cw_svc *s, struct engine *e, const struct bench_plan *plan)
{
    int rc = check_plan(s, e, plan);
    if (rc < 0) {
        return rc;
    }
    if (plan->mode == BENCH_ALL && !plan->untracked && e->numbers == NULL) {
        e->numbers = calloc(e->servers, sizeof *e->numbers);
        if (e->numbers == NULL) {
            return -ENOMEM;
        }
    }
    engine_stop(s, e);
    begin_run(s, e, plan->run);
    e->plan = *plan;
    if (plan->mode == BENCH_LINKS) {
        e->used = first_links(s, plan->count);
        engine_link_up(s, e);
        return 0;
    }
    uint64_t num = plan->mode == BENCH_ALL ? plan->size * 8 * ns_per_s : ns_per_s;
    cw_span phase = CW_NS(cw_random_below(s, num / plan->rate + 1));
    e->pace = pace_of(num, plan->rate, cw_time_add(cw_now(s), phase));
    e->timer = cw_timer_start(s, phase, tick, NULL);
    if (e->timer == NULL) {
        e->plan.mode = BENCH_IDLE;
        return -ENOMEM;
    }
    return 0;
}

void engine_stop(cw_svc *s, struct engine *e)
{
    cw_timer_stop(s, e->timer);
    e->timer = NULL;
    if (e->plan.mode == BENCH_LINKS && e->plan.own) {
        cw_poll_links(s, CW_PLACE_MAIN, CW_LINKS_NONE);
    }
    e->plan.mode = BENCH_IDLE;
    e->used = CW_LINKS_NONE;
}

/* ---- Packets in -------------------------------------------------------------------------------------------------- */

/* The window of a sender; its .window is NULL when there is no memory for windows. */
static struct window_stream stream_of(struct engine *e, cw_server source)
{
    if (e->windows == NULL) {
        struct window *windows = calloc(e->servers, sizeof *windows);
        uint64_t *bits = calloc((size_t)e->servers * (e->width / 64), sizeof *bits);
        if (windows == NULL || bits == NULL) {
            free(windows);
            free(bits);
            return (struct window_stream){NULL, NULL, 0};
        }
        e->windows = windows;
        e->bits = bits;
    }
    return (struct window_stream){&e->windows[source], &e->bits[(size_t)source * (e->width / 64)], e->width};
}

static void track_link(struct engine *e, const cw_rx *rx, uint32_t run, uint32_t number, uint64_t bytes)
{
    struct engine_link *l = &e->link[rx->in];
    uint32_t missing = 0;
    l->stats.received++;
    l->stats.bytes += bytes;
    switch (window_note((struct window_stream){&l->window, l->bits, 64}, run, number, &missing)) {
    case WINDOW_NEXT:
        return;
    case WINDOW_GAP:
        l->missing += missing;
        return;
    case WINDOW_LATE:
        l->missing--;
        l->stats.reordered++;
        return;
    case WINDOW_DUPLICATE:
        l->stats.duplicated++;
        return;
    case WINDOW_OLD:
        l->stats.old++;
        return;
    }
}

static void track_sender(struct engine *e, bool keys, cw_server source, uint32_t run, uint32_t number)
{
    struct window_stream stream = stream_of(e, source);
    uint32_t missing = 0;
    if (stream.window == NULL) {
        e->stats.old++;
        return;
    }
    switch (window_note(stream, run, number, &missing)) {
    case WINDOW_NEXT:
        return;
    case WINDOW_GAP:
        e->missing += keys ? 0 : missing;
        return;
    case WINDOW_LATE:
        e->missing -= !keys;
        e->stats.reordered += !keys;
        return;
    case WINDOW_DUPLICATE:
        e->stats.duplicated++;
        return;
    case WINDOW_OLD:
        e->stats.old++;
        return;
    }
}

cw_verdict engine_packet(struct engine *e, cw_packet *p, const cw_rx *rx, cw_time now)
{
    size_t length;
    const uint8_t *data = cw_packet_data(p, &length);
    struct bench_stats *stats = &e->stats;
    /* The runtime vouches for the sender. If the record names another one, the bytes are not those that were sent. */
    if (length < BENCH_RECORD_BYTES || get_be32(data + AT_MAGIC) != magic || get_be32(data + AT_RUN) == 0 ||
        get_be32(data + AT_SOURCE) != rx->src_process || rx->src_process >= e->servers) {
        stats->malformed++;
        return CW_DROP;
    }
    uint64_t bytes = length + cw_packet_pad(p);
    int64_t latency = cw_time_since(now, (cw_time){(int64_t)get_be64(data + AT_SENT)}).ns;
    bool first = stats->received++ == 0;
    stats->bytes += bytes;
    stats->hops_sum += rx->hops;
    stats->hops_max = rx->hops > stats->hops_max ? rx->hops : stats->hops_max;
    stats->latency_sum_ns = (int64_t)((uint64_t)stats->latency_sum_ns + (uint64_t)latency);
    stats->latency_min_ns = first || latency < stats->latency_min_ns ? latency : stats->latency_min_ns;
    stats->latency_max_ns = first || latency > stats->latency_max_ns ? latency : stats->latency_max_ns;
    uint32_t run = get_be32(data + AT_RUN);
    uint32_t number = get_be32(data + AT_NUMBER);
    if (data[AT_MODE] == BENCH_LINKS && rx->in < CW_LINK_COUNT) {
        track_link(e, rx, run, number, bytes);
    } else if (data[AT_FLAGS] & FLAG_TRACKED) {
        track_sender(e, data[AT_MODE] == BENCH_KEYS, rx->src_process, run, number);
    }
    if (e->told != NULL) {
        e->told(e->told_context, rx, number);
    }
    return CW_FORWARD;
}

/* ---- Statistics -------------------------------------------------------------------------------------------------- */

void engine_reset(struct engine *e)
{
    e->stats = (struct bench_stats){.sent = 0};
    e->missing = 0;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        e->link[link].stats = (struct bench_link_stats){.sent = 0};
        e->link[link].missing = 0;
    }
}

/* After a reset a packet that was missing before may still come: `missing` is then below 0, and nothing is lost. */
static uint64_t lost(int64_t missing)
{
    return missing > 0 ? (uint64_t)missing : 0;
}

void engine_stats(const struct engine *e, struct bench_stats *out)
{
    *out = e->stats;
    out->lost = lost(e->missing);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        const struct bench_link_stats *l = &e->link[link].stats;
        out->lost += lost(e->link[link].missing);
        out->duplicated += l->duplicated;
        out->reordered += l->reordered;
        out->old += l->old;
    }
}

void engine_link_stats(const struct engine *e, cw_link link, struct bench_link_stats *out)
{
    *out = e->link[link].stats;
    out->lost = lost(e->link[link].missing);
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

int engine_open(cw_svc *s, struct engine *e)
{
    e->servers = servers_of(cw_torus(s));
    e->self = cw_server_id(s, cw_self(s));
    e->width = WINDOW_BITS_MAX;
    while (e->width > WINDOW_BITS_MIN && (uint64_t)e->width * e->servers > WINDOWS_BITS) {
        e->width /= 2;
    }
    return 0;
}

void engine_close(cw_svc *s, struct engine *e)
{
    engine_stop(s, e);
    free(e->numbers);
    free(e->windows);
    free(e->bits);
}
