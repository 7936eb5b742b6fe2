/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_fault.c - the commands that harm a lab and mend it: fail restore leave pause link loss. */
#include "base/nearest.h"
#include "base/quantity.h"
#include "testbed/cwlab/await.h"
#include "testbed/cwlab/command.h"
#include "testbed/cwlab/converge.h"
#include "testbed/cwlab/explain.h"
#include "testbed/cwlab/scale.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What all of these commands have in common. */
struct fault {
    const struct program_command *self;
    struct lab lab;
    struct option_words words;
    const char *name;
    bool json, quiet;
    const char *is_so; /* what was so already; NULL: the words of what is done say it */
};

enum { SHARED = 3, SAID = 200 };

/* Reads options and words. PROGRAM_GO: *f is filled in, and its first word is a server. */
static int begin(struct fault *f, const struct program_command *self, int argc, char **argv, const struct option *more,
                 size_t more_count, int words_count)
{
    *f = (struct fault){.self = self};
    struct option option[SHARED + 2] = {
        {"name", OPTION_TEXT, &f->name, "LAB", "which lab; not needed while there is only one", false},
        {"json", OPTION_FLAG, &f->json, NULL, "report what was done in JSON, on standard output", false},
        {"quiet", OPTION_FLAG, &f->quiet, NULL, "do not report what was done", false},
    };
    if (more_count > 0) {
        memcpy(option + SHARED, more, more_count * sizeof *more);
    }
    cw_server s;
    int code = program_options(self, option, SHARED + more_count, argc, argv, &f->words);
    if (code != PROGRAM_GO) {
        return code;
    }
    if (f->words.count != words_count) {
        return f->words.count > words_count ? program_refuse(self, "'%.60s' is one word too many: expected %s",
                                                             f->words.word[words_count], self->words)
                                            : program_refuse(self, "expected %s", self->words);
    }
    code = command_lab(self, f->name, &f->lab);
    return code != PROGRAM_GO ? code : command_read_server(self, &f->lab, f->words.word[0], &s);
}

static void say(const struct fault *f, const char *sentence)
{
    if (!f->json && !f->quiet) {
        fprintf(stderr, "%s\n", sentence);
    }
}

/* The report of --json. */
static struct report *describe(const struct fault *f, const char *done)
{
    struct report *r = report_open(f->self->name);
    report_text(r, "lab", f->lab.name);
    report_text(r, "server", f->words.word[0]);
    report_text(r, "done", done);
    return r;
}

/* Has the keeper do it, and then says what was done. */
static int carry_out(const struct fault *f, const char *what, int argc, const char *const *argv, const char *done)
{
    bool already = false;
    int code = command_order(f->self, &f->lab, what, argc, argv, &already);
    if (code != EXIT_FINE) {
        return code;
    }
    char sentence[SAID + 40];
    snprintf(sentence, sizeof sentence, "%s%s", already ? "it is so already: " : "",
             already && f->is_so != NULL ? f->is_so : done);
    say(f, sentence);
    if (!f->json) {
        return code;
    }
    struct report *r = describe(f, done);
    report_flag(r, "already", already);
    return program_print(f->self, r, true, code);
}

static int fail(const struct program_command *self, int argc, char **argv)
{
    bool whole = false, power = false;
    const struct option option[] = {
        {"whole", OPTION_FLAG, &whole, NULL, "kill its watcher, too: nobody says goodbye to its neighbours", false},
        {"power", OPTION_FLAG, &power, NULL, "its machine dies: its links lose carrier, too", false},
    };
    struct fault f;
    char done[SAID], is_so[SAID];
    int code = begin(&f, self, argc, argv, option, 2, 1);
    if (code != PROGRAM_GO) {
        return code;
    }
    const char *args[] = {f.words.word[0], "whole"};
    snprintf(is_so, sizeof is_so, "the daemon of %s is dead; cwlab restore %s starts it again", args[0], args[0]);
    f.is_so = is_so;
    snprintf(done, sizeof done, "the daemon of %s is killed%s; cwlab restore %s starts it again", args[0],
             power   ? ", and its links are dark"
             : whole ? " with its watcher"
                     : "; its watcher says goodbye for it",
             args[0]);
    return carry_out(&f, power ? "power-off" : "fail", whole ? 2 : 1, args, done);
}

const struct program_command command_fail = {
    .program = &program_cwlab,
    .name = "fail",
    .summary = "kill -9 a server's daemon",
    .words = "SERVER [--whole | --power]",
    .text = "The daemon gets SIGKILL. Its watcher then tells the neighbours, so that they need not wait for silence.\n"
            "With --whole the watcher dies too; with --power the server's links lose carrier as well.",
    .example = "  cwlab fail 1,0,2\n"
               "  cwlab restore 1,0,2",
    .run = fail,
};

