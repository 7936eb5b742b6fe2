/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/diagnosis/services.h"

#include "ctl/diagnosis/finding.h"

#include <stdlib.h>
#include <string.h>

enum { NOTE = 4, WARNING = 3, TEXT = 900, VERSIONS = 8, SERVERS_NAMED = 6, WEIGHT = 10, SHARE = 64 };

static bool is_part(const struct message *m, const char *part)
{
    return strcmp(finding_text(m, "part"), part) == 0;
}

static bool same(const struct message *a, const struct message *b, const char *name)
{
    return strcmp(finding_text(a, name), finding_text(b, name)) == 0;
}

static int64_t weight_of(const struct message *m)
{
    return message_get_integer(m, "weight", WEIGHT); /* daemons before 0.2 do not say it */
}

static bool is_background(const struct message *m)
{
    return strcmp(finding_text(m, "class"), "background") == 0;
}

/* One module of a server is also one of another: the same service, build, options, and share of the links. */
static bool is_alike(const struct message *a, const struct message *b)
{
    return same(a, b, "service") && same(a, b, "build") && same(a, b, "options") && weight_of(a) == weight_of(b) &&
           is_background(a) == is_background(b);
}

/* How the service runs on most servers: a row of one of them, and how many there are; NULL: half run it, or fewer. */
static const struct message *usual(const struct rows *rows, size_t count, const char *service, size_t servers,
                                   size_t *most)
{
    const struct message *best = NULL;
    size_t run = 0;
    *most = 0;
    for (size_t i = 0; i < count; i++) {
        const struct message *m = rows->row[i];
        size_t alike = 0;
        if (!is_part(m, "service") || strcmp(finding_text(m, "service"), service) != 0) {
            continue;
        }
        run++;
        if (best != NULL && is_alike(m, best)) {
            continue; /* these were counted */
        }
        for (size_t k = 0; k < count; k++) {
            alike += is_part(rows->row[k], "service") && is_alike(m, rows->row[k]);
        }
        best = alike > *most ? m : best;
        *most = alike > *most ? alike : *most;
    }
    return 2 * run > servers ? best : NULL;
}

static const struct message *module_of(const struct rows *rows, size_t count, const char *server, const char *service)
{
    for (size_t i = 0; i < count; i++) {
        const struct message *m = rows->row[i];
        if (is_part(m, "service") && strcmp(finding_text(m, "server"), server) == 0 &&
            strcmp(finding_text(m, "service"), service) == 0) {
            return m;
        }
    }
    return NULL;
}

/* " --option a=b --option c=d" */
static void put_options(const char *options, char *out, size_t room)
{
    size_t used = 0;
    out[0] = '\0';
    while (*options != '\0' && used < room) {
        size_t length = strcspn(options, " ");
        used += (size_t)snprintf(out + used, room - used, " --option %.*s", (int)length, options);
        options += length + (options[length] == ' ');
    }
}

/* " --weight 20 --background": what is not so by itself */
static const char *put_share(const struct message *as, char out[static SHARE])
{
    char weight[SHARE / 2] = "";
    if (weight_of(as) != WEIGHT) {
        snprintf(weight, sizeof weight, " --weight %u", (unsigned)weight_of(as));
    }
    snprintf(out, SHARE, "%s%s", weight, is_background(as) ? " --background" : "");
    return out;
}

static const char *options_of(const struct message *m)
{
    const char *options = finding_text(m, "options");
    return options[0] != '\0' ? options : "none";
}

static void tell_share(const char *server, const struct message *own, const struct message *as, size_t most,
                       size_t servers, char text[static TEXT], char action[static TEXT])
{
    const char *service = finding_text(as, "service");
    snprintf(text, TEXT, "service %s on %s has weight %u%s, and weight %u%s on %zu of %zu servers", service, server,
             (unsigned)weight_of(own), is_background(own) ? " in the background" : "", (unsigned)weight_of(as),
             is_background(as) ? " in the background" : "", most, servers);
    if (is_background(own) && !is_background(as)) {
        snprintf(action, TEXT, "on %s: cwctl services unload %s; the doctor then says how to load it", server, service);
    } else {
        snprintf(action, TEXT, "on %s: cwctl services weight %s %u%s", server, service, (unsigned)weight_of(as),
                 is_background(as) ? " --background" : "");
    }
}

