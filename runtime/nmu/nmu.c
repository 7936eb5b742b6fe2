/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/nmu.h"

#include "base/check.h"
#include "nmu/evidence.h"

#include <errno.h>

struct nmu_config nmu_config_default(void)
{
    return (struct nmu_config){
        .speakers = 64,
        .jobs = 64,
        .privileges = 256,
        .spans = 256,
        .ranges = 256,
        .denied = 64,
        .receives = 64,
        .responses = 4096,
        .responses_each = 256,
    };
}

int nmu_open(struct nmu *n, const struct nmu_config *c)
{
    *n = (struct nmu){.tables = {.access = {.speakers = 0}}};
    struct nmu_tables *t = &n->tables;
    int rc = access_open(&t->access, c->speakers);
    rc = rc < 0 ? rc : map_open(&t->map, c->jobs, c->ranges);
    rc = rc < 0 ? rc : privilege_open(&t->privilege, c->privileges, c->jobs, c->spans);
    rc = rc < 0 ? rc : denied_open(&n->denied, c->denied, c->salt);
    rc = rc < 0 ? rc : receive_open(&n->receive, c->receives);
    rc = rc < 0 ? rc : response_open(&n->responses, c->responses, c->responses_each, c->salt);
    if (rc < 0) {
        nmu_close(n);
    }
    return rc;
}

void nmu_close(struct nmu *n)
{
    seals_close(&n->seals);
    response_close(&n->responses);
    receive_close(&n->receive);
    denied_close(&n->denied);
    privilege_close(&n->tables.privilege);
    map_close(&n->tables.map);
    access_close(&n->tables.access);
}

size_t nmu_bytes(const struct nmu *n)
{
    const struct nmu_tables *t = &n->tables;
    return access_bytes(&t->access) + map_bytes(&t->map) + privilege_bytes(&t->privilege) + denied_bytes(&n->denied) +
           receive_bytes(&n->receive) + response_bytes(&n->responses) + seals_bytes(&n->seals);
}

/* ---- Seals ------------------------------------------------------------------------------------------------------- */

int nmu_seal(struct nmu *n, const struct siphash_key *key)
{
    CHECK(n->seals.tag == NULL);
    return seals_open(&n->seals, key, &n->tables);
}

uint32_t nmu_sweep(struct nmu *n, uint32_t entries)
{
    return n->seals.tag != NULL ? seals_sweep(&n->seals, &n->tables, entries) : 0;
}

void nmu_clear(struct nmu *n)
{
    seals_clear(&n->seals, &n->tables);
}

/* A change seals all entries anew, and must not seal what somebody else wrote: that is looked for first. */
static struct nmu_tables *begin_change(struct nmu *n)
{
    if (n->seals.tag != NULL && !seals_hold_all(&n->seals, &n->tables)) {
        nmu_clear(n);
    }
    return &n->tables;
}

static void end_change(struct nmu *n)
{
    if (n->seals.tag != NULL) {
        seals_write(&n->seals, &n->tables);
    }
}

/* ---- What the tables say of one resident job --------------------------------------------------------------------- */

/* Removes the job's privileges. The jobs that they led to keep their places until sweep(). */
static void unrule(struct nmu_tables *t, uint32_t home)
{
    struct map_job *job = &t->map.job[home];
    uint32_t from = 0;
    for (struct privilege_entry *e; (e = privilege_any_of(&t->privilege, home, &from)) != NULL;) {
        t->map.job[e->remote].wanted--;
        privilege_remove(&t->privilege, e);
    }
    (void)spans_replace(&t->privilege.sets, home, 0);
    job->rules = 0;
    job->ruled = false;
}

/* Frees the places of jobs that nobody here needs. */
static void sweep(struct map *m)
{
    for (uint32_t place = 0; place < m->jobs; place++) {
        const struct map_job *job = &m->job[place];
        if (job->job != 0 && job->residents == 0 && job->wanted == 0) {
            map_give(m, place);
        }
    }
}

/* The room that a record's grants need. */
struct needs {
    uint32_t privileges;
    uint32_t spans;
    uint32_t strangers; /* remote jobs that have no place yet */
};

static struct needs needs_of(const struct nmu_tables *t, const struct job_record *r)
{
    struct needs needs = {0};
    const uint8_t *at = r->grant_bytes;
    cw_job before = 0;
    for (unsigned i = 0; i < r->grants; i++) {
        struct job_grant g = job_record_next_grant(&at);
        needs.privileges += g.all_ports ? 1 : g.ports;
        needs.spans += g.spans;
        needs.strangers += g.job != before && map_find(&t->map, g.job) == MAP_NONE;
        before = g.job;
    }
    return needs;
}