/* Waits until the server serves and reaches all servers that run. Gives how many it reaches; 0: not in time. */
static uint32_t wait_until_joined(const struct lab *lab, cw_server s)
{
    struct explain e;
    uint32_t want = explain_look(&e, lab) ? e.running : lab->torus.servers;
    bool *who = calloc(lab->torus.servers, sizeof *who);
    if (who == NULL) {
        return 0;
    }
    who[s] = true;
    const struct converge_goal goal = {.who = who, .want = want};
    unsigned count = converge_wait(lab, &goal, cw_time_add(peer_clock(), scale_patience(lab)), NULL, NULL);
    free(who);
    return count > 0 ? want : 0;
}

/* Says the second sentence, unless a report does. Gives the exit code. */
static int tell_joined(const struct fault *f, uint32_t reached)
{
    char text[SAID];
    const char *name = f->words.word[0];
    if (reached == 0) {
        fprintf(stderr,
                "cwlab restore: %s has not joined in time: cwlab ctl --name %s %s wiring says what is missing\n", name,
                f->lab.name, name);
        return EXIT_BROKEN;
    }
    snprintf(text, sizeof text, "%s has joined: it reaches %u of %u server%s", name, reached, f->lab.torus.servers,
             f->lab.torus.servers == 1 ? "" : "s");
    say(f, text);
    return EXIT_FINE;
}

/*
 * The daemon's own bound for leaving is 3 s. A machine that is busy may keep it waiting for longer than that before its
 * loop runs at all.
 */
static const cw_span leave_patience = CW_SEC(15);

/*
 * Waits while the daemon ends: told to leave by cwlab, which the keeper knows, or by cwctl (leave, drain), which shows
 * in what the daemon says of itself, and in the end in its not answering. 0; negative: it did not end in time, and why.
 */
static int wait_while_it_ends(const struct lab *lab, cw_server s, char why[static AWAIT_WHY])
{
    cw_time until = cw_time_add(peer_clock(), leave_patience);
    for (;;) {
        struct converge_view view;
        char ended[AWAIT_ENDED];
        int rc = await_leave(lab, s, until, ended, why);
        if (rc < 0 || ended[0] != '\0') {
            return rc;
        }
        rc = converge_ask(lab, s, &view);
        bool ends = rc == -ETIMEDOUT ? false : rc < 0 || strcmp(view.state, "leaving") == 0;
        if (!ends || cw_time_due(until, peer_clock())) {
            return 0; /* the keeper says that it runs */
        }
        nanosleep(&(struct timespec){.tv_nsec = CW_MS(5).ns}, NULL);
    }
}

static int restore(const struct program_command *self, int argc, char **argv)
{
    bool wait = false;
    const struct option option[] = {
        {"wait", OPTION_FLAG, &wait, NULL, "return when the server has joined: it reaches all servers that run", false},
    };
    struct fault f;
    cw_server s;
    char done[SAID], why[AWAIT_WHY];
    int code = begin(&f, self, argc, argv, option, 1, 1);
    if (code == PROGRAM_GO) {
        code = command_read_server(self, &f.lab, f.words.word[0], &s);
    }
    if (code != PROGRAM_GO) {
        return code;
    }
    if (f.lab.driver == LAB_NETNS && wait_while_it_ends(&f.lab, s, why) < 0) {
        program_refuse(self, "%s", why);
        return EXIT_BROKEN;
    }
    bool runs = f.lab.driver == LAB_NETNS && await_daemon(&f.lab, s, peer_clock(), why) == 0;
    code = runs ? EXIT_FINE : command_keeper(self, &f.lab, "restore", 1, f.words.word, NULL, NULL);
    if (code != EXIT_FINE) {
        return code;
    }
    if (await_daemon(&f.lab, s, cw_time_add(peer_clock(), await_patience()), why) < 0) {
        program_refuse(self, "%s", why);
        return EXIT_BROKEN;
    }
    snprintf(done, sizeof done, "%sthe daemon of %s runs%s, and can be asked", runs ? "it is so already: " : "",
             f.words.word[0], runs ? "" : " again");
    say(&f, done);
    uint32_t reached = wait ? wait_until_joined(&f.lab, s) : 0;
    code = wait ? tell_joined(&f, reached) : EXIT_FINE;
    if (!f.json) {
        return code;
    }
    struct report *r = describe(&f, done);
    if (wait) {
        report_flag(r, "joined", reached > 0);
    }
    return program_print(self, r, true, code);
}

