/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_job_change.c - changes jobs: reads the record as it is now, changes and signs it here, puts it, and waits. When
 * another operator was faster, or a record of another operator has taken the place of ours on some server, all of that
 * is done again, so that no change is lost and none is made to a record that was not seen. A record that was read again
 * and has our change in it is put as it is, by whomever it was signed: the change is made when every server held that
 * record, or one that nobody has replaced by another.
 */
#include "ctl/jobs/job_result.h"
#include "ctl/jobs/job_words.h"
#include "ctl/jobs/job_world.h"
#include "ctl/jobs/jobs.h"

#include "seal/seal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { TRIES = 24 };

struct change {
    struct job_world w;
    struct seal_key *key;
    /*
     * Changes the plan to what it should be. 1: changed; 0: it was so already; < 0: told. there: the job has a record.
     */
    int (*apply)(struct change *c, struct job_plan *plan, bool there);
    bool begins;                   /* the job may be one without a record */
    const struct job_plan *wanted; /* by create */
    bool again;                    /* one was put, and others changed the job meanwhile */
    unsigned late;                 /* puts that were waited for in vain, and had been replaced somewhere */
};

/* ---- Reading, changing, putting ---------------------------------------------------------------------------------- */

/* Begins the record of a job that has none: a service that was loaded, with a process on each server. */
static int begin_plan(struct change *c, cw_job job, struct job_plan *plan)
{
    char name[JOB_RECORD_NAME_BYTES], why[JOB_PLAN_WHY];
    job_world_name(&c->w, job, name);
    if (!c->begins) {
        return job_world_fail(&c->w, EXIT_NO, "job %s has no record: there is nothing to take away", name);
    }
    if (c->wanted == NULL && !job_world_runs(&c->w, job)) {
        return job_world_fail(&c->w, EXIT_NO,
                              "job %s has no record, and is no service here: cwctl job create FILE makes it", name);
    }
    if (c->wanted == NULL && job < FIRST_LOADED) {
        return job_world_fail(
            &c->w, EXIT_NO,
            "job %s is built in, and has no record: write a job file with all that it is to have, and "
            "cwctl job create it",
            name);
    }
    job_plan_open(plan, job, job_plan_name_good(name) ? name : "job");
    plan->version = job < FIRST_LOADED ? 1 : 0; /* it grows: 1 is what is built in */
    if (c->wanted == NULL && job_plan_add_range(plan, 0, c->w.servers - 1, 0, why) < 0) {
        return job_world_fail(&c->w, EXIT_NO, "%s", why);
    }
    return 0;
}

/* 1: done, or impossible; 0: another operator was faster. base: see struct job_putting. */
static int put(struct change *c, const struct job_plan *plan, const uint8_t *bytes, size_t size, const char *base)
{
    bool wait = call_given(c->w.call, "no-wait") == NULL;
    const struct job_putting what = {bytes, size, base, wait};
    char why[CLIENT_WHY];
    struct rows rows = {NULL, 0, 0};
    int rc = job_world_put(&c->w, &what, &rows, why);
    enum job_end end = job_result_end(rc, &rows);
    job_result_type(&rows);
    if (end == JOB_AGAIN && rc == -ETIMEDOUT && c->late++ > 0) {
        end = JOB_PART; /* somebody is silent: to wait a third time would tell no more */
    }
    if (rc < 0 && client_failed(c->w.call->client)) {
        end = JOB_REFUSED; /* told */
    } else if (end == JOB_REFUSED) {
        (void)job_world_fail(&c->w, EXIT_NO, "job %s, version %" PRIu64 " was refused: %s", plan->name, plan->version,
                             why[0] != '\0' ? why : strerror(-rc));
    } else if (end != JOB_AGAIN) {
        job_result_show(c->w.call, plan, &rows, wait);
        c->w.code = end == JOB_PART ? EXIT_INCOMPLETE : c->w.code;
    }
    rows_clear(&rows);
    return end != JOB_AGAIN;
}

