/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/witness.h"

#include "base/bytes.h"
#include "base/words.h"
#include "cubeway/service.h"
#include "keyspace/key.h"
#include "services/bench/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    CHUNK = 48 * 4096, /* bytes of the file that are mapped at a time: whole pages, whole records */
    RECORD_BYTES = 16,
    SIZE_LEAST = RECORD_BYTES,
    BURST_MAX = 64,
};
_Static_assert(sizeof(struct witness_record) == 48 && CHUNK % 4096 == 0 && CHUNK % 48 == 0,
               "records are read by their place");

struct witness {
    int file; /* -1: nothing is written down */
    off_t end;
    struct witness_record *chunk;
    unsigned used; /* records of the chunk */
    bool watching;
    cw_key key;
    cw_timer *timer;
    cw_time next;
    int64_t gap_ns; /* 0: no stream */
    uint64_t size;
    uint32_t number;
    uint64_t sent, refused, delivered;
};

/* ---- The trail --------------------------------------------------------------------------------------------------- */

static int64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return t.tv_sec * CW_SEC(1).ns + t.tv_nsec;
}

static bool next_chunk(struct witness *w)
{
    if (w->chunk != NULL) {
        munmap(w->chunk, CHUNK);
        w->chunk = NULL;
    }
    if (ftruncate(w->file, w->end + CHUNK) < 0) {
        return false;
    }
    void *memory = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, w->file, w->end);
    if (memory == MAP_FAILED) {
        return false;
    }
    w->chunk = memory;
    w->end += CHUNK;
    w->used = 0;
    return true;
}

static void write_down(cw_svc *s, struct witness *w, struct witness_record r)
{
    if (w->file < 0 || ((w->chunk == NULL || w->used == CHUNK / sizeof *w->chunk) && !next_chunk(w))) {
        return;
    }
    struct witness_record *place = &w->chunk[w->used++];
    r.turn_ns = cw_now(s).ns;
    r.written_ns = clock_ns();
    *place = r;
}

static void open_trail(cw_svc *s, struct witness *w)
{
    const char *folder = getenv(WITNESS_FOLDER);
    cw_coord c = cw_self(s);
    char path[512];
    w->file = -1;
    if (folder == NULL) {
        return;
    }
    snprintf(path, sizeof path, "%s/%u,%u,%u.trail", folder, c.x, c.y, c.z);
    w->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    w->end = w->file >= 0 ? lseek(w->file, 0, SEEK_END) : 0;
    if (w->file < 0) {
        cw_log(s, CW_LOG_ERROR, "the trail cannot be opened");
    }
    w->end = (w->end + CHUNK - 1) / CHUNK * CHUNK;
}

/* ---- What is seen ------------------------------------------------------------------------------------------------ */

static uint64_t route_of(const cw_key *key)
{
    return get_be64(key->b + CW_KEY_BYTES - 8);
}

static void on_bench(void *context, const cw_rx *rx, uint32_t number)
{
    cw_svc *s = context;
    struct witness *w = cw_state(s);
    if (rx->kind == CW_TO_KEY) {
        write_down(s, w,
                   (struct witness_record){.kind = WITNESS_DELIVERED,
                                           .key = route_of(&rx->key),
                                           .job = BENCH_JOB,
                                           .source = rx->src_process,
                                           .number = number,
                                           .hops = (uint16_t)rx->hops});
    }
}

static void watch_bench(cw_svc *s, struct witness *w)
{
    cw_svc *peer;
    const struct bench_api *bench = w->watching ? NULL : cw_find(s, "bench", BENCH_API_VERSION, &peer);
    if (bench != NULL && bench->size >= sizeof *bench) {
        bench->watch(peer, on_bench, s);
        w->watching = true;
    }
}

static cw_verdict witness_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    struct witness *w = state;
    size_t length;
    const uint8_t *data = cw_packet_data(p, &length);
    if (length < RECORD_BYTES) {
        return CW_DROP;
    }
    w->delivered++;
    write_down(s, w,
               (struct witness_record){
                   .kind = WITNESS_DELIVERED,
                   .key = route_of(&rx->key),
                   .job = WITNESS_JOB,
                   .source = rx->src_process,
                   .number = get_be32(data),
                   .sent_ns = (int64_t)get_be64(data + 8),
                   .hops = (uint16_t)rx->hops,
               });
    return CW_FORWARD;
}

static void witness_event(cw_svc *s, void *state, const cw_event *e)
{
    struct witness *w = state;
    if (e->kind == CW_EVENT_LINK_UP || e->kind == CW_EVENT_LINK_DOWN) {
        uint8_t kind = e->kind == CW_EVENT_LINK_UP ? WITNESS_LINK_UP : WITNESS_LINK_DOWN;
        write_down(s, w, (struct witness_record){.kind = kind, .link = e->link});
    }
    watch_bench(s, w);
}

/* ---- The stream -------------------------------------------------------------------------------------------------- */

