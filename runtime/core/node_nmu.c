/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_nmu.c - the node asks the NMU: who speaks here, by which records, and may this packet enter the network?
 */
#include "core/node_internal.h"

#include "base/check.h"
#include "base/prng.h"
#include "nmu/job_record.h"

#include <errno.h>
#include <string.h>

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

int node_may_send(struct cw_svc *svc, const struct packet_head *head, cw_server target)
{
    bool key = head->kind == PACKET_KEY || head->to.process == CW_PROCESS_ANY;
    struct nmu_to to = {.job = head->job, .port = head->port, .key = key, .process = key ? 0 : head->to.process};
    struct nmu_pass pass;
    if (svc->guest != NULL && svc->guest->why != 0) {
        return -EACCES;
    }
    uint32_t speaker = NODE_MUTANT(GUEST_ASKS) && svc->guest != NULL ? svc->guest->host->index : svc->index;
    if (nmu_ask(&svc->node->nmu, speaker, &to, &pass) != NMU_ALLOWED) {
        return -EACCES;
    }
    return key || pass.server == target ? 0 : -EINVAL;
}

int node_may_still_send(struct cw_svc *svc, const struct packet_head *head)
{
    cw_server target = head->kind == PACKET_KEY ? CW_SERVER_NONE : torus_id(&svc->node->torus, head->to.server);
    return node_may_send(svc, head, target);
}

