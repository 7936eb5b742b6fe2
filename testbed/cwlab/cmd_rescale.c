/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_rescale.c - other timers for a lab that runs: all its daemons end, and begin again with them. */
#include "testbed/cwlab/command.h"
#include "testbed/cwlab/converge.h"
#include "testbed/cwlab/explain.h"
#include "testbed/cwlab/needed.h"
#include "testbed/cwlab/scale.h"

#include <stdlib.h>
#include <string.h>

struct ways {
    uint64_t scale;
    bool json, quiet, if_needed;
};

/* The servers whose daemons run. */
struct running {
    const struct lab *lab;
    bool *who;
    uint32_t count;
};

static void add(void *context, const struct message *row)
{
    struct running *r = context;
    const char *name = message_get_text(row, "server", ""), *state = message_get_text(row, "state", "");
    cw_coord c;
    if (strcmp(state, "running") == 0 && torus_parse(&r->lab->torus, name, strlen(name), &c) == 0) {
        r->who[torus_id(&r->lab->torus, c)] = true;
        r->count++;
    }
}

static int tell(const struct program_command *self, const struct lab *lab, const struct ways *ways, double wanted,
                uint32_t started)
{
    char timers[SCALE_TEXT];
    scale_describe(lab, scale_processors(), wanted, timers);
    if (ways->json) {
        struct report *r = report_open("rescale");
        report_text(r, "lab", lab->name);
        report_flag(r, "already", started == 0);
        report_integer(r, "started", started);
        report_integer(r, "timers_scale", (int64_t)lab->scale);
        report_integer(r, "hello_ns", lab->timers.hello.ns);
        report_integer(r, "dead_ns", lab->timers.dead.ns);
        report_integer(r, "hold_ns", lab->timers.hold.ns);
        return program_print(self, r, true, EXIT_FINE);
    }
    if (started == 0 && !ways->quiet) {
        fprintf(stderr, "it is so already: %s\n", timers);
    } else if (!ways->quiet) {
        fprintf(stderr, "%u daemon%s began again, and know%s each other, with %s\n", started, started == 1 ? "" : "s",
                started == 1 ? "s" : "", timers);
    }
    return EXIT_FINE;
}

/* Waits until those that run know one another. */
static int wait_until_whole(const struct program_command *self, const struct lab *lab, uint32_t *started)
{
    struct running running = {.lab = lab, .who = calloc(lab->torus.servers, sizeof(bool))};
    int code = running.who == NULL ? EXIT_BROKEN : command_keeper(self, lab, "status", 0, NULL, add, &running);
    if (code == EXIT_FINE) {
        const struct converge_goal goal = {.who = running.who, .want = running.count};
        cw_time until = cw_time_add(peer_clock(), scale_patience(lab));
        if (converge_wait(lab, &goal, until, NULL, NULL) < running.count) {
            fprintf(stderr,
                    "cwlab rescale: daemons began again, and do not know each other yet: cwlab status --name "
                    "%s says what is wrong\n",
                    lab->name);
            code = EXIT_BROKEN;
        }
    }
    *started = running.count;
    free(running.who);
    return code;
}

/*
 * What the keeper has asked once the machine is too busy (overload.h); a person may, too. PROGRAM_GO: the timers are to
 * change, for the reason that is written into why.
 */
static int look_whether(const struct lab *lab, const struct ways *ways, uint64_t scale, char why[static LAB_REASON])
{
    struct needed n = {0};
    char kept[LAB_REASON];
    if (!needed_look(&n, lab)) {
        fprintf(stderr, "cwlab rescale: the keeper of lab '%s' does not answer\n", lab->name);
        return EXIT_BROKEN;
    }
    switch (needed_judge(&n, lab, scale)) {
    case NEEDED_NOW:
        needed_why(&n, why);
        return PROGRAM_GO;
    case NEEDED_HELD:
        if (getenv("CWLAB_TOLD") == NULL) { /* the keeper's log has it once (overload.h) */
            fprintf(stderr,
                    "%s: this machine needs timers %lu times as long, and they stay as they are, because %s would be "
                    "gone: cwlab rescale --name %s\n",
                    needed_why(&n, why), (unsigned long)scale, needed_kept(&n, kept), lab->name);
        }
        return EXIT_BROKEN;
    case NEEDED_NOT:
        break;
    }
    if (!ways->quiet) {
        fprintf(stderr, "no longer timers are needed: %u of %u daemons did not run when due\n", n.late, n.asked);
    }
    return EXIT_FINE;
}

