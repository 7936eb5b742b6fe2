/* SPDX-License-Identifier: Apache-2.0 */
/*
 * take.c - a record that came. In this order: of which job is it, and is it news; is it signed, which is checked away
 * from the server's thread; then it is held, given to the NMU, to the neighbours and to the disk, and at last
 * acknowledged. So an acknowledgement says that the record counts here, also after a restart (jobs rule 5).
 */
#include "services/jobs/jobs_internal.h"

#include "base/check.h"

#include <errno.h>
#include <stdio.h>

/* What the simulator is told that these take: an Ed25519 signature on one core, and a write that reaches the disk. */
static const cw_span verify_cost = CW_US(150), store_cost = CW_MS(1);

/* ---- Who wants to know ------------------------------------------------------------------------------------------- */

/*
 * The NMU needs this record and does not go by it, because there is no room (govern(), jobs rule 7). There may be room
 * later, so the tables are looked at each time.
 */
static bool is_closed(const struct jobs *j, const struct jobs_mark *mark)
{
    const struct map_job *held = j->desk != NULL ? nmu_job(j->desk->nmu(j->desk->node), mark->job) : NULL;
    if (held == NULL || mark->destroyed) {
        return false;
    }
    bool here = held->version == mark->version && held->generation == mark->generation;
    return !here || (held->residents > 0 && !held->ruled);
}

/* A set of enum change_word. */
static unsigned ack_word(const struct jobs *j, const struct records_item *item)
{
    return (item->kept ? CHANGE_KEPT : 0u) | (is_closed(j, &item->mark) ? CHANGE_CLOSED : 0u);
}

static void acknowledge(struct jobs *j, const struct records_item *item, cw_server origin, uint64_t ticket)
{
    unsigned word = ack_word(j, item);
    if (origin == j->self) {
        jobs_put_ack(j, j->self, ticket, &item->mark, word);
        return;
    }
    struct jobs_frame frame = {.kind = JOBS_ACK,
                               .flag = (word & CHANGE_KEPT) != 0,
                               .closed = (word & CHANGE_CLOSED) != 0,
                               .ticket = ticket,
                               .mark = item->mark};
    jobs_send(j, origin, &frame);
}

void jobs_owe(struct jobs *j, struct records_item *item, cw_server origin, uint64_t ticket)
{
    if (ticket == 0 || origin >= j->servers) {
        return;
    }
    if (item->tried) {
        acknowledge(j, item, origin, ticket);
        return;
    }
    if (origin == j->self) {
        return; /* tried() tells our own puts: all of them, where there is room for one origin here */
    }
    item->origin = origin;
    item->owed = ticket;
}

/* ---- Kept over a restart ----------------------------------------------------------------------------------------- */

static void keep_next(struct jobs *j);

static void keep_work(void *arg)
{
    struct jobs *j = arg;
    const struct records_blob *blob = j->keeping;
    j->keeping_result = j->host->store(j->host->context, j->keeping_job, blob->bytes, blob->size);
}

/*
 * The puts of this server are told too, also those whose record this one has replaced: nobody would ask this server
 * again on their behalf, as others are asked.
 */
static void tried(struct jobs *j, struct records_item *item, bool kept)
{
    item->tried = true;
    item->kept = kept;
    uint64_t ticket = item->owed;
    item->owed = 0;
    jobs_owe(j, item, item->origin, ticket);
    jobs_put_held(j, &item->mark, ack_word(j, item));
}

static void keep_done(cw_svc *s, void *state, void *arg)
{
    (void)arg;
    struct jobs *j = state;
    struct records_blob *blob = j->keeping;
    struct records_item *item = records_find(&j->records, j->keeping_job);
    j->keeping = NULL;
    if (j->keeping_result < 0) {
        char text[128];
        snprintf(text, sizeof text, "job %u could not be stored (error %d): after a restart it is learnt from others",
                 j->keeping_job, -j->keeping_result);
        cw_log(s, CW_LOG_ERROR, text);
        jobs_count(j, JOBS_COUNT_UNKEPT);
    }
    if (item != NULL && item->blob == blob) {
        tried(j, item, j->keeping_result == 0);
    }
    records_release(blob);
    keep_next(j);
}

static void keep_next(struct jobs *j)
{
    for (uint32_t i = 0; i < j->records.count && j->keeping == NULL; i++) {
        struct records_item *item = &j->records.item[i];
        if (item->tried) {
            continue;
        }
        if (j->host->store != NULL) {
            records_hold(item->blob);
            j->keeping = item->blob;
            j->keeping_job = item->mark.job;
            if (cw_offload(j->svc, keep_work, keep_done, j, store_cost) == 0) {
                return;
            }
            j->keeping = NULL;
            records_release(item->blob);
        }
        tried(j, item, false);
    }
}

