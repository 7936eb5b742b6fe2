/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf */
/* cmd_ctl.c - cwctl for the daemons of a lab: ctl, capture, watch. */
#include "testbed/cwlab/command.h"
#include "testbed/cwlab/lend.h"
#include "testbed/cwlab/remember.h"
#include "testbed/cwlab/target.h"
#include "testbed/grants.h"

#include "base/check.h"
#include "base/quantity.h"

#include <stdlib.h>
#include <string.h>

/* One server cannot leave a process that holds them all: the process would end, and every server with it. */
static int refuse_end(const struct program_command *self, const struct target *t)
{
    const char *word = t->words > 0 ? t->word[0] : "", *server = t->count == 1 ? t->server[0] : "SERVER";
    bool ends = strcmp(word, "leave") == 0 || strcmp(word, "drain") == 0;
    if (!ends || t->lab.driver != LAB_PROCESS || (t->words > 1 && strcmp(t->word[1], "--help") == 0)) {
        return PROGRAM_GO;
    }
    return program_refuse(self,
                          "all servers of this lab live in one process, which would end: cwlab ctl --name %s %s fail "
                          "takes one server away (restore brings it back), and cwlab down --name %s ends all",
                          t->lab.name, server, t->lab.name);
}

/* Words of cwctl that are for one process with all servers, and what they are here. */
static int refuse_harm(const struct program_command *self, const struct target *t)
{
    static const struct {
        const char *word, *here, *then; /* then: what follows a link; NULL: the command takes none */
    } harm[] = {{"fail", "fail", NULL}, {"restore", "restore", NULL}, {"cut", "link", "down"}, {"mend", "link", "up"}};
    const char *word = t->words > 0 ? t->word[0] : "", *link = t->words > 1 ? t->word[1] : "LINK";
    for (size_t i = 0; t->lab.driver == LAB_NETNS && i < sizeof harm / sizeof *harm; i++) {
        bool takes_link = harm[i].then != NULL;
        /* With a word too many, or several servers, it is not sure who was meant: no line that would harm another. */
        bool sure = t->count == 1 && t->words <= (takes_link ? 2 : 1);
        const char *server = sure ? t->server[0] : "SERVER";
        if (strcmp(harm[i].word, word) == 0) {
            return program_refuse(self, "each server of this lab is a process: cwlab %s --name %s %s%s%s%s%s does that",
                                  harm[i].here, t->lab.name, server, takes_link ? " " : "",
                                  takes_link ? (sure ? link : "LINK") : "", takes_link ? " " : "",
                                  takes_link ? harm[i].then : "");
        }
    }
    return PROGRAM_GO;
}

/* "0,0,0 0,0,1 ..": the servers that are named, for cwctl's --node. The caller frees it. */
static char *list_servers(const struct target *t)
{
    char *text = calloc(t->count + 1, TORUS_TEXT), *at = text;
    CHECK(text != NULL);
    for (cw_server s = 0; s < t->lab.torus.servers; s++) {
        if (t->who[s]) {
            at += at != text ? sprintf(at, " ") : 0;
            torus_format(torus_coord(&t->lab.torus, s), at);
            at += strlen(at);
        }
    }
    return text;
}

/* Tells cwctl what was typed in the place of that many words, so that it can say what would be typed instead. */
static void set_typed(const struct target *t, int words)
{
    char text[LAB_PATH];
    int used =
        snprintf(text, sizeof text, "%d cwlab ctl%s%s", words, t->named ? " --name " : "", t->named ? t->lab.name : "");
    for (int i = 0; i < t->servers && used < (int)sizeof text; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used, " %s", t->server[i]);
    }
    (void)setenv("CWLAB_TYPED", text, 1);
}

