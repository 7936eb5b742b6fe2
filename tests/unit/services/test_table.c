/* SPDX-License-Identifier: Apache-2.0 */
#include "services/table.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

static cw_verdict packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s, (void)state, (void)p, (void)rx;
    return CW_DROP;
}

static bool peek(cw_svc *s, void *state, cw_place place, cw_link link, cw_peek *out)
{
    (void)s, (void)state, (void)place, (void)link, (void)out;
    return false;
}

static const cw_service good = {
    CW_SERVICE_INIT, .name = "A-service-9", .version = "1", .job = 1024, .on_packet = packet,
};
static char why[TABLE_WHY_BYTES];

/* Tries a table, and that the sentence has those words. */
static void wrong(const cw_service *table, enum table_origin origin, int rc, const char *words)
{
    int got = table_check(table, origin, why);
    ck_assert_msg(got == rc && strstr(why, words) != NULL, "%d \"%s\", not %d \"%s\"", got, why, rc, words);
}

START_TEST(a_good_one)
{
    strcpy(why, "something");
    ck_assert_int_eq(table_check(&good, TABLE_LOADED, why), 0);
    ck_assert_str_eq(why, "");
    cw_service t = good;
    t.job = 1023;
    ck_assert_int_eq(table_check(&t, TABLE_BUILTIN, why), 0);
    t.name = "1234567890123456789012345678901";
    ck_assert_int_eq(table_check(&t, TABLE_BUILTIN, why), 0);
}
END_TEST

static const cw_command commands[] = {
    {"to", "SERVER [count=N] [via SERVER..]", "there"},
    {"all", "", "everywhere"},
    {"group join", "NAME TEXT..", "with others"},
    {"group", NULL, NULL},
    {NULL, NULL, NULL},
};

START_TEST(its_commands)
{
    static const char *const words[] = {"group", "join", "web", NULL};
    int used;
    cw_service t = good;
    ck_assert_ptr_null(table_commands(&t));
    t.commands = commands;
    ck_assert_ptr_eq(table_commands(&t), commands);
    ck_assert_ptr_eq(table_command(commands, 3, words, &used), &commands[2]);
    ck_assert_int_eq(used, 2);
    ck_assert_ptr_eq(table_command(commands, 1, words, &used), &commands[3]);
    ck_assert_int_eq(used, 1);
    ck_assert_ptr_null(table_command(commands, 1, words + 1, &used));
    ck_assert_ptr_null(table_command(commands, 0, words, &used));
    static const int least[] = {1, 0, 2, 0};
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_int_eq(table_least(&commands[i]), least[i]);
    }
}
END_TEST

static int accepts(const cw_service *table, const char *line, const char *says)
{
    static char text[128];
    char said[TABLE_REFUSAL];
    const char *argv[8];
    struct torus torus;
    int argc = 0;
    ck_assert_int_eq(torus_init(&torus, (cw_dims){3, 3, 2}), 0);
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    int rc = table_accepts(table, &torus, argc, argv, said);
    ck_assert_str_eq(said, says);
    return rc;
}

/* The sentences are those that an operator reads, of a daemon and of the simulator alike. */
START_TEST(words_are_checked_before_the_service_has_them)
{
    static const cw_command own[] = {
        {"walk", "SERVER", ""}, {"mode", "on|off [SERVER..]", ""}, {"show", NULL, NULL}, {NULL, NULL, NULL}};
    cw_service t = good;
    t.name = "count";
    t.commands = NULL;
    ck_assert_int_eq(accepts(&t, "anything at all", ""), 0);
    t.commands = own;
    ck_assert_int_eq(accepts(&t, "walk 2,2,1", ""), 0);
    ck_assert_int_eq(accepts(&t, "mode on 0,0,0 1,1,1", ""), 0);
    ck_assert_int_eq(accepts(&t, "show", ""), 0);
    ck_assert_int_eq(accepts(&t, "wlak 2,2,1", "service count has no command 'wlak'; did you mean walk?"), -EINVAL);
    ck_assert_int_eq(accepts(&t, "", "service count has no command ''; there are walk, mode, show"), -EINVAL);
    ck_assert_int_eq(accepts(&t, "walk", "usage: count walk SERVER"), -EINVAL);
    ck_assert_int_eq(
        accepts(&t, "walk 9,9,9", "'9,9,9' is not a server of this torus (3x3x2), as 0,0,0; usage: count walk SERVER"),
        -EINVAL);
    ck_assert_int_eq(accepts(&t, "mode maybe", "'maybe' is not on|off; usage: count mode on|off [SERVER..]"), -EINVAL);
    ck_assert_int_eq(
        accepts(&t, "mode on 0,0,0 0,0,2",
                "'0,0,2' is not a server of this torus (3x3x2), as 0,0,0; usage: count mode on|off [SERVER..]"),
        -EINVAL);
    ck_assert_int_eq(accepts(&t, "show more", "'more' is a word too many; usage: count show"), -EINVAL);
}
END_TEST

