/* SPDX-License-Identifier: Apache-2.0 */
/* configured.c - the services that a configuration names: all that are to run at the start, and networks by name. */
#include "daemon/host/internal.h"

#include "services/builtin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Networks ---------------------------------------------------------------------------------------------------- */

/* A table of its own, which lives as long as its module. */
struct host_network {
    cw_service table;
    char name[CONFIG_NAME];
};

static const struct config_service *find_network(const struct daemon_config *c, const char *name)
{
    for (unsigned i = 0; i < c->service_count; i++) {
        const struct config_service *s = &c->service[i];
        if (s->network && s->job != 0 && strcmp(s->name, name) == 0) {
            return s;
        }
    }
    return NULL;
}

int host_network_open(struct host *h, const char *name, struct host_module *m, char why[static HOST_WHY])
{
    const struct config_service *s = find_network(&h->config, name);
    char text[TABLE_WHY_BYTES];
    unsigned open = 0;
    if (s == NULL) {
        return 0;
    }
    for (unsigned i = 0; i < h->module_count; i++) {
        open += h->module[i].network != NULL;
    }
    struct host_network *n = malloc(sizeof *n);
    if (n == NULL) {
        snprintf(why, HOST_WHY, "network %s: out of memory", name);
        return -ENOMEM;
    }
    snprintf(n->name, sizeof n->name, "%s", name);
    int rc = builtin_network(s->job, n->name, open, &n->table, text);
    if (rc < 0) {
        snprintf(why, HOST_WHY, "network %s: %s", name, text);
        free(n);
        return rc;
    }
    m->network = n;
    m->face.table = &n->table;
    return 1;
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static bool switched_off(const struct daemon_config *c, const char *name)
{
    for (unsigned i = 0; i < c->service_count; i++) {
        if (!c->service[i].enabled && strcmp(c->service[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool configured(const struct daemon_config *c, const char *name)
{
    for (unsigned i = 0; i < c->service_count; i++) {
        if (strcmp(c->service[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

int host_load_configured(struct host *h, char why[static HOST_WHY])
{
    const struct daemon_config *c = &h->config;
    size_t count;
    const cw_service *const *builtin = builtin_services(&count);
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        if (!configured(c, builtin[i]->name)) {
            rc = host_service_load(h, builtin[i]->name, NULL, NULL, why);
        }
    }
    for (unsigned i = 0; i < c->service_count && rc == 0; i++) {
        if (!switched_off(c, c->service[i].name)) {
            const struct config_service *s = &c->service[i];
            /* A module runs under the name in its table, whatever its section and its file are called. */
            bool free_name = s->file[0] != '\0' && builtin_service(s->name) == NULL;
            rc = host_service_load_with(h, free_name ? NULL : s->name, s->file, &s->policy, s->option, s->options, why);
        }
    }
    return rc;
}