static int sign_and_put(struct change *c, const struct job_plan *plan, const char *base)
{
    char why[JOB_PLAN_WHY];
    uint8_t *bytes;
    size_t size;
    if (job_sign(c->key, c->w.cluster, plan, &bytes, &size, why) < 0) {
        (void)job_world_fail(&c->w, EXIT_NO, "%s", why);
        return 1;
    }
    int done = put(c, plan, bytes, size, base);
    free(bytes);
    return done;
}

/* To what the server holds now. 1: done, or impossible, which was told; 0: try again. */
static int change_held(struct change *c, struct job_plan *plan, const struct job_held *held)
{
    int rc = c->apply(c, plan, held->bytes != NULL);
    if (rc < 0) {
        return 1;
    }
    if (rc > 0) {
        plan->version++;
        return sign_and_put(c, plan, held->digest);
    }
    if (!c->again || held->bytes == NULL) {
        job_result_already(c->w.call, plan);
        return 1;
    }
    return put(c, plan, held->bytes, held->size, ""); /* ours is in it: is this what all have? */
}

static int try_change(struct change *c, cw_job job)
{
    struct job_plan plan;
    struct job_held held;
    int there = job_world_hold(&c->w, job, &plan, &held), done = 1;
    if (there > 0 || (there == 0 && begin_plan(c, job, &plan) == 0)) {
        done = change_held(c, &plan, &held);
        job_plan_close(&plan);
    }
    job_held_close(&held);
    return done;
}

static void pause_before_next(unsigned tries)
{
    uint64_t chance = 0;
    if (getrandom(&chance, sizeof chance, 0) == (ssize_t)sizeof chance) {
        nanosleep(&(struct timespec){.tv_nsec = (long)job_result_pause(tries, chance).ns}, NULL);
    }
}

static void change_job(struct change *c, cw_job job)
{
    c->again = false;
    for (unsigned i = 0; i < TRIES; i++) {
        if (try_change(c, job)) {
            return;
        }
        if (!c->again) {
            fprintf(c->w.call->errors, "cwctl: another operator changed the job meanwhile: once more\n");
        }
        c->again = true;
        pause_before_next(i);
    }
    (void)job_world_fail(&c->w, EXIT_NO,
                         "job %" PRIu32 " was changed by others %d times meanwhile, and this change may be lost: look "
                         "(cwctl job show %" PRIu32 ") and try again",
                         job, TRIES, job);
}

static int open_change(struct change *c, struct call *call)
{
    c->w = (struct job_world){.call = call, .code = EXIT_FINE};
    c->key = job_key(call, &c->w.code);
    return c->key != NULL ? job_world_open(&c->w, call) : -1;
}

static int close_change(struct change *c)
{
    job_world_close(&c->w);
    seal_key_close(c->key);
    return c->w.code;
}

static int run_change(struct call *call, struct change *c)
{
    cw_job job = open_change(c, call) >= 0 ? job_world_job(&c->w, call->arguments->word[2]) : 0;
    if (job != 0) {
        change_job(c, job);
    }
    return close_change(c);
}

/* ---- grant and revoke -------------------------------------------------------------------------------------------- */

/* JOB[:PROCESSES[:PORTS]], looked up. < 0: told. */
static int read_target(struct job_world *w, const char *word, cw_job *job, struct job_ports *ports,
                       struct processes *who)
{
    struct job_words parts;
    char why[JOB_WORDS_WHY];
    *ports = (struct job_ports){.all = true};
    *who = (struct processes){.all = true};
    if (job_words_target(word, &parts, why) < 0) {
        return job_world_fail(w, EXIT_USAGE, "%s", why);
    }
    *job = job_world_job(w, parts.job);
    if (*job == 0) {
        return -1;
    }
    if (parts.processes != NULL) {
        *who = (struct processes){.all = false};
        if (processes_read(who, parts.processes) < 0) {
            return job_world_fail(w, EXIT_USAGE, "'%.60s': expected processes: all, or numbers such as 0-3,7",
                                  parts.processes);
        }
    }
    return parts.ports != NULL ? job_world_ports(w, *job, parts.ports, ports) : 0;
}

