/* SPDX-License-Identifier: Apache-2.0 */
#include "scenario/program.h"
#include "suite.h"

#include <string.h>
#include <unistd.h>

static uint64_t number;

extern const struct program probe;

static int add(const struct program_command *self, int argc, char **argv)
{
    struct option_words words;
    number = 7;
    const struct option option[] = {{"number", OPTION_COUNT, &number, NULL, "a number", false}};
    int code = program_options(self, option, 1, argc, argv, &words);
    return code != PROGRAM_GO ? code : words.count == 1 ? EXIT_FINE : program_refuse(self, "expected a word");
}

static int show(const struct program_command *self, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    struct report *r = report_open("show");
    report_integer(r, "packets", 3);
    return program_print(self, r, true, 5);
}

static const struct program_command command_add = {&probe,     "add",           "adds", "WORD [options]",
                                                   "Adds it.", "  probe add x", add};
static const struct program_command command_show = {&probe, "show", "shows", "", "Shows.", "  probe show", show};
static const struct program_command *const commands[] = {&command_add, &command_show, NULL};
static const char *elsewhere(const char *word)
{
    return strcmp(word, "adder") == 0 ? "there is one: other adder" : NULL;
}

const struct program probe = {
    .name = "probe",
    .purpose = "It is there to be tried.",
    .ending = "Exit codes: 0 and others.",
    .codes = "Codes: 0.",
    .commands = commands,
    .named = "--number",
    .elsewhere = elsewhere,
};

/* What program_main() writes on the descriptor while it runs, and its code. */
static int call(int fd, char *text, size_t room, int argc, const char *const *argv)
{
    const char *copy[12] = {NULL};
    FILE *file = tmpfile();
    ck_assert_int_lt(argc, 12);
    memcpy(copy, argv, (size_t)argc * sizeof *copy);
    int kept = dup(fd);
    fflush(NULL);
    ck_assert(file != NULL && kept >= 0 && dup2(fileno(file), fd) == fd);
    int code = program_main(&probe, argc, (char **)(uintptr_t)copy);
    fflush(NULL);
    ck_assert_int_eq(dup2(kept, fd), fd);
    close(kept);
    rewind(file);
    text[fread(text, 1, room - 1, file)] = '\0';
    fclose(file);
    return code;
}

START_TEST(help_lists_the_commands)
{
    static const char *const ways[][3] = {{"probe", "--help", NULL}, {"probe", "-h", NULL}, {"probe", "help", NULL}};
    char text[2000];
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(call(STDOUT_FILENO, text, sizeof text, 2, ways[i]), EXIT_FINE);
        ck_assert(strncmp(text, "usage: probe COMMAND [options]\n\nIt is there to be tried.\n", 57) == 0);
        ck_assert(strstr(text, "  add   adds\n  show  shows\n") != NULL);
        ck_assert(strstr(text, "Exit codes: 0 and others.\n") != NULL);
    }
    static const char *const none[] = {"probe", NULL};
    ck_assert_int_eq(call(STDERR_FILENO, text, sizeof text, 1, none), EXIT_USAGE);
    ck_assert(strstr(text, "usage: probe") == text);
    static const char *const version[] = {"probe", "--version", NULL};
    ck_assert_int_eq(call(STDOUT_FILENO, text, sizeof text, 2, version), EXIT_FINE);
    ck_assert(strncmp(text, "probe ", 6) == 0);
}
END_TEST

START_TEST(help_of_a_command_shows_its_defaults)
{
    static const char *const ways[][4] = {{"probe", "help", "add", NULL}, {"probe", "add", "--help", NULL}};
    char text[2000];
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(call(STDOUT_FILENO, text, sizeof text, 3, ways[i]), EXIT_FINE);
        ck_assert(strstr(text, "usage: probe add WORD [options]\n\nAdds it.\n") == text);
        ck_assert(strstr(text, "a number (7)") != NULL);
        ck_assert(strstr(text, "For example:\n  probe add x\n\nCodes: 0.\n") != NULL);
    }
}
END_TEST

START_TEST(commands_get_their_words)
{
    static const char *const good[] = {"probe", "add", "--number", "9", "word", NULL};
    char text[500];
    ck_assert_int_eq(call(STDERR_FILENO, text, sizeof text, 5, good), EXIT_FINE);
    ck_assert(number == 9 && text[0] == '\0');
    static const char *const wordless[] = {"probe", "add", NULL};
    ck_assert_int_eq(call(STDERR_FILENO, text, sizeof text, 2, wordless), EXIT_USAGE);
    ck_assert_str_eq(text, "probe add: expected a word\n");
    static const char *const wrong[] = {"probe", "add", "--numbr", "9", NULL};
    ck_assert_int_eq(call(STDERR_FILENO, text, sizeof text, 4, wrong), EXIT_USAGE);
    ck_assert_str_eq(text, "probe add: unknown option --numbr; did you mean --number?\n");
}
END_TEST

