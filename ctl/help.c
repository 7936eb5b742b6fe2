/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/help.h"

#include "base/check.h"
#include "base/nearest.h"

#include <ctype.h>
#include <string.h>

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *word, *summary, *text;
} groups[] = {
    {"kv", "values of the cache, and the caches of the whole torus",
     "The cache is service kvcache. Its values are the same on whichever server one asks, and the same that clients of "
     "memcached see, whose job is 6."},
    {"store", "values that are kept on several servers, with versions: put, get, compare and set",
     "The store is service store. It runs where the configuration has `service store { }`, or in a lab by cwlab up "
     "--service store; store create makes it, once, on disks or in memory. The page is docs/services/store.md."},
    {"tunnel", "TCP/IP over the torus: addresses, connections, and what became of packets",
     "The network is service ip. It runs where the configuration has `service ip { }`; in a lab, cwlab up --tunnel "
     "makes it. The page is docs/services/tunnel.md."},
    {"job", "who may send what to whom: jobs, their ports, and their grants",
     "A change is signed with the operator's key (--key, or CUBEWAY_OPERATOR_KEY) and goes to every server. The page "
     "is "
     "docs/jobs.md."},
    {"aggregate", "vectors of numbers that are combined on their way: a file of each server becomes one",
     "They are combined by service aggregate, over six trees that share no cable. The page is "
     "docs/services/aggregate.md."},
    {"query", "questions to all servers: counters, times, and lines that programs feed",
     "They go by service aggregate, down one tree and back, and each answer says who is in it. The page is "
     "docs/services/query.md."},
    {"file", "files to many servers at the same time",
     "They go by service multicast, over six trees that share no cable, and appear on each server whole or not at "
     "all."},
    {"services", "services that run on the server", ""},
};

static bool begins(const char *name, const char *word)
{
    size_t length = strcspn(name, " ");
    return strlen(word) == length && memcmp(name, word, length) == 0;
}

size_t help_group_size(const char *word)
{
    size_t count, found = 0;
    const struct command *c = commands_table(&count);
    for (size_t i = 0; i < count; i++) {
        found += begins(c[i].name, word);
    }
    return found > 1 ? found : 0;
}

const char *help_group_summary(const char *word)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (strcmp(groups[i].word, word) == 0) {
            return groups[i].summary;
        }
    }
    return NULL;
}

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

enum { HELP_WIDTH = 100 };

/* Words, broken into lines that a terminal shows; a newline in the text stays, with the spaces behind it. */
static void print_wrapped(const char *text, FILE *out)
{
    for (size_t column = 0; *text != '\0';) {
        size_t spaces = strspn(text, " "), word = strcspn(text + spaces, " \n");
        if (column > 0 && column + spaces + word > HELP_WIDTH) {
            fputc('\n', out);
            column = spaces = 0;
            text += strspn(text, " ");
        }
        fwrite(text, 1, spaces + word, out);
        column += spaces + word;
        text += spaces + word;
        if (*text == '\n') {
            fputc('\n', out);
            column = 0;
            text++;
        }
    }
    fputc('\n', out);
}

static const char exit_codes[] =
    "Exit codes: 0 yes or done; 1 no or failed; 2 the command line is wrong; 3 no daemon, or no way to it;\n"
    "4 the daemon did not answer in time; 5 it is so, but not on every server yet.\n";

/* The commands of a group, a row each, but not `but`, which may be NULL. */
static void print_rows(const char *word, const struct command *but, FILE *out)
{
    size_t count;
    const struct command *c = commands_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (&c[i] != but && (word == NULL || begins(c[i].name, word))) {
            options_print_row(c[i].name, c[i].summary, 24, out);
        }
    }
}

/* A summary as a sentence: in the lists of commands it has no capital. */
static void print_sentence(const char *summary, FILE *out)
{
    fprintf(out, "%c%s.\n", toupper((unsigned char)summary[0]), summary + 1);
}

void help_command(const struct command *c, FILE *out)
{
    fprintf(out, "usage: cwctl %s%s%s%s\n\n", c->name, c->usage[0] != '\0' ? " " : "", c->usage,
            c->options[0] != '\0' ? " [options]" : "");
    print_sentence(c->summary, out);
    if (c->text[0] != '\0') {
        fputc('\n', out);
        print_wrapped(c->text, out);
    }
    if (help_group_size(c->name) > 0) { /* a command of one word that is a group's, too */
        fprintf(out, "\nMore commands:\n");
        print_rows(c->name, c, out);
    }
    if (c->options[0] != '\0') {
        fprintf(out, "\nOptions:\n");
    }
    for (const struct arguments_option *o = commands_options(); o->name != NULL; o++) {
        if (commands_takes(c, o)) {
            struct arguments_option own = *o;
            own.help = commands_option_help(c, o);
            arguments_help_option(&own, out);
        }
    }
    fprintf(out, "\nOptions of all commands:\n");
    arguments_help(out);
    fprintf(out, "\nFor example:\n%s\n\n%s", c->example, exit_codes);
}