static void send_one(cw_svc *s, struct witness *w)
{
    const cw_to to = {.kind = CW_TO_KEY, .job = WITNESS_JOB, .key = w->key};
    cw_packet *p = cw_packet_new_padded(s, RECORD_BYTES, w->size - RECORD_BYTES);
    struct witness_record r = {.kind = WITNESS_SENT, .key = route_of(&w->key), .job = WITNESS_JOB, .number = w->number};
    r.source = cw_server_id(s, cw_self(s));
    r.sent_ns = clock_ns();
    if (p != NULL) {
        uint8_t *data = cw_packet_data(p, NULL);
        put_be32(data, w->number);
        put_be64(data + 8, (uint64_t)r.sent_ns);
        if (cw_send(s, p, &to, NULL) < 0) {
            cw_packet_free(s, p);
            p = NULL;
        }
    }
    if (p == NULL) {
        r.kind = WITNESS_REFUSED;
        w->refused++;
    } else {
        w->sent++;
    }
    w->number++;
    write_down(s, w, r);
}

static void beat(cw_svc *s, void *state, void *arg)
{
    struct witness *w = state;
    cw_time now = cw_now(s);
    (void)arg;
    w->timer = NULL;
    if (w->gap_ns == 0) {
        return;
    }
    for (int i = 0; i < BURST_MAX && !cw_time_before(now, w->next); i++) {
        send_one(s, w);
        w->next.ns += w->gap_ns;
    }
    if (cw_time_before(w->next, now)) {
        w->next = now; /* too late: the beats that were missed are not sent afterwards */
    }
    w->timer = cw_timer_start(s, cw_time_since(w->next, now), beat, NULL);
}

/* Reads a key: 40 hex digits, or any other word as a name of this service. */
static cw_key key_from(cw_svc *s, const char *word)
{
    cw_key key;
    bool hex = strlen(word) == 2 * CW_KEY_BYTES && strspn(word, "0123456789abcdefABCDEF") == 2 * CW_KEY_BYTES;
    for (int i = 0; hex && i < CW_KEY_BYTES; i++) {
        char pair[3] = {word[2 * i], word[2 * i + 1], '\0'};
        key.b[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return hex ? key : cw_key_of(s, word, strlen(word));
}

static int stream(cw_svc *s, struct witness *w, cw_request *r, int argc, const char *const *argv)
{
    uint64_t rate = 1000, size = 64;
    const struct words_option options[] = {{"rate", 1, 1000000, &rate}, {"size", SIZE_LEAST, cw_mtu(s), &size}};
    if (argc < 2 || words_options(argc - 2, argv + 2, options, 2) < argc - 2) {
        cw_request_text(r, "error", "expected stream KEY [rate=1000] [size=64]");
        return -EINVAL;
    }
    w->key = key_from(s, argv[1]);
    w->size = size;
    w->gap_ns = CW_SEC(1).ns / (int64_t)rate;
    w->next = cw_now(s);
    cw_timer_stop(s, w->timer);
    w->timer = cw_timer_start(s, (cw_span){0}, beat, NULL);
    return w->timer != NULL ? 0 : -ENOMEM;
}

static int witness_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    struct witness *w = state;
    const char *word = argc > 0 ? argv[0] : "";
    if (strcmp(word, "stream") == 0) {
        return stream(s, w, r, argc, argv);
    }
    if (strcmp(word, "stop") == 0 && argc == 1) {
        w->gap_ns = 0;
        return 0;
    }
    if (strcmp(word, "stats") == 0 && argc == 1) {
        cw_request_int(r, "sent", (int64_t)w->sent);
        cw_request_int(r, "refused", (int64_t)w->refused);
        cw_request_int(r, "delivered", (int64_t)w->delivered);
        return 0;
    }
    cw_request_text(r, "error", "commands are stream KEY [rate=1000] [size=64], stop, stats");
    return -EINVAL;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static int witness_open(cw_svc *s, void *state)
{
    struct witness *w = state;
    open_trail(s, w);
    write_down(s, w, (struct witness_record){.kind = WITNESS_OPENED});
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        cw_link_info info = {.size = sizeof info};
        if (cw_link_get(s, link, &info) == 0 && info.up) {
            write_down(s, w, (struct witness_record){.kind = WITNESS_LINK_UP, .link = link});
        }
    }
    watch_bench(s, w);
    return 0;
}

static void witness_close(cw_svc *s, void *state)
{
    struct witness *w = state;
    cw_svc *peer;
    const struct bench_api *bench = w->watching ? cw_find(s, "bench", BENCH_API_VERSION, &peer) : NULL;
    if (bench != NULL) {
        bench->watch(peer, NULL, NULL);
    }
    write_down(s, w, (struct witness_record){.kind = WITNESS_CLOSED});
    if (w->chunk != NULL) {
        munmap(w->chunk, CHUNK);
    }
    if (w->file >= 0) {
        close(w->file);
    }
}

static const cw_command commands[] = {
    {"stream", "KEY [rate=N] [size=BYTES]", "send packets to a key: 1,000 a second, of 64 bytes, unless it is said"},
    {"stop", "", "end the stream"},
    {"stats", "", "what was sent, refused and delivered here"},
    {NULL, NULL, NULL},
};

static const cw_service witness_service = {
    CW_SERVICE_INIT,
    .name = "witness",
    .version = "1.0",
    .job = WITNESS_JOB,
    .state_size = sizeof(struct witness),
    .open = witness_open,
    .close = witness_close,
    .on_packet = witness_packet,
    .on_event = witness_event,
    .on_command = witness_command,
    .commands = commands,
};

const cw_service *cw_service_entry(void)
{
    return &witness_service;
}
