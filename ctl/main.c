/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - cwctl: finds the daemon, carries out one command, and says how it went. */
#include "ctl/ask/called.h"
#include "ctl/ask/find.h"
#include "ctl/ask/lab.h"
#include "ctl/by_itself.h"
#include "ctl/commands.h"
#include "ctl/complete.h"
#include "ctl/crowd.h"
#include "ctl/help.h"

#include "cubeway/version.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For a daemon of a lab that starts now. */
static const cw_span start_patience = CW_SEC(30);

static volatile int stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

static void listen_to_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* The folders of daemons' sockets: the system's folder, and the user's own. */
static void fill_folders(struct find_wish *wish, char own[static 200])
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    const char *labs = getenv("CWLAB_DIR");
    wish->labs = labs != NULL && labs[0] == '/' ? labs : NULL; /* as cwlab does */
    wish->folder[0] = "/run/cubeway";
    if (runtime != NULL && runtime[0] == '/') {
        snprintf(own, 200, "%s/cubeway", runtime);
        wish->folder[1] = own;
    } else if (geteuid() != 0) {
        snprintf(own, 200, "/tmp/cubeway-%u", (unsigned)geteuid()); /* as cwlab does */
        wish->folder[1] = own;
    }
}

/* "1": perhaps a part of a coordinate that the shell took apart. */
static bool is_number(const char *word)
{
    return word[0] != '\0' && strspn(word, "0123456789,") == strlen(word);
}

/* What may have been meant when there are too many words. */
static const char *hint(const struct command *c, const struct arguments *a, int used)
{
    bool place = strstr(c->usage, "SERVER") != NULL || c->most == 0;
    for (int i = used; place && i + 1 < a->words; i++) {
        if (is_number(a->word[i]) && is_number(a->word[i + 1])) {
            return "; a server is one word, as 1,2,0: without spaces or braces";
        }
    }
    bool server = a->words > used && call_is_server(a->word[used]);
    return c->most == 0 && server
               ? "; which server: --server x,y,z of a daemon with several, --node NAME of daemons here"
               : "";
}

/* Checks that the command takes these words and options. Gives the exit code. */
static int check(const struct command *c, const struct arguments *a, int used)
{
    for (int i = 0; i < a->options; i++) {
        if (!commands_takes(c, a->given[i].option)) {
            fprintf(stderr, "cwctl: %s has no option --%s; cwctl %s --help lists its own\n", c->name,
                    a->given[i].option->name, c->name);
            return EXIT_USAGE;
        }
        const char *expected = commands_refusal(&a->given[i]);
        if (expected != NULL) {
            fprintf(stderr, "cwctl: --%s %s: expected %s\n", a->given[i].option->name, a->given[i].text, expected);
            return EXIT_USAGE;
        }
    }
    if (c->run == run_events && a->watch) {
        fprintf(stderr,
                "cwctl: events takes no --watch and no --rounds, which would print all of them again and again: "
                "--follow goes on with what happens\n");
        return EXIT_USAGE;
    }
    char near[HELP_NAME];
    if (a->words - used > c->most && help_group_size(c->name) > 0 && help_nearest(c->name, a->word[used], near)) {
        fprintf(stderr, "cwctl: %s has no command '%s'; did you mean %s?\n", c->name, a->word[used], near);
        return EXIT_USAGE;
    }
    if (a->words - used < c->least || a->words - used > c->most) {
        fprintf(stderr, "cwctl: usage: cwctl %s%s%s%s\n", c->name, c->usage[0] != '\0' ? " " : "", c->usage,
                hint(c, a, used));
        return EXIT_USAGE;
    }
    return EXIT_FINE;
}

/*
 * q ends what goes on for ever; a command that is done once leaves the terminal's keys alone. top shows nothing until
 * its second reading.
 */
static void begin_keys(struct call *call, struct keys *keys)
{
    bool lasts = call->command->run == run_top || call->command->run == run_watch || call->command->run == run_capture;
    *keys = (struct keys){.on = false};
    call->wipes = call->command->run == run_top;
    bool again = call->arguments->watch || call_given(call, "every") != NULL;
    if (lasts || again || call_given(call, "follow") != NULL) {
        keys_begin(keys);
        call->keys = keys;
    }
}

/* Sees to it that all was written, and gives the exit code. */
static int finish(int code)
{
    if (fflush(stdout) != 0 && code == EXIT_FINE) {
        if (errno != EPIPE) { /* a reader may have seen enough, as head(1) */
            fprintf(stderr, "cwctl: the answer could not be written: %s\n", strerror(errno));
        }
        return EXIT_NO;
    }
    return code;
}

static int run_crowd(struct call *call, const struct find_wish *wish)
{
    struct find_crowd crowd;
    struct keys keys;
    char why[CLIENT_WHY];
    bool takes = by_itself_takes_many(call->command);
    if (!takes && by_itself_option(call->command) == NULL) {
        bool lab = wish->lab != NULL;
        fprintf(stderr, "cwctl: %s is for one daemon at a time: name one%s%s%s%s\n", call->command->name,
                lab ? ", as cwlab ctl --name " : " with --node", lab ? wish->lab : "", lab ? " 0,0,0 " : "",
                lab ? call->command->name : "");
        return EXIT_USAGE;
    }
    if (find_crowd(wish, &crowd, why) < 0) {
        fprintf(stderr, "cwctl: %s\n", why);
        return EXIT_NOBODY;
    }
    if (!takes && !by_itself_only_tells(call->command)) {
        int code = by_itself_refuse(call, &crowd);
        find_crowd_free(&crowd);
        return code;
    }
    listen_to_signals();
    begin_keys(call, &keys);
    cw_span timeout = call->arguments->timeout, patience = timeout.ns > 0 ? timeout : start_patience;
    int code = takes ? crowd_run(call, &crowd, patience) : by_itself_run(call, &crowd, patience);
    keys_end(&keys);
    find_crowd_free(&crowd);
    return finish(code);
}

