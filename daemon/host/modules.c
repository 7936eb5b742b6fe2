/* SPDX-License-Identifier: Apache-2.0 */
/* modules.c - services come and go, on all servers of the process at once or on none. */
#include "daemon/host/internal.h"

#include "daemon/files/file_host.h"
#include "daemon/files/job_host.h"
#include "daemon/host/events.h"
#include "services/builtin.h"
#include "shim/clock.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 3, 4))) static int because(int rc, char why[static HOST_WHY], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, HOST_WHY, format, args);
    va_end(args);
    return rc;
}

static struct host_module *find(struct host *h, const char *name)
{
    for (unsigned i = 0; i < h->module_count; i++) {
        if (strcmp(h->module[i].face.table->name, name) == 0) {
            return &h->module[i];
        }
    }
    return NULL;
}

void host_on_services(struct host *h, void (*fn)(void *context, struct host *h), void *context)
{
    h->services_changed = fn;
    h->services_context = context;
}

static void tell_change(struct host *h)
{
    if (h->services_changed != NULL) {
        h->services_changed(h->services_context, h);
    }
}

/* A visit after which the server has nothing to send and does not wake earlier costs no turn of that server. */
int host_visit(struct host_server *s, const char *service, unsigned version,
               void (*visit)(void *context, cw_svc *svc, const void *exports), void *context)
{
    struct pump_server *p = host_pump_server(s);
    cw_links links = CW_LINKS_NONE;
    if (s->node == NULL) {
        return -ENODEV;
    }
    bool here = node_visit(s->node, service, version, visit, context, clock_now(), &links);
    cw_time armed = p->wake.place != 0 ? p->wake.at : CW_NEVER;
    if (links != CW_LINKS_NONE || cw_time_before(node_next_wake(s->node), armed)) {
        host_after(s, links);
    }
    return here ? 0 : -ENOENT;
}

unsigned host_service_count(const struct host *h)
{
    return h->module_count;
}

const struct host_service *host_service_at(const struct host *h, unsigned index)
{
    CHECK(index < h->module_count);
    return &h->module[index].face;
}

const struct host_service *host_service_find(const struct host *h, const char *name)
{
    for (unsigned i = 0; i < h->module_count; i++) {
        if (strcmp(h->module[i].face.table->name, name) == 0) {
            return &h->module[i].face;
        }
    }
    return NULL;
}

static int add_one(struct host *h, struct node *n, struct host_module *m, cw_time now)
{
    m->asked = 0;
    int rc = node_service_add(n, m->face.table, now);
    const struct config_option *unknown = host_unknown_option(m);
    if (rc == 0 && unknown != NULL) {
        LOG(h->log, CW_LOG_ERROR, "a service does not know an option that it was given",
            {"service", m->face.table->name}, {"option", unknown->name});
        (void)node_service_remove(n, m->face.table->job, now);
        return -ENOKEY;
    }
    return rc < 0 ? rc : node_service_policy(n, m->face.table->job, &m->face.policy);
}

void host_gather_objects(struct host *h)
{
    const struct node_object *of_jobs = h->jobs != NULL ? job_host_objects(h->jobs) : NULL;
    unsigned count = 0;
    for (; of_jobs != NULL && of_jobs->name != NULL; of_jobs++) {
        CHECK(count < HOST_OBJECTS);
        h->object[count++] = *of_jobs;
    }
    CHECK(count + 7 <= HOST_OBJECTS);
    inquiry_host_open(&h->inquiry, h);
    h->object[count++] = (struct node_object){INQUIRY_HOST_NAME, INQUIRY_HOST_VERSION, &h->inquiry};
    vector_host_open(&h->vectors, h->config.place == CONFIG_WHOLE);
    h->object[count++] = (struct node_object){VECTORS_HOST_NAME, VECTORS_HOST_VERSION, &h->vectors};
    spool_host_open(&h->spool, h->config.place == CONFIG_WHOLE);
    h->object[count++] = (struct node_object){SPOOL_HOST_NAME, SPOOL_HOST_VERSION, &h->spool};
    module_host_open(&h->functions, h->config.user);
    h->object[count++] = (struct node_object){MODULES_HOST_NAME, MODULES_HOST_VERSION, &h->functions};
    figures_host_open(&h->figures, h);
    h->object[count++] = (struct node_object){FIGURES_HOST_NAME, FIGURES_HOST_VERSION, &h->figures};
    disks_host_open(&h->disks, h);
    h->object[count++] = (struct node_object){DISKS_HOST_NAME, DISKS_HOST_VERSION, &h->disks};
    if (h->files != NULL) {
        h->object[count] = (struct node_object){FILES_HOST_NAME, FILES_HOST_VERSION, file_host_interface(h->files)};
    }
}