static int misfit(const char *arguments, const char *line, const char *expects)
{
    static char text[128];
    char expected[TABLE_EXPECTED];
    const char *argv[8];
    const cw_command c = {"do", arguments, ""};
    struct torus torus;
    int argc = 0;
    ck_assert_int_eq(torus_init(&torus, (cw_dims){3, 3, 3}), 0);
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    int at = table_misfit(&c, &torus, argc, argv, expected);
    ck_assert_str_eq(expected, expects);
    return at;
}

START_TEST(words_without_a_place)
{
    ck_assert_int_eq(misfit(NULL, "", ""), -1);
    ck_assert_int_eq(misfit("", "a", ""), 0);
    ck_assert_int_eq(misfit("NAME", "a", ""), -1);
    ck_assert_int_eq(misfit("NAME", "a b", ""), 1);
    ck_assert_int_eq(misfit("SERVER on|off", "0,0,0 on", ""), -1);
    ck_assert_int_eq(misfit("SERVER on|off", "0,0,0 of", "on|off"), 1);
    ck_assert_int_eq(misfit("SERVER on|off [fast|slow]", "0,0,0 off slow", ""), -1);
    ck_assert_int_eq(misfit("SERVER on|off [fast|slow]", "0,0,0 off slower", "fast|slow"), 2);
    ck_assert_int_eq(misfit("SERVER crash|keep|HOLDms", "0,0,0 blah", ""), -1); /* it may be a HOLDms */
    ck_assert_int_eq(misfit("KEY [count=N] [size=N]", "a size=1 count=2", ""), -1);
    ck_assert_int_eq(misfit("KEY [count=N] [size=N]", "a size=1 count=2 more=3", ""), 3);
    ck_assert_int_eq(misfit("[hops=N | via SERVER] [on|off]", "via x on y", ""), -1);
    ck_assert_int_eq(misfit("[hops=N | via SERVER] [on|off]", "via x on y z", ""), 4);
    ck_assert_int_eq(misfit("[via SERVER..]", "via 0,0,0 0,0,1 0,1,1", ""), -1);
    ck_assert_int_eq(misfit("SERVER", "3,0,0", "a server of this torus (3x3x3), as 0,0,0"), 0);
    ck_assert_int_eq(misfit("SERVER | KEY", "hello", ""), -1);
    ck_assert_int_eq(misfit("all|SERVER", "1,1,1", ""), -1);
    ck_assert_int_eq(misfit("all|SERVER", "al", "all|SERVER"), 0);
    ck_assert_int_eq(misfit("on|off [SERVER]", "on x", "a server of this torus (3x3x3), as 0,0,0"), 1);
    ck_assert_int_eq(misfit("NAME SERVER..", "a 0,0,0 x", "a server of this torus (3x3x3), as 0,0,0"), 2);
    ck_assert_int_eq(misfit("NAME TEXT..", "a b c d e", ""), -1);
    ck_assert_int_eq(misfit("0..8", "3", ""), -1);
    ck_assert_int_eq(misfit("0..8", "3 4", ""), 1);
    ck_assert_int_eq(misfit("BYTES to all|SERVER..|GROUP", "5 for all", "to"), 1);
    ck_assert_int_eq(misfit("a-very-long-word-to-choose|another-very-long-word-to-choose|third", "x",
                            "a-very-long-word-to-choose|another-very-long-word-to-choose|"),
                     0);
}
END_TEST