const struct program_command command_restore = {
    .program = &program_cwlab,
    .name = "restore",
    .summary = "start a server's daemon again",
    .words = "SERVER [--wait]",
    .text = "The daemon starts with the same configuration and stable storage, and its links are up. The command\n"
            "returns when the daemon can be asked; it has not joined the others then. With --wait the command returns\n"
            "when the server reaches all servers that run, and says that it has joined; one that runs already is\n"
            "waited for, too.",
    .example = "  cwlab restore 1,0,2\n"
               "  cwlab restore 1,0,2 --wait && cwlab pingall",
    .run = restore,
};

/* How the daemon of a server that has left ended. */
static const char in_order[] = "exit code 0";

/* Waits until a server that was told to leave has left. Gives the exit code; done: what has become of it. */
static int wait_until_left(const struct fault *f, cw_server s, char done[static SAID])
{
    char ended[AWAIT_ENDED], why[AWAIT_WHY];
    const char *name = f->words.word[0];
    if (await_leave(&f->lab, s, cw_time_add(peer_clock(), leave_patience), ended, why) < 0) {
        program_refuse(f->self, "%s", why);
        snprintf(done, SAID, "%s is still leaving", name);
        return EXIT_BROKEN;
    }
    bool order = strncmp(ended, in_order, strlen(in_order)) == 0;
    if (order || ended[0] == '\0') { /* it may run again already, by another command */
        snprintf(done, SAID, "%s has left, and its daemon has ended; cwlab restore %s starts it again", name, name);
        return EXIT_FINE;
    }
    snprintf(done, SAID, "the daemon of %s has ended, but not in order: %s", name, ended);
    return EXIT_BROKEN;
}

static bool has_left(const struct lab *lab, cw_server s)
{
    char ended[AWAIT_ENDED], why[AWAIT_WHY];
    return await_leave(lab, s, peer_clock(), ended, why) == 0 && strncmp(ended, in_order, strlen(in_order)) == 0;
}

static int leave(const struct program_command *self, int argc, char **argv)
{
    struct fault f;
    bool already = false;
    char done[SAID], sentence[SAID + 40];
    cw_server s;
    int code = begin(&f, self, argc, argv, NULL, 0, 1);
    if (code == PROGRAM_GO) {
        code = command_read_server(self, &f.lab, f.words.word[0], &s);
    }
    if (code != PROGRAM_GO) {
        return code;
    }
    bool left = has_left(&f.lab, s);
    code = command_order(self, &f.lab, "leave", 1, f.words.word, &already);
    if (code != EXIT_FINE) {
        return code;
    }
    if (already && !left) {
        say(&f, "it is leaving already");
    }
    code = wait_until_left(&f, s, done);
    snprintf(sentence, sizeof sentence, "%s%s", already && left ? "it is so already: " : "", done);
    say(&f, sentence);
    if (!f.json) {
        return code;
    }
    struct report *r = describe(&f, done);
    report_flag(r, "already", already);
    return program_print(self, r, true, code);
}

const struct program_command command_leave = {
    .program = &program_cwlab,
    .name = "leave",
    .summary = "a server leaves in order (SIGTERM)",
    .words = "SERVER",
    .text = "The daemon hands over its keys, says goodbye and ends; the command returns when it has. A server that is\n"
            "leaving already gets no second signal, which would make it end at once. Exit code 1: it did not end in\n"
            "order, or not within 15 s.",
    .example = "  cwlab leave 1,0,2\n"
               "  cwlab leave 1,0,2 && cwlab restore 1,0,2",
    .run = leave,
};

static int pause_one(const struct program_command *self, int argc, char **argv)
{
    struct fault f;
    cw_span span;
    char ns[24], text[QUANTITY_TEXT], done[SAID];
    int code = begin(&f, self, argc, argv, NULL, 0, 2);
    if (code != PROGRAM_GO) {
        return code;
    }
    const char *word = f.words.word[1];
    if (quantity_span(word, strlen(word), &span) < 0) {
        return program_refuse(self, "'%s': expected a time with its unit, as 5s or 200ms", word);
    }
    snprintf(ns, sizeof ns, "%lld", (long long)span.ns);
    const char *args[] = {f.words.word[0], ns};
    quantity_span_format(span, text);
    snprintf(done, sizeof done, "the daemon of %s is stopped for %s", args[0], text);
    return carry_out(&f, "pause", 2, args, done);
}

