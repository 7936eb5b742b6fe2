/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct command *const commands[] = {
    &command_up,      &command_down,    &command_status, &command_list,  &command_pingall,
    &command_fail,    &command_restore, &command_leave,  &command_pause, &command_link,
    &command_loss,    &command_churn,   &command_ctl,    &command_exec,  &command_shell,
    &command_capture, &command_judge,   &command_run,    NULL,
};

/* ---- Command lines ----------------------------------------------------------------------------------------------------------- */

static void print_help(const struct command *c, const struct option *option, size_t count)
{
    printf("usage: cwlab %s %s\n\n%s\n\nOptions (with their defaults):\n", c->name, c->words, c->text);
    options_print(option, count, stdout);
    printf("\nFor example:\n%s\n", c->example);
}

int command_options(const struct command *c, const struct option *option, size_t count, int argc, char **argv,
                    struct option_words *words)
{
    char program[48];
    snprintf(program, sizeof program, "cwlab %s", c->name);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(c, option, count); /* before anything is parsed: the values are the defaults */
            return EXIT_FINE;
        }
    }
    return options_parse(program, option, count, argc, argv, words, stderr) != 0 ? EXIT_USAGE : COMMAND_GO;
}

int command_leading(const struct command *c, const struct option *option, size_t count, int argc, char **argv,
                    int *rest)
{
    int end = 1;
    while (end < argc && strncmp(argv[end], "--", 2) == 0) {
        bool value = strchr(argv[end], '=') != NULL || strcmp(argv[end], "--") == 0;
        for (size_t i = 0; i < count; i++) {
            value |= option[i].kind == OPTION_FLAG && strcmp(argv[end] + 2, option[i].name) == 0;
        }
        end += value || strcmp(argv[end], "--help") == 0 || end + 1 == argc ? 1 : 2;
    }
    *rest = end;
    return command_options(c, option, count, end, argv, NULL);
}

