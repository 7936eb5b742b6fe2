/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/command.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

const struct command *const commands[] = {
    &command_run,      &command_throughput, &command_churn, &command_latency, &command_fairness,
    &command_converge, &command_paper,      &command_swarm, &command_replay,  NULL,
};

void command_common(struct command_common *common, struct option *option, cw_dims dims, const char *timers)
{
    *common = (struct command_common){
        .dims = dims, .seed = 1, .link_rate = UINT64_C(1000000000), .mtu = 9000, .timers = timers};
    const struct option shared[COMMAND_COMMON] = {
        {"dims", OPTION_DIMS, &common->dims, NULL, "shape of the torus", false},
        {"seed", OPTION_COUNT, &common->seed, NULL, "what chance is made from", false},
        {"link-rate", OPTION_RATE, &common->link_rate, NULL, "of every link, each way", false},
        {"mtu", OPTION_SMALL, &common->mtu, "BYTES", "of a frame behind its Ethernet header, 1500 to 9000", false},
        {"timers", OPTION_TEXT, &common->timers, "fast|default", "hello 5 ms and dead 15 ms, or 10 ms and 50 ms",
         false},
        {"json", OPTION_FLAG, &common->json, NULL, "print JSON, not a table", false},
        {"quiet", OPTION_FLAG, &common->quiet, NULL, "no progress line on the terminal", false},
    };
    memcpy(option, shared, sizeof shared);
}

static void print_help(const struct command *c, const struct option *option, size_t count)
{
    printf("usage: cwsim %s %s\n\n%s\n\nOptions (with their defaults):\n", c->name, c->words, c->text);
    options_print(option, count, stdout);
    printf("\nFor example:\n%s\n", c->example);
}

/* "cwsim churn --dims 8x8x8 --churn 2": quoted where the shell would see more than a word. */
static void write_line(const struct command *c, int argc, char **argv, char *out, size_t room)
{
    size_t used = (size_t)snprintf(out, room, "cwsim %s", c->name);
    for (int i = 1; i < argc && used < room; i++) {
        bool plain =
            argv[i][strspn(argv[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=.,:/%+")] == '\0';
        int n = snprintf(out + used, room - used, plain ? " %s" : " '%s'", argv[i]);
        used += n > 0 ? (size_t)n : 0;
    }
}

int command_options(const struct command *c, const struct option *option, size_t count, int argc, char **argv,
                    struct option_words *words, struct command_common *common)
{
    char program[48];
    snprintf(program, sizeof program, "cwsim %s", c->name);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(c, option, count); /* before anything is parsed: the values are the defaults */
            return EXIT_FINE;
        }
    }
    if (options_parse(program, option, count, argc, argv, words, stderr) != 0) {
        return EXIT_USAGE;
    }
    if (common != NULL) {
        write_line(c, argc, argv, common->replay, sizeof common->replay);
    }
    return COMMAND_GO;
}

int command_refuse(const struct command *c, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "cwsim %s: ", c->name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

int command_config(const struct command *c, const struct command_common *common, struct world_config *out)
{
    *out = world_config_default();
    out->dims = common->dims;
    out->seed = common->seed;
    out->wire.bits_per_second = common->link_rate;
    out->replay = common->replay;
    if ((uint32_t)common->dims.x * common->dims.y * common->dims.z < 2) {
        return command_refuse(c, "--dims: expected at least two servers");
    }
    if (common->mtu < 1500 || common->mtu > 9000) {
        return command_refuse(c, "--mtu %u: expected 1500 to 9000 bytes", common->mtu);
    }
    if (common->link_rate < 1000000 || common->link_rate > UINT64_C(8000000000000)) {
        return command_refuse(c, "--link-rate: expected 1mbit to 8000gbit");
    }
    out->node.mtu = (uint16_t)common->mtu;
    if (strcmp(common->timers, "fast") == 0) {
        out->node.timers = ls_timers_fast();
    } else if (strcmp(common->timers, "default") == 0) {
        out->node.timers = ls_timers_default();
    } else {
        return command_refuse(c, "--timers %s: expected fast or default", common->timers);
    }
    return COMMAND_GO;
}

int command_exit(int trial_result)
{
    if (trial_result == 0) {
        return EXIT_FINE;
    }
    return trial_result == TRIAL_BROKEN || trial_result == -ETIMEDOUT ? EXIT_BROKEN : EXIT_USAGE;
}

int command_print(struct report *r, bool json, int code)
{
    int rc = json ? report_print_json(r, stdout) : report_print_table(r, stdout);
    report_close(r);
    if (rc < 0) {
        fputs("cwsim: the report cannot be written\n", stderr);
        return EXIT_USAGE;
    }
    return code;
}
