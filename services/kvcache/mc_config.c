/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/mc_config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PORT_MAX = 65535, SECONDS_MAX = 10 * 365 * 24 * 3600 };

struct mc_config mc_config_default(const char *fallback)
{
    struct mc_config c = {
        .connections = 1024,
        .idle = CW_SEC(3600),
        .slow = CW_SEC(60),
        .output = 256 * 1024,
        .memory = 256 * 1024 * 1024,
    };
    snprintf(c.listen, sizeof c.listen, "%s", fallback);
    return c;
}

static bool read_number(const char *text, uint64_t most, uint64_t *out)
{
    uint64_t n = 0;
    if (text[0] == '\0') {
        return false;
    }
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || n > most / 10) {
            return false;
        }
        n = n * 10 + (uint64_t)(*text - '0');
    }
    *out = n;
    return n <= most;
}

bool mc_config_split(const char *listen, char host[static MC_ADDRESS], unsigned *port)
{
    const char *colon = strrchr(listen, ':');
    uint64_t n;
    if (colon == NULL || colon == listen || !read_number(colon + 1, PORT_MAX, &n) || n == 0) {
        return false;
    }
    bool brackets = listen[0] == '[';
    size_t length = (size_t)(colon - listen);
    if (brackets && (length < 3 || listen[length - 1] != ']')) {
        return false;
    }
    length -= brackets ? 2 : 0;
    if (length >= MC_ADDRESS || (!brackets && memchr(listen, ':', length) != NULL)) {
        return false;
    }
    memcpy(host, listen + (brackets ? 1 : 0), length);
    host[length] = '\0';
    *port = (unsigned)n;
    return true;
}

struct number {
    const char *name;
    uint64_t least, most;
    const char *unit;
};

enum { CONNECTIONS, IDLE, SLOW, OUTPUT, MEMORY, NUMBERS };
static const struct number numbers[NUMBERS] = {
    [CONNECTIONS] = {"connections", 1, 65536, ""},    [IDLE] = {"idle_s", 0, SECONDS_MAX, " seconds (0: never)"},
    [SLOW] = {"slow_s", 1, SECONDS_MAX, " seconds"},  [OUTPUT] = {"output_kib", 16, 1024 * 1024, " KiB"},
    [MEMORY] = {"answers_mib", 1, 64 * 1024, " MiB"},
};

static void set(struct mc_config *c, unsigned which, uint64_t n)
{
    switch (which) {
    case CONNECTIONS:
        c->connections = (unsigned)n;
        break;
    case IDLE:
        c->idle = CW_SEC((int64_t)n);
        break;
    case SLOW:
        c->slow = CW_SEC((int64_t)n);
        break;
    case OUTPUT:
        c->output = (size_t)n * 1024;
        break;
    default:
        c->memory = (size_t)n * 1024 * 1024;
        break;
    }
}

static int read_listen(struct mc_config *c, const char *listen, char why[static MC_CONFIG_WHY])
{
    char host[MC_ADDRESS];
    unsigned port;
    if (listen == NULL) {
        return 0;
    }
    if (strcmp(listen, "none") == 0) {
        c->listen[0] = '\0';
        return 0;
    }
    if (strlen(listen) >= sizeof c->listen || !mc_config_split(listen, host, &port)) {
        snprintf(
            why, MC_CONFIG_WHY,
            "listen = \"%.60s\": expected an address and a port, \"127.0.0.1:11211\" or \"[::1]:11211\", or \"none\"",
            listen);
        return -EINVAL;
    }
    snprintf(c->listen, sizeof c->listen, "%s", listen);
    return 0;
}

int mc_config_read(struct mc_config *c, const char *fallback, const char *(*get)(void *context, const char *name),
                   void *context, char why[static MC_CONFIG_WHY])
{
    *c = mc_config_default(fallback);
    why[0] = '\0';
    int rc = read_listen(c, get(context, "listen"), why);
    for (unsigned i = 0; i < NUMBERS; i++) {
        const struct number *number = &numbers[i];
        const char *text = get(context, number->name);
        uint64_t n = 0;
        if (text == NULL) {
            continue;
        }
        if (!read_number(text, number->most, &n) || n < number->least) {
            snprintf(why, MC_CONFIG_WHY, "%s = \"%.40s\": expected %llu to %llu%s", number->name, text,
                     (unsigned long long)number->least, (unsigned long long)number->most, number->unit);
            rc = -EINVAL;
            continue;
        }
        set(c, i, n);
    }
    return rc;
}

static const char *option(void *context, const char *name)
{
    return cw_option(context, name);
}

int mc_config_check(cw_svc *s)
{
    struct mc_config c;
    char why[MC_CONFIG_WHY];
    int rc = mc_config_read(&c, "", option, s, why);
    if (rc < 0) {
        cw_log(s, CW_LOG_ERROR, why);
    }
    return rc;
}