int command_refuse(const struct command *c, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "cwlab %s: ", c->name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

/* ---- Labs -------------------------------------------------------------------------------------------------------------------- */

struct living {
    char name[LAB_NAME];
    unsigned count;
};

static void count_living(void *context, const char *name)
{
    struct living *l = context;
    struct lab lab;
    char why[LAB_WHY];
    if (lab_load(&lab, name, why) == 0 && lab_lives(&lab)) {
        l->count++;
        snprintf(l->name, sizeof l->name, "%s", name);
    }
}

int command_lab(const struct command *c, const char *name, struct lab *lab)
{
    struct living only = {.count = 0};
    char why[LAB_WHY];
    if (name == NULL) {
        lab_each(count_living, &only);
        if (only.count != 1) {
            command_refuse(c, only.count == 0 ? "no lab is up: cwlab up makes one"
                                              : "several labs are up: say which with --name (cwlab list)");
            return EXIT_NO_LAB;
        }
        name = only.name;
    }
    if (lab_load(lab, name, why) < 0) {
        command_refuse(c, "%s", why);
        return EXIT_NO_LAB;
    }
    if (!lab_lives(lab)) {
        command_refuse(c, "lab '%s' is dead: its keeper was killed, and all went with it (the next cwlab up cleans up)",
                       name);
        return EXIT_NO_LAB;
    }
    return COMMAND_GO;
}

int command_server(const struct command *c, const struct lab *lab, const char *word, cw_server *out)
{
    cw_coord at;
    if (word == NULL || torus_parse(&lab->torus, word, strlen(word), &at) < 0) {
        return command_refuse(c, "expected a server of the torus, as 0,1,2; found '%s'",
                              word != NULL ? word : "nothing");
    }
    *out = torus_id(&lab->torus, at);
    return COMMAND_GO;
}

/* ---- Asking ------------------------------------------------------------------------------------------------------------------ */

int command_keeper(const struct command *c, const struct lab *lab, const char *what, int argc, const char *const *argv,
                   void (*row)(void *context, const struct message *row), void *context)
{
    static const cw_span patience = CW_MS(30000);
    char path[LAB_PATH], why[PEER_WHY];
    struct peer p;
    int rc = peer_open(&p, lab_path(lab, "keeper", ".sock", path));
    if (rc < 0) {
        command_refuse(c, "lab '%s' is dead", lab->name);
        return EXIT_NO_LAB;
    }
    rc = peer_ask(&p, peer_request(what, argc, argv), patience, row, context, why);
    peer_close(&p);
    if (rc < 0) {
        command_refuse(c, "%s%s%s", argc > 0 ? argv[0] : "", argc > 0 ? ": " : "", why);
        return EXIT_USAGE;
    }
    return EXIT_FINE;
}

int command_daemon(const struct lab *lab, cw_server s, struct message *request, cw_span patience,
                   void (*row)(void *context, const struct message *row), void *context, char why[static PEER_WHY])
{
    char name[TORUS_TEXT], path[LAB_PATH];
    struct peer p;
    lab_path(lab, lab_daemon_name(lab, s, name), ".sock", path);
    int rc = peer_open(&p, path);
    if (rc < 0) {
        message_close(request);
        snprintf(why, PEER_WHY, "its daemon does not answer");
        return rc;
    }
    torus_format(torus_coord(&lab->torus, s), name);
    message_text(request, "server", name);
    rc = peer_ask(&p, request, patience, row, context, why);
    peer_close(&p);
    return rc;
}

/* ---- Showing ----------------------------------------------------------------------------------------------------------------- */

static void copy_text(void *context, const char *name, const char *value)
{
    report_text(context, name, value);
}

static void copy_integer(void *context, const char *name, int64_t value)
{
    report_integer(context, name, value);
}

static void copy_real(void *context, const char *name, double value)
{
    report_real(context, name, value);
}

static void copy_flag(void *context, const char *name, bool value)
{
    report_flag(context, name, value);
}

void command_copy(struct report *r, const struct message *row)
{
    const struct message_visitor copy = {
        .context = r, .text = copy_text, .integer = copy_integer, .real = copy_real, .flag = copy_flag};
    message_visit(row, &copy);
}

int command_print(struct report *r, bool json, int code)
{
    int rc = json ? report_print_json(r, stdout) : report_print_table(r, stdout);
    report_close(r);
    if (rc < 0) {
        fprintf(stderr, "cwlab: standard output: %s\n", strerror(-rc));
        return EXIT_USAGE;
    }
    return code;
}

/* ---- Programs ---------------------------------------------------------------------------------------------------------------- */

static bool beside(const char *name, char out[static LAB_PATH])
{
    ssize_t length = readlink("/proc/self/exe", out, LAB_PATH - 1);
    out[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(out, '/');
    if (slash == NULL || (size_t)(slash - out) + strlen(name) + 2 > LAB_PATH) {
        return false;
    }
    memcpy(slash + 1, name, strlen(name) + 1);
    return access(out, R_OK) == 0;
}

int command_find(const char *variable, const char *name, char out[static LAB_PATH])
{
    const char *said = getenv(variable), *path = getenv("PATH");
    if (said != NULL && said[0] != '\0') {
        char *whole = realpath(said, NULL);
        int length = whole != NULL ? snprintf(out, LAB_PATH, "%s", whole) : -1;
        free(whole);
        return length > 0 && length < LAB_PATH ? 0 : -ENOENT;
    }
    if (beside(name, out)) {
        return 0;
    }
    while (path != NULL && path[0] != '\0') {
        size_t length = strcspn(path, ":");
        if (snprintf(out, LAB_PATH, "%.*s/%s", (int)length, path, name) < LAB_PATH && access(out, X_OK) == 0) {
            return 0;
        }
        path += length + (path[length] == ':');
    }
    return -ENOENT;
}
