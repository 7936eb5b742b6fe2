/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/complete.h"

#include "commandline/completion.h"
#include "ctl/help.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const cw_span patience = CW_MS(500);

struct asking {
    const struct find_wish *wish;
    const char *server; /* of a daemon that runs several; NULL: its first */
    const struct completion *c;
    const char *field; /* whose texts are candidates */
    bool quiet;        /* rows are only kept */
    bool words;        /* the texts are several words, of which the one behind `behind` is meant */
    char before[128];  /* the candidate that was said last */
    char behind[128];  /* only texts that begin so; "" for all */
    bool keep;         /* rows go to jobs */
    char said[64][64]; /* groups that were said: several servers know one */
    size_t groups;
    struct rows jobs; /* signed records, which were said: a service that has one is not said again */
};

/* ---- What the daemon knows --------------------------------------------------------------------------------------- */

/* Of a service that has a record, both answers have the name. */
static bool is_said(const struct asking *a, const char *name)
{
    for (size_t i = 0; i < a->jobs.count; i++) {
        if (strcmp(message_get_text(a->jobs.row[i], "name", ""), name) == 0) {
            return true;
        }
    }
    return false;
}

static void take(void *context, struct message *row)
{
    struct asking *a = context;
    const char *text = message_get_text(row, a->field, "");
    size_t length = strlen(a->behind);
    char word[128];
    if (!a->quiet && strncmp(text, a->behind, length) == 0) { /* rows that say the same follow one another */
        snprintf(word, sizeof word, "%.*s", (int)strcspn(text + length, a->words ? " " : ""), text + length);
        bool whole = text[length + strlen(word)] == '\0';
        const char *help = message_get_text(row, "help", "");
        if (strcmp(word, a->before) != 0 && !is_said(a, word)) {
            completion_say(a->c, word, whole && help[0] != '\0' ? help : NULL);
        }
        snprintf(a->before, sizeof a->before, "%s", word);
    }
    if (a->keep) {
        rows_add(&a->jobs, row);
    } else {
        message_close(row);
    }
}

/* Says the field of all rows of an answer. Words: those of the request, ended by NULL. */
static void ask(struct asking *a, const char *field, const char *command, const char *const words[])
{
    struct find_result found;
    struct client *client;
    char why[CLIENT_WHY];
    if (find_is_crowd(a->wish) || find_socket(a->wish, &found, why) < 0 || client_open(&client, found.path, why) < 0) {
        return;
    }
    struct request_draft *request = request_draft_open(command, a->server != NULL ? a->server : found.server);
    for (; *words != NULL; words++) {
        request_draft_word(request, *words);
    }
    a->field = field;
    (void)!client_ask(client, request, patience, take, a, why);
    request_draft_close(request);
    client_close(client);
}

static void say_servers(struct asking *a)
{
    ask(a, "server", "servers", (const char *const[]){NULL});
}

static void say_services(struct asking *a)
{
    ask(a, "service", "services", (const char *const[]){NULL});
}

static void say_jobs(struct asking *a)
{
    a->keep = true;
    ask(a, "name", "service", (const char *const[]){"jobs", "list", NULL});
    a->keep = false;
    say_services(a);
    rows_clear(&a->jobs);
}

