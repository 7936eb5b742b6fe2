/* SPDX-License-Identifier: Apache-2.0 */
#include "scenario/program.h"

#include "base/nearest.h"
#include "cubeway/version.h"

#include <stdarg.h>
#include <string.h>

/* ---- The program ------------------------------------------------------------------------------------------------- */

static void print_usage(const struct program *p, FILE *out)
{
    int width = 0;
    for (size_t i = 0; p->commands[i] != NULL; i++) {
        int length = (int)strlen(p->commands[i]->name);
        width = length > width ? length : width;
    }
    fprintf(out, "usage: %s COMMAND [options]\n\n%s\n\nCommands:\n", p->name, p->purpose);
    for (size_t i = 0; p->commands[i] != NULL; i++) {
        options_print_row(p->commands[i]->name, p->commands[i]->summary, width + 1, out);
    }
    fprintf(out, "\n%s COMMAND --help explains one, with an example; %s --version\n\n%s\n", p->name, p->name,
            p->ending);
}

/* Behind the last command stands help, which is one, too. */
static const char *command_name(const void *context, size_t i)
{
    const struct program_command *c = ((const struct program *)context)->commands[i];
    return c != NULL ? c->name : "help";
}

static const struct program_command *find_command(const struct program *p, const char *word)
{
    for (size_t i = 0; p->commands[i] != NULL; i++) {
        if (strcmp(p->commands[i]->name, word) == 0) {
            return p->commands[i];
        }
    }
    return NULL;
}

/*
 * Of words that begin with options, the place of the command; 0: there is none. A word behind an option is its value,
 * unless it is the name of a command, which only p->named may have as its value.
 */
static int command_place(const struct program *p, int count, char *const word[])
{
    for (int i = 0; i < count && strcmp(word[i], "--") != 0; i++) {
        bool option = word[i][0] == '-' && word[i][1] == '-';
        if (!option) {
            return find_command(p, word[i]) != NULL ? i : 0;
        }
        bool named = p->named != NULL && strcmp(word[i], p->named) == 0;
        bool next = i + 1 < count && word[i + 1][0] != '-' && strchr(word[i], '=') == NULL;
        i += next && (named || find_command(p, word[i + 1]) == NULL);
    }
    return 0;
}

/* Puts the command before the options that stand before it: these are the command's. */
static void put_first(char *word[], int place)
{
    char *command = word[place];
    memmove(word + 1, word, (size_t)place * sizeof *word);
    word[0] = command;
}

/* ---- Completion -------------------------------------------------------------------------------------------------- */

const char program_complete_word[] = "--complete";

static void complete_commands(const struct program *p, char *const word[], bool options)
{
    struct completion c;
    const struct options none = {.program = p->name};
    completion_read(&none, 1, word, stdout, &c);
    for (size_t i = 0; p->commands[i] != NULL; i++) {
        completion_say(&c, p->commands[i]->name, p->commands[i]->summary);
    }
    if (options) {
        completion_say(&c, "help", "what a command does");
        completion_say(&c, "--help", "what there is");
        completion_say(&c, "--version", "the version, and the commit");
    }
}

/* argv[0..argc): all words behind "complete". */
static int complete_line(const struct program *p, int argc, char **argv)
{
    bool about = argc > 1 && strcmp(argv[0], "help") == 0;
    if (argc == 1 || (about && argc == 2)) {
        complete_commands(p, argv + argc - 1, argc == 1);
        return EXIT_FINE;
    }
    put_first(argv, command_place(p, argc - 1, argv));
    const struct program_command *c = about ? NULL : find_command(p, argv[0]);
    char *words[OPTION_WORDS_MAX + 3] = {argv[0], (char *)(uintptr_t)program_complete_word};
    if (c != NULL && argc <= OPTION_WORDS_MAX) {
        memcpy(words + 2, argv + 1, (size_t)(argc - 1) * sizeof *words);
        return c->run(c, argc + 1, words);
    }
    if (argv[0][0] == '-' && argv[argc - 1][0] != '-') {
        const struct program_command *of =
            p->named_by != NULL && argc == 2 && strcmp(argv[0], p->named) == 0 ? find_command(p, p->named_by) : NULL;
        if (of != NULL) { /* the value of an option that any command takes */
            words[2] = argv[0];
            words[3] = argv[1];
            return of->run(of, 4, words);
        }
        complete_commands(p, argv + argc - 1, false); /* behind options */
    }
    return EXIT_FINE;
}