int node_may_be_told(struct cw_svc *svc, const cw_to *recipient)
{
    struct node *n = svc->node;
    if (recipient->kind != CW_TO_SERVER || recipient->job == 0 || !torus_holds(&n->torus, recipient->server)) {
        return -EINVAL;
    }
    const struct packet_head head = {
        .kind = PACKET_SERVER,
        .job = recipient->job,
        .port = recipient->port,
        .to = {.server = recipient->server, .process = recipient->process},
    };
    return node_may_send(svc, &head, torus_id(&n->torus, recipient->server));
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

/* Rights to answer that a destroyed job has here end with it (nmu rule 4). */
static void end_rights(struct node *n, cw_job job)
{
    const struct cw_svc *svc = node_service_of(n, job);
    if (svc != NULL) {
        response_end_all(&n->nmu.responses, svc->index);
    }
}

static int take_in(struct node *n, const uint8_t *bytes, size_t size, cw_job only)
{
    struct job_record record;
    if (job_record_decode(bytes, size, &record) != WIRE_OK || (only != 0 && record.job != only)) {
        return -EBADMSG;
    }
    int rc = nmu_job_put(&n->nmu, &record);
    if (rc > 0 && record.destroyed) {
        end_rights(n, record.job);
    }
    if (rc > 0) {
        node_judge_guests(n, record.job);
    }
    return rc;
}

static const uint8_t *record_in(const struct nmu_source *source, cw_job job, size_t *size)
{
    return source->record != NULL ? source->record(source->context, job, size) : NULL;
}

/*
 * True when the job's record was found and taken in. Where the service has one and there is no room for it, the job may
 * do nothing: what the server was started with is older, and would bring back what the operator has taken away.
 */
static bool seek_record(struct node *n, cw_job job)
{
    size_t size = 0;
    const uint8_t *record = record_in(&n->records, job, &size);
    if (record == NULL) {
        record = record_in(&n->env.records, job, &size);
    }
    return record != NULL && take_in(n, record, size, job) > 0;
}

void node_seek_records(struct node *n)
{
    /* What is taken in may name jobs that are needed now. Ends: whoever was taken in is missing no more. */
    for (bool more = true; more;) {
        more = false;
        uint32_t from = 0;
        for (cw_job job; (job = nmu_missing(&n->nmu, &from)) != 0;) {
            more = seek_record(n, job) || more;
        }
    }
}

int node_job_put(struct node *n, const uint8_t *record, size_t size)
{
    int rc = take_in(n, record, size, 0);
    if (rc > 0) {
        node_seek_records(n);
    }
    return rc;
}

const struct nmu *node_nmu(const struct node *n)
{
    return &n->nmu;
}

int node_reside(struct cw_svc *svc)
{
    struct node *n = svc->node;
    int rc = nmu_reside(&n->nmu, svc->index, svc->job, svc->process, 0);
    if (rc == 0) {
        node_seek_records(n);
    }
    return rc;
}

/* ---- Seals ------------------------------------------------------------------------------------------------------- */

enum { SWEEP_ENTRIES = 64 }; /* each time something is due: microseconds */

static void tell_tampered(struct node *n)
{
    char text[128] = "tables of the NMU were tampered with and are written anew from the records; found in table ";
    size_t used = strlen(text), name = strlen(sealed_name(n->nmu.seals.bad_table));
    CHECK(used + name < sizeof text);
    memcpy(text + used, sealed_name(n->nmu.seals.bad_table), name + 1);
    if (n->env.watch.log != NULL) {
        n->env.watch.log(n->env.watch.context, n, CW_LOG_ERROR, "node", text, n->now);
    }
}

void node_look_at_seals(struct node *n)
{
    (void)nmu_sweep(&n->nmu, SWEEP_ENTRIES);
    if (n->nmu.seals.found == n->tampered) {
        return;
    }
    tell_tampered(n);
    nmu_clear(&n->nmu);
    uint64_t all = n->services;
    for (const struct cw_svc *svc; (svc = node_next_service(n, &all)) != NULL;) {
        int rc = nmu_reside(&n->nmu, svc->index, svc->job, svc->process, 0);
        CHECK(rc == 0); /* there was room for all of them */
    }
    node_reside_guests(n);
    node_seek_records(n);
    n->tampered = n->nmu.seals.found;
}

/* ---- The desk ---------------------------------------------------------------------------------------------------- */

static int desk_put(void *node, const uint8_t *record, size_t size)
{
    return node_job_put(node, record, size);
}

static void desk_drop(void *node, cw_job job)
{
    struct node *n = node;
    nmu_job_drop(&n->nmu, job);
    n->guests.doubted = n->guests.count > 0; /* judged at the next tick: a record may come in the same breath */
}

static size_t desk_missing(void *node, cw_job *out, size_t max)
{
    const struct node *n = node;
    uint32_t from = 0;
    size_t count = 0;
    for (cw_job job; (job = nmu_missing(&n->nmu, &from)) != 0; count++) {
        if (count < max) {
            out[count] = job;
        }
    }
    return count;
}

static const struct nmu *desk_nmu(void *node)
{
    return node_nmu(node);
}

static void desk_source(void *node, const struct nmu_source *source)
{
    struct node *n = node;
    n->records = source != NULL ? *source : (struct nmu_source){.record = NULL};
    node_seek_records(n);
}

static bool desk_in_reach(void *node, cw_server server)
{
    struct node *n = node;
    return server < n->torus.servers && (server == n->self || reach_has(ls_optimistic(n->ls), server));
}

static bool desk_serving(void *node)
{
    const struct node *n = node;
    return ls_serving(n->ls, n->now);
}

const void *node_object(const struct node *n, const char *name, unsigned version)
{
    if (version == NMU_DESK_VERSION && strcmp(name, NMU_DESK_NAME) == 0) {
        return &n->desk;
    }
    if (version == GUESTS_DESK_VERSION && strcmp(name, GUESTS_DESK_NAME) == 0 && n->guests.limit > 0) {
        return &n->guests_desk;
    }
    for (const struct node_object *o = n->env.objects; o != NULL && o->name != NULL; o++) {
        if (o->version == version && strcmp(o->name, name) == 0) {
            return o->object;
        }
    }
    return NULL;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

int node_open_nmu(struct node *n, uint64_t salt)
{
    struct nmu_config config = nmu_config_default();
    config.jobs = n->config.nmu_jobs;
    config.privileges = config.spans = config.ranges = n->config.nmu_grants;
    config.speakers = GUESTS_FIRST + n->config.guests;
    config.salt = salt;
    n->desk = (struct nmu_desk){
        .node = n,
        .put = desk_put,
        .drop = desk_drop,
        .missing = desk_missing,
        .nmu = desk_nmu,
        .source = desk_source,
        .in_reach = desk_in_reach,
        .serving = desk_serving,
    };
    int rc = nmu_open(&n->nmu, &config);
    if (rc == 0 && n->env.seal != NULL) {
        rc = nmu_seal(&n->nmu, n->env.seal);
        n->env.seal = NULL; /* it was lent for opening */
    }
    return rc;
}
