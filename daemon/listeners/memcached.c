/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/listeners/memcached.h"

#include "daemon/machine/log.h"
#include "services/kvcache/memcached/gateway.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORT_MAX = 65535 };

static const char service_name[] = "kvcache";
static const char usual[] = "127.0.0.1:11211";

/* The front end of one server. */
struct entrance {
    struct host_server *server;
    struct gateway *gateway;
    struct host_deferred work;
};

struct memcached_listener {
    struct host *host;
    unsigned count; /* servers of the process */
    bool open;
    struct entrance entrance[];
};

/* ---- Into the server --------------------------------------------------------------------------------------------- */

struct visitor {
    void (*visit)(void *arg, cw_svc *kvcache, const struct kvcache_api *api);
    void *arg;
};

static void on_visit(void *context, cw_svc *svc, const void *exports)
{
    struct visitor *v = context;
    v->visit(v->arg, svc, exports);
}

static int enter(void *context, void (*visit)(void *arg, cw_svc *kvcache, const struct kvcache_api *api), void *arg)
{
    const struct entrance *entrance = context;
    struct visitor v = {visit, arg};
    return host_visit(entrance->server, service_name, KVCACHE_API_VERSION, on_visit, &v);
}

/* An answer is sent in the turn in which it came; by an event of the loop it would be sent in the next. */
static void later(void *context)
{
    struct entrance *entrance = context;
    host_defer(entrance->server->host, &entrance->work);
}

static void work(void *context)
{
    struct entrance *entrance = context;
    gateway_work(entrance->gateway);
}

/* ---- Opening and closing ----------------------------------------------------------------------------------------- */

static const char *option(void *context, const char *name)
{
    return host_option(context, service_name, name);
}

/* The address for server i: its port is i above the first server's. False: there is no such port. */
static bool address_of(const char *listen, unsigned i, char out[static MC_ADDRESS])
{
    char host[MC_ADDRESS];
    unsigned port;
    if (!mc_config_split(listen, host, &port) || port + i > PORT_MAX) {
        return false;
    }
    bool six = strchr(host, ':') != NULL;
    int length = snprintf(out, MC_ADDRESS, "%s%s%s:%u", six ? "[" : "", host, six ? "]" : "", port + i);
    return length > 0 && length < MC_ADDRESS;
}

static void shut(struct memcached_listener *l)
{
    for (unsigned i = 0; i < l->count; i++) {
        host_undefer(&l->entrance[i].work);
        gateway_close(l->entrance[i].gateway);
        l->entrance[i].gateway = NULL;
    }
    l->open = false;
}

static int open_one(struct memcached_listener *l, unsigned i, const struct mc_config *config, char why[static HOST_WHY])
{
    struct mc_config own = *config;
    struct entrance *entrance = &l->entrance[i];
    const struct gateway_host host = {entrance, enter, later};
    char problem[GATEWAY_WHY];
    if (!address_of(config->listen, i, own.listen)) {
        snprintf(why, HOST_WHY,
                 "service kvcache: listen = \"%s\": %u servers of one process have no ports from there on",
                 config->listen, l->count);
        return -EINVAL;
    }
    *entrance = (struct entrance){.server = host_server(l->host, i), .work = {.fn = work, .context = entrance}};
    int rc = gateway_open(&entrance->gateway, host_base(l->host), &own, &host, problem);
    if (rc < 0) {
        snprintf(why, HOST_WHY, "%s", problem);
    }
    return rc;
}

static int open_all(struct memcached_listener *l, const char *fallback, char why[static HOST_WHY])
{
    struct mc_config config;
    char problem[MC_CONFIG_WHY];
    int rc = mc_config_read(&config, fallback, option, l->host, problem);
    if (rc < 0) {
        snprintf(why, HOST_WHY, "service kvcache: %s", problem);
        return rc;
    }
    l->open = true;
    for (unsigned i = 0; i < l->count && config.listen[0] != '\0'; i++) {
        rc = open_one(l, i, &config, why);
        if (rc < 0) {
            shut(l);
            return rc;
        }
    }
    if (config.listen[0] != '\0') {
        LOG(host_log(l->host), CW_LOG_INFO, "memcached's clients are served", {"listen", config.listen});
    }
    return 0;
}

static bool runs(const struct memcached_listener *l)
{
    return host_service_find(l->host, service_name) != NULL;
}

static void on_services(void *context, struct host *h)
{
    struct memcached_listener *l = context;
    char why[HOST_WHY];
    if (l->open && !runs(l)) {
        shut(l);
    } else if (!l->open && runs(l) && open_all(l, usual, why) < 0) {
        LOG(host_log(h), CW_LOG_ERROR, "memcached's clients cannot be served", {"why", why});
    }
}

/* True when the configuration names the service. */
static bool configured(const struct daemon_config *config)
{
    for (unsigned i = 0; i < config->service_count; i++) {
        if (strcmp(config->service[i].name, service_name) == 0) {
            return true;
        }
    }
    return false;
}

int memcached_listener_open(struct memcached_listener **out, struct host *h, char why[static HOST_WHY])
{
    unsigned count = host_count(h);
    struct memcached_listener *l = calloc(1, sizeof *l + count * sizeof l->entrance[0]);
    if (l == NULL) {
        snprintf(why, HOST_WHY, "out of memory");
        return -ENOMEM;
    }
    l->host = h;
    l->count = count;
    int rc = runs(l) ? open_all(l, configured(host_config(h)) ? usual : "", why) : 0;
    if (rc < 0) {
        free(l);
        return rc;
    }
    host_on_services(h, on_services, l);
    *out = l;
    return 0;
}

void memcached_listener_close(struct memcached_listener *l)
{
    if (l == NULL) {
        return;
    }
    host_on_services(l->host, NULL, NULL);
    shut(l);
    free(l);
}

unsigned memcached_listener_clients(const struct memcached_listener *l)
{
    unsigned clients = 0;
    for (unsigned i = 0; i < l->count; i++) {
        clients += l->entrance[i].gateway != NULL ? gateway_clients(l->entrance[i].gateway) : 0;
    }
    return clients;
}
