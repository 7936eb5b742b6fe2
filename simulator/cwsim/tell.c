/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/tell.h"

#include "base/nearest.h"
#include "services/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct report *row_of(struct tell *t)
{
    if (t->row == NULL) {
        t->row = report_open(NULL);
        report_real(t->row, "at_ms", (double)t->what->at.ns / 1e6);
        report_text(t->row, "asked", t->text);
        report_text(t->row, "service", t->what->service);
    }
    return t->row;
}

static void on_row(void *context)
{
    struct tell *t = context;
    if (t->row != NULL) {
        report_append(t->report, "answers", t->row);
        t->row = NULL;
    }
    (void)row_of(t);
}

static void on_integer(void *context, const char *name, int64_t value)
{
    report_integer(row_of(context), name, value);
}

static void on_text(void *context, const char *name, const char *value)
{
    report_text(row_of(context), name, value);
}

static void on_done(void *context, int rc)
{
    struct tell *t = context;
    t->done = rc >= 0;
    /* ECANCELED: the run or the server ended before the service did (cw_request_done()). */
    report_text(row_of(t), "result", rc == -ECANCELED ? "not answered" : rc < 0 ? strerror(-rc) : "ok");
    report_append(t->report, "answers", t->row);
    t->row = NULL;
}

static const cw_service *table_of(const struct world *w, const char *service)
{
    const struct world_config *c = world_config(w);
    for (unsigned i = 0; i < c->service_count; i++) {
        if (strcmp(c->services[i].table->name, service) == 0) {
            return c->services[i].table;
        }
    }
    return NULL;
}

static const char *nth_service(const void *context, size_t i)
{
    const struct world_config *c = context;
    return c->services[i].table->name;
}

/* In the words of a daemon (daemon/commands). */
static void say_none(const struct world_config *c, const char *service, char why[static TABLE_REFUSAL])
{
    const char *near = nearest_name(service, strlen(service), nth_service, c, c->service_count);
    snprintf(why, TABLE_REFUSAL, "no service '%.40s' runs here%s%s%s", service, near != NULL ? "; did you mean " : "",
             near != NULL ? near : "", near != NULL ? "?" : "");
}

static void happen(struct world *w, void *arg)
{
    struct tell *t = arg;
    char why[TABLE_REFUSAL];
    const cw_service *table = table_of(w, t->what->service);
    if (table == NULL) {
        say_none(world_config(w), t->what->service, why);
        on_text(t, "error", why);
        on_done(t, -ENOENT);
        return;
    }
    if (table_accepts(table, world_torus(w), t->argc, t->argv, why) < 0) {
        on_text(t, "error", why); /* as a daemon says it */
        on_done(t, -EINVAL);
        return;
    }
    const struct node_request_sink sink = {
        .context = t, .row = on_row, .integer = on_integer, .text = on_text, .done = on_done};
    int rc = world_command(w, t->server, t->what->service, t->argc, t->argv, &sink);
    if (rc < 0) {
        on_done(t, rc);
    }
}

void tell_schedule(struct tell *t, const struct scenario_tell *what, struct report *report, struct world *w)
{
    *t = (struct tell){.what = what, .report = report, .server = what->server};
    torus_format(torus_coord(world_torus(w), what->server), t->text);
    memcpy(t->words, what->text, sizeof t->words);
    for (char *word = t->words; *word != '\0' && t->argc < SCENARIO_TELL_WORDS;) {
        t->argv[t->argc++] = word;
        word += strcspn(word, " ");
        if (*word == ' ') {
            *word++ = '\0';
        }
    }
    world_at(w, what->at, happen, t);
}