/* ---- It counts --------------------------------------------------------------------------------------------------- */

/*
 * From now on the NMU goes by this record. Where the NMU has no room for it the job may do nothing: it never goes on by
 * an older record (jobs rule 7).
 */
static void govern(struct jobs *j, const struct records_item *item)
{
    const struct nmu_desk *desk = j->desk;
    if (desk == NULL) {
        return;
    }
    const struct map_job *held = nmu_job(desk->nmu(desk->node), item->mark.job);
    if (held == NULL) {
        return;
    }
    if (held->version >= item->mark.version || held->generation > item->mark.generation) {
        /* The NMU goes by versions alone and would call it old; by its mark it wins. */
        desk->drop(desk->node, item->mark.job);
    }
    int rc = desk->put(desk->node, item->blob->bytes, item->blob->size - JOBS_SIGNATURE_BYTES);
    if (rc < 0) {
        char text[128];
        desk->drop(desk->node, item->mark.job);
        jobs_count(j, JOBS_COUNT_NMU);
        snprintf(text, sizeof text, "job %u does not fit the tables of the NMU (error %d): it may do nothing here",
                 item->mark.job, -rc);
        cw_log(j->svc, CW_LOG_ERROR, text);
    }
}

static void tell_fork(struct jobs *j, const struct jobs_mark *mark)
{
    char text[160];
    jobs_count(j, JOBS_COUNT_FORKS);
    snprintf(text, sizeof text,
             "two records claim version %llu of job %u: the one of digest %016llx counts, on all servers; put a higher "
             "version",
             (unsigned long long)mark->version, mark->job, (unsigned long long)mark->digest);
    cw_log(j->svc, CW_LOG_WARN, text);
}

/* For the log and the stream of events. */
static void tell_accepted(struct jobs *j, const struct jobs_mark *mark)
{
    char text[100];
    snprintf(text, sizeof text, "version %llu of the record of job %u counts here now",
             (unsigned long long)mark->version, mark->job);
    cw_log(j->svc, CW_LOG_INFO, text);
}

/* The signature is good: takes the record in. 0: it is held now. */
static int accept(struct jobs *j, const struct jobs_taking *t, struct records_item **item)
{
    bool fork;
    enum records_verdict verdict = records_judge(&j->records, &t->mark, &fork);
    if (verdict != RECORDS_NEWER) { /* another one came while it was checked */
        *item = records_find(&j->records, t->mark.job);
        return verdict == RECORDS_SAME ? 0 : -ESTALE;
    }
    if (t->put != NULL && (fork || !jobs_put_fits(j, t->put))) {
        return -EEXIST; /* another one came first, and its operator may have been told that it holds */
    }
    int rc = records_put(&j->records, &t->mark, t->bytes, t->size, item);
    if (rc < 0) {
        jobs_count(j, JOBS_COUNT_FULL);
        return rc;
    }
    jobs_count(j, JOBS_COUNT_ACCEPTED);
    tell_accepted(j, &t->mark);
    if (fork) {
        tell_fork(j, &t->mark);
    }
    govern(j, *item);
    return 0;
}

static void verify_work(void *arg)
{
    struct jobs_taking *t = arg;
    const struct jobs_host *host = t->jobs->host;
    size_t size = t->size - JOBS_SIGNATURE_BYTES;
    t->verdict = host->verify(host->context, t->bytes, size, t->bytes + size);
}

static void end(struct jobs *j, struct jobs_taking *t)
{
    if (t->packet != NULL) {
        cw_packet_free(j->svc, t->packet);
    }
    bool fetched = t->fetched;
    *t = (struct jobs_taking){.jobs = NULL};
    if (fetched) {
        jobs_fetch_judged(j);
    }
}

static void verify_done(cw_svc *s, void *state, void *arg)
{
    (void)s;
    struct jobs *j = state;
    struct jobs_taking *t = arg;
    struct records_item *item = NULL;
    int rc = t->verdict < 0 ? -EBUSY : -EBADMSG;
    if (t->verdict == 1) {
        uint64_t before = j->count[JOBS_COUNT_ACCEPTED];
        rc = accept(j, t, &item);
        bool news = j->count[JOBS_COUNT_ACCEPTED] != before;
        if (t->put != NULL) {
            t->origin = j->self;
            t->ticket = rc == 0 ? jobs_put_ticket(t->put) : 0;
            jobs_put_taken(j, t->put, rc);
        }
        if (news) {
            jobs_flood(j, item, t->from, t->origin, t->ticket);
        }
        if (item != NULL) {
            jobs_owe(j, item, t->origin, t->ticket);
            keep_next(j);
        }
    } else {
        jobs_count(j, t->verdict < 0 ? JOBS_COUNT_BUSY : JOBS_COUNT_UNSIGNED);
        if (t->put != NULL) {
            jobs_put_taken(j, t->put, rc);
        }
    }
    end(j, t);
}

