/* SPDX-License-Identifier: Apache-2.0 */
/* services.c - the sections of services, and of networks, which are services with a job of their own. */
#include "daemon/config/reading.h"

#include <stdio.h>
#include <string.h>

enum { SERVICE_WEIGHT = 10 }; /* as of a service that nobody gave one */

/* ---- Options ----------------------------------------------------------------------------------------------------- */

/* What it means is not ours to know. */
static void read_option(struct reading *r, const struct conf_item *section, const struct conf_item *i,
                        const char *prefix, struct config_service *s)
{
    struct config_option *o = &s->option[s->options];
    if (i->value == NULL || s->options == CONFIG_OPTIONS || strlen(prefix) + strlen(i->key) >= sizeof o->name ||
        strlen(i->value) >= sizeof o->value) {
        reading_wrong(r, i, "expected name = value: at most %d of a service, names of %d letters, values of %d",
                      CONFIG_OPTIONS, CONFIG_OPTION_NAME - 1, CONFIG_OPTION_VALUE - 1);
        return;
    }
    reading_is_first(r, section, i);
    snprintf(o->name, sizeof o->name, "%s%s", prefix, i->key);
    snprintf(o->value, sizeof o->value, "%s", i->value);
    s->options++;
}

static void read_options(struct reading *r, const struct conf_item *section, const char *prefix,
                         struct config_service *s)
{
    if (!reading_want_section(r, section, false)) {
        return;
    }
    for (const struct conf_item *i = reading_item(r, section->first); i != NULL; i = reading_next(r, i)) {
        read_option(r, section, i, prefix, s);
    }
}

const char *config_service_option(const struct config_service *s, const char *name)
{
    for (unsigned i = 0; i < s->options; i++) {
        if (strcmp(s->option[i].name, name) == 0) {
            return s->option[i].value;
        }
    }
    return NULL;
}

bool config_has_option(const struct daemon_config *c, const char *name)
{
    for (unsigned i = 0; i < c->service_count; i++) {
        if (c->service[i].enabled && config_service_option(&c->service[i], name) != NULL) {
            return true;
        }
    }
    return false;
}

const char *config_service_key(const struct config_service *s, const char *option, char out[static CONFIG_KEY])
{
    static const char gateway[] = "gateway_";
    bool nested = option != NULL && s->network && strncmp(option, gateway, sizeof gateway - 1) == 0;
    int used = snprintf(out, CONFIG_KEY, "%s \"%s\"", s->network ? "network" : "service", s->name);
    if (option != NULL && config_service_option(s, option) != NULL) {
        snprintf(out + used, CONFIG_KEY - (size_t)used, ".%s%s",
                 !s->network ? "options."
                 : nested    ? "gateway."
                             : "",
                 nested ? option + sizeof gateway - 1 : option);
    }
    return out;
}

/* ---- Sections ---------------------------------------------------------------------------------------------------- */

/* A new one; NULL: the section cannot be one. */
static struct config_service *begin_service(struct reading *r, const struct conf_item *section)
{
    struct daemon_config *c = r->config;
    if (!reading_want_section(r, section, true)) {
        return NULL;
    }
    if (c->service_count == CONFIG_SERVICES || strlen(section->name) >= CONFIG_NAME || section->name[0] == '\0') {
        reading_wrong(r, section, "at most %d services, each with a name of at most %d letters", CONFIG_SERVICES,
                      CONFIG_NAME - 1);
        return NULL;
    }
    struct config_service *s = &c->service[c->service_count++];
    *s = (struct config_service){.enabled = true, .policy.weight = SERVICE_WEIGHT};
    memcpy(s->name, section->name, strlen(section->name));
    return s;
}

/* network NAME { job .. gateway { servers .. } }: keys that are not the daemon's are the network's options. */
void reading_network(struct reading *r, const struct conf_item *section)
{
    struct config_service *s = begin_service(r, section);
    if (s == NULL) {
        return;
    }
    s->network = true;
    for (const struct conf_item *i = reading_item(r, section->first); i != NULL; i = reading_next(r, i)) {
        if (strcmp(i->key, "gateway") == 0) {
            reading_is_first(r, section, i);
            read_options(r, i, "gateway_", s);
        } else if (reading_setting(r, config_network_keys, i, s)) {
            reading_is_first(r, section, i);
        } else {
            read_option(r, section, i, "", s);
        }
    }
}

/* Of the keys of a service, or an option of the service itself, which only that knows. */
static void unknown_of_service(struct reading *r, const struct conf_item *item)
{
    const char *near = strcmp(item->key, "option") == 0
                           ? "options"
                           : setting_nearest(config_service_keys, item->key, strlen(item->key));
    if (near != NULL || item->value == NULL) {
        reading_tell_unknown(r, item, "of a service", near);
        return;
    }
    reading_wrong(r, item,
                  "no such key of a service: an option of the service itself belongs into options { %.40s = %.60s }",
                  item->key, item->value);
}

void reading_service(struct reading *r, const struct conf_item *section)
{
    struct config_service *s = begin_service(r, section);
    if (s == NULL) {
        return;
    }
    for (const struct conf_item *i = reading_item(r, section->first); i != NULL; i = reading_next(r, i)) {
        if (strcmp(i->key, "options") == 0) {
            reading_is_first(r, section, i);
            read_options(r, i, "", s);
        } else if (!reading_setting(r, config_service_keys, i, s)) {
            unknown_of_service(r, i);
        } else {
            reading_is_first(r, section, i);
        }
    }
}

/* A network beside the built-in one has a device that is called after it. */
static void name_device(struct config_service *s)
{
    if (s->job != 0 && config_service_option(s, "device") == NULL && s->options < CONFIG_OPTIONS) {
        struct config_option *o = &s->option[s->options++];
        snprintf(o->name, sizeof o->name, "device");
        memcpy(o->value, "cw-", 3);
        memcpy(o->value + 3, s->name, sizeof s->name);
    }
}

void reading_complete_service(const struct daemon_config *c, struct config_service *s)
{
    struct node_service_policy *p = &s->policy;
    p->queue_packets = p->queue_packets == 0 ? c->queue_packets : p->queue_packets;
    p->queue_bytes = p->queue_bytes == 0 ? c->queue_bytes : p->queue_bytes;
    name_device(s);
}
