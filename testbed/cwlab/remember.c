/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/cwlab/remember.h"

#include "testbed/builds.h"
#include "testbed/cwlab/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 2048 };
static const cw_span patience = CW_MS(2000);

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static void put_text(FILE *out, const char *text, size_t length)
{
    putc('"', out);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"' || text[i] == '\\') {
            putc('\\', out);
        }
        putc(text[i], out);
    }
    putc('"', out);
}

static void put_module(FILE *out, const struct remembered_module *m)
{
    const char *at = m->options;
    fputs("service ", out);
    put_text(out, m->service, strlen(m->service));
    fputs(" { file = ", out);
    put_text(out, m->file, strlen(m->file));
    fprintf(out, "; weight = %u; background = %s; options {", m->weight, m->background ? "yes" : "no");
    while (*at != '\0') {
        size_t length = strcspn(at, " "), name = strcspn(at, "=");
        if (name < length) {
            fprintf(out, " %.*s = ", (int)name, at);
            put_text(out, at + name + 1, length - name - 1);
            putc(';', out);
        }
        at += length + (at[length] == ' ');
    }
    fputs(" } }\n", out);
}

int remember_write(FILE *in, const struct remembered *what, FILE *out)
{
    char line[LINE_MAX_BYTES];
    while (fgets(line, sizeof line, in) != NULL) {
        bool module = strncmp(line, "service \"", 9) == 0 && strstr(line, "{ file = \"") != NULL;
        if (!module) {
            fputs(line, out);
        }
    }
    for (unsigned i = 0; i < what->count; i++) {
        put_module(out, &what->module[i]);
    }
    return ferror(in) == 0 && fflush(out) == 0 && ferror(out) == 0 ? 0 : -EIO;
}

/* The new file takes the place of the old one at once: a daemon that starts meanwhile reads one of them. */
static int save(const struct lab *lab, cw_server s, const struct remembered *what)
{
    char name[TORUS_TEXT], path[LAB_PATH], fresh[LAB_PATH];
    lab_daemon_name(lab, s, name);
    FILE *in = fopen(lab_path(lab, name, ".conf", path), "re");
    if (in == NULL) {
        return -errno;
    }
    FILE *out = fopen(lab_path(lab, name, ".conf.new", fresh), "we");
    int rc = out == NULL ? -errno : remember_write(in, what, out);
    if (out != NULL && fclose(out) != 0) {
        rc = -EIO;
    }
    fclose(in);
    return rc == 0 && rename(fresh, path) < 0 ? -errno : rc;
}

/* ---- What runs --------------------------------------------------------------------------------------------------- */

static void take(void *context, const struct message *row)
{
    struct remembered *r = context;
    const char *file = message_get_text(row, "file", "");
    if (file[0] == '\0' || r->count == REMEMBER_MODULES) {
        return;
    }
    struct remembered_module *m = &r->module[r->count++];
    snprintf(m->service, sizeof m->service, "%s", message_get_text(row, "service", ""));
    snprintf(m->file, sizeof m->file, "%s", file);
    snprintf(m->build, sizeof m->build, "%s", message_get_text(row, "build", ""));
    snprintf(m->options, sizeof m->options, "%s", message_get_text(row, "options", ""));
    m->weight = (uint32_t)message_get_integer(row, "weight", 10);
    m->background = message_get_flag(row, "background");
}

static bool is_same(const struct remembered *a, const struct remembered *b)
{
    bool same = a->count == b->count;
    for (unsigned i = 0; same && i < a->count; i++) {
        const struct remembered_module *x = &a->module[i], *y = &b->module[i];
        bool built = x->build[0] != '\0' || y->build[0] != '\0';
        same = strcmp(x->service, y->service) == 0 && strcmp(x->options, y->options) == 0 &&
               (built ? strcmp(x->build, y->build) : strcmp(x->file, y->file)) == 0 && x->weight == y->weight &&
               x->background == y->background;
    }
    return same;
}

/* From here on each module's file is one that has the build that runs, if there is one. */
static void find_builds(const struct lab *lab, struct remembered *r)
{
    char found[LAB_PATH];
    for (unsigned i = 0; i < r->count; i++) {
        struct remembered_module *m = &r->module[i];
        if (builds_find(lab, m->service, m->build, m->file, found) != NULL) {
            memcpy(m->file, found, sizeof found);
        }
    }
}

int remember_services(const struct lab *lab)
{
    cw_server servers = lab->torus.servers;
    char why[PEER_WHY];
    int worst = 0;
    struct remembered *of = lab->driver == LAB_NETNS ? calloc(servers, sizeof *of) : NULL, *any = NULL;
    bool *answered = calloc(servers, sizeof *answered), alike = true;
    for (cw_server s = 0; of != NULL && answered != NULL && s < servers; s++) {
        answered[s] = command_daemon(lab, s, peer_request("services", 0, NULL), patience, take, &of[s], why) >= 0;
        any = answered[s] && any == NULL ? &of[s] : any;
        alike = alike && (!answered[s] || is_same(any, &of[s]));
    }
    for (cw_server s = 0; any != NULL && s < servers; s++) {
        find_builds(lab, &of[s]);
    }
    for (cw_server s = 0; any != NULL && s < servers; s++) {
        int rc = answered[s] ? save(lab, s, &of[s]) : alike ? save(lab, s, any) : 0;
        worst = worst == 0 ? rc : worst;
    }
    free(answered);
    free(of);
    return worst;
}
