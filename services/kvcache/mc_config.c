/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/mc_config.h"

#include "base/words.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    PORT_MAX = 65535,
    SECONDS_MAX = 10 * 365 * 24 * 3600, /* ten years */
    NS_IN_S = 1000000000,
    KIB = 1024,
    MIB = 1024 * KIB,
};

struct mc_config mc_config_default(const char *fallback)
{
    struct mc_config c = {
        .connections = 1024,
        .idle = CW_SEC(3600),
        .slow = CW_SEC(60),
        .output = 256 * KIB,
        .memory = 256 * MIB,
    };
    snprintf(c.listen, sizeof c.listen, "%s", fallback);
    return c;
}

bool mc_config_split(const char *listen, char host[static MC_ADDRESS], unsigned *port)
{
    const char *colon = strrchr(listen, ':');
    uint64_t n;
    bool digits = colon != NULL && colon[1 + strspn(colon + 1, "0123456789")] == '\0';
    if (!digits || colon == listen || words_number(colon + 1, 1, PORT_MAX, &n) < 0) {
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

#define OPTION(word, field, ...)                                                                                \
    {                                                                                                           \
        .name = word, .kind = SETTING_COUNT, SETTING_FIELD(struct mc_config, field), .plain = true, __VA_ARGS__ \
    }
static const struct setting options[] = {
    OPTION("connections", connections, .least = 1, .most = 65536),
    OPTION("idle_s", idle, .most = SECONDS_MAX, .unit = NS_IN_S, .of = "seconds (0: never)"),
    OPTION("slow_s", slow, .least = 1, .most = SECONDS_MAX, .unit = NS_IN_S, .of = "seconds"),
    OPTION("output_kib", output, .least = 16, .most = 1024 * 1024, .unit = KIB, .of = "KiB"),
    OPTION("answers_mib", memory, .least = 1, .most = 64 * 1024, .unit = MIB, .of = "MiB"),
    {.name = NULL},
};

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
    char why_listen[MC_CONFIG_WHY] = "";
    *c = mc_config_default(fallback);
    int listen = read_listen(c, get(context, "listen"), why_listen);
    int rc = setting_read_table(options, c, get, context, why);
    if (listen < 0) {
        memcpy(why, why_listen, MC_CONFIG_WHY);
    }
    return listen < 0 ? listen : rc;
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
