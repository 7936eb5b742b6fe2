/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "simulator/cwsim/command.h"
#include "simulator/cwsim/play.h"
#include "simulator/cwsim/swarm.h"

#include <errno.h>
#include <string.h>

enum { SERVERS_MAX = 125 };

static int run(const struct program_command *self, int argc, char **argv)
{
    struct option_words words;
    uint32_t servers_max = SERVERS_MAX;
    const char *capture = NULL;
    bool json = false, quiet = false, log = false, show = false;
    const struct option option[] = {
        {"servers-max", OPTION_SMALL, &servers_max, "N", "as it was given to swarm", false},
        {"show", OPTION_FLAG, &show, NULL, "print the seed's scenario, and do not run it", false},
        {"capture", OPTION_TEXT, &capture, "FILE", "write the frames of server 0,0,0's links (pcapng)", false},
        {"log", OPTION_FLAG, &log, NULL, "show what servers log, and when they come and go", false},
        {"json", OPTION_FLAG, &json, NULL, "print JSON: one object a line", false},
        {"quiet", OPTION_FLAG, &quiet, NULL, "show no progress line on the terminal", false},
    };
    struct scenario s;
    struct command_common line;
    uint64_t seed;
    int code = command_options(self, option, sizeof option / sizeof *option, argc, argv, &words, &line);
    if (code != PROGRAM_GO) {
        return code;
    }
    if (words.count != 1 || quantity_count(words.word[0], strlen(words.word[0]), &seed) < 0) {
        return program_refuse(self, "expected one seed, as swarm printed it; a scenario file is for cwsim run");
    }
    if (swarm_draw(seed, servers_max, &s) < 0) {
        return program_refuse(self, "no memory");
    }
    if (show) {
        int rc = scenario_write(&s, stdout);
        scenario_free(&s);
        return rc < 0 ? EXIT_USAGE : EXIT_FINE;
    }
    const struct play_options options = {
        .command = self->name,
        .file = "the seed's scenario",
        .replay = line.replay,
        .capture = capture,
        .log = log,
        .quiet = quiet,
        .errors = stderr,
    };
    return play_and_print(self, &s, &options, json);
}

const struct program_command command_replay = {
    .program = &program_cwsim,
    .name = "replay",
    .summary = "one seed of swarm again, with all that can be seen of it",
    .words = "SEED [options]",
    .text = "Runs what a seed draws exactly as swarm ran it: the same commit and seed give the same run, bit for bit.\n"
            "--show prints it as a scenario, to be changed and run with `cwsim run`.",
    .example = "  cwsim replay 4711 --log\n"
               "  cwsim replay 4711 --show >4711.txt",
    .run = run,
};
