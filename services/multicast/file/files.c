/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/file/internal.h"

#include "base/container.h"
#include "base/quantity.h"
#include "keyspace/torus.h"
#include "services/reply/refuse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first look at parts that broke off, and the time between looks. */
static const cw_span sweep_first = CW_SEC(5);
static const cw_span sweep_every = CW_SEC(3600);
static const cw_span part_age_default = CW_SEC(7 * 24 * 3600);
static const cw_span part_age_least = CW_SEC(60);

static const struct metric metrics[FILES_COUNTS] = {
    [FILES_TAKEN] = {"files_taken", "Files that arrived whole and stand under their name."},
    [FILES_FAILED] = {"files_failed", "Files that did not arrive, or could not be put in their place."},
    [FILES_SENT] = {"files_sent", "Sendings of files from here that have ended, well or not."},
    [FILES_DROPPED] = {"parts_dropped",
                       "Parts and maps of transfers that broke off, dropped because they were too old."},
    [FILES_MALFORMED] = {"files_malformed", "Labels and progress packets of files that could not be decoded."},
};

/* ---- Time -------------------------------------------------------------------------------------------------------- */

static void tick(cw_svc *s, void *state, void *arg)
{
    struct files *f = arg;
    cw_time now = cw_now(s);
    (void)state;
    f->timer = NULL;
    file_crew_push(&f->env.crew);
    file_take_tick(f, now);
    file_send_tick(f, now);
    files_wake(f);
}

static void sweep_work(struct file_work *w)
{
    struct files *f = container_of(w, struct files, sweep);
    f->swept = f->env.host->sweep(f->env.host->context, f->env.folder, f->part_age);
}

static void sweep_done(struct file_work *w)
{
    struct files *f = container_of(w, struct files, sweep);
    f->sweeping = false;
    if (f->swept > 0) {
        char text[120];
        cw_counter_add(f->count[FILES_DROPPED], (uint64_t)f->swept);
        snprintf(text, sizeof text, "dropped %d files of transfers that broke off and never went on", f->swept);
        cw_log(f->s, CW_LOG_INFO, text);
    }
}

static void sweep(cw_svc *s, void *state, void *arg)
{
    struct files *f = arg;
    (void)state;
    f->sweeper = cw_timer_start(s, sweep_every, sweep, f);
    if (!f->sweeping) {
        f->sweeping = true;
        f->sweep = (struct file_work){.work = sweep_work, .done = sweep_done, .cost = CW_MS(1)};
        file_crew_give(&f->env.crew, &f->sweep);
        files_wake(f);
    }
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static void resume(void *context, uint64_t ticket)
{
    cast_engine_resume(((struct files *)context)->engine, ticket);
}

static void ended(void *context, uint64_t ticket, int status)
{
    struct files *f = context;
    cw_counter_add(status == 0 ? f->count[FILES_TAKEN] : f->count[FILES_FAILED], 1);
    cast_engine_ended(f->engine, ticket, status);
}

static int read_options(struct files *f)
{
    const char *folder = cw_option(f->s, "folder"), *age = cw_option(f->s, "part_age");
    f->part_age = part_age_default;
    if (folder != NULL && folder[0] != '\0') {
        char self[TORUS_TEXT];
        torus_format(cw_self(f->s), self);
        bool own = f->env.host != NULL && f->env.host->several;
        int n = snprintf(f->env.folder, sizeof f->env.folder, own ? "%s/%s" : "%s", folder, self);
        if (folder[0] != '/' || n >= (int)sizeof f->env.folder) {
            return refuse_setting(f->s, "folder", folder, "a folder's whole path, from / on, of less than 500 bytes");
        }
    }
    if (age != NULL && (quantity_span(age, strlen(age), &f->part_age) < 0 || f->part_age.ns < part_age_least.ns)) {
        return refuse_setting(f->s, "part_age", age, "a time with its unit of at least 1min, as 168h");
    }
    return 0;
}

int files_open(struct files **out, const struct files_config *config)
{
    struct files *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return -ENOMEM;
    }
    f->s = config->s;
    f->engine = config->engine;
    f->torus = config->torus;
    f->read_recipients = config->read_recipients;
    f->cancel_recipients = config->cancel_recipients;
    f->context = config->context;
    f->env = (struct file_env){.s = f->s, .crew = {.s = f->s}, .context = f, .resume = resume, .ended = ended};
    f->env.host = cw_find(f->s, FILES_HOST_NAME, FILES_HOST_VERSION, NULL);
    f->tick = tick;
    metrics_counters(f->s, metrics, FILES_COUNTS, f->count);
    int rc = read_options(f);
    if (rc < 0) {
        free(f);
        return rc;
    }
    cast_engine_kind(f->engine, CAST_FILE, file_take, f);
    if (f->env.host != NULL && f->env.folder[0] != '\0') {
        f->sweeper = cw_timer_start(f->s, sweep_first, sweep, f);
    }
    *out = f;
    return 0;
}

void files_close(struct files *f)
{
    if (f == NULL) {
        return;
    }
    cw_timer_stop(f->s, f->timer);
    cw_timer_stop(f->s, f->sweeper);
    file_send_close(f);
    file_take_close(f);
    free(f);
}

/* ---- What comes in ----------------------------------------------------------------------------------------------- */

int files_packet(struct files *f, const uint8_t *bytes, size_t length, const cw_rx *rx)
{
    struct file_progress progress;
    if (rx->src_job != cw_job_of(f->s) || rx->src_process >= f->torus->servers ||
        file_progress_decode(bytes, length, &progress) < 0) {
        cw_counter_add(f->count[FILES_MALFORMED], 1);
        return -EBADMSG;
    }
    file_send_progress(f, rx->src_process, &progress);
    return 0;
}

static int status(struct files *f, cw_request *r, int argc, const char *const *argv)
{
    bool members = argc == 2 && strcmp(argv[1], "members=1") == 0, first = true;
    if (argc > 1 && !members) {
        return refuse_request(r, "expected: file-status [members=1]; not '%.80s'", argv[1]);
    }
    file_send_status(f, r, members, &first);
    file_take_status(f, r, &first);
    return 0;
}

int files_command(struct files *f, cw_request *r, int argc, const char *const *argv)
{
    if (strcmp(argv[0], "file-send") == 0) {
        return file_send_begin(f, r, argc, argv);
    }
    if (strcmp(argv[0], "file-stop") == 0) {
        return file_send_stop(f, r, argc, argv);
    }
    return status(f, r, argc, argv);
}
