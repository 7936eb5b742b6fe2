/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_logs.c - what the daemons of a lab have logged. */
#include "testbed/cwlab/outcome/merge.h"
#include "testbed/cwlab/target.h"

#include "base/check.h"
#include "commandline/colour.h"
#include "commandline/keys.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cw_span between_looks = CW_MS(100);
static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

struct logs {
    const struct lab *lab;
    bool *who; /* by daemon */
    unsigned count;
    bool follow, merge, colour, json;
    uint64_t last;
};

static void add(const struct logs *l, struct merge *m, cw_server s, bool older)
{
    char name[TORUS_TEXT], path[LAB_PATH];
    lab_daemon_name(l->lab, s, name);
    if (older && access(lab_data(l->lab, name, ".log.1", path), R_OK) == 0) {
        merge_add(m, name, path);
    }
    merge_add(m, name, lab_data(l->lab, name, ".log", path));
}

/* One server after the other, each with its name above. */
static void show_each(const struct logs *l, unsigned daemons)
{
    for (cw_server s = 0; s < daemons; s++) {
        char name[TORUS_TEXT];
        if (!l->who[s]) {
            continue;
        }
        struct merge *m = merge_new();
        add(l, m, s, true);
        (void)merge_read(m);
        if (l->count > 1 && !l->json) {
            printf("==> %s\n", lab_daemon_name(l->lab, s, name));
        }
        merge_print(m, &(struct merge_form){.last = l->last, .colour = l->colour, .json = l->json}, stdout);
        merge_close(m);
    }
}

/* All of them in the order of time; with `follow` until the lab ends, or a key or a signal ends it. */
static void show_merged(const struct logs *l, unsigned daemons)
{
    struct merge *m = merge_new();
    char path[LAB_PATH];
    for (cw_server s = 0; s < daemons; s++) {
        if (l->who[s]) {
            add(l, m, s, true);
        }
    }
    merge_add_journal(m, "keeper", lab_data(l->lab, "journal", "", path));
    (void)merge_read(m);
    struct merge_form form = {.last = l->last, .named = true, .colour = l->colour, .json = l->json, .more = l->follow};
    merge_print(m, &form, stdout);
    form.last = 0;
    struct sigaction action = {.sa_handler = on_signal};
    struct keys keys = {.on = false};
    if (l->follow) {
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        keys_begin(&keys);
    }
    bool lives = l->follow;
    while (lives && !stopped && fflush(stdout) == 0 && !keys_wait(&keys, between_looks)) {
        lives = access(l->lab->folder, F_OK) == 0;
        (void)merge_read(m);
        merge_print(m, &form, stdout);
    }
    keys_end(&keys);
    form.more = false;
    merge_print(m, &form, stdout);
    if (l->follow && !lives) {
        fprintf(stderr, "lab '%s' has ended\n", l->lab->name);
    }
    merge_close(m);
}

static int run(const struct program_command *self, int argc, char **argv)
{
    const char *name = NULL;
    struct logs l = {.last = 0};
    const struct option option[] = {
        {"name", OPTION_TEXT, &name, "LAB", "which lab; not needed while there is only one", false},
        {"follow", OPTION_FLAG, &l.follow, NULL, "go on with what is logged from now on; q or Ctrl-C ends it", false},
        {"merge", OPTION_FLAG, &l.merge, NULL, "the lines of all servers in the order of time", false},
        {"last", OPTION_COUNT, &l.last, "N", "only so many lines; 0: all", false},
        {"json", OPTION_FLAG, &l.json, NULL, "print JSON: an object for each line", false},
        {"-f", OPTION_FLAG, &l.follow, NULL, "as --follow", false},
    };
    struct option_words words;
    struct lab lab;
    int code = program_options(self, option, sizeof option / sizeof *option, argc, argv, &words);
    if (code == PROGRAM_GO) {
        code = command_lab(self, name, &lab);
    }
    if (code != PROGRAM_GO) {
        return code;
    }
    unsigned daemons = lab.driver == LAB_PROCESS ? 1 : lab.torus.servers;
    l.lab = &lab;
    l.colour = colour_wanted(stdout);
    l.who = calloc(lab.torus.servers, sizeof *l.who);
    CHECK(l.who != NULL);
    for (int i = 0; i < words.count || (i == 0 && words.count == 0); i++) {
        const char *word = words.count > 0 ? words.word[i] : "all";
        if (target_mark(&lab.torus, word, l.who) < 0) {
            free(l.who);
            return program_refuse(self, "expected a server of the torus, as 0,1,2; found '%s'", word);
        }
    }
    if (lab.driver == LAB_PROCESS) {
        l.who[0] = true; /* the only daemon, whichever of its servers were named */
    }
    for (cw_server s = 0; s < daemons; s++) {
        l.count += l.who[s];
    }
    if (l.merge || l.follow) {
        show_merged(&l, daemons);
    } else {
        show_each(&l, daemons);
    }
    free(l.who);
    return fflush(stdout) == 0 ? EXIT_FINE : EXIT_BROKEN;
}

const struct program_command command_logs = {
    .program = &program_cwlab,
    .name = "logs",
    .summary = "what daemons have logged, of one server or all; with --merge in the order of time",
    .words = "[SERVER..] [options]",
    .text = "Prints the logs of the servers that are named, or of all, one after the other; with --merge, and with\n"
            "--follow, the lines of all in the order of time, each behind the name of its server, and among them what\n"
            "the lab's keeper did to servers and cables. (late) marks a line that came into its log only after younger "
            "lines\n"
            "of others were shown; all other lines are in order. 0,*,* (in quotes) means all servers of that plane. A "
            "log that\n"
            "becomes long is cut: the last 4 to 8 MiB are kept.",
    .example = "  cwlab logs 1,0,2\n"
               "  cwlab logs --merge --last 50\n"
               "  cwlab logs -f 0,0,0 1,0,0",
    .run = run,
};
