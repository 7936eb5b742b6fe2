/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs_town.h - the service jobs on a torus of fake hosts. Each has a real NMU, and a job host (struct job_host) whose
 * signatures are those of jobs_kit.h. One town at a time.
 */
#ifndef KIT_JOBS_TOWN_H
#define KIT_JOBS_TOWN_H

#include "base/base64.h"
#include "fake_net.h"
#include "jobs_kit.h"
#include "services/jobs/jobs_internal.h"

#include <errno.h>

enum { TOWN_SERVERS = 16, TOWN_RESIDENT = 50 /* a job that speaks on every server, speaker 0 */ };

struct town_host {
    struct jobs_host host;
    struct nmu nmu;
    struct nmu_desk desk;
    struct nmu_source source;
    unsigned verified, stored;
    int verify_is, store_is; /* < 0: what verify() and store() return instead */
    bool far[TOWN_SERVERS];  /* not in reach */
    bool lost;               /* in no view */
    const uint8_t *kept;     /* what load() returns */
    size_t kept_size;
    int load_is;
};

static struct town {
    struct town_host at[TOWN_SERVERS];
    struct fake_net *net;
    bool no_host, no_desk;
    unsigned servers;
    struct torus torus;
} town;
static uint8_t town_room[KIT_RECORD_MAX];
static struct fake_result town_result;

static inline int town_verify(void *context, const uint8_t *record, size_t size,
                              const uint8_t signature[static JOBS_SIGNATURE_BYTES])
{
    struct town_host *h = context;
    uint8_t good[JOBS_SIGNATURE_BYTES];
    h->verified++;
    kit_sign(KIT_KEY, KIT_CLUSTER, record, size, good);
    return h->verify_is < 0 ? h->verify_is : memcmp(good, signature, sizeof good) == 0;
}

static inline int town_store(void *context, cw_job job, const uint8_t *bytes, size_t size)
{
    struct town_host *h = context;
    (void)job;
    (void)bytes;
    (void)size;
    h->stored++;
    return h->store_is;
}

static inline int town_load(void *context, void (*each)(void *arg, const uint8_t *bytes, size_t size), void *arg)
{
    struct town_host *h = context;
    if (h->kept != NULL) {
        each(arg, h->kept, h->kept_size);
    }
    return h->load_is;
}

static inline int town_put(void *node, const uint8_t *record, size_t size)
{
    struct town_host *h = node;
    struct job_record r;
    return job_record_decode(record, size, &r) == WIRE_OK ? nmu_job_put(&h->nmu, &r) : -EBADMSG;
}

static inline void town_drop(void *node, cw_job job)
{
    nmu_job_drop(&((struct town_host *)node)->nmu, job);
}

static inline size_t town_missing(void *node, cw_job *out, size_t max)
{
    uint32_t from = 0;
    size_t n = 0;
    (void)out;
    (void)max;
    while (nmu_missing(&((struct town_host *)node)->nmu, &from) != 0) {
        n++;
    }
    return n;
}

static inline const struct nmu *town_nmu(void *node)
{
    return &((struct town_host *)node)->nmu;
}

static inline void town_source(void *node, const struct nmu_source *source)
{
    struct town_host *h = node;
    h->source = source != NULL ? *source : (struct nmu_source){.record = NULL};
}

static inline bool town_in_reach(void *node, cw_server s)
{
    return !((struct town_host *)node)->far[s];
}

static inline bool town_serving(void *node)
{
    return !((struct town_host *)node)->lost;
}

static inline const void *town_offers(cw_svc *s, const char *name, unsigned version)
{
    struct town_host *h = &town.at[torus_id(&s->torus, s->self)];
    if (version == JOBS_HOST_VERSION && strcmp(name, JOBS_HOST_NAME) == 0 && !town.no_host) {
        return &h->host;
    }
    return version == NMU_DESK_VERSION && strcmp(name, NMU_DESK_NAME) == 0 && !town.no_desk ? &h->desk : NULL;
}