/* Runs cwctl for the servers that are named, with these words. */
static int run_cwctl(const struct program_command *self, const struct target *t, char *const words[], int count)
{
    static char on_socket[] = "--socket", of_server[] = "--server", of_lab[] = "--lab", of_node[] = "--node";
    char cwctl[LAB_PATH], socket[LAB_PATH], folder[LAB_PATH], name[TORUS_TEXT], lab[LAB_NAME];
    cw_server s = 0;
    if (command_find("CWCTL", "cwctl", cwctl) < 0) {
        return program_refuse(self, "cwctl is not beside cwlab, and not on the PATH; CWCTL=FILE names it");
    }
    char **argv = calloc((size_t)count + 6, sizeof *argv), *nodes = NULL;
    CHECK(argv != NULL);
    int n = 0;
    argv[n++] = cwctl;
    if (t->count == 1) {
        for (; !t->who[s]; s++) {
        }
        argv[n++] = on_socket;
        argv[n++] = lab_path(&t->lab, lab_daemon_name(&t->lab, s, name), ".sock", socket);
        if (t->lab.driver == LAB_PROCESS) {
            torus_format(torus_coord(&t->lab.torus, s), name);
            argv[n++] = of_server;
            argv[n++] = name;
        }
    } else {
        (void)!lab_root(folder);
        (void)setenv("CWLAB_DIR", folder, 1); /* where cwctl looks for the lab */
        snprintf(lab, sizeof lab, "%s", t->lab.name);
        argv[n++] = of_lab;
        argv[n++] = lab;
        argv[n++] = of_node;
        argv[n++] = nodes = list_servers(t);
    }
    set_typed(t, n - 1);
    memcpy(argv + n, words, (size_t)count * sizeof *words);
    grants_lend_key(&t->lab);
    int code = lend_run(self, argv);
    free(nodes);
    free(argv);
    return code;
}

/* `services load` and its like: what then runs is to run in the next life of a daemon, too. */
static bool changes_services(const struct target *t)
{
    static const char *const words[] = {"load", "reload", "unload", "weight"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (t->words > 2 && strcmp(t->word[0], "services") == 0 && strcmp(t->word[1], words[i]) == 0) {
            return true;
        }
    }
    return false;
}

struct living {
    struct target *t;
    unsigned left_out;
};

static void leave_out_dead(void *context, const struct message *row)
{
    struct living *l = context;
    const char *server = message_get_text(row, "server", ""), *state = message_get_text(row, "state", "");
    cw_coord c;
    if (strcmp(state, "dead") != 0 || torus_parse(&l->t->lab.torus, server, strlen(server), &c) < 0) {
        return;
    }
    cw_server s = torus_id(&l->t->lab.torus, c);
    if (l->t->who[s]) {
        l->t->who[s] = false;
        l->t->count--;
        l->left_out++;
        fprintf(stderr, "cwlab ctl: %s is dead: it runs what the others run when it is restored\n", server);
    }
}

/* All servers are meant: those that are dead learn of it when they are restored. */
static int leave_dead_in_peace(const struct program_command *self, struct target *t)
{
    struct living l = {t, 0};
    if (t->count < t->lab.torus.servers || t->lab.driver != LAB_NETNS) {
        return PROGRAM_GO;
    }
    int code = command_keeper(self, &t->lab, "status", 0, NULL, leave_out_dead, &l);
    if (code == 0 && t->count == 0) {
        return program_refuse(self, "all servers of lab %s are dead", t->lab.name);
    }
    return code == 0 ? PROGRAM_GO : code;
}

