/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/command.h"

#include <errno.h>
#include <string.h>

static const struct program_command *const commands[] = {
    &command_run,      &command_throughput, &command_churn, &command_latency, &command_fairness,
    &command_converge, &command_paper,      &command_swarm, &command_replay,  NULL,
};

const struct program program_cwsim = {
    .name = "cwsim",
    .purpose =
        "Simulates a cluster wired as a 3D torus, packet by packet. Every server runs the node's real code; what is\n"
        "made up are cables, clocks and faults. A run is a function of its options and its seed, bit for bit, and\n"
        "every invariant is checked in every run.",
    .ending = "First steps:\n"
              "  cwsim run simulator/scenarios/kill-root.txt      a server dies; nothing is misdelivered\n"
              "  cwsim throughput --dims 4x4x4                    all to all, against the exact bound\n"
              "  cwsim churn --dims 4x4x4 --churn 5 --seconds 2   failures while keys are used\n"
              "\n"
              "Exit codes: 0 all is well; 1 an invariant or an expectation failed; 2 a wrong option or scenario.",
    .codes = "Exit codes: 0 all is well; 1 an invariant or an expectation failed; 2 a wrong option or scenario.",
    .commands = commands,
};

void command_common(struct command_common *common, struct option *option, cw_dims dims, const char *timers)
{
    *common = (struct command_common){
        .dims = dims, .seed = 1, .link_rate = UINT64_C(1000000000), .mtu = 9000, .timers = timers};
    const struct option shared[COMMAND_COMMON] = {
        {"dims", OPTION_DIMS, &common->dims, NULL, "shape of the torus", false},
        {"seed", OPTION_COUNT, &common->seed, NULL, "from which all chance is drawn", false},
        {"link-rate", OPTION_RATE, &common->link_rate, NULL, "rate of every link, in each direction", false},
        {"mtu", OPTION_SMALL, &common->mtu, "BYTES", "size of a frame behind its Ethernet header, 1500 to 9000", false},
        {"timers", OPTION_TEXT, &common->timers, "fast|default", "hello 5 ms and dead 15 ms, or 10 ms and 50 ms",
         false},
        {"relays", OPTION_PPM, &common->relay_ppm, NULL,
         "share of the servers whose transit is passed on by the kernel, drawn by the seed", false},
        {"settled", OPTION_FLAG, &common->settled, NULL,
         "begin with all servers at rest, as they are long after a start: at once, however many", false},
        {"json", OPTION_FLAG, &common->json, NULL, "print JSON: one object a line", false},
        {"quiet", OPTION_FLAG, &common->quiet, NULL, "show no progress line on the terminal", false},
    };
    memcpy(option, shared, sizeof shared);
}

/* "cwsim churn --dims 8x8x8 --churn 2": quoted where the shell would see more than a word. */
static void write_line(const struct program_command *c, int argc, char **argv, char *out, size_t room)
{
    size_t used = (size_t)snprintf(out, room, "cwsim %s", c->name);
    for (int i = 1; i < argc && used < room; i++) {
        bool plain =
            argv[i][strspn(argv[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=.,:/%+")] == '\0';
        int n = snprintf(out + used, room - used, plain ? " %s" : " '%s'", argv[i]);
        used += n > 0 ? (size_t)n : 0;
    }
}

int command_options(const struct program_command *c, const struct option *option, size_t count, int argc, char **argv,
                    struct option_words *words, struct command_common *common)
{
    int code = program_options(c, option, count, argc, argv, words);
    if (code != PROGRAM_GO) {
        return code;
    }
    if (common != NULL) {
        write_line(c, argc, argv, common->replay, sizeof common->replay);
    }
    return PROGRAM_GO;
}

int command_config(const struct program_command *c, const struct command_common *common, struct world_config *out)
{
    *out = world_config_default();
    out->dims = common->dims;
    out->seed = common->seed;
    out->wire.bits_per_second = common->link_rate;
    out->replay = common->replay;
    if ((uint32_t)common->dims.x * common->dims.y * common->dims.z < 2) {
        return program_refuse(c, "--dims: expected at least two servers");
    }
    if (common->mtu < 1500 || common->mtu > 9000) {
        return program_refuse(c, "--mtu %u: expected 1500 to 9000 bytes", common->mtu);
    }
    if (common->link_rate < 1000000 || common->link_rate > UINT64_C(8000000000000)) {
        return program_refuse(c, "--link-rate: expected 1mbit to 8000gbit");
    }
    out->node.mtu = (uint16_t)common->mtu;
    out->relay_ppm = common->relay_ppm;
    out->settled = common->settled;
    if (strcmp(common->timers, "fast") == 0) {
        out->node.timers = ls_timers_fast();
    } else if (strcmp(common->timers, "default") == 0) {
        out->node.timers = ls_timers_default();
    } else {
        return program_refuse(c, "--timers %s: expected fast or default", common->timers);
    }
    return PROGRAM_GO;
}

int command_exit(int trial_result)
{
    if (trial_result == 0) {
        return EXIT_FINE;
    }
    return trial_result == TRIAL_BROKEN || trial_result == -ETIMEDOUT ? EXIT_BROKEN : EXIT_USAGE;
}