/* The hosts, for a test to change before town_open(). */
static inline void town_prepare(void)
{
    memset(&town, 0, sizeof town);
    for (unsigned i = 0; i < TOWN_SERVERS; i++) {
        struct town_host *h = &town.at[i];
        struct nmu_config config = nmu_config_default();
        if (nmu_open(&h->nmu, &config) < 0 || nmu_reside(&h->nmu, 0, TOWN_RESIDENT, i, 0) < 0) {
            abort();
        }
        h->host = (struct jobs_host){sizeof h->host, h, KIT_CLUSTER, town_verify, town_store, town_load};
        h->desk = (struct nmu_desk){.node = h,
                                    .put = town_put,
                                    .drop = town_drop,
                                    .missing = town_missing,
                                    .nmu = town_nmu,
                                    .source = town_source,
                                    .in_reach = town_in_reach,
                                    .serving = town_serving};
    }
    fake_offers = town_offers;
}

static inline void town_open(cw_dims dims)
{
    town.net = fake_net_open(&jobs_service, dims);
    town.torus = town.net->torus;
    town.servers = town.torus.servers;
}

/* Closes the town. Returns how many packets were never freed. */
static inline size_t town_close(void)
{
    size_t left = fake_net_close(town.net);
    for (unsigned i = 0; i < TOWN_SERVERS; i++) {
        nmu_close(&town.at[i].nmu);
    }
    return left;
}

static inline struct jobs *town_jobs(cw_server s)
{
    return town.net->server[s]->state;
}

static inline struct records_item *town_item(cw_server s, cw_job job)
{
    return records_find(&town_jobs(s)->records, job);
}

/* The version that the NMU of s decides by. */
static inline uint64_t town_decides(cw_server s, cw_job job)
{
    const struct map_job *held = nmu_job(&town.at[s].nmu, job);
    return held != NULL ? held->version : 0;
}

/* A packet from a server's instance of jobs: a frame with bytes behind it. */
static inline void town_say(cw_server to, cw_server from, struct jobs_frame *frame, const uint8_t *rest, size_t size)
{
    uint8_t bytes[4096];
    size_t head = jobs_frame_size(frame->kind);
    frame->cluster = frame->cluster != 0 ? frame->cluster : KIT_CLUSTER;
    jobs_encode(frame, bytes);
    if (size > 0) {
        memcpy(bytes + head, rest, size);
    }
    cw_svc *s = town.net->server[to];
    const cw_rx rx = {.size = sizeof rx,
                      .where = CW_ARRIVED,
                      .job = JOBS_JOB,
                      .port = JOBS_PORT,
                      .src_job = JOBS_JOB,
                      .src_process = from,
                      .src_server = torus_coord(&town.torus, from)};
    fake_arrive(s, fake_packet(s, bytes, head + size, 0), &rx, NULL);
}

/* The signed record of town_room arrives at s, of size bytes. */
static inline void town_record(cw_server to, cw_server from, size_t size, cw_server origin, uint64_t ticket)
{
    struct jobs_frame frame = {.kind = JOBS_RECORD, .origin = origin, .ticket = ticket};
    town_say(to, from, &frame, town_room, size);
}

static inline void town_run(int64_t ms)
{
    fake_net_run(town.net, CW_MS(ms));
}

/* Runs a command. wait: returns when it has been answered. */
static inline void town_command(cw_server s, int argc, const char *const *argv, bool wait)
{
    fake_result_init(&town_result);
    int rc = jobs_service.on_command(town.net->server[s], town.net->server[s]->state, (cw_request *)&town_result, argc,
                                     argv);
    if (rc <= 0) {
        fake_result_done(&town_result, rc);
    } else if (wait) {
        fake_net_finish(town.net, &town_result);
    }
}

static inline void town_line(cw_server s, const char *line)
{
    struct fake_words words = fake_words_of(line);
    town_command(s, words.argc, words.argv, true);
}

/* Puts the job whose record is in town_room. */
static inline void town_put_room(cw_server s, size_t size, const char *option, bool wait)
{
    static char text[KIT_RECORD_MAX * 4 / 3 + 8];
    base64_encode(town_room, size, text);
    const char *const words[] = {"put", text, option};
    town_command(s, option != NULL ? 3 : 2, words, wait);
}

static inline uint64_t town_count(cw_server s, enum jobs_count what)
{
    return town_jobs(s)->count[what];
}

#endif
