/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/cwlab/command.h"
#include "testbed/cwlab/cmd_complete.h"
#include "testbed/hold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct program_command *const commands[] = {
    &command_up,      &command_down,    &command_status, &command_list, &command_pingall, &command_fail,
    &command_restore, &command_leave,   &command_pause,  &command_link, &command_loss,    &command_churn,
    &command_ctl,     &command_exec,    &command_shell,  &command_logs, &command_capture, &command_judge,
    &command_run,     &command_rescale, &command_watch,  NULL,
};

#define EXIT_CODES                                                                                                \
    "Exit codes: 0 all is well; 1 done, and not as it should be; 2 wrong usage, or not possible here; 3 no such " \
    "lab.\n"                                                                                                      \
    "exec, shell, ctl, capture and watch give the code of the program that they ran."

/* Words of cwctl that people try here. The first ones ask all servers by themselves. */
static const char *of_cwctl(const char *word)
{
    static const char *const words[] = {
        "doctor", "events",  "aggregate", "config",   "counters", "daemon", "drain", "drops",  "file",
        "hosts",  "job",     "key",       "kv",       "links",    "log",    "ping",  "plan",   "query",
        "routes", "servers", "service",   "services", "store",    "top",    "trace", "tunnel", "wiring",
    };
    enum { OF_ALL = 2 };
    static char line[120];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(word, words[i]) == 0) {
            snprintf(line, sizeof line, "cwctl has one: cwlab ctl %s %s", i < OF_ALL ? "all" : "0,0,0", word);
            return line;
        }
    }
    return NULL;
}

const struct program program_cwlab = {
    .name = "cwlab",
    .purpose =
        "Brings up a torus of real daemons on this machine: one network namespace for each server, a veth pair for "
        "each\n"
        "cable. Nothing is installed and nothing is left behind: a lab lives as long as its keeper process.\n"
        "\n"
        "  cwlab up 3x3x3                      27 servers; returns when all know each other\n"
        "  cwlab pingall                       everybody pings everybody\n"
        "  cwlab ctl 0,0,0 key explain hello   ask a server's daemon\n"
        "  cwlab fail 1,0,2                    kill -9\n"
        "  cwlab down",
    .ending = EXIT_CODES,
    .codes = EXIT_CODES,
    .commands = commands,
    .complete = complete_behind,
    .elsewhere = of_cwctl,
    .values = complete_values,
    .named = "--name",
    .named_by = "status",
    .rows = true,
};

/* ---- Labs -------------------------------------------------------------------------------------------------------- */

enum { NAMES_TEXT = 400 };

/* The labs of this user: how many live, the name of the last of these, and all names for a sentence. */
struct living {
    char name[LAB_NAME];
    unsigned count;
    char names[NAMES_TEXT];
};

static void note_lab(void *context, const char *name)
{
    struct living *l = context;
    struct lab lab;
    char why[LAB_WHY];
    size_t used = strlen(l->names);
    bool lives = lab_load(&lab, name, why) == 0 && lab_lives(&lab);
    if (lives) {
        l->count++;
        snprintf(l->name, sizeof l->name, "%s", name);
    }
    snprintf(l->names + used, sizeof l->names - used, "%s%s%s", used > 0 ? ", " : "", name, lives ? "" : " (dead)");
}

const char *command_default_name(void)
{
    const char *name = getenv("CWLAB_NAME");
    return name != NULL && name[0] != '\0' ? name : NULL;
}

int command_refuse_name(const struct program_command *c, const char *name)
{
    struct living all = {.count = 0};
    lab_each(note_lab, &all);
    if (all.names[0] == '\0') {
        program_refuse(c, "there is no lab '%s': no lab is up, and cwlab up makes one", name);
    } else {
        program_refuse(c, "there is no lab '%s'; there is %s", name, all.names);
    }
    return EXIT_NO_LAB;
}

int command_lab(const struct program_command *c, const char *name, struct lab *lab)
{
    struct living only = {.count = 0};
    char why[LAB_WHY];
    name = name != NULL ? name : command_default_name();
    if (name == NULL) {
        lab_each(note_lab, &only);
        if (only.count != 1) {
            only.count == 0
                ? program_refuse(c, "no lab is up: cwlab up makes one")
                : program_refuse(c, "several labs are up (%s): say which with --name, or set CWLAB_NAME", only.names);
            return EXIT_NO_LAB;
        }
        name = only.name;
    }
    int rc = lab_load(lab, name, why);
    if (rc == -ENOENT) {
        return command_refuse_name(c, name);
    }
    if (rc < 0) {
        program_refuse(c, "%s", why);
        return EXIT_NO_LAB;
    }
    switch (hold_state(lab)) {
    case HOLD_UP:
        return PROGRAM_GO;
    case HOLD_COMES:
        program_refuse(c, "lab '%s' is coming up, and its keeper does not answer yet", name);
        break;
    case HOLD_ENDS:
        program_refuse(c, "lab '%s' is ending: cwlab down --name %s waits for its end", name, name);
        break;
    default:
        program_refuse(c, "lab '%s' is dead: its keeper was killed, and all went with it (the next cwlab up cleans up)",
                       name);
    }
    return EXIT_NO_LAB;
}