/* ---- It comes ---------------------------------------------------------------------------------------------------- */

static struct jobs_taking *free_taking(struct jobs *j)
{
    for (unsigned i = 0; i < JOBS_TAKING; i++) {
        if (j->taking[i].jobs == NULL) {
            return &j->taking[i];
        }
    }
    return NULL;
}

/* True when the same record is being checked already: then its origin is noted there, to get the acknowledgement. */
static bool joined(struct jobs *j, const struct jobs_taking *what)
{
    for (unsigned i = 0; i < JOBS_TAKING; i++) {
        struct jobs_taking *t = &j->taking[i];
        if (t->jobs != NULL && t->mark.job == what->mark.job && jobs_mark_compare(&t->mark, &what->mark, NULL) == 0 &&
            t->size == what->size && memcmp(t->bytes, what->bytes, what->size) == 0) {
            if (t->ticket == 0 && t->put == NULL) {
                t->origin = what->origin;
                t->ticket = what->ticket;
            }
            return true;
        }
    }
    return false;
}

int jobs_take(struct jobs *j, const struct jobs_taking *what)
{
    struct jobs_taking t = *what;
    if (j->host == NULL) {
        return -ENOTSUP;
    }
    if (t.size <= JOBS_SIGNATURE_BYTES || t.size > RECORDS_RECORD_MAX ||
        !jobs_mark_of(t.bytes, t.size - JOBS_SIGNATURE_BYTES, &t.mark) || t.mark.job == JOBS_JOB) {
        jobs_count(j, JOBS_COUNT_MALFORMED);
        return -EBADMSG;
    }
    bool fork;
    enum records_verdict verdict = records_judge(&j->records, &t.mark, &fork);
    if (verdict != RECORDS_NEWER) {
        jobs_count(j, verdict == RECORDS_SAME ? JOBS_COUNT_REPEATED : JOBS_COUNT_OLD);
        jobs_owe(j, records_find(&j->records, t.mark.job), t.origin, t.ticket);
        return verdict == RECORDS_SAME ? 0 : -ESTALE;
    }
    if (t.put == NULL && joined(j, &t)) {
        jobs_count(j, JOBS_COUNT_REPEATED);
        return -EINPROGRESS;
    }
    struct jobs_taking *slot = free_taking(j);
    if (slot != NULL) {
        t.jobs = j;
        *slot = t;
        if (cw_offload(j->svc, verify_work, verify_done, slot, verify_cost) == 0) {
            return 1;
        }
        slot->jobs = NULL;
    }
    jobs_count(j, JOBS_COUNT_BUSY);
    return -EBUSY;
}

void jobs_take_kept(void *jobs, const uint8_t *signed_record, size_t size)
{
    struct jobs *j = jobs;
    struct jobs_taking t = {.bytes = signed_record, .size = size};
    struct records_item *item = NULL;
    if (size <= JOBS_SIGNATURE_BYTES || size > RECORDS_RECORD_MAX ||
        !jobs_mark_of(signed_record, size - JOBS_SIGNATURE_BYTES, &t.mark) || t.mark.job == JOBS_JOB) {
        jobs_count(j, JOBS_COUNT_MALFORMED);
        cw_log(j->svc, CW_LOG_ERROR, "what was stored as a job's record is none: it is learnt from others");
        return;
    }
    size_t record = size - JOBS_SIGNATURE_BYTES;
    if (j->host->verify(j->host->context, signed_record, record, signed_record + record) != 1) {
        char text[128];
        jobs_count(j, JOBS_COUNT_UNSIGNED);
        snprintf(text, sizeof text, "the stored record of job %u is not the operator's: it does not count", t.mark.job);
        cw_log(j->svc, CW_LOG_ERROR, text);
        return;
    }
    if (accept(j, &t, &item) == 0) {
        item->tried = item->kept = true;
    }
}

void jobs_take_close(struct jobs *j)
{
    for (unsigned i = 0; i < JOBS_TAKING; i++) {
        if (j->taking[i].packet != NULL) {
            cw_packet_free(j->svc, j->taking[i].packet);
        }
        j->taking[i] = (struct jobs_taking){.jobs = NULL};
    }
    records_release(j->keeping);
    j->keeping = NULL;
}