/* Tells which of the processes that are to be granted the job does not have; a service has one on each server. */
static void tell_missing(struct change *c, cw_job job, const struct processes *who)
{
    struct processes missing = {.all = false};
    struct job_plan plan;
    char name[JOB_RECORD_NAME_BYTES], *text = NULL;
    size_t size;
    int there = who->all || !job_world_knows(&c->w, job) || job_world_destroyed(&c->w, job)
                    ? -1
                    : job_world_fetch(&c->w, job, &plan, NULL);
    int rc = there < 0 ? there : processes_copy(&missing, who);
    for (unsigned i = 0; rc == 0 && there > 0 && i < plan.ranges; i++) {
        rc = processes_remove(&missing, plan.range[i].first, plan.range[i].first + plan.range[i].count - 1);
    }
    if (rc == 0 && there == 0) {
        rc = processes_remove(&missing, 0, c->w.servers - 1);
    }
    if (there > 0) {
        job_plan_close(&plan);
    }
    FILE *out = rc == 0 && !processes_is_empty(&missing) ? open_memstream(&text, &size) : NULL;
    if (out != NULL) {
        processes_write(&missing, out);
        fclose(out);
        job_world_name(&c->w, job, name);
        call_complain(c->w.call,
                      "job %s has no process %.80s: what is granted of it counts when there is one (cwctl job show %s)",
                      name, text, name);
    }
    free(text);
    processes_close(&missing);
}

static int refuse_dead(struct change *c, const struct job_plan *plan)
{
    return job_world_fail(&c->w, EXIT_NO, "job %s was destroyed; cwctl job create FILE begins its next generation",
                          plan->name);
}

static int for_targets(struct change *c, struct job_plan *plan, bool grant)
{
    const struct arguments *a = c->w.call->arguments;
    int changed = 0;
    if (plan->destroyed) {
        return refuse_dead(c, plan);
    }
    for (int i = 3; i < a->words && changed >= 0; i++) {
        cw_job job = 0;
        struct job_ports ports;
        struct processes who;
        int rc = read_target(&c->w, a->word[i], &job, &ports, &who);
        if (rc == 0) {
            rc = grant ? job_plan_grant(plan, job, &ports, &who) : job_plan_revoke(plan, job, &ports, &who);
        }
        if (grant && rc > 0 && !job_world_knows(&c->w, job)) {
            call_complain(c->w.call,
                          "nobody knows a job %" PRIu32 " yet: the grant counts when there is one (cwctl job list)",
                          job);
        }
        if (grant && rc >= 0) {
            tell_missing(c, job, &who);
        }
        if (rc == -ENOTSUP) {
            rc = job_world_fail(&c->w, EXIT_NO,
                                "job %s may use all ports of job %" PRIu32 ": some of them cannot be taken from all; "
                                "revoke the whole of it, and grant the ports that are to stay",
                                plan->name, job);
        } else if (rc == -ENOMEM) {
            rc = job_world_fail(&c->w, EXIT_NO, "out of memory");
        }
        job_ports_close(&ports);
        processes_close(&who);
        changed = rc < 0 ? rc : changed | rc;
    }
    return changed;
}

static int apply_grant(struct change *c, struct job_plan *plan, bool there)
{
    (void)there;
    return for_targets(c, plan, true);
}

static int apply_revoke(struct change *c, struct job_plan *plan, bool there)
{
    (void)there;
    return for_targets(c, plan, false);
}

int run_job_grant(struct call *call)
{
    struct change c = {.apply = apply_grant, .begins = true};
    return run_change(call, &c);
}

int run_job_revoke(struct call *call)
{
    struct change c = {.apply = apply_revoke};
    return run_change(call, &c);
}

/* ---- destroy ----------------------------------------------------------------------------------------------------- */