static bool fits(const struct nmu_tables *t, uint32_t home, const struct job_record *r)
{
    if (!map_fits(&t->map, home, r->ranges)) {
        return false;
    }
    const struct map_job *job = &t->map.job[home];
    if (job->residents == 0) {
        return true;
    }
    struct needs needs = needs_of(t, r);
    return needs.privileges <= t->privilege.limit - (t->privilege.used - job->rules) &&
           needs.strangers <= t->map.jobs - t->map.used && spans_fit(&t->privilege.sets, home, needs.spans);
}

/* Adds one grant. The spans of its set, unless it covers all processes, go to list[*used]. */
static void rule_grant(struct nmu_tables *t, uint32_t home, const struct job_grant *g, struct nmu_span *list,
                       uint32_t *used)
{
    struct privilege_entry entry = {.spans = g->spans, .at = *used};
    for (unsigned i = 0; i < g->spans; i++) {
        struct job_span s = job_grant_span(g, i);
        list[(*used)++] = (struct nmu_span){s.first, s.last, 0};
    }
    uint32_t remote = map_take(&t->map, g->job);
    CHECK(remote != MAP_NONE);
    entry.remote = (uint16_t)remote;
    unsigned entries = g->all_ports ? 1 : g->ports;
    for (unsigned i = 0; i < entries; i++) {
        entry.key = privilege_key(home, g->job, g->all_ports ? PRIVILEGE_ANY_PORT : job_grant_port(g, i));
        privilege_add(&t->privilege, &entry);
    }
    t->map.job[remote].wanted += entries;
    t->map.job[home].rules += entries;
}