START_TEST(options_may_stand_before_the_command)
{
    static const char *const lines[] = {"--number 9 add x",    "--number=9 add x", "--number 9 add --number=9 x",
                                        "--number show add x", "--numbr add x",    "--number 9 dd",
                                        "--hlep add"};
    static const char *const says[] = {"",
                                       "",
                                       "probe add: --number is given twice, and can have one value\n",
                                       "probe add: --number show: expected",
                                       "probe add: unknown option --numbr; did you mean --number?",
                                       "probe: a command is missing: probe COMMAND --number\n",
                                       "probe add: unknown option --hlep; did you mean --help?\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *words[10] = {"probe"};
        char line[100], text[500];
        int count = 1;
        snprintf(line, sizeof line, "%s", lines[i]);
        for (char *word = strtok(line, " "); word != NULL; word = strtok(NULL, " ")) {
            words[count++] = word;
        }
        number = 0;
        int code = call(STDERR_FILENO, text, sizeof text, count, words);
        ck_assert_int_eq(code, says[i][0] == '\0' ? EXIT_FINE : EXIT_USAGE);
        ck_assert_msg(says[i][0] != '\0' ? strncmp(text, says[i], strlen(says[i])) == 0 : number == 9, "%s: %s",
                      lines[i], text);
    }
    static const char *behind[] = {"probe", "complete", "--number", "9", "sh", NULL};
    char text[500];
    ck_assert_int_eq(call(STDOUT_FILENO, text, sizeof text, 5, behind), EXIT_FINE);
    ck_assert_str_eq(text, "show\tshows\n");
}
END_TEST

START_TEST(an_unknown_command_names_the_nearest)
{
    static const char *const near[] = {"probe", "ad", NULL}, *const far[] = {"probe", "zzzzzz", NULL};
    char text[500];
    ck_assert_int_eq(call(STDERR_FILENO, text, sizeof text, 2, near), EXIT_USAGE);
    ck_assert_str_eq(text, "probe: unknown command 'ad'; did you mean add?\n");
    ck_assert_int_eq(call(STDERR_FILENO, text, sizeof text, 2, far), EXIT_USAGE);
    ck_assert_str_eq(text, "probe: unknown command 'zzzzzz'; probe --help lists them\n");
    static const char *const there[] = {"probe", "adder", NULL};
    ck_assert_int_eq(call(STDERR_FILENO, text, sizeof text, 2, there), EXIT_USAGE);
    ck_assert_str_eq(text, "probe: unknown command 'adder'; there is one: other adder\n");
    static const char *const others[][2] = {
        {"hlep", "probe: unknown command 'hlep'; did you mean help?\n"},
        {"--hlep", "probe: unknown option '--hlep'; did you mean --help?\n"},
        {"--number", "probe: a command is missing: probe COMMAND --number\n"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char *const words[] = {"probe", others[i][0], NULL};
        ck_assert_int_eq(call(STDERR_FILENO, text, sizeof text, 2, words), EXIT_USAGE);
        ck_assert_str_eq(text, others[i][1]);
    }
}
END_TEST

START_TEST(reports_are_printed_with_the_code)
{
    static const char *const words[] = {"probe", "show", NULL};
    char text[500];
    ck_assert_int_eq(call(STDOUT_FILENO, text, sizeof text, 2, words), 5);
    ck_assert(strstr(text, "\"packets\":3") != NULL);
}
END_TEST

START_TEST(what_completes_a_line)
{
    static const char *const command[] = {"probe", "complete", "sh", NULL};
    static const char *const options[] = {"probe", "complete", "add", "x", "--", NULL};
    static const char *const version[] = {"probe", "--version", "--json", NULL};
    char text[2000];
    ck_assert_int_eq(call(STDOUT_FILENO, text, sizeof text, 3, command), EXIT_FINE);
    ck_assert_str_eq(text, "show\tshows\n");
    ck_assert_int_eq(call(STDOUT_FILENO, text, sizeof text, 5, options), EXIT_FINE);
    ck_assert_ptr_nonnull(strstr(text, "\ta number\n"));
    ck_assert_int_eq(call(STDOUT_FILENO, text, sizeof text, 3, version), EXIT_FINE);
    ck_assert_int_eq(strncmp(text, "{\"program\":\"probe\",\"version\":\"", 30), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_completes_a_line),
    SUITE_TEST(help_lists_the_commands),
    SUITE_TEST(help_of_a_command_shows_its_defaults),
    SUITE_TEST(commands_get_their_words),
    SUITE_TEST(options_may_stand_before_the_command),
    SUITE_TEST(an_unknown_command_names_the_nearest),
    SUITE_TEST(reports_are_printed_with_the_code),
};

SUITE_MAIN("program", tests)
