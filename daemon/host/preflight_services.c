/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/preflight_services.h"

#include "daemon/config/lint.h"
#include "daemon/host/host.h"
#include "services/builtin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SENTENCE = 2048 };

struct looking {
    const struct daemon_config *config;
    struct preflight *p;
    char said[SENTENCE]; /* the last line that a service has logged */
};

static void keyed_mistake(void *context, const char *text)
{
    const struct looking *l = context;
    preflight_keyed(l->config, l->p, true, text);
}

static void on_said(void *context, const char *service, const char *text)
{
    struct looking *l = context;
    (void)service;
    snprintf(l->said, sizeof l->said, "%s", text);
}

/*
 * The option that a sentence is about ("option listen = "x": expected ..", "it has no option x"); `count`: none of
 * them.
 */
static unsigned blamed(const struct config_option *option, unsigned count, const char *said, const char *why)
{
    static const char unknown[] = "it has no option ", setting[] = "option ";
    const char *name = strstr(why, unknown);
    unsigned found = count;
    said += strncmp(said, setting, sizeof setting - 1) == 0 ? sizeof setting - 1 : 0;
    for (unsigned i = 0; i < count; i++) {
        size_t length = strlen(option[i].name);
        bool valued = strncmp(said, option[i].name, length) == 0 && strncmp(said + length, " = ", 3) == 0;
        const char *behind = name != NULL ? name + sizeof unknown - 1 : "";
        bool strange =
            strncmp(behind, option[i].name, length) == 0 && (behind[length] == '\0' || behind[length] == ';');
        found = valued || strange ? i : found;
    }
    return found;
}

/* A value that a service tells in double quotes, as "never": expected .., in those of all other keys. */
static void requote(char *text)
{
    char *end = text[0] == '"' ? strstr(text + 1, "\": expected") : NULL;
    if (end != NULL) {
        text[0] = *end = '\'';
    }
}

/* Tells of one mistake after the other: each is left out for the next try. */
static void try_service(struct looking *l, struct host *h, const struct config_service *s)
{
    struct config_option option[CONFIG_OPTIONS];
    unsigned count = s->options;
    memcpy(option, s->option, sizeof option);
    for (;;) {
        char why[HOST_WHY], key[CONFIG_KEY];
        l->said[0] = '\0';
        if (host_service_load_with(h, s->name, NULL, &s->policy, option, count, why) == 0) {
            return;
        }
        unsigned which = blamed(option, count, l->said, why);
        if (which == count) {
            preflight_wrong(l->config, l->p, config_service_key(s, NULL, key), "%s",
                            l->said[0] != '\0' ? l->said : why);
            return;
        }
        (void)config_service_key(s, option[which].name, key);
        char *value = strchr(l->said, '=');
        const char *about = value == NULL ? strstr(why, ": it has no option ") : NULL;
        if (value != NULL) {
            requote(value + 2);
        }
        preflight_wrong(l->config, l->p, key, "%s", about != NULL ? about + 2 : value != NULL ? value + 2 : why);
        count--;
        memmove(&option[which], &option[which + 1], (count - which) * sizeof *option);
    }
}

static bool is_configured(const struct daemon_config *c, const char *name, unsigned before)
{
    for (unsigned i = 0; i < before; i++) {
        if (strcmp(c->service[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* The built-in services with their options. */
static void try_services(struct looking *l, struct host *h)
{
    const struct daemon_config *c = l->config;
    size_t builtin_count;
    const cw_service *const *builtin = builtin_services(&builtin_count);
    char why[HOST_WHY];
    for (size_t i = 0; i < builtin_count; i++) {
        if (!is_configured(c, builtin[i]->name, c->service_count)) {
            (void)!host_service_load(h, builtin[i]->name, NULL, NULL, why);
        }
    }
    for (unsigned i = 0; i < c->service_count; i++) {
        const struct config_service *s = &c->service[i];
        bool known = builtin_service(s->name) != NULL || (s->network && s->job != 0);
        bool here = s->enabled && s->file[0] == '\0' && known;
        if (here && !is_configured(c, s->name, i)) {
            try_service(l, h, s);
        }
    }
}

/* What options may be depends on the size of the torus and of its frames; where it is unknown, any will do. */
static cw_dims dims_to_try(const struct daemon_config *c)
{
    struct torus torus;
    return c->dims.x != 0 && torus_init(&torus, c->dims) == 0 ? c->dims : (cw_dims){1, 1, 1};
}

/* On one server of the torus, without links. */
void preflight_services(const struct daemon_config *config, struct preflight *p)
{
    struct looking looking = {.config = config, .p = p}, *l = &looking;
    struct daemon_config *alone = malloc(sizeof *alone);
    struct shim *none[CW_LINK_COUNT] = {NULL};
    struct host *h;
    char why[HOST_WHY];
    (void)!lint_services(l->config, keyed_mistake, l);
    if (alone == NULL) {
        return;
    }
    *alone = config_default();
    alone->place = CONFIG_STATIC;
    alone->dims = dims_to_try(l->config);
    alone->mtu = l->config->mtu;
    alone->cluster = l->config->cluster;
    alone->service_count = l->config->service_count; /* the networks of its own are found by their names */
    memcpy(alone->service, l->config->service, sizeof alone->service);
    struct host_options options = {.config = alone, .incarnation = 1, .said = on_said, .said_context = l, .shim = none};
    if (host_open(&h, &options, why) == 0) {
        try_services(l, h);
        host_close(h);
    } else {
        preflight_warn(l->config, l->p, "service", "not looked at: %s", why);
    }
    free(alone);
}
