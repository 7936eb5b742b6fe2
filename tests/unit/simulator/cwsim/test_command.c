/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/command.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

/* Every command is named once, says what it is, and has an example that is its own. */
START_TEST(list)
{
    size_t count = 0;
    for (; program_cwsim.commands[count] != NULL; count++) {
        const struct program_command *c = program_cwsim.commands[count];
        char line[64];
        ck_assert(c->name != NULL && c->summary != NULL && c->words != NULL && c->text != NULL && c->run != NULL);
        snprintf(line, sizeof line, "  cwsim %s ", c->name);
        ck_assert_msg(strncmp(c->example, line, strlen(line)) == 0, "%s", c->example);
        for (size_t i = 0; i < count; i++) {
            ck_assert_str_ne(c->name, program_cwsim.commands[i]->name);
        }
    }
    ck_assert_uint_eq(count, 9);
}
END_TEST

static int config_of(const char *timers, uint32_t mtu, uint64_t rate, struct world_config *config)
{
    struct command_common common;
    struct option option[COMMAND_COMMON];
    command_common(&common, option, (cw_dims){4, 4, 4}, timers);
    common.mtu = mtu;
    common.link_rate = rate;
    return command_config(&command_churn, &common, config);
}

START_TEST(configs)
{
    struct world_config config;
    ck_assert_int_eq(config_of("fast", 1500, 10000000, &config), PROGRAM_GO);
    ck_assert(config.dims.x == 4 && config.node.mtu == 1500 && config.wire.bits_per_second == 10000000);
    ck_assert_int_eq(config.node.timers.hello.ns, ls_timers_fast().hello.ns);
    ck_assert_int_eq(config_of("quick", 1500, 10000000, &config), EXIT_USAGE);
    ck_assert_int_eq(config_of("default", 1499, 10000000, &config), EXIT_USAGE);
    ck_assert_int_eq(config_of("default", 9001, 10000000, &config), EXIT_USAGE);
    ck_assert_int_eq(config_of("default", 9000, 999999, &config), EXIT_USAGE);
}
END_TEST

/* The line that repeats a run is the line that was typed, quoted where a shell needs it. */
START_TEST(replay_line)
{
    struct command_common common;
    struct option option[COMMAND_COMMON];
    char *argv[] = {(char[]){"churn"}, (char[]){"--dims"}, (char[]){"2x2x2"}, (char[]){"--timers"}, (char[]){"a b"}};
    command_common(&common, option, (cw_dims){4, 4, 4}, "fast");
    ck_assert_int_eq(command_options(&command_churn, option, COMMAND_COMMON, 5, argv, NULL, &common), PROGRAM_GO);
    ck_assert_str_eq(common.replay, "cwsim churn --dims 2x2x2 --timers 'a b'");
    ck_assert(common.dims.x == 2);
    char *wrong[] = {(char[]){"churn"}, (char[]){"--dim"}};
    ck_assert_int_eq(command_options(&command_churn, option, COMMAND_COMMON, 2, wrong, NULL, &common), EXIT_USAGE);
}
END_TEST

START_TEST(codes)
{
    ck_assert_int_eq(command_exit(0), EXIT_FINE);
    ck_assert_int_eq(command_exit(TRIAL_BROKEN), EXIT_BROKEN);
    ck_assert_int_eq(command_exit(-ETIMEDOUT), EXIT_BROKEN);
    ck_assert_int_eq(command_exit(-ENOMEM), EXIT_USAGE);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(list), SUITE_TEST(configs), SUITE_TEST(replay_line),
                                          SUITE_TEST(codes)};
SUITE_MAIN("command", tests)
