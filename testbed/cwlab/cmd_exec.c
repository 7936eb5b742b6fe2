/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* namespaces */
/* cmd_exec.c - other programs, for or in a lab: exec shell ctl capture. */
#include "testbed/cwlab/command.h"
#include "testbed/grants.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- In a server's namespace ------------------------------------------------------------------------------------- */

/* The keeper lends its user namespace and the server's network namespace. */
static int enter(const struct program_command *self, const struct lab *lab, const char *server)
{
    static const cw_span patience = CW_MS(10000);
    char path[LAB_PATH], why[PEER_WHY];
    struct peer p;
    int rc = peer_open(&p, lab_path(lab, "keeper", ".sock", path));
    if (rc == 0) {
        rc = peer_ask(&p, peer_request("namespace", 1, &server), patience, NULL, NULL, why);
    }
    if (rc < 0) {
        return program_refuse(self, "%s: %s", server, why);
    }
    /* This fails when we are in that user namespace already, which does no harm. */
    (void)setns(p.passed[0], CLONE_NEWUSER);
    if (setns(p.passed[1], CLONE_NEWNET) < 0) {
        rc = program_refuse(self, "the namespace of %s cannot be entered: %s", server, strerror(errno));
    }
    peer_close(&p);
    return rc == 0 ? PROGRAM_GO : rc;
}