int command_read_server(const struct program_command *c, const struct lab *lab, const char *word, cw_server *out)
{
    cw_coord at;
    if (word == NULL) {
        return program_refuse(c, "expected a server of the torus, as 0,1,2");
    }
    if (torus_parse(&lab->torus, word, strlen(word), &at) < 0) {
        return program_refuse(c, "expected a server of the torus, as 0,1,2; found '%s'", word);
    }
    *out = torus_id(&lab->torus, at);
    return PROGRAM_GO;
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

static int ask_keeper(const struct program_command *c, const struct lab *lab, const char *what, int argc,
                      const char *const *argv, void (*row)(void *context, const struct message *row), void *context,
                      bool *already)
{
    static const cw_span patience = CW_MS(30000);
    char path[LAB_PATH], why[PEER_WHY];
    struct peer p;
    int rc = peer_open(&p, lab_path(lab, "keeper", ".sock", path));
    if (rc < 0) {
        program_refuse(c, "lab '%s' is dead", lab->name);
        return EXIT_NO_LAB;
    }
    rc = peer_ask(&p, peer_request(what, argc, argv), patience, row, context, why);
    peer_close(&p);
    if (rc < 0) {
        program_refuse(c, "%s%s%s", argc > 0 ? argv[0] : "", argc > 0 ? ": " : "", why);
        return EXIT_USAGE;
    }
    if (already != NULL) {
        *already = rc > 0;
    }
    return EXIT_FINE;
}

int command_order(const struct program_command *c, const struct lab *lab, const char *what, int argc,
                  const char *const *argv, bool *already)
{
    return ask_keeper(c, lab, what, argc, argv, NULL, NULL, already);
}

int command_keeper(const struct program_command *c, const struct lab *lab, const char *what, int argc,
                   const char *const *argv, void (*row)(void *context, const struct message *row), void *context)
{
    return ask_keeper(c, lab, what, argc, argv, row, context, NULL);
}

int command_daemon(const struct lab *lab, cw_server s, struct request_draft *request, cw_span patience,
                   void (*row)(void *context, const struct message *row), void *context, char why[static PEER_WHY])
{
    char name[TORUS_TEXT], path[LAB_PATH];
    struct peer p;
    lab_path(lab, lab_daemon_name(lab, s, name), ".sock", path);
    int rc = peer_open(&p, path);
    if (rc < 0) {
        request_draft_close(request);
        snprintf(why, PEER_WHY, "its daemon does not answer");
        return rc;
    }
    torus_format(torus_coord(&lab->torus, s), name);
    request_draft_server(request, name);
    rc = peer_ask(&p, request, patience, row, context, why);
    peer_close(&p);
    return rc;
}

/* ---- Showing ----------------------------------------------------------------------------------------------------- */

void command_copy(struct report *r, const struct message *row)
{
    const char *name;
    for (size_t i = 0; (name = message_name(row, i)) != NULL; i++) {
        switch (message_kind(row, name)) {
        case MESSAGE_TEXT:
            report_text(r, name, message_get_text(row, name, ""));
            break;
        case MESSAGE_INTEGER:
            report_integer(r, name, message_get_integer(row, name, 0));
            break;
        case MESSAGE_REAL:
            report_real(r, name, message_get_real(row, name, 0));
            break;
        case MESSAGE_FLAG:
            report_flag(r, name, message_get_flag(row, name));
            break;
        default:
            break; /* lists and objects are not shown */
        }
    }
}

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

static bool whole_path(const char *path, char out[static LAB_PATH])
{
    char *whole = realpath(path, NULL);
    int length = whole != NULL ? snprintf(out, LAB_PATH, "%s", whole) : -1;
    free(whole);
    return length > 0 && length < LAB_PATH;
}

/* All programs of a build folder lie beside cwlab. Installed ones may lie in folders that are not on a user's PATH. */
static bool beside(const char *name, char out[static LAB_PATH])
{
    static const char *const folders[] = {"", "../sbin/", "../lib/cubeway/"};
    char self[LAB_PATH], path[2 * LAB_PATH];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash == NULL) {
        return false;
    }
    slash[1] = '\0';
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        int n = snprintf(path, sizeof path, "%s%s%s", self, folders[i], name);
        if (n < (int)sizeof path && access(path, R_OK) == 0) {
            return whole_path(path, out);
        }
    }
    return false;
}

int command_find(const char *variable, const char *name, char out[static LAB_PATH])
{
    const char *said = getenv(variable), *path = getenv("PATH");
    if (said != NULL && said[0] != '\0') {
        return whole_path(said, out) ? 0 : -ENOENT;
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