/* *own NULL: the service does not run there. */
static void tell(struct rows *rows, const char *server, const struct message *own, const struct message *as,
                 size_t most, size_t servers)
{
    struct message *m = message_open();
    char text[TEXT], action[TEXT], options[TEXT / 2], share[SHARE];
    const char *service = finding_text(as, "service"), *file = finding_text(as, "file");
    if (m == NULL) {
        return;
    }
    put_options(finding_text(as, "options"), options, sizeof options);
    if (own == NULL) {
        snprintf(text, sizeof text,
                 "service %s does not run on %s, and runs on %zu of %zu servers: what is sent to it there is dropped",
                 service, server, most, servers);
        snprintf(action, sizeof action, "on %s: cwctl services load %s%s%s", server, file, put_share(as, share),
                 options);
    } else if (!same(own, as, "build")) {
        snprintf(text, sizeof text, "service %s on %s is build %s, and build %s on %zu of %zu servers", service, server,
                 finding_text(own, "build"), finding_text(as, "build"), most, servers);
        snprintf(action, sizeof action, "on %s: cwctl services reload %s", server, file);
    } else if (same(own, as, "options")) {
        tell_share(server, own, as, most, servers, text, action);
    } else if (file[0] == '\0') {
        snprintf(text, sizeof text,
                 "network %s of %s (%.200s) is not that of %zu of %zu servers (%.200s): where its addresses are "
                 "others, too, their programs cannot speak with one another",
                 service, server, options_of(own), most, servers, options_of(as));
        snprintf(action, sizeof action,
                 "on %s: write the same options into network %s { } of cubewayd.conf, then: systemctl restart cubewayd",
                 server, service);
    } else {
        snprintf(text, sizeof text,
                 "service %s on %s runs with other options (%.200s) than on %zu of %zu servers (%.200s)", service,
                 server, options_of(own), most, servers, options_of(as));
        snprintf(action, sizeof action, "on %s: cwctl services unload %s; the doctor then says how to load it", server,
                 service);
    }
    message_text(m, "server", server);
    message_text(m, "part", "finding");
    message_integer(m, "severity", WARNING);
    message_text(m, "cause", "services");
    message_text(m, "service", service);
    message_text(m, "text", text);
    message_text(m, "do", action);
    rows_add(rows, m);
}

static bool came_before(const struct rows *rows, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (is_part(rows->row[k], "service") && same(rows->row[k], rows->row[i], "service")) {
            return true;
        }
    }
    return false;
}

void diagnose_services(struct rows *rows)
{
    size_t count = rows->count, servers = 0, most;
    for (size_t i = 0; i < count; i++) {
        servers += is_part(rows->row[i], "about");
    }
    for (size_t i = 0; i < count; i++) {
        const char *service = finding_text(rows->row[i], "service");
        if (!is_part(rows->row[i], "service") || came_before(rows, i)) {
            continue;
        }
        const struct message *as = usual(rows, count, service, servers, &most);
        for (size_t k = 0; as != NULL && k < count; k++) {
            const char *server = finding_text(rows->row[k], "server");
            const struct message *own = is_part(rows->row[k], "about") ? module_of(rows, count, server, service) : as;
            /* An IP network, which is built in, may leave servers out. */
            if (own == NULL ? finding_text(as, "file")[0] != '\0' : !is_alike(own, as)) {
                tell(rows, server, own, as, most, servers);
            }
        }
    }
}

/* ---- Versions ---------------------------------------------------------------------------------------------------- */

struct version {
    const char *name; /* of a row */
    char servers[TEXT];
    unsigned count;
};

static void count_version(struct version *version, unsigned *versions, const struct message *row)
{
    unsigned i = 0;
    while (i < *versions && strcmp(version[i].name, finding_text(row, "version")) != 0) {
        i++;
    }
    if (i == VERSIONS) {
        return;
    }
    if (i == *versions) {
        version[(*versions)++] = (struct version){.name = finding_text(row, "version")};
    }
    struct version *v = &version[i];
    size_t used = strlen(v->servers);
    if (v->count < SERVERS_NAMED) {
        snprintf(v->servers + used, TEXT - used, "%s%s", v->count > 0 ? " " : "", finding_text(row, "server"));
    }
    v->count++;
}

void diagnose_versions(struct rows *rows)
{
    struct version version[VERSIONS];
    char text[TEXT] = "";
    unsigned versions = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (is_part(rows->row[i], "about")) {
            count_version(version, &versions, rows->row[i]);
        }
    }
    struct message *m = versions > 1 ? message_open() : NULL;
    if (m == NULL) {
        return;
    }
    int used = snprintf(text, sizeof text, "%u versions run side by side: ", versions);
    for (unsigned i = 0; i < versions && (size_t)used < sizeof text; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%.40s on %u (%.100s%s)", i > 0 ? ", " : "",
                         version[i].name, version[i].count, version[i].servers,
                         version[i].count > SERVERS_NAMED ? " .." : "");
    }
    message_text(m, "server", "");
    message_text(m, "part", "finding");
    message_integer(m, "severity", NOTE);
    message_text(m, "cause", "versions");
    message_text(m, "text", text);
    message_text(m, "do", "finish the upgrade, server by server (docs/operating.md, \"Upgrading\")");
    rows_add(rows, m);
}