const struct program_command command_pause = {
    .program = &program_cwlab,
    .name = "pause",
    .summary = "stop a server's daemon for some time (SIGSTOP), as if its machine were too busy",
    .words = "SERVER TIME",
    .text = "The daemon goes on by itself, and must notice that it was stopped. Returns at once.",
    .example = "  cwlab pause 1,0,2 80ms\n"
               "  cwlab pause 1,0,2 2s",
    .run = pause_one,
};

/* The link in the second word of the command. PROGRAM_GO, or the exit code. */
static int check_link(const struct fault *f)
{
    const char *word = f->words.word[1];
    cw_link link;
    if (quantity_link(word, strlen(word), &link) < 0) {
        return program_refuse(f->self, "'%s' is no link: expected +x -x +y -y +z -z", word);
    }
    return PROGRAM_GO;
}

/* Is the third word up or down? PROGRAM_GO, or the exit code. */
static int check_end(const struct fault *f)
{
    static const char *const ends[] = {"up", "down", NULL};
    const char *word = f->words.word[2], *near = nearest_word(word, ends);
    if (strcmp(word, "up") == 0 || strcmp(word, "down") == 0) {
        return PROGRAM_GO;
    }
    return near != NULL ? program_refuse(f->self, "'%s': expected up or down; did you mean %s?", word, near)
                        : program_refuse(f->self, "'%s': expected up or down", word);
}

static int link_one(const struct program_command *self, int argc, char **argv)
{
    struct fault f;
    char done[SAID];
    int code = begin(&f, self, argc, argv, NULL, 0, 3);
    code = code == PROGRAM_GO ? check_link(&f) : code;
    code = code == PROGRAM_GO ? check_end(&f) : code;
    if (code != PROGRAM_GO) {
        return code;
    }
    snprintf(done, sizeof done, "the interface of link %s of %s is switched %s", f.words.word[1], f.words.word[0],
             strcmp(f.words.word[2], "up") == 0 ? "on" : "off, and the other end of its cable has lost carrier");
    return carry_out(&f, "link", 3, f.words.word, done);
}

const struct program_command command_link = {
    .program = &program_cwlab,
    .name = "link",
    .summary = "switch the interface of a link off or on; no frame passes its cable while it is off",
    .words = "SERVER LINK up|down",
    .text =
        "LINK is +x -x +y -y +z -z, as seen from the server. The interface at this end is switched off, as by\n"
        "'ip link set px down', and the other end of the cable loses carrier, as when somebody pulls the cable out.",
    .example = "  cwlab link 0,0,0 +x down\n"
               "  cwlab link 0,0,0 +x up",
    .run = link_one,
};

static int loss_one(const struct program_command *self, int argc, char **argv)
{
    struct fault f;
    uint32_t ppm;
    char text[16], done[SAID];
    int code = begin(&f, self, argc, argv, NULL, 0, 3);
    code = code == PROGRAM_GO ? check_link(&f) : code;
    if (code != PROGRAM_GO) {
        return code;
    }
    const char *said = f.words.word[2];
    const char *share = strcmp(said, "none") == 0 ? "0%" : strcmp(said, "all") == 0 ? "100%" : said;
    if (quantity_ppm(share, strlen(share), &ppm) < 0 || ppm > 1000000) {
        static const char *const words[] = {"none", "all", NULL};
        const char *near = nearest_word(said, words);
        return program_refuse(self, "'%s': expected a share from 0 to 100%%, as 5%% or 200ppm, or none or all%s%s%s",
                              said, near != NULL ? "; did you mean " : "", near != NULL ? near : "",
                              near != NULL ? "?" : "");
    }
    snprintf(text, sizeof text, "%u", ppm);
    const char *args[] = {f.words.word[0], f.words.word[1], text};
    snprintf(done, sizeof done, "%s of the frames that %s sends on link %s are lost",
             ppm == 0         ? "none"
             : ppm == 1000000 ? "all"
                              : share,
             args[0], args[1]);
    return carry_out(&f, "loss", 3, args, done);
}

const struct program_command command_loss = {
    .program = &program_cwlab,
    .name = "loss",
    .summary = "frames that a server sends on a link are lost, and nobody is told",
    .words = "SERVER LINK SHARE|all|none",
    .text = "This concerns one direction of one cable. Every user may let all of its frames be lost (a cable that\n"
            "works one way only); to lose a share of them needs root of the machine, since the kernel then runs a\n"
            "program on the packets' way.",
    .example = "  cwlab loss 0,0,0 +x all\n"
               "  cwlab loss 0,0,0 +x 5%\n"
               "  cwlab loss 0,0,0 +x none",
    .run = loss_one,
};