/* Asks that command of the service, and gives the rows, for rows_clear(). */
static void ask_rows(struct asking *a, struct rows *out, const char *command, const char *const words[])
{
    struct rows kept = a->jobs;
    a->jobs = (struct rows){NULL, 0, 0};
    a->keep = a->quiet = true;
    ask(a, "", command, words);
    a->keep = a->quiet = false;
    *out = a->jobs;
    a->jobs = kept;
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

static bool is_fresh(struct asking *a, const char *group)
{
    for (size_t i = 0; i < a->groups; i++) {
        if (strcmp(a->said[i], group) == 0) {
            return false;
        }
    }
    if (a->groups < sizeof a->said / sizeof *a->said) {
        snprintf(a->said[a->groups++], sizeof *a->said, "%s", group);
    }
    return true;
}

/* The groups that one daemon knows, which are those that it has to do with. */
static void say_groups_of(struct asking *a)
{
    struct rows rows;
    ask_rows(a, &rows, "service", (const char *const[]){"multicast", "group", "list", NULL});
    for (size_t i = 0; i < rows.count; i++) {
        const char *group = message_get_text(rows.row[i], "group", "");
        if (is_fresh(a, group)) {
            completion_say(a->c, group, NULL);
        }
    }
    rows_clear(&rows);
}

struct groups_at {
    struct asking *a;
    struct timespec began;
};

static void say_groups_at(void *context, const char *node)
{
    struct groups_at *g = context;
    struct find_wish one = *g->a->wish;
    struct asking there = *g->a;
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    if ((now.tv_sec - g->began.tv_sec) * CW_NS_PER_SEC + now.tv_nsec - g->began.tv_nsec > patience.ns) {
        return; /* a shell waits for this */
    }
    one.node = node;
    there.wish = &one;
    there.server = NULL;
    say_groups_of(&there);
    memcpy(g->a->said, there.said, sizeof there.said);
    g->a->groups = there.groups;
}

/* A group may have been joined on any server: in a lab all are here, and are asked. */
static void say_groups(struct asking *a)
{
    struct groups_at g = {.a = a};
    struct find_wish lab = *a->wish;
    char name[FIND_LAB], labs[FIND_PATH];
    say_groups_of(a);
    lab.node = NULL;
    if (lab.lab == NULL) {
        find_everywhere(&lab, name, labs);
    }
    if (lab.lab != NULL) {
        clock_gettime(CLOCK_BOOTTIME, &g.began);
        const struct find_wish *before = a->wish;
        a->wish = &lab;
        (void)find_each(&lab, say_groups_at, &g);
        a->wish = before;
    }
}

/* ---- Words of services ------------------------------------------------------------------------------------------- */

static void values(void *context, const struct completion *c, const char *kind);

/* The commands that a service declares: what comes behind the words that are there, and what such a command takes. */
static void say_words_of_service(struct asking *a)
{
    const struct completion *c = a->c;
    struct rows rows;
    char usage[512];
    size_t used = 0;
    for (int i = 2; i < c->count && used < sizeof a->behind; i++) {
        used += (size_t)snprintf(a->behind + used, sizeof a->behind - used, "%s ", c->plain[i]);
    }
    a->words = true;
    ask(a, "command", "service-help", (const char *const[]){c->plain[1], NULL});
    a->words = false;
    if (used == 0 || used >= sizeof a->behind) {
        return;
    }
    ask_rows(a, &rows, "service-help", (const char *const[]){c->plain[1], NULL});
    for (size_t i = 0; i < rows.count; i++) {
        const char *command = message_get_text(rows.row[i], "command", "");
        size_t length = strlen(command);
        if (strncmp(a->behind, command, length) == 0 && a->behind[length] == ' ') {
            snprintf(usage, sizeof usage, "%s %s", command, message_get_text(rows.row[i], "arguments", ""));
            a->behind[0] = a->before[0] = '\0';
            completion_usage(c, usage, 2, values, a);
            break;
        }
    }
    rows_clear(&rows);
}

/* ---- Processes and ports of a job -------------------------------------------------------------------------------- */

enum { PROCESSES_SAID = 64 };

/* "web:" and its processes; behind "web:3:" its ports, where the word takes one. */
static void say_parts_of_job(struct asking *a, bool port)
{
    const struct completion *c = a->c;
    char job[64], text[192];
    size_t length = strcspn(c->word, ":");
    const char *behind = c->word + length + 1, *second = strchr(behind, ':');
    struct rows rows;
    snprintf(job, sizeof job, "%.*s", (int)length, c->word);
    ask_rows(a, &rows, "service", (const char *const[]){"jobs", "show", job, NULL});
    for (size_t i = 0; i < rows.count; i++) {
        const struct message *row = rows.row[i];
        const char *what = message_get_text(row, "what", ""), *name = message_get_text(row, "name", "");
        if (strcmp(what, "range") == 0 && second == NULL) {
            int64_t first = message_get_integer(row, "first", 0), last = message_get_integer(row, "last", -1);
            for (int64_t p = first; p <= last && p < first + PROCESSES_SAID; p++) {
                snprintf(text, sizeof text, "%s:%" PRId64, job, p);
                completion_say(c, text, NULL);
            }
        } else if (strcmp(what, "port") == 0 && second != NULL && port) {
            snprintf(text, sizeof text, "%.*s%.60s", (int)(second + 1 - c->word), c->word, name);
            if (name[0] == '\0') {
                snprintf(text, sizeof text, "%.*s%" PRId64, (int)(second + 1 - c->word), c->word,
                         message_get_integer(row, "port", 0));
            }
            completion_say(c, text, NULL);
        }
    }
    rows_clear(&rows);
}

/* ---- What is on this machine ------------------------------------------------------------------------------------- */

static void say_name(void *context, const char *name)
{
    completion_say(context, name, NULL);
}

static void say_labs(const struct find_wish *wish, const struct completion *c)
{
    for (size_t i = 0; i < sizeof wish->folder / sizeof *wish->folder; i++) {
        char folder[256];
        struct dirent **entry;
        if (wish->labs == NULL && wish->folder[i] == NULL) {
            return;
        }
        snprintf(folder, sizeof folder, "%s%s", wish->labs != NULL ? wish->labs : wish->folder[i],
                 wish->labs != NULL ? "" : "/lab");
        int n = scandir(folder, &entry, NULL, alphasort);
        for (int k = 0; k < n; k++) {
            if (entry[k]->d_name[0] != '.') {
                completion_say(c, entry[k]->d_name, NULL);
            }
            free(entry[k]);
        }
        if (n >= 0) {
            free(entry);
        }
        if (wish->labs != NULL) {
            return;
        }
    }
}

/* ---- The line ---------------------------------------------------------------------------------------------------- */

static void values(void *context, const struct completion *c, const char *kind)
{
    struct asking *a = context;
    const char *option = c->option != NULL ? c->option->name : "";
    if (strcmp(kind, "SERVER") == 0) {
        say_servers(a);
        if (strcmp(option, "server") == 0) {
            completion_say(c, "all", NULL);
        }
    } else if (strcmp(kind, "GROUP") == 0) {
        say_groups(a);
    } else if (strcmp(kind, "LAB") == 0) {
        say_labs(a->wish, c);
    } else if (strcmp(option, "node") == 0) {
        find_each(a->wish, say_name, (void *)(uintptr_t)c);
    } else if (strcmp(kind, "JOB") == 0 || strcmp(kind, "TO") == 0 || strcmp(kind, "FROM") == 0) {
        if (strchr(c->word, ':') != NULL) {
            say_parts_of_job(a, kind[0] != 'J');
            return;
        }
        say_jobs(a);
    } else if (strcmp(kind, "SERVICE") == 0 || (strcmp(kind, "NAME") == 0 && option[0] == '\0')) {
        say_services(a);
    } else if (strcmp(kind, "SOURCE") == 0) {
        ask(a, "source", "service", (const char *const[]){"aggregate", "query", "list", "within_ms=400", NULL});
    } else if (strcmp(kind, "ID") == 0) {
        ask(a, "id", "file-status", (const char *const[]){NULL});
    } else if (strcmp(kind, "WORDS") == 0) {
        say_words_of_service(a);
    }
}

/* The words that commands have in the place of the word at hand: all first words, or those of a group. */
static void say_commands(const struct completion *c, int from)
{
    size_t count;
    const struct command *all = commands_table(&count);
    char before[32] = "";
    for (size_t i = 0; i < count; i++) {
        const char *name = all[i].name, *space = strchr(name, ' ');
        size_t first = strcspn(name, " ");
        char word[32];
        if (c->count == from) {
            snprintf(word, sizeof word, "%.*s", (int)first, name);
            const char *help = space == NULL ? all[i].summary : help_group_summary(word);
            if (strcmp(word, before) != 0) {
                completion_say(c, word, help != NULL ? help : all[i].summary);
            }
            snprintf(before, sizeof before, "%s", word);
        } else if (c->count == from + 1 && space != NULL && strlen(c->plain[from]) == first &&
                   memcmp(c->plain[from], name, first) == 0) {
            completion_say(c, space + 1, all[i].summary);
        }
    }
}

/* Fills in which daemon the line means. */
static struct find_wish wish_of(const struct find_wish *wish, const struct options *of, int argc, char *const argv[])
{
    struct find_wish out = *wish;
    out.socket = completion_given(of, argc, argv, "socket");
    out.node = completion_given(of, argc, argv, "node");
    out.lab = completion_given(of, argc, argv, "lab");
    return out;
}

/* The options of the command, and then those of all commands; the latter alone where there is no command yet. */
static void say_options(const struct completion *c, const struct options *of, const struct option *table,
                        const struct command *command)
{
    struct option sorted[ARGUMENTS_TABLE];
    size_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < of->count; i++) {
            const struct arguments_option *own = arguments_own(commands_options(), i);
            if ((own != NULL) != (pass == 0) || (own != NULL && (command == NULL || !commands_takes(command, own)))) {
                continue;
            }
            sorted[count] = table[i];
            sorted[count++].help = own != NULL ? commands_option_help(command, own) : table[i].help;
        }
    }
    completion_options(c, sorted, count);
}

void complete_line(const struct find_wish *wish, int argc, char *const argv[], FILE *out)
{
    struct option table[ARGUMENTS_TABLE];
    struct option_traits traits[ARGUMENTS_TABLE];
    struct options of = {.program = "cwctl", .option = table, .traits = traits, .verbatim = "service"};
    struct completion c;
    of.count = arguments_table(commands_options(), NULL, table, traits);
    completion_read(&of, argc, argv, out, &c);
    struct find_wish meant = wish_of(wish, &of, argc, argv);
    struct asking a = {.wish = &meant, .server = completion_given(&of, argc, argv, "server"), .c = &c};
    int help = c.count > 0 && strcmp(c.plain[0], "help") == 0, used = 0;
    const struct command *command = commands_find(c.plain + help, c.count - help, &used);
    if (c.option != NULL) {
        completion_argument(&c, values, &a);
        return;
    }
    if (completion_wants_word(&c)) {
        say_commands(&c, help);
        if (c.count == 0) {
            completion_say(&c, "help", "what a command does");
        }
        if (command != NULL && !help) {
            completion_usage(&c, command->usage, used, values, &a);
        }
    }
    if (completion_wants_option(&c)) {
        say_options(&c, &of, table, command);
    }
}
