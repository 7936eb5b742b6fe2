/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_exec.c - other programs in a server's network namespace: exec and shell. */
#include "testbed/cwlab/lend.h"
#include "testbed/cwlab/target.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The line, the namespace and the environment. PROGRAM_GO: the program can be run. */
static int begin(const struct program_command *self, int argc, char **argv, enum target_reach reach, struct target *t,
                 cw_server *s)
{
    int code = target_read(self, argc, argv, reach, t);
    if (code == PROGRAM_GO) {
        code = target_one(self, t, s);
    }
    return code;
}

static int exec_in(const struct program_command *self, int argc, char **argv)
{
    struct target t;
    cw_server s = 0;
    int code = begin(self, argc, argv, TARGET_BEFORE_WORDS, &t, &s);
    bool dashes = t.words > 0 && strcmp(t.word[0], "--") == 0; /* as people write it from habit */
    if (code == PROGRAM_GO && t.words == dashes) {
        code = program_refuse(self, "expected a command behind the server");
    }
    if (code == PROGRAM_GO) {
        code = lend_enter(self, &t.lab, s);
    }
    if (code == PROGRAM_GO) {
        lend_environment(&t.lab, s);
        code = lend_run(self, t.word + dashes);
    }
    target_close(&t);
    return code;
}

const struct program_command command_exec = {
    .program = &program_cwlab,
    .name = "exec",
    .summary = "run a command in a server's network namespace",
    .words = "[--name LAB] SERVER [--] COMMAND...",
    .text = "Standard input, output and error are passed on, and so is the exit code. In the command's environment\n"
            "CUBEWAY_SOCKET names the daemon of the server, so that cwctl asks that one; CWLAB_SERVER and CWLAB_NAME\n"
            "are the server and the lab, and the programs of cubeway are on the PATH. In a lab with --tunnel, servers\n"
            "have names in /etc/hosts there: 1-0-2.cube, and s11.cube for the one with number 11.",
    .example = "  cwlab exec 0,0,0 ip -s link show px\n"
               "  cwlab exec 0,0,0 tcpdump -ni px -c 10\n"
               "  cwlab exec 0,0,0 cwctl links\n"
               "  cwlab exec 0,0,0 ping -c 3 1-0-2.cube",
    .run = exec_in,
};

static int shell(const struct program_command *self, int argc, char **argv)
{
    struct target t;
    cw_server s = 0;
    int code = begin(self, argc, argv, TARGET_ALONE, &t, &s);
    if (code == PROGRAM_GO && t.words > 0) {
        code = program_refuse(self, "'%s' is one word too many: cwlab exec runs a command", t.word[0]);
    }
    if (code == PROGRAM_GO) {
        code = lend_enter(self, &t.lab, s);
    }
    if (code != PROGRAM_GO) {
        target_close(&t);
        return code;
    }
    char *sh = getenv("SHELL"), usual[] = "/bin/sh", option[] = "--rcfile", file[LAB_PATH];
    char *words[] = {sh != NULL && sh[0] == '/' ? sh : usual, NULL, NULL, NULL};
    lend_environment(&t.lab, s);
    if (isatty(STDIN_FILENO)) {
        fprintf(stderr,
                "cwlab shell: %s of lab %s; its links are px mx py my pz mz, cwctl asks its daemon; exit ends it\n",
                getenv("CWLAB_SERVER"), t.lab.name);
        if (lend_prompt(&t.lab, words[0], file)) {
            words[1] = option;
            words[2] = file;
        }
    }
    code = lend_run(self, words);
    target_close(&t);
    return code;
}

const struct program_command command_shell = {
    .program = &program_cwlab,
    .name = "shell",
    .summary = "a shell in a server's network namespace",
    .words = "[--name LAB] SERVER",
    .text = "Runs $SHELL, or /bin/sh where that is not set, with a prompt that names the lab and the server. Its\n"
            "environment is that of cwlab exec: cwctl asks the daemon of this server.",
    .example = "  cwlab shell 0,0,0",
    .run = shell,
};