int host_add_services(struct host *h, struct node *n, cw_time now)
{
    for (unsigned i = 0; i < h->module_count; i++) {
        int rc = add_one(h, n, &h->module[i], now);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* Removes the service from the servers below `before`. */
static void remove_from(struct host *h, unsigned before, cw_job job)
{
    for (unsigned i = 0; i < before; i++) {
        if (h->server[i].face.node != NULL) {
            (void)node_service_remove(h->server[i].face.node, job, clock_now());
            host_after(&h->server[i].face, CW_LINKS_NONE);
        }
    }
}

static const char *refusal(int rc)
{
    switch (-rc) {
    case EEXIST:
        return "a service with this job or name runs already";
    case ENOSPC:
        return "no more services run on one server";
    case EINVAL:
        return "its table, its policy, or an option (the log says which) is not one that can be";
    default:
        return strerror(-rc);
    }
}

static int add_to_all(struct host *h, struct host_module *m, char why[static HOST_WHY])
{
    h->refusal[0] = '\0';
    for (unsigned i = 0; i < h->count; i++) {
        struct pump_server *s = &h->server[i];
        int rc = s->face.node == NULL ? 0 : add_one(h, s->face.node, m, clock_now());
        if (rc < 0) {
            const struct config_option *unknown = rc == -ENOKEY ? host_unknown_option(m) : NULL;
            if (rc != -EEXIST && unknown == NULL) {
                (void)node_service_remove(s->face.node, m->face.table->job, clock_now());
            }
            remove_from(h, i, m->face.table->job);
            if (unknown != NULL) {
                const char *near = h->hints != NULL ? h->hints->near[unknown - m->option] : "";
                return because(-EINVAL, why, "service %s: it has no option %s%s%s%s", m->face.table->name,
                               unknown->name, near[0] != '\0' ? "; did you mean " : "", near,
                               near[0] != '\0' ? "?" : "");
            }
            bool said = h->refusal[0] != '\0'; /* the service has said why, and in words that its users know */
            return because(rc, why, "service %s: %s", m->face.table->name, said ? h->refusal : refusal(rc));
        }
        host_after(&s->face, CW_LINKS_NONE);
    }
    return 0;
}

static struct node_service_policy default_policy(const struct host *h)
{
    return (struct node_service_policy){
        .weight = 10,
        .queue_packets = h->config.queue_packets,
        .queue_bytes = h->config.queue_bytes,
        .drop = NODE_DROP_TAIL,
    };
}

static void close_module(struct host_module *m)
{
    if (m->loaded.handle != NULL) {
        loader_close(&m->loaded);
    }
    free(m->network);
    free(m->option);
}

/* Copies the options for a module that is about to be opened. -ENOMEM. */
static int keep_options(struct host_module *m, const struct config_option *options, unsigned count)
{
    m->options = count;
    m->option = count > 0 ? malloc(count * sizeof *options) : NULL;
    if (count > 0 && m->option == NULL) {
        return -ENOMEM;
    }
    if (count > 0) {
        memcpy(m->option, options, count * sizeof *options);
    }
    return 0;
}

/* Finds the service's table, in a file, in the list of those that are built in, or among the configured networks. */
static int open_module(struct host *h, struct host_module *m, const char *name, const char *file,
                       char why[static HOST_WHY])
{
    if (file == NULL || file[0] == '\0') {
        int rc = name != NULL ? host_network_open(h, name, m, why) : 0;
        if (rc != 0) {
            return rc < 0 ? rc : 0;
        }
        m->face.table = name != NULL ? builtin_service(name) : NULL;
        return m->face.table != NULL ? 0
                                     : because(-ENOENT, why, "%s: no service of this name is built in; give its file",
                                               name != NULL ? name : "(no name)");
    }
    char text[TABLE_WHY_BYTES];
    int rc = loader_open(file, &m->loaded, text);
    if (rc < 0) {
        return because(rc, why, "%s", text);
    }
    m->face.table = m->loaded.service;
    loader_build_id(&m->loaded, m->face.build);
    snprintf(m->face.file, sizeof m->face.file, "%s", file);
    if (name != NULL && strcmp(name, m->face.table->name) != 0) {
        rc = because(-EINVAL, why, "%s: its service is called %s, not %s: name it so", file, m->face.table->name, name);
        loader_close(&m->loaded);
    }
    return rc;
}

/* What it is, for whoever loads it or asks for it. */
static void describe(const struct host_module *m, struct host_service_about *out)
{
    *out = (struct host_service_about){.job = m->face.table->job};
    snprintf(out->name, sizeof out->name, "%s", m->face.table->name);
    snprintf(out->version, sizeof out->version, "%s", m->face.table->version != NULL ? m->face.table->version : "");
    snprintf(out->build, sizeof out->build, "%s", m->face.build);
}

/* Who loads the next build while the last one runs is told of the command for that. */
static int tell_exists(const struct host_module *m, const cw_service *other, char why[static HOST_WHY])
{
    const char *name = m->face.table->name;
    if (builtin_service(name) != NULL) {
        return because(-EEXIST, why, "service %s: %s", name, refusal(-EEXIST));
    }
    if (strcmp(other->name, name) != 0) {
        return because(-EEXIST, why, "service %s: its job %u is that of %s, which runs already", name,
                       m->face.table->job, other->name);
    }
    return because(-EEXIST, why,
                   "service %s: it runs already: \"services reload\" puts another build in its place, \"services "
                   "unload\" ends it",
                   name);
}

static int check_fresh(struct host *h, const struct host_module *m, char why[static HOST_WHY])
{
    if (h->module_count == HOST_SERVICES) {
        return because(-ENOSPC, why, "%d services run already, no more can", HOST_SERVICES);
    }
    for (unsigned i = 0; i < h->module_count; i++) {
        const cw_service *other = h->module[i].face.table;
        if (strcmp(other->name, m->face.table->name) == 0 || other->job == m->face.table->job) {
            return tell_exists(m, other, why);
        }
    }
    return 0;
}

/* The module that a fresh one would replace: *out. */
static int check_replaces(struct host *h, const struct host_module *fresh, struct host_module **out,
                          char why[static HOST_WHY])
{
    const char *name = fresh->face.table->name;
    struct host_module *m = *out = find(h, name);
    if (m == NULL) {
        return because(-ENOENT, why,
                       "%s: no such service runs here that could be replaced; \"services load\" starts it", name);
    }
    if (m->loaded.handle == NULL) {
        return because(-EINVAL, why, "%s is built in: it changes with the daemon", name);
    }
    if (m->face.table->job != fresh->face.table->job) {
        return because(-EINVAL, why,
                       "%s: its job is %u, and the one that runs has %u: unload that one, and load this one", name,
                       fresh->face.table->job, m->face.table->job);
    }
    if (m->loaded.handle == fresh->loaded.handle) {
        return because(-EEXIST, why,
                       "%s: this is the very file that runs: put the new build in its place by rename "
                       "(install, mv), and not by writing into it",
                       name);
    }
    return 0;
}

int host_service_check(struct host *h, const char *name, const char *file, bool replaces,
                       struct host_service_about *out, char why[static HOST_WHY])
{
    struct host_module fresh = {.options = 0}, *old;
    why[0] = '\0';
    int rc = open_module(h, &fresh, name, file, why);
    if (rc < 0) {
        return rc;
    }
    rc = replaces ? check_replaces(h, &fresh, &old, why) : check_fresh(h, &fresh, why);
    describe(&fresh, out);
    close_module(&fresh);
    return rc;
}

/* -EBUSY: another service may still use what this one exports. */
static int check_unused(const struct host *h, const struct host_module *m, char why[static HOST_WHY])
{
    for (unsigned i = 0; i < h->count; i++) {
        struct node *n = h->server[i].face.node;
        const char *user = n == NULL ? NULL : node_service_user(n, m->face.table->job);
        if (user != NULL) {
            return because(-EBUSY, why, "%s: the service %s uses it: unload %s first", m->face.table->name, user, user);
        }
    }
    return 0;
}

/*
 * Takes the service from all servers; -EBUSY: from none. Offloaded work comes back first, on every server; after that
 * none can refuse.
 */
static int remove_from_all(struct host *h, struct host_module *m, char why[static HOST_WHY])
{
    int used = check_unused(h, m, why);
    if (used < 0) {
        return used;
    }
    offload_drain(h->offload);
    host_collect_all(h);
    for (unsigned i = 0; i < h->count; i++) {
        struct pump_server *s = &h->server[i];
        int rc = s->face.node == NULL ? 0 : node_service_remove(s->face.node, m->face.table->job, clock_now());
        if (rc == -EBUSY) {
            h->opening = m;
            for (unsigned k = 0; k < i; k++) {
                (void)(h->server[k].face.node != NULL && add_one(h, h->server[k].face.node, m, clock_now()) < 0);
            }
            h->opening = NULL;
            return because(rc, why, "%s: it has work under way; try again", m->face.table->name);
        }
        host_after(&s->face, CW_LINKS_NONE);
    }
    return 0;
}

/* Puts `fresh` in the place of *m, which becomes *replaced. On failure *m runs as before. */
static int replace(struct host *h, struct host_module *m, const struct host_module *fresh, struct host_module *replaced,
                   char why[static HOST_WHY])
{
    struct host_module old = *m, next = *fresh;
    char unused[HOST_WHY];
    int rc = remove_from_all(h, &old, why);
    if (rc < 0) {
        return rc;
    }
    h->opening = &next;
    rc = add_to_all(h, &next, why);
    if (rc < 0) {
        h->opening = &old;
        int back = add_to_all(h, &old, unused);
        if (back < 0) {
            LOG(h->log, CW_LOG_ERROR, "a service could not be put back", {"service", old.face.table->name},
                {"why", unused});
        }
    }
    h->opening = NULL;
    if (rc == 0) {
        *m = next;
        *replaced = old;
    }
    return rc;
}

static void forget(struct host_module *m)
{
    close_module(m);
    *m = (struct host_module){.options = 0};
}

static bool is_of(const struct host_module *m, const char *name)
{
    return m->loaded.handle != NULL && strcmp(m->face.table->name, name) == 0;
}

int host_service_reload(struct host *h, const char *file, struct host_service_about *was,
                        struct host_service_about *out, char why[static HOST_WHY])
{
    struct host_module fresh = {.options = 0}, old = {.options = 0}, *m = NULL;
    why[0] = '\0';
    int rc = open_module(h, &fresh, NULL, file, why);
    if (rc < 0) {
        return rc;
    }
    rc = check_replaces(h, &fresh, &m, why);
    if (rc == 0) {
        describe(m, was);
        fresh.face.policy = m->face.policy;
        rc = keep_options(&fresh, m->option, m->options);
    }
    if (rc == 0) {
        rc = replace(h, m, &fresh, &old, why);
    }
    if (rc < 0) {
        close_module(&fresh); /* what can be undone is what it was */
        return rc;
    }
    forget(&h->before);
    h->before = h->previous;
    h->previous = old;
    describe(m, out);
    LOG(h->log, CW_LOG_INFO, "service was replaced", {"service", out->name}, {"version", out->version},
        {"build", out->build}, {"was", was->version}, {"was_build", was->build});
    tell_change(h);
    return 0;
}

/* What runs, and what an undo would put in its place. -ENOENT. */
static int check_undo(struct host *h, const char *name, struct host_module **out, char why[static HOST_WHY])
{
    *out = find(h, name);
    why[0] = '\0';
    if (*out == NULL || !is_of(&h->previous, name)) {
        return because(-ENOENT, why, "%s: it was not replaced since it was loaded, or another one was since", name);
    }
    return 0;
}

int host_service_check_undo(struct host *h, const char *name, struct host_service_about *was,
                            struct host_service_about *out, char why[static HOST_WHY])
{
    struct host_module *m;
    int rc = check_undo(h, name, &m, why);
    if (rc == 0) {
        describe(m, was);
        describe(&h->previous, out);
    }
    return rc;
}

int host_service_undo(struct host *h, const char *name, bool taken_back, struct host_service_about *was,
                      struct host_service_about *out, char why[static HOST_WHY])
{
    struct host_module *m, back = h->previous, old;
    int rc = check_undo(h, name, &m, why);
    if (rc < 0) {
        return rc;
    }
    describe(m, was);
    rc = replace(h, m, &back, &old, why);
    if (rc < 0) {
        return rc;
    }
    if (taken_back) {
        close_module(&old);
        h->previous = h->before;
    } else {
        forget(&h->before);
        h->previous = old;
    }
    h->before = (struct host_module){.options = 0};
    describe(m, out);
    LOG(h->log, CW_LOG_INFO, "service was put back", {"service", out->name}, {"version", out->version},
        {"build", out->build});
    tell_change(h);
    return 0;
}

int host_service_load(struct host *h, const char *name, const char *file, const struct node_service_policy *policy,
                      char why[static HOST_WHY])
{
    return host_service_load_with(h, name, file, policy, NULL, 0, why);
}

int host_service_load_with(struct host *h, const char *name, const char *file, const struct node_service_policy *policy,
                           const struct config_option *options, unsigned count, char why[static HOST_WHY])
{
    struct host_module m = {.face.policy = policy != NULL ? *policy : default_policy(h)};
    CHECK(count <= CONFIG_OPTIONS);
    why[0] = '\0';
    int rc = open_module(h, &m, name, file, why);
    if (rc < 0) {
        return rc;
    }
    rc = check_fresh(h, &m, why);
    if (rc == 0 && keep_options(&m, options, count) < 0) {
        rc = because(-ENOMEM, why, "out of memory");
    }
    if (rc < 0) {
        close_module(&m);
        return rc;
    }
    struct host_hints hints = {.near = {""}};
    h->opening = &m;
    h->hints = &hints;
    rc = add_to_all(h, &m, why);
    h->opening = NULL;
    h->hints = NULL;
    if (rc < 0) {
        close_module(&m);
        return rc;
    }
    h->module[h->module_count++] = m;
    events_add(h->events, NULL, "service", "%s %s runs", m.face.table->name,
               m.face.table->version != NULL ? m.face.table->version : "");
    LOG(h->log, CW_LOG_INFO, "service runs", {"service", m.face.table->name}, {"version", m.face.table->version},
        {"build", m.face.build[0] != '\0' ? m.face.build : NULL},
        {"file", m.face.file[0] != '\0' ? m.face.file : NULL});
    tell_change(h);
    return 0;
}

int host_service_unload(struct host *h, const char *name, char why[static HOST_WHY])
{
    struct host_module *m = find(h, name);
    why[0] = '\0';
    if (m == NULL) {
        return because(-ENOENT, why, "%s: no such service runs here", name);
    }
    int rc = remove_from_all(h, m, why);
    if (rc < 0) {
        return rc;
    }
    LOG(h->log, CW_LOG_INFO, "service is gone", {"service", name});
    if (is_of(&h->before, m->face.table->name)) {
        forget(&h->before);
    }
    if (is_of(&h->previous, m->face.table->name)) {
        forget(&h->previous);
    }
    events_add(h->events, NULL, "service", "%s has ended", name);
    close_module(m);
    h->module_count--;
    memmove(m, m + 1, (size_t)(h->module + h->module_count - m) * sizeof *m);
    tell_change(h);
    return 0;
}

int host_service_policy(struct host *h, const char *name, const struct node_service_policy *policy,
                        char why[static HOST_WHY])
{
    struct host_module *m = find(h, name);
    why[0] = '\0';
    if (m == NULL) {
        return because(-ENOENT, why, "%s: no such service runs here", name);
    }
    for (unsigned i = 0; i < h->count; i++) {
        struct node *n = h->server[i].face.node;
        int rc = n == NULL ? 0 : node_service_policy(n, m->face.table->job, policy);
        if (rc < 0) {
            return because(rc, why, "%s: weight is 1 to 1000, and a queue holds at least one packet of %u bytes", name,
                           h->mtu);
        }
    }
    m->face.policy = *policy;
    return 0;
}

void host_close_modules(struct host *h)
{
    forget(&h->before);
    forget(&h->previous);
    for (unsigned i = h->module_count; i-- > 0;) {
        close_module(&h->module[i]);
    }
    h->module_count = 0;
}