/* What may come next in a line of this command. */
static void complete_words(const struct program_command *c, const struct options *options, int argc, char **argv)
{
    struct program_line line = {c, options, argc, argv};
    struct completion at;
    completion_read(options, argc, argv, stdout, &at);
    if (c->program->complete != NULL && c->program->complete(&line, &at)) {
        return;
    }
    if (at.option != NULL) {
        completion_argument(&at, c->program->values, &line);
        return;
    }
    if (completion_wants_word(&at)) {
        completion_usage(&at, c->words, 0, c->program->values, &line);
    }
    if (completion_wants_option(&at)) {
        completion_options(&at, options->option, options->count);
    }
}

/* ---- main() ------------------------------------------------------------------------------------------------------ */

static int print_version(const struct program *p, bool json)
{
    if (!json) {
        printf("%s %s (%s)\n", p->name, CW_VERSION, report_commit());
        return EXIT_FINE;
    }
    struct report *r = report_open(NULL);
    report_text(r, "program", p->name);
    report_text(r, "version", CW_VERSION);
    report_text(r, "commit", report_commit());
    int rc = report_print_json(r, stdout);
    report_close(r);
    return rc < 0 ? EXIT_USAGE : EXIT_FINE;
}

/* The first word is none of the `count` commands. Gives the exit code. */
static int refuse_word(const struct program *p, const char *word, size_t count)
{
    static const char *const ours[] = {"--help", "--version", NULL};
    bool dashed = word[0] == '-';
    const char *near = dashed ? nearest_word(word, ours) : nearest_name(word, strlen(word), command_name, p, count + 1);
    const char *what = dashed ? "option" : "command", *there = p->elsewhere != NULL ? p->elsewhere(word) : NULL;
    if (there != NULL) {
        fprintf(stderr, "%s: unknown command '%s'; %s\n", p->name, word, there);
    } else if (near != NULL) {
        fprintf(stderr, "%s: unknown %s '%s'; did you mean %s?\n", p->name, what, word, near);
    } else if (dashed) {
        fprintf(stderr, "%s: a command is missing: %s COMMAND %s\n", p->name, p->name, word);
    } else {
        fprintf(stderr, "%s: unknown command '%s'; %s --help lists them\n", p->name, word, p->name);
    }
    return EXIT_USAGE;
}

int program_main(const struct program *p, int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "complete") == 0) {
        return complete_line(p, argc - 2, argv + 2);
    }
    if (argc < 2) {
        print_usage(p, stderr);
        return EXIT_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || (strcmp(word, "help") == 0 && argc == 2)) {
        print_usage(p, stdout);
        return EXIT_FINE;
    }
    bool json = argc > 2 && (strcmp(word, "--json") == 0 || strcmp(argv[2], "--json") == 0);
    if (strcmp(word, "--version") == 0 || (json && strcmp(argv[2], "--version") == 0)) {
        return print_version(p, json);
    }
    static char help[] = "--help";
    char *asked[] = {argv[0], help, NULL};
    bool about = strcmp(word, "help") == 0;
    if (!about) {
        put_first(argv + 1, command_place(p, argc - 1, argv + 1));
    }
    word = about ? argv[2] : argv[1];
    const struct program_command *c = find_command(p, word);
    if (c != NULL) {
        return about ? c->run(c, 2, asked) : c->run(c, argc - 1, argv + 1);
    }
    size_t count = 0;
    for (; p->commands[count] != NULL; count++) {
    }
    return refuse_word(p, word, count);
}

/* ---- A command --------------------------------------------------------------------------------------------------- */

static void print_help(const struct program_command *c, const struct option *option, size_t count)
{
    printf("usage: %s %s %s\n\n%s\n\nOptions (with their defaults):\n", c->program->name, c->name, c->words, c->text);
    options_print(option, count, stdout);
    printf("\nFor example:\n%s\n", c->example);
    if (c->program->codes != NULL) {
        printf("\n%s\n", c->program->codes);
    }
}

int program_options(const struct program_command *c, const struct option *option, size_t count, int argc, char **argv,
                    struct option_words *words)
{
    char called[64];
    snprintf(called, sizeof called, "%s %s", c->program->name, c->name);
    if (argc > 2 && strcmp(argv[1], program_complete_word) == 0) {
        const struct options options = {.program = called, .option = option, .count = count};
        complete_words(c, &options, argc - 2, argv + 2);
        return EXIT_FINE;
    }
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(c, option, count); /* before anything is parsed: the values are the defaults */
            return EXIT_FINE;
        }
    }
    return options_parse(called, option, count, argc, argv, words, stderr) != 0 ? EXIT_USAGE : PROGRAM_GO;
}

int program_refuse(const struct program_command *c, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "%s %s: ", c->program->name, c->name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

int program_print(const struct program_command *c, struct report *r, bool json, int code)
{
    int rc =
        !json ? report_print_table(r, stdout) : (c->program->rows ? report_print_lines : report_print_json)(r, stdout);
    report_close(r);
    return rc < 0 ? program_refuse(c, "standard output: %s", strerror(-rc)) : code;
}
