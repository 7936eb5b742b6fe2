/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/command.h"
#include "simulator/cwsim/play.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int run(const struct program_command *self, int argc, char **argv)
{
    struct option_words words;
    uint64_t seed = 0;
    const char *capture = NULL;
    cw_span watchdog = CW_SEC(10);
    bool json = false, quiet = false, log = false, check = false;
    const struct option option[] = {
        {"seed", OPTION_COUNT, &seed, "N", "use this seed; 0: the scenario's", false},
        {"capture", OPTION_TEXT, &capture, "FILE", "write the frames of the scenario's links, or of 0,0,0's (pcapng)",
         false},
        {"log", OPTION_FLAG, &log, NULL, "show what servers log, and when they come and go", false},
        {"watchdog", OPTION_SPAN, &watchdog, NULL,
         "end the run when a call of a service that was loaded lasts that long by the wall clock; 0: never", false},
        {"check", OPTION_FLAG, &check, NULL, "read the scenario, and do not run it", false},
        {"json", OPTION_FLAG, &json, NULL, "print JSON: one object a line", false},
        {"quiet", OPTION_FLAG, &quiet, NULL, "show no progress line on the terminal", false},
    };
    struct scenario s;
    char error[SCENARIO_ERROR];
    struct command_common line;
    int code = command_options(self, option, sizeof option / sizeof *option, argc, argv, &words, &line);
    if (code != PROGRAM_GO) {
        return code;
    }
    if (words.count != 1) {
        return program_refuse(self, "expected one scenario file; cwsim run --help says more");
    }
    if (access(words.word[0], R_OK) < 0) {
        return program_refuse(self, "%s: %s", words.word[0], strerror(errno));
    }
    if (scenario_load_file(&s, words.word[0], error) < 0) {
        fprintf(stderr, "%s\n", error);
        return EXIT_USAGE;
    }
    if (check) {
        scenario_free(&s);
        struct report *r = report_open("run");
        report_text(r, "file", words.word[0]);
        report_text(r, "verdict", "good");
        if (json) {
            return program_print(self, r, true, EXIT_FINE);
        }
        report_close(r);
        return EXIT_FINE;
    }
    if (seed != 0) {
        s.config.seed = seed;
    }
    const struct play_options options = {
        .command = self->name,
        .file = words.word[0],
        .replay = line.replay,
        .capture = capture,
        .watchdog = watchdog,
        .log = log,
        .quiet = quiet,
        .errors = stderr,
    };
    return play_and_print(self, &s, &options, json);
}

const struct program_command command_run = {
    .program = &program_cwsim,
    .name = "run",
    .summary = "a scenario file: a cluster, what happens to it and when, what must be true",
    .words = "SCENARIO [options]",
    .text = "Runs a scenario, checks every invariant all the time and the scenario's expectations in the end.\n"
            "A scenario is a text file, one line for each thing:\n"
            "\n"
            "  torus 3x3x3\n"
            "  timers fast\n"
            "  at 100ms workload keys rate=1000\n"
            "  at 500ms kill 1,0,2\n"
            "  at 900ms start 1,0,2\n"
            "  from 1s to 1500ms cut 0,0,0 +x\n"
            "  at 2s stop\n"
            "  at 3s quiet\n"
            "  end 3s\n"
            "  expect misdelivered = 0\n"
            "\n"
            "docs/simulator.md has all words; simulator/scenarios/ has examples.",
    .example = "  cwsim run simulator/scenarios/kill-root.txt\n"
               "  cwsim run simulator/scenarios/pause-zombie.txt --log --capture zombie.pcapng",
    .run = run,
};