static int ctl(const struct program_command *self, int argc, char **argv)
{
    struct target t;
    int code = target_read(self, argc, argv, TARGET_ANYWHERE, &t);
    if (code == PROGRAM_GO && t.servers == 0 && t.words == 0) {
        code = program_refuse(self, "expected servers of the torus, as 0,1,2, or all; and then a command of cwctl");
    } else if (code == PROGRAM_GO && t.servers == 0) {
        code = program_refuse(self, "expected servers of the torus, as 0,1,2, or all; found '%s'", t.word[0]);
    }
    if (code == PROGRAM_GO) {
        code = refuse_harm(self, &t);
        code = code == PROGRAM_GO ? refuse_end(self, &t) : code;
    }
    for (int i = 0; i < t.words && code == PROGRAM_GO; i++) {
        if (strcmp(t.word[i], "--everywhere") == 0) {
            t.count += (unsigned)target_mark(&t.lab.torus, "all", t.who);
        }
    }
    bool services = code == PROGRAM_GO && changes_services(&t);
    if (services) {
        code = leave_dead_in_peace(self, &t);
    }
    if (code == PROGRAM_GO) {
        code = run_cwctl(self, &t, t.word, t.words);
    }
    if (services && remember_services(&t.lab) < 0) {
        fprintf(stderr, "cwlab ctl: a server that is restored will not run this: %s cannot be written\n", t.lab.folder);
    }
    target_close(&t);
    return code;
}

const struct program_command command_ctl = {
    .program = &program_cwlab,
    .name = "ctl",
    .summary = "cwctl for the daemons of servers: of one, some, or all",
    .words = "[--name LAB] all|SERVER.. WORDS...",
    .text = "Takes all commands of cwctl; cwctl --help lists them. Of several servers all daemons are asked at the\n"
            "same time, and one table shows their answers, with a column for the server; with --json each line is an\n"
            "object with the server in it. 0,*,* (in quotes) means all servers of that plane. The exit code is\n"
            "cwctl's; of several servers 0 if each gave 0, their code if those that failed gave the same one, or 1.\n"
            "--name may stand anywhere, but not behind 'service' and 'services load', where it is cwctl's.\n"
            "A daemon that is just starting is waited for. What services load, reload and unload change holds for\n"
            "servers that are restored, too.",
    .example = "  cwlab ctl 0,0,0 links\n"
               "  cwlab ctl 0,0,0 ping 2,2,2 --count 5\n"
               "  cwlab ctl all status\n"
               "  cwlab ctl 0,0,0 '1,*,0' drops --json\n"
               "  cwlab ctl all services load ./hitcount.so",
    .run = ctl,
};

static int capture(const struct program_command *self, int argc, char **argv)
{
    static char word[] = "capture";
    struct target t;
    cw_server s;
    int code = target_read(self, argc, argv, TARGET_ANYWHERE, &t);
    if (code == PROGRAM_GO) {
        code = target_one(self, &t, &s);
    }
    if (code == PROGRAM_GO && t.words < 2) {
        code = program_refuse(self, "expected %s", self->words);
    }
    if (code == PROGRAM_GO) {
        char **words = calloc((size_t)t.words + 2, sizeof *words);
        CHECK(words != NULL);
        words[0] = word;
        memcpy(words + 1, t.word, (size_t)t.words * sizeof *words);
        code = run_cwctl(self, &t, words, t.words + 1);
        free(words);
    }
    target_close(&t);
    return code;
}

const struct program_command command_capture = {
    .program = &program_cwlab,
    .name = "capture",
    .summary = "write the frames of a link to a file (pcapng), both ways, until a key ends it",
    .words = "[--name LAB] SERVER LINK FILE [--count N]",
    .text = "The frames are as the daemon sends and receives them. Wireshark reads them with\n"
            "tools/wireshark/cubeway.lua.",
    .example = "  cwlab capture 0,0,0 +x link.pcapng --count 100\n"
               "  tshark -X lua_script:tools/wireshark/cubeway.lua -r link.pcapng",
    .run = capture,
};

/* ---- watch ------------------------------------------------------------------------------------------------------- */

static void note_first_living(void *context, const struct message *row)
{
    struct target *t = context;
    const char *server = message_get_text(row, "server", ""), *state = message_get_text(row, "state", "");
    cw_coord c = {0, 0, 0};
    bool one = torus_parse(&t->lab.torus, server, strlen(server), &c) == 0;
    if (t->count == 0 && strcmp(state, "dead") != 0 && (one || t->lab.driver == LAB_PROCESS)) {
        t->who[torus_id(&t->lab.torus, c)] = true;
        t->count = 1;
    }
}

