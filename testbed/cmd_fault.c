/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_fault.c - what goes wrong, on purpose: fail restore leave pause link loss. */
#include "base/quantity.h"
#include "testbed/command.h"

#include <string.h>

/* Options, then words; all that these commands have in common. PROGRAM_GO: *lab is there, and words->word[0] a server. */
static int begin(const struct program_command *self, int argc, char **argv, const struct option *more,
                 size_t more_count, struct option_words *words, int words_count, struct lab *lab)
{
    const char *name = NULL;
    struct option option[4] = {
        {"name", OPTION_TEXT, &name, "LAB", "which lab; not needed while there is only one", false}};
    memcpy(option + 1, more, more_count * sizeof *more);
    cw_server s;
    int code = program_options(self, option, 1 + more_count, argc, argv, words);
    if (code != PROGRAM_GO) {
        return code;
    }
    if (words->count != words_count) {
        return program_refuse(self, "expected %s", self->words);
    }
    code = command_lab(self, name, lab);
    return code != PROGRAM_GO ? code : command_server(self, lab, words->word[0], &s);
}

static int fail(const struct program_command *self, int argc, char **argv)
{
    bool whole = false, power = false;
    const struct option option[] = {
        {"whole", OPTION_FLAG, &whole, NULL, "no process of it is left to say goodbye to its neighbours", false},
        {"power", OPTION_FLAG, &power, NULL, "the host dies: its links lose carrier, too", false},
    };
    struct option_words words;
    struct lab lab;
    int code = begin(self, argc, argv, option, 2, &words, 1, &lab);
    const char *args[] = {words.word[0], "whole"};
    return code != PROGRAM_GO
               ? code
               : command_keeper(self, &lab, power ? "power-off" : "fail", whole ? 2 : 1, args, NULL, NULL);
}

const struct program_command command_fail = {
    .program = &program_cwlab,
    .name = "fail",
    .summary = "kill -9 a server's daemon",
    .words = "SERVER [--whole | --power]",
    .text = "The daemon gets SIGKILL. Its watcher then tells the neighbours, so that they need not wait for silence; "
            "with --whole\n"
            "the watcher dies too, with --power the server's links go dark as well.",
    .example = "  cwlab fail 1,0,2\n"
               "  cwlab restore 1,0,2",
    .run = fail,
};

static int plain(const struct program_command *self, int argc, char **argv)
{
    struct option_words words;
    struct lab lab;
    int code = begin(self, argc, argv, NULL, 0, &words, 1, &lab);
    return code != PROGRAM_GO ? code : command_keeper(self, &lab, self->name, 1, words.word, NULL, NULL);
}

const struct program_command command_restore = {
    .program = &program_cwlab,
    .name = "restore",
    .summary = "start a server's daemon again",
    .words = "SERVER",
    .text = "With the same configuration and stable storage, and its links up.",
    .example = "  cwlab restore 1,0,2",
    .run = plain,
};

const struct program_command command_leave = {
    .program = &program_cwlab,
    .name = "leave",
    .summary = "a server leaves in order (SIGTERM)",
    .words = "SERVER",
    .text = "The daemon says goodbye and ends.",
    .example = "  cwlab leave 1,0,2",
    .run = plain,
};

static int pause_one(const struct program_command *self, int argc, char **argv)
{
    struct option_words words;
    struct lab lab;
    cw_span span;
    char ns[24];
    int code = begin(self, argc, argv, NULL, 0, &words, 2, &lab);
    if (code != PROGRAM_GO) {
        return code;
    }
    uint64_t ms;
    if (quantity_span(words.word[1], strlen(words.word[1]), &span) < 0) {
        if (quantity_count(words.word[1], strlen(words.word[1]), &ms) < 0 || ms > 3600000) {
            return program_refuse(self, "'%s' is no time: expected milliseconds, or as 80ms or 2s", words.word[1]);
        }
        span = CW_MS(ms);
    }
    snprintf(ns, sizeof ns, "%lld", (long long)span.ns);
    const char *args[] = {words.word[0], ns};
    return command_keeper(self, &lab, "pause", 2, args, NULL, NULL);
}

const struct program_command command_pause = {
    .program = &program_cwlab,
    .name = "pause",
    .summary = "stop a server's daemon for some milliseconds (SIGSTOP), as if its machine were too busy",
    .words = "SERVER MS",
    .text = "It goes on by itself, as if nothing had been: a test of whether it notices. Returns at once.",
    .example = "  cwlab pause 1,0,2 80\n"
               "  cwlab pause 1,0,2 2s",
    .run = pause_one,
};

static int link_one(const struct program_command *self, int argc, char **argv)
{
    struct option_words words;
    struct lab lab;
    int code = begin(self, argc, argv, NULL, 0, &words, 3, &lab);
    return code != PROGRAM_GO ? code : command_keeper(self, &lab, "link", 3, words.word, NULL, NULL);
}

const struct program_command command_link = {
    .program = &program_cwlab,
    .name = "link",
    .summary = "take a cable out, or put it back: both ends lose carrier",
    .words = "SERVER LINK up|down",
    .text = "LINK is +x -x +y -y +z -z, as seen from the server.",
    .example = "  cwlab link 0,0,0 +x down\n"
               "  cwlab link 0,0,0 +x up",
    .run = link_one,
};

static int loss_one(const struct program_command *self, int argc, char **argv)
{
    struct option_words words;
    struct lab lab;
    uint32_t ppm;
    char text[16];
    int code = begin(self, argc, argv, NULL, 0, &words, 3, &lab);
    if (code != PROGRAM_GO) {
        return code;
    }
    const char *share = strcmp(words.word[2], "none") == 0  ? "0%"
                        : strcmp(words.word[2], "all") == 0 ? "100%"
                                                            : words.word[2];
    if (quantity_ppm(share, strlen(share), &ppm) < 0 || ppm > 1000000) {
        return program_refuse(self, "'%s' is no share: expected as 5%%, none or all", words.word[2]);
    }
    snprintf(text, sizeof text, "%u", ppm);
    const char *args[] = {words.word[0], words.word[1], text};
    return command_keeper(self, &lab, "loss", 3, args, NULL, NULL);
}

const struct program_command command_loss = {
    .program = &program_cwlab,
    .name = "loss",
    .summary = "frames that a server sends on a link are lost, and nobody is told",
    .words = "SERVER LINK SHARE|all|none",
    .text = "One direction of one cable. All of the frames (a cable that works one way only) can be lost by anybody; a "
            "share of\n"
            "them needs root of the machine, since the kernel then runs a program on the packet's way.",
    .example = "  cwlab loss 0,0,0 +x all\n"
               "  cwlab loss 0,0,0 +x 5%\n"
               "  cwlab loss 0,0,0 +x none",
    .run = loss_one,
};