static int run(const struct command *c, const struct arguments *a, const struct find_wish *wish)
{
    char why[CLIENT_WHY];
    struct find_result found;
    struct keys keys;
    struct call call = {
        .command = c,
        .arguments = a,
        .style = table_style_for(stdout),
        .out = stdout,
        .errors = stderr,
        .stop = &stopped,
    };
    if (commands_alone(c)) {
        return c->run(&call);
    }
    struct find_wish all = *wish;
    char lab[FIND_LAB], labs[FIND_PATH];
    if (call_given(&call, "everywhere") != NULL) {
        find_everywhere(&all, lab, labs);
        wish = &all;
    }
    if (find_is_crowd(wish)) {
        return run_crowd(&call, wish);
    }
    int rc = find_socket(wish, &found, why);
    if (rc == -ENOENT && wish->node != NULL && called_find(wish, &found) == 0) {
        rc = 0;
    }
    bool unnamed = rc == -ENOENT && wish->node == NULL && wish->lab == NULL;
    const char *path = rc == 0 ? found.path : "";
    rc = rc < 0 ? rc : lab_client_open(&call.client, found.path, a->timeout.ns > 0 ? a->timeout : start_patience, why);
    if (rc < 0 && (path[0] != '\0' || unnamed) && doctor_absent(&call, path, rc)) {
        return finish(EXIT_NOBODY);
    }
    if (rc < 0) {
        fprintf(stderr, "cwctl: %s\n", why);
        return rc == -ETIME ? EXIT_TIMEOUT : EXIT_NOBODY;
    }
    call.server = a->server != NULL ? a->server : found.server;
    listen_to_signals();
    client_stop_on(call.client, &stopped);
    begin_keys(&call, &keys);
    client_stop_by(call.client, c->run == run_capture ? &keys : NULL);
    int code = call_run(&call);
    keys_end(&keys);
    client_close(call.client);
    return finish(code);
}

/*
 * Of a service's own command, too, --help asks what it does, wherever it stands, and --json at the end is ours:
 * `service -- NAME WORDS..` hands on even those.
 */
static void take_service_options(struct arguments *a)
{
    if (a->words < 3 || a->ended || strcmp(a->word[0], "service") != 0) {
        return;
    }
    if (strcmp(a->word[a->words - 1], "--json") == 0) {
        a->words--;
        a->json = true;
    }
    for (int i = 2; i < a->words; i++) {
        if (strcmp(a->word[i], "--help") == 0 || strcmp(a->word[i], "-h") == 0) {
            a->words = i; /* what was asked about */
            a->help = true;
        }
    }
}

/* "help kv" and "kv help" are "kv --help". */
static void take_help_word(struct arguments *a)
{
    if (a->words == 2 && strcmp(a->word[1], "help") == 0 && help_group_size(a->word[0]) > 0) {
        a->words--;
        a->help = true;
    }
    if (a->words > 0 && strcmp(a->word[0], "help") == 0) {
        a->words--;
        memmove(a->word, a->word + 1, (size_t)a->words * sizeof *a->word);
        a->help = true;
    }
}

/* What is asked for has no command of its own: all help, or the help of a group, or a mistake. Gives the exit code. */
static int without_command(const struct arguments *a)
{
    FILE *out = a->help ? stdout : stderr;
    int code = a->help ? EXIT_FINE : EXIT_USAGE;
    if (a->words == 0) {
        help_all(out);
        return code;
    }
    if (a->words == 1 && help_group_size(a->word[0]) > 0) {
        help_group(a->word[0], out);
        return code;
    }
    help_refuse(a->word, a->words, stderr);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    struct arguments a;
    char own[200];
    int used;
    struct find_wish wish = {.environment = getenv("CUBEWAY_SOCKET")};
    fill_folders(&wish, own);
    if (argc > 2 && strcmp(argv[1], "complete") == 0) {
        complete_line(&wish, argc - 2, argv + 2, stdout);
        return EXIT_FINE;
    }
    if (arguments_parse(argc, argv, commands_options(), "service", &a, stderr) < 0) {
        return EXIT_USAGE;
    }
    wish.socket = a.socket;
    wish.node = a.node;
    wish.lab = a.lab;
    if (a.version) {
        printf(a.json ? "{\"program\":\"cwctl\",\"version\":\"%s\"}\n" : "cwctl %s\n", CW_VERSION);
        return EXIT_FINE;
    }
    take_service_options(&a);
    take_help_word(&a);
    const struct command *c = commands_find(a.word, a.words, &used);
    if (c == NULL) {
        return without_command(&a);
    }
    bool of_service = c->run == run_service && a.words > 1; /* its commands are declared by the service */
    if (a.help && !of_service) {
        help_command(c, stdout);
        return EXIT_FINE;
    }
    int code = check(c, &a, used);
    return code != EXIT_FINE ? code : run(c, &a, &wish);
}
