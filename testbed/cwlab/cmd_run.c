/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf */
#include "base/quantity.h"
#include "scenario/scenario.h"
#include "testbed/cwlab/command.h"
#include "testbed/cwlab/converge.h"
#include "testbed/cwlab/explain.h"
#include "testbed/cwlab/outcome/compare.h"
#include "testbed/cwlab/play.h"
#include "testbed/cwlab/scale.h"
#include "testbed/launch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIMULATED_BYTES = 256 * 1024 };

struct wish {
    const char *driver, *shim, *file;
    uint64_t scale;
    bool json, alone, unshaped, hasty;
};

/* ---- The lab of a scenario --------------------------------------------------------------------------------------- */

static int plan_lab(const struct program_command *self, const struct wish *wish, const struct scenario *s,
                    struct lab *lab)
{
    char why[LAB_WHY], name[LAB_NAME];
    *lab = (struct lab){.scale = 1, .plays = s, .mtu = s->config.node.mtu, .timers = s->config.node.timers};
    if (!wish->hasty && lab->timers.dead.ns < ls_timers_default().dead.ns) {
        lab->timers = ls_timers_default();
        fprintf(
            stderr,
            "cwlab run: timers are the default ones, not the scenario's: processes of one machine are kept waiting for "
            "longer than those allow (--hasty takes them)\n");
    }
    if (wish->scale < 1 || wish->scale > SCALE_MOST) {
        return program_refuse(self, "--scale %lu: expected 1 to %d", (unsigned long)wish->scale, SCALE_MOST);
    }
    lab_stretch_timers(lab, wish->scale);
    lab->bits_per_second = wish->unshaped ? 0 : s->config.wire.bits_per_second;
    snprintf(name, sizeof name, "run-%d", (int)getpid());
    if (torus_init(&lab->torus, s->config.dims) < 0 || lab_place(lab, name, why) < 0) {
        return program_refuse(self, "%s", why);
    }
    if (lab_driver_parse(wish->driver, &lab->driver) < 0 || lab_shim_parse(wish->shim, &lab->shim) < 0) {
        return program_refuse(self, "expected --driver netns or process, --shim raw, pcap or udp");
    }
    if (play_possible(s, lab, why) < 0) {
        return program_refuse(self, "%s: %s", wish->file, why);
    }
    if (lab->driver == LAB_NETNS && launch_allowed(why) < 0) {
        return program_refuse(self, "%s", why);
    }
    if (command_find("CUBEWAYD", "cubewayd", lab->daemon) < 0 ||
        command_find("CWLAB_WITNESS", "witness.so", lab->witness) < 0) {
        return program_refuse(self,
                              "cubewayd and witness.so are not beside cwlab; CUBEWAYD= and CWLAB_WITNESS= name them");
    }
    for (unsigned i = 0; i < s->services; i++) {
        char *whole = realpath(s->service[i], NULL);
        bool fits = whole != NULL && lab->services < LAB_SERVICES && strlen(whole) < LAB_PATH;
        if (!fits) {
            const char *cause = whole == NULL                   ? strerror(errno)
                                : lab->services == LAB_SERVICES ? "a lab loads no more services"
                                                                : "its path is too long";
            free(whole);
            return program_refuse(self, "%s:%u: service: %s: %s", wish->file, s->service_line[i], s->service[i], cause);
        }
        snprintf(lab->service[lab->services++], LAB_PATH, "%s", whole);
        free(whole);
    }
    return PROGRAM_GO;
}

/* ---- What was expected ------------------------------------------------------------------------------------------- */

static bool judge_expectations(const struct wish *wish, const struct scenario *s, const struct report *r)
{
    bool fine = true;
    for (unsigned i = 0; i < s->expects; i++) {
        const struct scenario_expect *e = &s->expect[i];
        char want[QUANTITY_TEXT];
        double value;
        quantity_millionths_format(e->millionths, want);
        if (report_number(r, e->field, &value) < 0) {
            fprintf(stderr, "%s:%u: %s is not known of real servers: not judged\n", wish->file, e->line, e->field);
        } else if (!scenario_relation_holds(e->relation, value, e->millionths)) {
            fprintf(stderr, "%s:%u: expected %s %s %s, but it is %.9g\n", wish->file, e->line, e->field,
                    scenario_relation_name(e->relation), want, value);
            fine = false;
        }
    }
    return fine;
}

/* The report of cwsim on the same file; NULL: cwsim was not found, or it failed. */
static struct message *simulate(const char *file)
{
    char program[LAB_PATH], *line = NULL, *text = malloc(SIMULATED_BYTES);
    if (command_find("CWSIM", "cwsim", program) < 0 || text == NULL ||
        asprintf(&line, "'%s' run --quiet --json '%s' 2>/dev/null", program, file) < 0 || strchr(file, '\'') != NULL) {
        free(text);
        free(line);
        return NULL;
    }
    FILE *out = popen(line, "re");
    size_t length = out != NULL ? fread(text, 1, SIMULATED_BYTES, out) : 0;
    if (out != NULL) {
        (void)pclose(out);
    }
    struct message *m = message_parse(text, length, NULL, 0);
    free(text);
    free(line);
    return m;
}

/*
 * Returns the share of time for which the daemons waited for a processor. aloud: also says why the lab is not as it
 * should be. It goes next in any case, and its logs with it.
 */
