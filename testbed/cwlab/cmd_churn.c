/* SPDX-License-Identifier: Apache-2.0 */
#include "base/check.h"
#include "base/prng.h"
#include "testbed/cwlab/command.h"
#include "testbed/cwlab/converge.h"
#include "testbed/cwlab/explain.h"
#include "testbed/cwlab/target.h"
#include "testbed/peer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void sleep_until(cw_time at)
{
    struct timespec t = {at.ns / CW_SEC(1).ns, at.ns % CW_SEC(1).ns};
    (void)clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &t, NULL);
}

struct churn {
    const struct program_command *self;
    const struct lab *lab;
    uint64_t seed;
    cw_span between, down;
    cw_time until;
    unsigned kills, refused;
};

/*
 * Kills a server at each beat, and starts it again after a while. Only one server is down at a time, so that there is
 * always a majority.
 */
static void carry_out(struct churn *c)
{
    struct prng random = prng_stream(c->seed, 0, 1);
    char name[TORUS_TEXT];
    const char *args[] = {name, "whole"};
    for (cw_time at = peer_clock(); cw_time_before(at, c->until); at = cw_time_add(at, c->between)) {
        sleep_until(at);
        cw_server s = (cw_server)prng_below(&random, c->lab->torus.servers);
        torus_format(torus_coord(&c->lab->torus, s), name);
        bool whole = prng_below(&random, 2) == 0;
        c->refused += command_keeper(c->self, c->lab, "fail", whole ? 2 : 1, args, NULL, NULL) != EXIT_FINE;
        c->kills++;
        sleep_until(cw_time_add(at, c->down));
        c->refused += command_keeper(c->self, c->lab, "restore", 1, args, NULL, NULL) != EXIT_FINE;
    }
}

struct running {
    const struct lab *lab;
    bool *who;
};

/* A row of the keeper's status. */
static void mark(void *context, const struct message *row)
{
    struct running *r = context;
    if (strcmp(message_get_text(row, "state", ""), "running") == 0) {
        (void)!target_mark(&r->lab->torus, message_get_text(row, "server", ""), r->who);
    }
}

/* Waits until all servers that run know each other: how many do. Whoever was dead before is dead still. */
static unsigned settle(const struct lab *lab, unsigned *running)
{
    bool *who = calloc(lab->torus.servers, sizeof *who);
    struct running r = {lab, who};
    char path[LAB_PATH], why[PEER_WHY];
    struct peer p;
    CHECK(who != NULL);
    if (peer_open(&p, lab_path(lab, "keeper", ".sock", path)) == 0) {
        (void)peer_ask(&p, peer_request("status", 0, NULL), CW_SEC(5), mark, &r, why);
        peer_close(&p);
    }
    *running = 0;
    for (cw_server s = 0; s < lab->torus.servers; s++) {
        *running += who[s];
    }
    const struct converge_goal goal = {.who = who, .want = *running};
    unsigned count = converge_wait(lab, &goal, cw_time_add(peer_clock(), CW_MS(20000)), NULL, NULL);
    free(who);
    return count;
}

static int run(const struct program_command *self, int argc, char **argv)
{
    const char *name = NULL;
    bool json = false;
    struct churn c = {.self = self, .seed = 1, .between = CW_MS(1000), .down = CW_MS(500)};
    cw_span lasts = CW_MS(10000);
    const struct option option[] = {
        {"name", OPTION_TEXT, &name, "LAB", "which lab; not needed while there is only one", false},
        {"for", OPTION_SPAN, &lasts, NULL, "for how long servers fail", false},
        {"every", OPTION_SPAN, &c.between, NULL, "time from one failure to the next", false},
        {"down", OPTION_SPAN, &c.down, NULL, "how long a server stays dead; less than --every", false},
        {"seed", OPTION_COUNT, &c.seed, NULL, "from which the servers that fail are drawn", false},
        {"json", OPTION_FLAG, &json, NULL, "print JSON: one object a line", false},
    };
    struct lab lab;
    int code = program_options(self, option, sizeof option / sizeof *option, argc, argv, NULL);
    if (code == PROGRAM_GO && c.down.ns >= c.between.ns) {
        return program_refuse(self, "--down must be less than --every: one server is dead at a time");
    }
    if (code == PROGRAM_GO) {
        code = command_lab(self, name, &lab);
    }
    if (code != PROGRAM_GO) {
        return code;
    }
    c.lab = &lab;
    c.until = cw_time_add(peer_clock(), lasts);
    carry_out(&c);
    cw_time began = peer_clock();
    unsigned running, count = settle(&lab, &running);
    struct explain e;
    if (running < lab.torus.servers && !json && explain_look(&e, &lab)) {
        explain_tell(&e, &lab, stderr);
    }
    struct report *r = report_open(NULL);
    report_integer(r, "kills", c.kills);
    report_integer(r, "refused", c.refused);
    report_integer(r, "servers", lab.torus.servers);
    report_integer(r, "running", running);
    report_integer(r, "know_all", count);
    report_integer(r, "settled_ns", cw_time_since(peer_clock(), began).ns);
    return program_print(self, r, json, count == running && running > 0 && c.refused == 0 ? EXIT_FINE : EXIT_BROKEN);
}

const struct program_command command_churn = {
    .program = &program_cwlab,
    .name = "churn",
    .summary = "servers die and start again, one at a time, for a while",
    .words = "[options]",
    .text = "Servers are drawn from the seed; half of them die together with their watcher, half without it. In the\n"
            "end all servers that run must know each other again. cwlab run does the same under load, and judges every "
            "delivery.",
    .example = "  cwlab churn --for 30s --every 500ms --down 200ms",
    .run = run,
};
