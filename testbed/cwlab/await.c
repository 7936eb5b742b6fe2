/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/cwlab/await.h"

#include "testbed/peer.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static const cw_span first_pause = CW_MS(2), longest_pause = CW_MS(50), keeper_patience = CW_MS(10000);

cw_span await_patience(void)
{
    return CW_MS(30000);
}

/* What the keeper says of one daemon. */
struct known {
    const char *name;
    bool alive, leaves;
    char ended[AWAIT_ENDED]; /* how its last process ended; "": it runs, or that is not known */
};

static void take(void *context, const struct message *row)
{
    struct known *known = context;
    const char *name = message_get_text(row, "server", ""), *ended = message_get_text(row, "ended", "");
    if (strcmp(name, known->name) == 0) {
        known->alive = strcmp(message_get_text(row, "state", ""), "dead") != 0;
        known->leaves = strcmp(message_get_text(row, "state", ""), "leaving") == 0;
        snprintf(known->ended, sizeof known->ended, "%s", ended);
    }
}

static int ask_keeper(const struct lab *lab, struct known *known)
{
    char path[LAB_PATH], why[PEER_WHY];
    struct peer p;
    int rc = peer_open(&p, lab_path(lab, "keeper", ".sock", path));
    if (rc == 0) {
        rc = peer_ask(&p, peer_request("status", 0, NULL), keeper_patience, take, known, why);
        peer_close(&p);
    }
    return rc < 0 ? -ECONNREFUSED : 0;
}

static bool answers(const char *socket)
{
    struct peer p;
    if (peer_open(&p, socket) < 0) {
        return false;
    }
    peer_close(&p);
    return true;
}

static void say_dead(const struct lab *lab, const struct known *known, char why[static AWAIT_WHY])
{
    bool said = known->ended[0] != '\0', one = lab->driver == LAB_PROCESS;
    char ended[AWAIT_ENDED + 4] = "";
    if (said) {
        snprintf(ended, sizeof ended, " (%s)", known->ended);
    }
    if (one) { /* its keeper starts no second one: the lab was this process */
        snprintf(why, AWAIT_WHY,
                 "the process with all servers is dead%s: cwlab down --name %s removes the lab, and cwlab up makes "
                 "another one; cwlab logs says more",
                 ended, lab->name);
    } else {
        snprintf(why, AWAIT_WHY,
                 "the daemon of %s is dead%s: cwlab restore --name %s %s starts it again, cwlab status says how it "
                 "ended",
                 known->name, ended, lab->name, known->name);
    }
}

static int refuse(const struct lab *lab, const struct known *known, int rc, char why[static AWAIT_WHY])
{
    char log[LAB_PATH];
    switch (-rc) {
    case ESRCH:
        say_dead(lab, known, why);
        break;
    case ETIMEDOUT:
        snprintf(why, AWAIT_WHY,
                 "the daemon of %s runs, but it has not opened its control socket in time: its log, %s, says how far "
                 "it is",
                 known->name, lab_data(lab, known->name, ".log", log));
        break;
    default:
        snprintf(why, AWAIT_WHY, "lab '%s' is dead: its keeper does not answer", lab->name);
    }
    return rc;
}

static void rest(cw_span *pause)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)pause->ns}, NULL);
    pause->ns = 2 * pause->ns < longest_pause.ns ? 2 * pause->ns : longest_pause.ns;
}

int await_daemon(const struct lab *lab, cw_server s, cw_time until, char why[static AWAIT_WHY])
{
    char name[TORUS_TEXT], socket[LAB_PATH];
    struct known known = {.name = lab_daemon_name(lab, s, name)};
    lab_path(lab, known.name, ".sock", socket);
    why[0] = '\0';
    for (cw_span pause = first_pause; !answers(socket);) {
        known.alive = false;
        if (ask_keeper(lab, &known) < 0) {
            return refuse(lab, &known, -ECONNREFUSED, why);
        }
        if (!known.alive) {
            return refuse(lab, &known, -ESRCH, why);
        }
        if (cw_time_due(until, peer_clock())) {
            return refuse(lab, &known, -ETIMEDOUT, why);
        }
        rest(&pause);
    }
    return 0;
}

int await_leave(const struct lab *lab, cw_server s, cw_time until, char ended[static AWAIT_ENDED],
                char why[static AWAIT_WHY])
{
    char name[TORUS_TEXT], log[LAB_PATH];
    struct known known = {.name = lab_daemon_name(lab, s, name)};
    why[0] = '\0';
    for (cw_span pause = first_pause;;) {
        known.leaves = false;
        if (ask_keeper(lab, &known) < 0) {
            return refuse(lab, &known, -ECONNREFUSED, why);
        }
        if (!known.leaves) {
            break;
        }
        if (cw_time_due(until, peer_clock())) {
            snprintf(why, AWAIT_WHY,
                     "%s is still leaving: its log, %s, says how far it is; cwlab fail --name %s %s kills it",
                     known.name, lab_data(lab, known.name, ".log", log), lab->name, known.name);
            return -ETIMEDOUT;
        }
        rest(&pause);
    }
    snprintf(ended, AWAIT_ENDED, "%s", known.alive ? "" : known.ended);
    return 0;
}