static double tell_why(const struct lab *lab, bool aloud)
{
    struct explain e;
    if (!explain_look(&e, lab)) {
        return 0;
    }
    if (aloud) {
        e.goes = true;
        e.again = "cwlab run SCENARIO";
        explain_tell(&e, lab, stderr);
    }
    return e.waited;
}

static int run_on(const struct program_command *self, const struct wish *wish, const struct scenario *s,
                  struct lab *lab)
{
    struct launch l;
    char why[LAB_WHY];
    bool cleaned;
    int rc = launch_begin(&l, lab, &cleaned, why);
    if (rc == 0) {
        rc = launch_wait(&l, NULL, NULL, why);
    }
    const struct converge_goal goal = {.want = lab->torus.servers, .links = true};
    unsigned count = rc < 0 ? 0 : converge_wait(lab, &goal, cw_time_add(peer_clock(), scale_patience(lab)), NULL, NULL);
    if (rc < 0 || count < lab->torus.servers) {
        program_refuse(self, "the lab does not come up: %s", rc < 0 ? why : "not all servers know each other");
        tell_why(lab, true);
        launch_close(&l, lab);
        fprintf(stderr, "The lab has been taken down, and its logs with it; cwlab up --no-wait makes one that stays\n");
        return EXIT_USAGE;
    }
    struct report *r = report_open("run");
    report_text(r, "scenario", wish->file);
    rc = play_on_lab(s, lab, r, stderr);
    double waited = tell_why(lab, rc > 0);
    report_real(r, "waited_share", waited);
    launch_close(&l, lab);
    if (rc < 0) {
        report_close(r);
        return program_refuse(self, "%s", strerror(-rc));
    }
    bool fine = judge_expectations(wish, s, r) && rc == 0;
    struct message *simulated = wish->alone ? NULL : simulate(wish->file);
    if (simulated != NULL) {
        unsigned outside = compare_reports(r, simulated);
        report_integer(r, "outside_bounds", outside);
        fine = fine && outside == 0;
        message_close(simulated);
    } else if (!wish->alone) {
        fprintf(stderr, "cwlab run: cwsim does not say what the simulator makes of it: not compared\n");
    }
    report_text(r, "verdict", fine ? "fine" : "not fine");
    if (!fine) {
        fprintf(stderr, "cwlab run: not fine; daemons waited %.0f %% of their time for a processor%s\n", waited * 100,
                waited >= 0.05
                    ? ": what servers are late with may be the machine's fault; try again when it is idle, or with "
                      "--unshaped or --scale"
                    : "");
    }
    return program_print(self, r, wish->json, fine ? EXIT_FINE : EXIT_BROKEN);
}

static int run(const struct program_command *self, int argc, char **argv)
{
    struct wish wish = {.driver = "netns", .shim = "raw", .scale = 1};
    const struct option option[] = {
        {"driver", OPTION_TEXT, &wish.driver, "netns|process", "a namespace for each server, or all in one process",
         false},
        {"shim", OPTION_TEXT, &wish.shim, "raw|pcap|udp", "how daemons reach their links", false},
        {"unshaped", OPTION_FLAG, &wish.unshaped, NULL, "leave links as fast as they are, not at the scenario's rate",
         false},
        {"hasty", OPTION_FLAG, &wish.hasty, NULL,
         "the scenario's timers, also when they are faster than the default ones", false},
        {"scale", OPTION_COUNT, &wish.scale, "N", "timers so many times as long, on a machine with other work", false},
        {"alone", OPTION_FLAG, &wish.alone, NULL, "do not compare with the simulator", false},
        {"json", OPTION_FLAG, &wish.json, NULL, "print JSON: one object a line", false},
    };
    struct option_words words;
    struct scenario s;
    struct lab lab;
    char error[SCENARIO_ERROR];
    int code = program_options(self, option, sizeof option / sizeof *option, argc, argv, &words);
    if (code != PROGRAM_GO) {
        return code;
    }
    if (words.count != 1) {
        return program_refuse(self, "expected one scenario file");
    }
    wish.file = words.word[0];
    if (access(wish.file, R_OK) < 0) {
        return program_refuse(self, "%s: %s", wish.file, strerror(errno));
    }
    if (scenario_load_file(&s, wish.file, error) < 0) {
        fprintf(stderr, "%s\n", error);
        return EXIT_USAGE;
    }
    code = plan_lab(self, &wish, &s, &lab);
    if (code == PROGRAM_GO) {
        code = run_on(self, &wish, &s, &lab);
    }
    scenario_free(&s);
    return code;
}

const struct program_command command_run = {
    .program = &program_cwlab,
    .name = "run",
    .summary = "a scenario file on real daemons: the same file, checks and numbers as cwsim run, and both side by side",
    .words = "SCENARIO [options]",
    .text = "Brings up a lab of its own, does what the scenario says, judges every delivery of a key packet, checks\n"
            "the scenario's expectations, and compares the outcome with what the simulator makes of the same file,\n"
            "within bounds that are shown. kill is SIGKILL, pause is SIGSTOP; cut and partition lose all frames (or\n"
            "carrier, when the scenario sets carrier). Faults need --driver netns, where each server is a process of\n"
            "its own. Clocks that run off, frames that come twice, late or corrupted, and 'workload all' are for the\n"
            "simulator only, and are refused.",
    .example = "  cwlab run testbed/scenarios/kill-root.txt\n"
               "  cwlab run testbed/scenarios/calm.txt --driver process",
    .run = run,
};
