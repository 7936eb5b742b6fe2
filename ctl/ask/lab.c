/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ask/lab.h"

#include <errno.h>
#include <glob.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char lab_of_one_process[] = "all";

static const cw_span pause_between = CW_MS(20), keeper_patience = CW_MS(10000);

/* The lab and the daemon that a socket's path names, and what the keeper says of that daemon. */
struct place {
    char lab[64], daemon[32], keeper[256];
    bool alive;
    char ended[64]; /* how it ended; "": it runs, or that is not known */
};

/* ".../NAME/1,0,2.sock", in a folder that is a lab's. */
static bool is_of_lab(const char *path, struct place *out)
{
    char file[256];
    const char *slash = strrchr(path, '/');
    int length = slash != NULL ? (int)(slash - path) : 0;
    int n = snprintf(file, sizeof file, "%.*s/lab.json", length, path);
    if (slash == NULL || n >= (int)sizeof file || access(file, F_OK) < 0) {
        return false;
    }
    file[length] = '\0';
    const char *name = strrchr(file, '/');
    *out = (struct place){.alive = false};
    snprintf(out->lab, sizeof out->lab, "%.60s", name != NULL ? name + 1 : file);
    snprintf(out->daemon, sizeof out->daemon, "%.*s", (int)strcspn(slash + 1, "."), slash + 1);
    return snprintf(out->keeper, sizeof out->keeper, "%s/keeper.sock", file) < (int)sizeof out->keeper;
}

/* How many labs there are beside that one, which a line of cwlab must tell from them. */
static bool is_only(const struct place *place)
{
    char pattern[sizeof place->keeper + 16];
    glob_t labs;
    const char *slash = strrchr(place->keeper, '/');
    int length = slash != NULL ? (int)(slash - place->keeper) : 0;
    snprintf(pattern, sizeof pattern, "%.*s/../*/lab.json", length, place->keeper);
    bool only = glob(pattern, 0, NULL, &labs) != 0 || labs.gl_pathc < 2;
    globfree(&labs);
    return only;
}

static void tell_lab(struct client *c, const char *path)
{
    struct place place;
    char option[sizeof place.lab + 10] = "";
    if (is_of_lab(path, &place)) {
        if (!is_only(&place)) {
            snprintf(option, sizeof option, "--name %s ", place.lab);
        }
        client_set_lab(c, option, place.daemon);
    }
}

static void take(void *context, struct message *row)
{
    struct place *place = context;
    if (strcmp(message_get_text(row, "server", ""), place->daemon) == 0) {
        place->alive = strcmp(message_get_text(row, "state", ""), "dead") != 0;
        snprintf(place->ended, sizeof place->ended, "%s", message_get_text(row, "ended", ""));
    }
    message_close(row);
}

static void pass_over(void *context, struct message *row)
{
    (void)context;
    message_close(row);
}

/* -ECONNREFUSED: the lab has no keeper. */
static int ask_keeper(struct place *place)
{
    char why[CLIENT_WHY];
    struct client *keeper;
    place->alive = false;
    if (client_open(&keeper, place->keeper, why) < 0) {
        return -ECONNREFUSED;
    }
    struct request_draft *request = request_draft_open("status", NULL);
    int rc = client_ask(keeper, request, keeper_patience, take, place, why);
    request_draft_close(request);
    client_close(keeper);
    return rc < 0 ? -ECONNREFUSED : 0;
}

bool lab_has(const char *path)
{
    struct place place;
    return is_of_lab(path, &place);
}

bool lab_daemon_runs(const char *path, const char *server)
{
    struct place place;
    if (!is_of_lab(path, &place)) {
        return false;
    }
    snprintf(place.daemon, sizeof place.daemon, "%s", server);
    return ask_keeper(&place) == 0 && place.alive;
}

int lab_order(const char *path, const char *command, int argc, const char *const *argv, char why[static CLIENT_WHY])
{
    struct place place;
    struct client *keeper;
    if (!is_of_lab(path, &place)) {
        snprintf(why, CLIENT_WHY, "this daemon is of no lab: only cwlab's servers are killed and restored from here");
        return -ENOENT;
    }
    int rc = client_open(&keeper, place.keeper, why);
    if (rc < 0) {
        return rc;
    }
    struct request_draft *request = request_draft_open(command, NULL);
    for (int i = 0; i < argc; i++) {
        request_draft_word(request, argv[i]);
    }
    rc = client_ask(keeper, request, keeper_patience, pass_over, NULL, why);
    request_draft_close(request);
    client_close(keeper);
    return rc;
}

static int refuse(const struct place *place, int rc, bool keeps, char why[static CLIENT_WHY])
{
    if (rc == -ETIME) {
        snprintf(why, CLIENT_WHY,
                 "the daemon of %s in lab %s runs, but it has not opened its control socket in time; cwlab logs --name "
                 "%s %s says how far it is",
                 place->daemon, place->lab, place->lab, place->daemon);
    } else if (!keeps) {
        snprintf(why, CLIENT_WHY, "lab %s is dead: its keeper was killed, and all daemons with it", place->lab);
    } else if (strcmp(place->daemon, lab_of_one_process) == 0) {
        snprintf(why, CLIENT_WHY,
                 "the process with all servers of lab %s is dead; cwlab down --name %s removes the lab, and cwlab up "
                 "makes another one",
                 place->lab, place->lab);
    } else {
        snprintf(why, CLIENT_WHY,
                 "the daemon of %s in lab %s is dead%s%s%s; cwlab restore --name %s %s starts it again", place->daemon,
                 place->lab, place->ended[0] != '\0' ? " (" : "", place->ended, place->ended[0] != '\0' ? ")" : "",
                 place->lab, place->daemon);
    }
    return rc;
}

static cw_time now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (cw_time){t.tv_sec * CW_NS_PER_SEC + t.tv_nsec};
}

int lab_client_open(struct client **out, const char *path, cw_span patience, char why[static CLIENT_WHY])
{
    struct place place;
    cw_time until = cw_time_add(now(), patience);
    int rc;
    while ((rc = client_open(out, path, why)) == -ECONNREFUSED || rc == -ENOENT) {
        if (!is_of_lab(path, &place)) {
            return rc;
        }
        bool keeps = ask_keeper(&place) == 0;
        if (!keeps || !place.alive) {
            return refuse(&place, -ECONNREFUSED, keeps, why);
        }
        if (cw_time_due(until, now())) {
            return refuse(&place, -ETIME, true, why);
        }
        nanosleep(&(struct timespec){.tv_nsec = (long)pause_between.ns}, NULL);
    }
    if (rc == 0) {
        tell_lab(*out, path);
    }
    return rc;
}
