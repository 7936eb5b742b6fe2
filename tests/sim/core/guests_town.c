/* SPDX-License-Identifier: Apache-2.0 */
#include "guests_town.h"

struct ledger *ledger;
struct universe u;

void fail(const char *rule, const char *what, uint64_t a, uint64_t b)
{
    seeds_fail(ledger->wrong, rule, "%s (%llu, %llu) at %lld us", what, (unsigned long long)a, (unsigned long long)b,
               (long long)(world_now(u.world).ns / 1000));
}

unsigned below(unsigned n)
{
    return (unsigned)rng_below(&u.rng, n);
}

struct visitor *any_on(cw_server s)
{
    struct visitor *found = NULL;
    unsigned seen = 0;
    for (unsigned k = 0; k < u.visitors; k++) {
        if (u.visitor[k].open && u.visitor[k].server == s && below(++seen) == 0) {
            found = &u.visitor[k];
        }
    }
    return found;
}

/* ---- Jobs -------------------------------------------------------------------------------------------------------- */

/* In rising order, as records want them. */
static cw_job job_at(unsigned i)
{
    return i == 0 ? HOST_JOB : FIRST + i - 1;
}

static struct plain_job draw_job(unsigned i, unsigned version)
{
    struct plain_job job = {.job = FIRST + i, .version = version, .generation = 1 + version / 5};
    job.destroyed = version > 1 && below(14) == 0;
    cw_process next = 0;
    while (job.ranges < JOBS_RANGES) { /* several processes on a server, where ranges cover it */
        uint32_t count = 6 + below(SERVERS - 6);
        job.range[job.ranges++] = (struct job_range){next, count, below(SERVERS - count + 1)};
        next += count + 1;
    }
    for (unsigned to = 0; to < ALL_JOBS; to++) {
        for (unsigned port = 0; port <= PORTS; port++) { /* 0: all of them */
            if (below(port == 0 ? 2 : 3) == 0) {
                continue;
            }
            struct plain_grant *g = &job.grant[job.grants++];
            *g = (struct plain_grant){.job = job_at(to), .all_ports = port == 0};
            g->ports = port > 0;
            g->port[0] = (cw_port)(port > 0 ? port - 1 : 0);
            g->all_processes = below(2) == 0;
            if (!g->all_processes) {
                cw_process first = below(60);
                g->spans = 1;
                g->span[0] = (struct job_span){first, first + below(90)};
            }
        }
    }
    return job;
}

struct plain_job plain_town(unsigned i, unsigned version)
{
    struct plain_job job = {.job = i < JOBS ? FIRST + i : HOST_JOB, .version = version, .generation = version};
    job.ranges = 1;
    job.range[0] = (struct job_range){0, SERVERS, 0};
    for (unsigned to = 0; to < ALL_JOBS; to++) {
        job.grant[job.grants++] = (struct plain_grant){.job = job_at(to), .all_processes = true, .all_ports = true};
    }
    return job;
}

const uint8_t *record_of(void *context, cw_job which, size_t *size)
{
    static uint8_t bytes[JOBS_BYTES];
    cw_server s = *(const cw_server *)context;
    for (unsigned i = 0; i < ALL_JOBS; i++) {
        if (u.now[s][i].job == which) {
            *size = plain_write(&u.now[s][i], bytes, sizeof bytes);
            return bytes;
        }
    }
    return NULL;
}

cw_server home_of(const struct plain_job *job, cw_process process)
{
    for (unsigned i = 0; i < job->ranges; i++) {
        if (process >= job->range[i].first && process - job->range[i].first < job->range[i].count) {
            return job->range[i].server + (process - job->range[i].first);
        }
    }
    return CW_SERVER_NONE;
}

int why_not(cw_server s, unsigned i, cw_process process, uint64_t generation)
{
    const struct plain_job *job = &u.now[s][i];
    return job->destroyed                                     ? -ENOENT
           : generation != 0 && generation != job->generation ? -ESTALE
           : home_of(job, process) != s                       ? -EADDRNOTAVAIL
                                                              : 0;
}

void put(struct world *w, cw_server s, const struct plain_job *job)
{
    static uint8_t bytes[JOBS_BYTES];
    unsigned i = job->job == HOST_JOB ? JOBS : job->job - FIRST;
    if (job->version <= u.now[s][i].version) {
        return;
    }
    u.now[s][i] = *job;
    ledger->puts++;
    for (unsigned k = 0; k < u.visitors; k++) {
        struct visitor *v = &u.visitor[k];
        if (v->open && v->server == s && v->job == i && v->due == 0) {
            v->due = why_not(s, i, v->process, v->generation);
        }
    }
    if (world_state(w, s) != WORLD_DEAD &&
        node_job_put(world_node(w, s), bytes, plain_write(job, bytes, sizeof bytes)) < 0) {
        fail("world", "a record was not taken in", s, job->version);
    }
}

void put_one(struct world *w, void *arg)
{
    (void)arg;
    unsigned i = below(JOBS);
    if (u.versions[i] < VERSIONS && below(3) == 0) {
        unsigned version = ++u.versions[i];
        u.version[i][version] = draw_job(i, version + 1);
    }
    unsigned version = u.versions[i] > 0 ? 1 + below(u.versions[i]) : 0;
    if (version > 0 && u.on) {
        put(w, below(SERVERS), &u.version[i][version]);
    }
    world_at(w, cw_time_add(world_now(w), CW_US(100 + below(800))), put_one, NULL);
}