void help_group(const char *word, FILE *out)
{
    const char *summary = help_group_summary(word), *text = "";
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        text = strcmp(groups[i].word, word) == 0 ? groups[i].text : text;
    }
    CHECK(summary != NULL); /* each group has a row of the table */
    fprintf(out, "usage: cwctl %s COMMAND [words] [options]\n\n", word);
    print_sentence(summary, out);
    if (text[0] != '\0') {
        fputc('\n', out);
        print_wrapped(text, out);
    }
    fprintf(out, "\nCommands:\n");
    print_rows(word, NULL, out);
    fprintf(out, "\nFor example:\n");
    size_t count;
    const struct command *c = commands_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (begins(c[i].name, word)) { /* the first line of its examples */
            fprintf(out, "%.*s\n", (int)strcspn(c[i].example, "\n"), c[i].example);
        }
    }
    fprintf(out, "\ncwctl %s COMMAND --help tells more about one of them.\n\n%s", word, exit_codes);
}

void help_all(FILE *out)
{
    fprintf(out,
            "usage: cwctl [options] COMMAND [words] [options]\n\nTalks to a cubewayd on this machine.\n\nCommands:\n");
    print_rows(NULL, NULL, out);
    fprintf(out, "\nOptions of all commands:\n");
    arguments_help(out);
    fprintf(out,
            "\ncwctl COMMAND --help tells more about a command, and cwctl kv --help about a group of commands. For "
            "example:\n"
            "  cwctl status                          how is the daemon of this machine?\n"
            "  cwctl ping all                        can it reach everybody?\n"
            "  cwctl key explain hello --dead 0,1,2  who has a key, and who would if 0,1,2 died?\n"
            "  cwctl --lab demo --node 0,1,2 top     live rates of a server of a lab\n"
            "\n%s",
            exit_codes);
}

/* ---- What may have been meant ------------------------------------------------------------------------------------ */

enum { NAMES_MOST = 96 };
struct near_word {
    char text[24];
};

static const char *near_nth(const void *context, size_t i)
{
    return ((const struct near_word *)context)[i].text;
}

/* The first words of commands (NULL), and help, or the words that follow that one. Gives how many there are. */
static size_t collect(const char *behind, struct near_word out[NAMES_MOST])
{
    size_t count, found = 0;
    const struct command *c = commands_table(&count);
    CHECK(count < NAMES_MOST);
    for (size_t i = 0; i < count; i++) {
        const char *at = c[i].name;
        if (behind != NULL && (!begins(at, behind) || strchr(at, ' ') == NULL)) {
            continue;
        }
        at += behind != NULL ? strlen(behind) + 1 : 0;
        snprintf(out[found++].text, sizeof out->text, "%.*s", (int)strcspn(at, " "), at);
    }
    if (behind == NULL) {
        snprintf(out[found++].text, sizeof out->text, "help");
    }
    return found;
}

bool help_nearest(const char *behind, const char *word, char out[static HELP_NAME])
{
    struct near_word words[NAMES_MOST];
    const char *near = nearest_name(word, strlen(word), near_nth, words, collect(behind, words));
    if (near != NULL) {
        snprintf(out, HELP_NAME, "%s%s%s", behind != NULL ? behind : "", behind != NULL ? " " : "", near);
    }
    return near != NULL;
}

void help_refuse(const char *const *words, int count, FILE *errors)
{
    struct near_word behind[NAMES_MOST];
    char near[HELP_NAME];
    if (count == 1 || collect(words[0], behind) == 0) {
        fprintf(errors, "cwctl: unknown command '%s'; ", words[0]);
        if (help_nearest(NULL, words[0], near)) {
            fprintf(errors, "did you mean %s?\n", near);
        } else {
            fprintf(errors, "cwctl --help lists them\n");
        }
    } else if (help_nearest(words[0], words[1], near)) {
        fprintf(errors, "cwctl: %s has no command '%s'; did you mean %s?\n", words[0], words[1], near);
    } else {
        fprintf(errors, "cwctl: %s has no command '%s'; cwctl %s --help lists them\n", words[0], words[1], words[0]);
    }
}