static void rule(struct nmu_tables *t, uint32_t home, const struct job_record *r)
{
    struct nmu_span *list = spans_replace(&t->privilege.sets, home, needs_of(t, r).spans);
    const uint8_t *at = r->grant_bytes;
    uint32_t used = 0;
    for (unsigned i = 0; i < r->grants; i++) {
        struct job_grant g = job_record_next_grant(&at);
        rule_grant(t, home, &g, list, &used);
    }
    t->map.job[home].ruled = true;
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static bool is_missing(const struct map_job *job)
{
    return job->job != 0 && (job->version == 0 || (job->residents > 0 && !job->ruled));
}

static int put(struct nmu_tables *t, const struct job_record *r)
{
    uint32_t place = map_find(&t->map, r->job);
    if (place == MAP_NONE) {
        return 0;
    }
    struct map_job *job = &t->map.job[place];
    if (r->version < job->version || r->generation < job->generation) {
        return -ESTALE;
    }
    if (r->version == job->version && !is_missing(job)) {
        return 0;
    }
    if (!fits(t, place, r)) {
        return -ENOSPC;
    }
    struct nmu_span *ranges = map_replace(&t->map, place, r->ranges);
    for (unsigned i = 0; i < r->ranges; i++) {
        struct job_range range = job_record_range(r, i);
        ranges[i] = (struct nmu_span){range.first, range.first + (range.count - 1), range.server};
    }
    t->map.door[place].known = !r->destroyed;
    job->version = r->version;
    job->generation = r->generation;
    if (job->residents > 0) {
        unrule(t, place);
        rule(t, place, r);
        sweep(&t->map);
    }
    return 1;
}

int nmu_job_put(struct nmu *n, const struct job_record *r)
{
    int rc = put(begin_change(n), r);
    end_change(n);
    return rc;
}

bool nmu_could_hold(const struct nmu *n, const struct job_record *r)
{
    const struct nmu_tables *t = &n->tables;
    const uint8_t *at = r->grant_bytes;
    uint64_t privileges = 0, spans = 0, jobs = 1;
    cw_job before = r->job;
    for (unsigned i = 0; i < r->grants; i++) {
        struct job_grant g = job_record_next_grant(&at);
        privileges += g.all_ports ? 1 : g.ports;
        spans += g.spans;
        jobs += g.job != before && g.job != r->job;
        before = g.job;
    }
    return privileges <= t->privilege.limit && spans <= t->privilege.sets.limit && jobs <= t->map.jobs &&
           r->ranges <= t->map.ranges.limit;
}

void nmu_job_drop(struct nmu *n, cw_job job)
{
    struct nmu_tables *t = begin_change(n);
    uint32_t place = map_find(&t->map, job);
    if (place == MAP_NONE) {
        return;
    }
    unrule(t, place);
    (void)map_replace(&t->map, place, 0);
    t->map.door[place].known = false;
    t->map.job[place].version = 0;
    t->map.job[place].generation = 0;
    sweep(&t->map);
    end_change(n);
}

cw_job nmu_missing(const struct nmu *n, uint32_t *from)
{
    const struct map *m = &n->tables.map;
    while (*from < m->jobs) {
        const struct map_job *job = &m->job[(*from)++];
        if (is_missing(job)) {
            return job->job;
        }
    }
    return 0;
}

const struct map_job *nmu_job(const struct nmu *n, cw_job job)
{
    uint32_t place =
        map_find(&n->tables.map, job); /* bounded by what map.slot says, which a sweep or a change looks at first */
    return place != MAP_NONE ? &n->tables.map.job[place] : NULL;
}

uint32_t nmu_jobs_left(const struct nmu *n)
{
    return n->tables.map.jobs - n->tables.map.used;
}

bool nmu_is_known(const struct nmu *n, cw_job job)
{
    uint32_t place = map_find(&n->tables.map, job);
    return place != MAP_NONE && n->tables.map.door[place].known;
}

cw_server nmu_home(const struct nmu *n, cw_job job, cw_process process)
{
    return nmu_is_known(n, job) ? map_server(&n->tables.map, map_find(&n->tables.map, job), process) : CW_SERVER_NONE;
}

/* ---- Speakers ---------------------------------------------------------------------------------------------------- */

int nmu_reside(struct nmu *n, uint32_t speaker, cw_job job, cw_process process, uint64_t generation)
{
    struct nmu_tables *t = begin_change(n);
    if (speaker >= t->access.speakers || job == 0) {
        return -EINVAL;
    }
    if (access_of(&t->access, speaker) != NULL) {
        return -EBUSY;
    }
    uint32_t home = map_take(&t->map, job);
    if (home == MAP_NONE) {
        return -ENOSPC;
    }
    t->map.job[home].residents++;
    access_set(&t->access, speaker, &(struct access_entry){job, process, generation, home});
    end_change(n);
    return 0;
}

uint64_t nmu_bind(struct nmu *n, uint32_t speaker)
{
    struct nmu_tables *t = begin_change(n);
    const struct access_entry *who = access_of(&t->access, speaker);
    if (who == NULL) {
        return 0;
    }
    struct access_entry bound = *who;
    bound.generation = t->map.job[who->home].generation;
    access_set(&t->access, speaker, &bound);
    end_change(n);
    return bound.generation;
}

void nmu_vacate(struct nmu *n, uint32_t speaker)
{
    struct nmu_tables *t = begin_change(n);
    const struct access_entry *who = access_of(&t->access, speaker);
    if (who == NULL) {
        return;
    }
    uint32_t home = who->home;
    access_set(&t->access, speaker, &(struct access_entry){.job = 0});
    if (--t->map.job[home].residents == 0) {
        unrule(t, home);
        sweep(&t->map);
    }
    end_change(n);
}

uint32_t nmu_speaker_of(const struct nmu *n, cw_job job, cw_process process)
{
    for (uint32_t i = 0; i < n->tables.access.speakers; i++) {
        const struct access_entry *who = access_of(&n->tables.access, i);
        if (who != NULL && who->job == job && who->process == process) {
            return i;
        }
    }
    return UINT32_MAX;
}

enum nmu_cause nmu_ask(struct nmu *n, uint32_t speaker, const struct nmu_to *to, struct nmu_pass *pass)
{
    enum nmu_cause cause = NMU_TAMPERED;
    if (n->seals.tag == NULL || evidence_holds(&n->seals, &n->tables, speaker, to)) {
        cause = nmu_check(&n->tables, speaker, to, pass);
    }
    if (cause == NMU_ALLOWED) {
        return cause;
    }
    const struct access_entry *who = access_of(&n->tables.access, speaker);
    struct denied_row row = {
        .source_job = who != NULL ? who->job : 0,
        .source_process = who != NULL ? who->process : 0,
        .job = to->job,
        .process = to->key ? 0 : to->process,
        .port = to->port,
        .key = to->key,
        .cause = (uint8_t)cause,
    };
    denied_count(&n->denied, &row);
    return cause;
}