START_TEST(each_way_to_be_wrong)
{
    cw_service t;
    wrong(NULL, TABLE_LOADED, -EINVAL, "no table");
    t = good;
    t.size = 0;
    wrong(&t, TABLE_LOADED, -EINVAL, "CW_SERVICE_INIT");
    t = good;
    t.api = CW_API_VERSION + 1;
    wrong(&t, TABLE_LOADED, -EPROTO, "version 3 of the service API");
    t.api = 1; /* says what to change, however long the table is */
    t.size = 152;
    wrong(&t, TABLE_LOADED, -EPROTO, "on_path is CW_PATH_ALL where it was true");
    t = good;
    t.size = sizeof t - 1;
    wrong(&t, TABLE_LOADED, -EPROTO, "bytes long");
    t = good;
    t.size = 10 * sizeof t;
    wrong(&t, TABLE_LOADED, -EPROTO, "bytes long");
    t = good;
    t.name = NULL;
    wrong(&t, TABLE_LOADED, -EINVAL, "name");
    t = good;
    t.name = "";
    wrong(&t, TABLE_LOADED, -EINVAL, "name");
    t = good;
    t.name = "under_score";
    wrong(&t, TABLE_LOADED, -EINVAL, "name");
    t = good;
    t.name = "12345678901234567890123456789012";
    wrong(&t, TABLE_LOADED, -EINVAL, "name");
    t = good;
    t.version = NULL;
    wrong(&t, TABLE_LOADED, -EINVAL, "A-service-9 says no version");
    t = good;
    t.job = 0;
    wrong(&t, TABLE_LOADED, -EINVAL, "job 0");
    t = good;
    t.job = 1023;
    wrong(&t, TABLE_LOADED, -EINVAL, "1024 or above");
    wrong(&good, TABLE_BUILTIN, -EINVAL, "below 1024");
    t = good;
    t.on_packet = NULL;
    wrong(&t, TABLE_LOADED, -EINVAL, "on_packet");
    t = good;
    t.on_path = 3;
    wrong(&t, TABLE_LOADED, -EINVAL, "on_path 3");
    t = good;
    t.mark_after.ns = -1;
    wrong(&t, TABLE_LOADED, -EINVAL, "mark_after");
    t = good;
    t.peek_packet = peek;
    wrong(&t, TABLE_LOADED, -EINVAL, "no next_packet");
    t = good;
    t.state_size = SIZE_MAX;
    wrong(&t, TABLE_LOADED, -EINVAL, "state");
}
END_TEST

/* A built-in table opened again, for a network. */
START_TEST(instances)
{
    cw_service builtin = good, out;
    builtin.job = 9;
    builtin.commands = commands;
    ck_assert_int_eq(table_instance(&builtin, 5003, "blue", 0, &out, why), 0);
    ck_assert_uint_eq(out.job, 5003);
    ck_assert_str_eq(out.name, "blue");
    ck_assert(out.on_packet == builtin.on_packet && out.commands == commands);
    ck_assert_int_eq(table_instance(&builtin, 5004, "red", TABLE_INSTANCES - 1, &out, why), 0);
    ck_assert_int_eq(table_instance(&builtin, 5005, "green", TABLE_INSTANCES, &out, why), -ENOSPC);
    ck_assert_ptr_nonnull(strstr(why, "8 networks"));
    ck_assert_int_eq(table_instance(&builtin, 10, "blue", 0, &out, why), -EINVAL);
    ck_assert_ptr_nonnull(strstr(why, "an instance of another takes 1024"));
    ck_assert_int_eq(table_instance(&builtin, 5003, "", 0, &out, why), -EINVAL);
}
END_TEST

START_TEST(a_later_api_with_nothing_of_it_in_use)
{
    struct {
        cw_service table;
        const void *option;
    } later = {.table = good};
    later.table.size = sizeof later;
    ck_assert_int_eq(table_check(&later.table, TABLE_LOADED, why), 0);
    later.option = &later;
    wrong(&later.table, TABLE_LOADED, -EPROTO, "bytes long");
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(its_commands),
    SUITE_TEST(instances),
    SUITE_TEST(a_good_one),
    SUITE_TEST(words_are_checked_before_the_service_has_them),
    SUITE_TEST(words_without_a_place),
    SUITE_TEST(each_way_to_be_wrong),
    SUITE_TEST(a_later_api_with_nothing_of_it_in_use),
};
SUITE_MAIN("table", tests)