static int apply_destroy(struct change *c, struct job_plan *plan, bool there)
{
    (void)c;
    (void)there;
    if (plan->destroyed) {
        return 0;
    }
    job_plan_destroy(plan);
    return 1;
}

int run_job_destroy(struct call *call)
{
    struct change c = {.apply = apply_destroy};
    return run_change(call, &c);
}

/* ---- create ------------------------------------------------------------------------------------------------------ */

/* A copy of what is wanted, in the version and generation that are next. */
static int apply_create(struct change *c, struct job_plan *plan, bool there)
{
    const struct job_plan *wanted = c->wanted;
    char why[JOB_PLAN_WHY];
    uint8_t *bytes;
    size_t size;
    struct job_record record;
    struct job_plan next;
    if (there && !plan->destroyed && call_given(c->w.call, "replace") == NULL) {
        return job_world_fail(&c->w, EXIT_NO,
                              "job %s is there, in version %" PRIu64 "%s; --replace puts what the file says in its "
                              "place",
                              plan->name, plan->version,
                              c->again ? ", and others changed it at the same time: look (cwctl job show)" : "");
    }
    int rc = job_plan_record(wanted, &bytes, &size, why);
    if (rc == 0) {
        rc = job_record_decode(bytes, size, &record) == WIRE_OK ? job_plan_from(&next, &record) : -1;
        free(bytes);
    }
    if (rc < 0) {
        return job_world_fail(&c->w, EXIT_NO, "out of memory");
    }
    next.version = wanted->version - 1 > plan->version ? wanted->version - 1 : plan->version; /* it grows by one */
    next.generation = !there ? wanted->generation : plan->destroyed ? plan->generation + 1 : plan->generation;
    job_plan_close(plan);
    *plan = next;
    return 1;
}

/* The file was signed where the key is: puts it as it stands, whatever the servers hold. */
static void put_sealed(struct change *c, const struct jobfile_entry *e)
{
    char why[JOB_PLAN_WHY];
    uint8_t *bytes;
    size_t size;
    int rc = job_plan_record(&e->plan, &bytes, &size, why);
    uint8_t *whole = rc == 0 ? realloc(bytes, size + JOB_RECORD_SIGNATURE_BYTES) : NULL;
    if (whole == NULL) {
        if (rc == 0) {
            free(bytes);
        }
        (void)job_world_fail(&c->w, EXIT_NO, "out of memory");
        return;
    }
    memcpy(whole + size, e->signature, JOB_RECORD_SIGNATURE_BYTES);
    if (!put(c, &e->plan, whole, size + JOB_RECORD_SIGNATURE_BYTES, "")) {
        (void)job_world_fail(&c->w, EXIT_NO,
                             "job %s: version %" PRIu64
                             " or a later one is held; sign the file again with a higher version",
                             e->plan.name, e->plan.version);
    }
    free(whole);
}

static void tell(void *context, const char *text)
{
    struct job_world *w = context;
    (void)job_world_fail(w, EXIT_USAGE, "%s", text);
}

static void create_all(struct change *c, const struct jobfile *file)
{
    for (unsigned i = 0; i < file->count && c->w.code == EXIT_FINE; i++) {
        const struct jobfile_entry *e = &file->entry[i];
        if (e->sealed) {
            put_sealed(c, e);
            continue;
        }
        if (c->key == NULL && (c->key = job_key(c->w.call, &c->w.code)) == NULL) {
            return;
        }
        c->wanted = &e->plan;
        change_job(c, e->plan.id);
    }
}

int run_job_create(struct call *call)
{
    struct change c = {.apply = apply_create, .begins = true};
    if (job_world_open(&c.w, call) >= 0) {
        struct jobfile_names names = job_world_names(&c.w);
        const struct jobfile_options options = {.dims = c.w.dims, .names = &names};
        struct jobfile file;
        if (jobfile_load(&file, call->arguments->word[2], &options, tell, &c.w) == 0) {
            create_all(&c, &file);
            jobfile_close(&file);
        }
    }
    return close_change(&c);
}
