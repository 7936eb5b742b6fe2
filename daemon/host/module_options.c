/* SPDX-License-Identifier: Apache-2.0 */
/* module_options.c - what operators set for a service, and what it said when that was not good. */
#include "daemon/host/internal.h"

#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

static const char *pair_nth(const void *context, size_t i)
{
    return ((const char *const *)context)[i];
}

/* The service knows an option of this name: was it perhaps meant by one that was given? */
static void take_hint(struct host_hints *hints, const struct host_module *m, const char *name)
{
    for (unsigned i = 0; i < m->options && strlen(name) < CONFIG_OPTION_NAME; i++) {
        const char *const two[] = {name, hints->near[i]};
        const char *given = m->option[i].name;
        if (nearest_name(given, strlen(given), pair_nth, two, hints->near[i][0] != '\0' ? 2 : 1) == name) {
            snprintf(hints->near[i], CONFIG_OPTION_NAME, "%s", name);
        }
    }
}

static const char *option_of(struct host_module *m, const char *name)
{
    for (unsigned i = 0; i < m->options; i++) {
        if (strcmp(m->option[i].name, name) == 0) {
            m->asked |= UINT32_C(1) << i;
            return m->option[i].value;
        }
    }
    return NULL;
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

const char *host_option(void *context, const char *service, const char *name)
{
    struct host *h = context;
    struct host_module *m = h->opening;
    if (m == NULL || strcmp(m->face.table->name, service) != 0) {
        m = find(h, service);
    } else if (h->hints != NULL) {
        take_hint(h->hints, m, name);
    }
    const char *value = m != NULL ? option_of(m, name) : NULL;
    return value == NULL && strcmp(name, "cluster") == 0 ? h->cluster : value;
}

const struct config_option *host_unknown_option(const struct host_module *m)
{
    for (unsigned i = 0; i < m->options; i++) {
        if (!(m->asked & UINT32_C(1) << i)) {
            return &m->option[i];
        }
    }
    return NULL;
}

void host_note_refusal(struct host *h, const char *service, cw_level level, const char *text)
{
    if (h->opening != NULL && level == CW_LOG_ERROR && strcmp(h->opening->face.table->name, service) == 0) {
        snprintf(h->refusal, sizeof h->refusal, "%s", text);
    }
}

const char *host_service_options(const struct host_service *service, char *out, size_t room)
{
    const struct host_module *m = (const struct host_module *)(const void *)service; /* its first member */
    size_t used = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < m->options && used < room; i++) {
        used += (size_t)snprintf(out + used, room - used, "%s%s=%s", i > 0 ? " " : "", m->option[i].name,
                                 m->option[i].value);
    }
    return out;
}