static int rescale(const struct program_command *self, struct lab *lab, const struct ways *ways)
{
    char factor[24], others[32], since[24], why[LAB_REASON];
    snprintf(since, sizeof since, "%lld", (long long)peer_clock().ns);
    uint32_t started = 0;
    double wanted = scale_wanted();
    struct explain e = {0};
    if (ways->scale == 0) {
        (void)explain_look(&e, lab);
    }
    uint64_t scale = ways->scale != 0 ? ways->scale : explain_scale(&e, lab, wanted), before = lab->scale;
    if (ways->if_needed) {
        scale = scale < NEEDED_MOST ? scale : NEEDED_MOST;
        int go = look_whether(lab, ways, scale, why);
        if (go != PROGRAM_GO) {
            return go;
        }
    }
    lab_set_timers(lab, lab->fast, scale);
    if (lab->driver == LAB_NETNS && scale == before) {
        return tell(self, lab, ways, wanted, 0);
    }
    snprintf(factor, sizeof factor, "%lu", (unsigned long)scale);
    snprintf(others, sizeof others, "%.2f", wanted);
    const char *argv[] = {factor, others, why, since};
    int code = command_keeper(self, lab, "rescale", ways->scale != 0 ? 1 : ways->if_needed ? 4 : 2, argv, NULL, NULL);
    if (code == EXIT_FINE && ways->if_needed) {
        fprintf(stderr, "%s: timers are %lu times as long, they were %lu time%s, and all daemons began again\n", why,
                (unsigned long)scale, (unsigned long)before, before == 1 ? "" : "s");
    }
    code = code == EXIT_FINE ? wait_until_whole(self, lab, &started) : code;
    return code == EXIT_FINE ? tell(self, lab, ways, wanted, started) : code;
}

static int run(const struct program_command *self, int argc, char **argv)
{
    const char *name = NULL;
    struct ways ways = {.scale = 0};
    const struct option option[] = {
        {"name", OPTION_TEXT, &name, "LAB", "which lab; not needed while there is only one", false},
        {"scale", OPTION_COUNT, &ways.scale, "N", "timers are so many times as long; 0: as this machine needs it now",
         false},
        {"if-needed", OPTION_FLAG, &ways.if_needed, NULL,
         "only where daemons did not run when due, and services hold nothing: code 1 where they do", false},
        {"json", OPTION_FLAG, &ways.json, NULL, "report what was done in JSON, on standard output", false},
        {"quiet", OPTION_FLAG, &ways.quiet, NULL, "do not report what was done", false},
    };
    struct lab lab;
    int code = program_options(self, option, sizeof option / sizeof *option, argc, argv, NULL);
    if (code == PROGRAM_GO && ways.scale > SCALE_MOST) {
        return program_refuse(self, "--scale %lu: expected 1 to %d, or 0", (unsigned long)ways.scale, SCALE_MOST);
    }
    if (code == PROGRAM_GO && ways.scale > 0 && ways.if_needed) {
        return program_refuse(self, "--if-needed with --scale: the machine says what is needed");
    }
    if (code == PROGRAM_GO) {
        code = command_lab(self, name, &lab);
    }
    return code != PROGRAM_GO ? code : rescale(self, &lab, &ways);
}

const struct program_command command_rescale = {
    .program = &program_cwlab,
    .name = "rescale",
    .summary = "give a lab the timers that this machine needs now; its daemons begin again",
    .words = "[--name LAB] [--scale N | --if-needed] [--json] [--quiet]",
    .text =
        "For a machine that has become busier, or quieter, since the lab came up: cwlab status says when it has. All\n"
        "daemons are killed before the first one starts again, because servers with unlike timers could deliver a\n"
        "key twice. Namespaces, cables, programs started by exec and shell, logs and files stay; what services keep\n"
        "in memory (cached values, streams) is gone. Daemons that are dead stay so. Where nothing would change, no\n"
        "daemon is touched. Returns when all that run know each other.\n"
        "The keeper of a lab that came up without --scale does this by itself, with --if-needed: when the machine\n"
        "has had too much work for some seconds, daemons did not run when due for so long that neighbours count\n"
        "them out, and all daemons answer that their services hold nothing: no stream, cached value, file under way,\n"
        "group or call. It leaves labs alone that have services, networks or stores of their own, more than 128\n"
        "servers, or one that is dead, paused or leaving, and those to which somebody has just done something. What\n"
        "only watches (events, captures) is cut off, and feeds of cwctl query end. cwlab status says so afterwards.\n"
        "--scale N, here or of cwlab up, fixes the timers.",
    .example = "  cwlab rescale\n"
               "  cwlab rescale --scale 4",
    .run = run,
};