/* The server that is looked through: the one that is named, or the first that lives. PROGRAM_GO, or the exit code. */
static int choose_window(const struct program_command *self, struct option_words *words, struct target *t)
{
    if (words->count > 1) {
        return program_refuse(self, "expected one server to look through, as 0,1,2, or none");
    }
    if (words->count == 1) {
        t->server = words->word;
        t->servers = 1;
        t->count = 1;
        return target_mark(&t->lab.torus, words->word[0], t->who) == 1
                   ? PROGRAM_GO
                   : program_refuse(self, "expected one server of the torus, as 0,1,2; found '%s'", words->word[0]);
    }
    int code = command_keeper(self, &t->lab, "status", 0, NULL, note_first_living, t);
    if (code == 0 && t->count == 0) {
        return program_refuse(self, "all servers of lab %s are dead", t->lab.name);
    }
    return code == 0 ? PROGRAM_GO : code;
}

/* What cwctl would refuse, in this program's name. */
static int check_watch(const struct program_command *self, const char *every, const char *full)
{
    cw_span span = CW_SEC(1);
    uint64_t rate = 0;
    if (every != NULL && (quantity_span(every, strlen(every), &span) < 0 || span.ns < CW_MS(50).ns)) {
        return program_refuse(self, "--every %s: expected a time with its unit from 50ms on, as 1s or 200ms", every);
    }
    if (full != NULL && quantity_rate(full, strlen(full), &rate) < 0) {
        return program_refuse(self, "--full %s: expected a rate, as 1gbit or 100mbit", full);
    }
    return PROGRAM_GO;
}

static int watch(const struct program_command *self, int argc, char **argv)
{
    static char word[] = "watch", every_word[] = "--every", full_word[] = "--full", json_word[] = "--json";
    const char *name = NULL, *every = NULL, *full = NULL;
    bool json = false;
    struct option_words words;
    struct target t = {.count = 0};
    const struct option option[] = {
        {"name", OPTION_TEXT, &name, "LAB", "which lab; not needed while there is only one", false},
        {"every", OPTION_TEXT, &every, "TIME", "draw it again every TIME, from 50ms on (1s)", false},
        {"full", OPTION_TEXT, &full, "RATE", "what counts as a full cable, as 1gbit (the busiest one)", false},
        {"json", OPTION_FLAG, &json, NULL, "print one look in JSON: an object for each server and each link", false},
    };
    char *line[6];
    int n = 0;
    int code = program_options(self, option, sizeof option / sizeof *option, argc, argv, &words);
    if (code == PROGRAM_GO) {
        code = command_lab(self, name, &t.lab);
    }
    if (code != PROGRAM_GO || (code = check_watch(self, every, full)) != PROGRAM_GO) {
        return code;
    }
    t.named = name != NULL;
    t.who = calloc(t.lab.torus.servers, sizeof *t.who);
    CHECK(t.who != NULL);
    code = choose_window(self, &words, &t);
    line[n++] = word;
    if (every != NULL) {
        line[n++] = every_word;
        line[n++] = (char *)(uintptr_t)every;
    }
    if (full != NULL) {
        line[n++] = full_word;
        line[n++] = (char *)(uintptr_t)full;
    }
    if (json) {
        line[n++] = json_word;
    }
    code = code == PROGRAM_GO ? run_cwctl(self, &t, line, n) : code;
    free(t.who);
    return code;
}

const struct program_command command_watch = {
    .program = &program_cwlab,
    .name = "watch",
    .summary = "the whole lab, drawn again and again; keys kill and restore servers, cut cables, follow a key",
    .words = "[SERVER] [options]",
    .text =
        "Looks through the daemon of the server that is named, or of the first that lives: cwctl watch --help says\n"
        "what the signs and the keys mean.",
    .example = "  cwlab watch\n"
               "  cwlab watch 0,0,1 --every 200ms",
    .run = watch,
};