/* Runs the program as a child that dies with us. Returns its exit code, or 128 plus its signal, as shells do. */
static int carry_out(const struct program_command *self, char *const argv[])
{
    int status;
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent) {
            execvp(argv[0], argv);
        }
        fprintf(stderr, "cwlab %s: %s: %s\n", self->name, argv[0], strerror(errno));
        _exit(errno == ENOENT ? 127 : 126);
    }
    /* The terminal's keys are for the child: it decides what they mean. */
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    while (pid < 0 || waitpid(pid, &status, 0) < 0) {
        if (pid < 0 || errno != EINTR) {
            return program_refuse(self, "%s: %s", argv[0], strerror(errno));
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Reads the options and SERVER. PROGRAM_GO: *rest is the index of the first word after SERVER. */
static int begin(const struct program_command *self, int argc, char **argv, struct lab *lab, cw_server *s, int *rest)
{
    const char *name = NULL;
    const struct option option[] = {
        {"name", OPTION_TEXT, &name, "LAB", "which lab, given before the server; not needed while there is only one",
         false},
    };
    int code = program_leading(self, option, 1, argc, argv, rest);
    if (code == PROGRAM_GO) {
        code = command_lab(self, name, lab);
    }
    if (code == PROGRAM_GO) {
        code = command_read_server(self, lab, *rest < argc ? argv[*rest] : NULL, s);
    }
    ++*rest;
    return code;
}

static int exec_in(const struct program_command *self, int argc, char **argv)
{
    struct lab lab;
    cw_server s;
    int rest;
    int code = begin(self, argc, argv, &lab, &s, &rest);
    if (code != PROGRAM_GO) {
        return code;
    }
    if (rest >= argc) {
        return program_refuse(self, "expected a command behind the server");
    }
    code = enter(self, &lab, argv[rest - 1]);
    return code != PROGRAM_GO ? code : carry_out(self, argv + rest);
}

const struct program_command command_exec = {
    .program = &program_cwlab,
    .name = "exec",
    .summary = "run a command in a server's network namespace",
    .words = "[--name LAB] SERVER COMMAND...",
    .text = "Standard input, output and error are passed on, and so is the exit code.",
    .example = "  cwlab exec 0,0,0 ip -s link show px\n"
               "  cwlab exec 0,0,0 tcpdump -ni px -c 10",
    .run = exec_in,
};

static int shell(const struct program_command *self, int argc, char **argv)
{
    struct lab lab;
    cw_server s;
    int rest;
    int code = begin(self, argc, argv, &lab, &s, &rest);
    if (code == PROGRAM_GO) {
        code = enter(self, &lab, argv[rest - 1]);
    }
    if (code != PROGRAM_GO) {
        return code;
    }
    char *sh = getenv("SHELL"), usual[] = "/bin/sh";
    char *const words[] = {sh != NULL && sh[0] == '/' ? sh : usual, NULL};
    fprintf(stderr, "cwlab shell: %s of lab %s; its links are px mx py my pz mz; exit ends it\n", argv[rest - 1],
            lab.name);
    return carry_out(self, words);
}

const struct program_command command_shell = {
    .program = &program_cwlab,
    .name = "shell",
    .summary = "a shell in a server's network namespace",
    .words = "[--name LAB] SERVER",
    .text = "Runs $SHELL, or /bin/sh where that is not set.",
    .example = "  cwlab shell 0,0,0",
    .run = shell,
};

/* ---- The daemon's own client ------------------------------------------------------------------------------------- */

/* Refuses cwctl's commands that work only where all servers are in one process, and names cwlab's own. */
static int refuse_harm(const struct program_command *self, const struct lab *lab, const char *word, const char *server)
{
    static const struct {
        const char *word, *here;
    } harm[] = {{"fail", "fail"}, {"restore", "restore"}, {"cut", "link"}, {"mend", "link"}};
    for (size_t i = 0; word != NULL && lab->driver == LAB_NETNS && i < sizeof harm / sizeof *harm; i++) {
        if (strcmp(harm[i].word, word) == 0) {
            bool link = strcmp(harm[i].here, "link") == 0;
            return program_refuse(self, "each server of this lab is a process: cwlab %s --name %s %s%s does that",
                                  harm[i].here, lab->name, server,
                                  !link            ? ""
                                  : word[0] == 'c' ? " LINK down"
                                                   : " LINK up");
        }
    }
    return PROGRAM_GO;
}

/* PROGRAM_GO when the daemon answers. If not, says so, and returns the exit code that cwctl has for it. */
static int need_daemon(const struct program_command *self, const struct lab *lab, const char *socket,
                       const char *server)
{
    struct peer p;
    if (peer_open(&p, socket) < 0) {
        program_refuse(self,
                       "the daemon of %s is dead: cwlab restore --name %s %s starts it again, cwlab status says "
                       "how it ended",
                       server, lab->name, server);
        return EXIT_NO_LAB;
    }
    peer_close(&p);
    return PROGRAM_GO;
}

static int run_cwctl(const struct program_command *self, const struct lab *lab, cw_server s, char *const words[],
                     int count)
{
    char cwctl[LAB_PATH], socket[LAB_PATH], name[TORUS_TEXT], server[TORUS_TEXT];
    static char on_socket[] = "--socket", of_server[] = "--server";
    char **argv = calloc((size_t)count + 6, sizeof *argv);
    if (argv == NULL || command_find("CWCTL", "cwctl", cwctl) < 0) {
        free(argv);
        return program_refuse(self, "cwctl is not beside cwlab, and not on the PATH; CWCTL=FILE names it");
    }
    lab_path(lab, lab_daemon_name(lab, s, name), ".sock", socket);
    torus_format(torus_coord(&lab->torus, s), server);
    int code = refuse_harm(self, lab, count > 0 ? words[0] : NULL, server);
    if (code == PROGRAM_GO) {
        code = need_daemon(self, lab, socket, server);
    }
    if (code != PROGRAM_GO) {
        free(argv);
        return code;
    }
    int n = 0;
    argv[n++] = cwctl;
    argv[n++] = on_socket;
    argv[n++] = socket;
    if (lab->driver == LAB_PROCESS) {
        argv[n++] = of_server;
        argv[n++] = server;
    }
    memcpy(argv + n, words, (size_t)count * sizeof *words);
    grants_lend_key(lab);
    code = carry_out(self, argv);
    free(argv);
    return code;
}

static int ctl(const struct program_command *self, int argc, char **argv)
{
    struct lab lab;
    cw_server s;
    int rest;
    int code = begin(self, argc, argv, &lab, &s, &rest);
    if (code != PROGRAM_GO) {
        return code;
    }
    code = run_cwctl(self, &lab, s, argv + rest, argc - rest);
    for (int i = rest; code == EXIT_USAGE && i < argc; i++) {
        if (strcmp(argv[i], "--name") == 0) {
            fprintf(stderr, "cwlab ctl: which lab is said before the server: cwlab ctl --name %s %s ..\n", lab.name,
                    argv[rest - 1]);
            break;
        }
    }
    return code;
}

const struct program_command command_ctl = {
    .program = &program_cwlab,
    .name = "ctl",
    .summary = "cwctl for a server's daemon",
    .words = "[--name LAB] SERVER WORDS...",
    .text = "Takes all commands of cwctl; cwctl --help lists them. The exit code is cwctl's.",
    .example = "  cwlab ctl 0,0,0 links\n"
               "  cwlab ctl 0,0,0 ping 2,2,2 --count 5\n"
               "  cwlab ctl 0,0,0 key explain hello",
    .run = ctl,
};

static int capture(const struct program_command *self, int argc, char **argv)
{
    struct lab lab;
    cw_server s;
    int rest;
    int code = begin(self, argc, argv, &lab, &s, &rest);
    if (code != PROGRAM_GO) {
        return code;
    }
    if (argc - rest < 2) {
        return program_refuse(self, "expected %s", self->words);
    }
    static char word[] = "capture";
    char *words[OPTION_WORDS_MAX] = {word};
    int count = 1;
    while (rest < argc && count < OPTION_WORDS_MAX) {
        words[count++] = argv[rest++];
    }
    return run_cwctl(self, &lab, s, words, count);
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
