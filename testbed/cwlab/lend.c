/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf, namespaces */
#include "testbed/cwlab/lend.h"

#include "testbed/cwlab/names.h"
#include "testbed/grants.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void lead_path(void)
{
    char self[LAB_PATH], *path = NULL;
    const char *now = getenv("PATH");
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash == NULL) {
        return;
    }
    *slash = '\0';
    if (asprintf(&path, "%s%s%s", self, now != NULL ? ":" : "", now != NULL ? now : "") > 0) {
        (void)setenv("PATH", path, 1);
        free(path);
    }
}

void lend_environment(const struct lab *lab, cw_server s)
{
    char name[TORUS_TEXT], socket[LAB_PATH], prompt[LAB_NAME + TORUS_TEXT + 8];
    lab_path(lab, lab_daemon_name(lab, s, name), ".sock", socket);
    torus_format(torus_coord(&lab->torus, s), name);
    snprintf(prompt, sizeof prompt, "[%s %s] # ", lab->name, name);
    (void)setenv("CUBEWAY_SOCKET", socket, 1);
    (void)setenv("CWLAB_NAME", lab->name, 1);
    (void)setenv("CWLAB_SERVER", name, 1);
    (void)setenv("PS1", prompt, 1);
    lead_path();
    grants_lend_key(lab);
}

bool lend_prompt(const struct lab *lab, const char *shell, char out[static LAB_PATH])
{
    const char *slash = strrchr(shell, '/');
    FILE *f = NULL;
    if (strcmp(slash != NULL ? slash + 1 : shell, "bash") == 0) {
        f = fopen(lab_path(lab, NULL, "bashrc", out), "we");
    }
    if (f == NULL) {
        return false;
    }
    fputs("# Made by cwlab shell.\n"
          "[ -r ~/.bashrc ] && . ~/.bashrc\n"
          "PS1=\"[$CWLAB_NAME $CWLAB_SERVER] ${PS1#\\[$CWLAB_NAME $CWLAB_SERVER\\] }\"\n",
          f);
    return fclose(f) == 0;
}

int lend_run(const struct program_command *self, char *const argv[])
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
    /* What the terminal's keys mean is the child's business. */
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    while (pid < 0 || waitpid(pid, &status, 0) < 0) {
        if (pid < 0 || errno != EINTR) {
            return program_refuse(self, "%s: %s", argv[0], strerror(errno));
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* rc: of names_lend() */
static void say_nameless(const struct program_command *self, const struct lab *lab, const char *server, int rc)
{
    if (rc == -ESTALE) {
        fprintf(stderr,
                "cwlab %s: names as 1-0-2.cube lead elsewhere here: /etc/hosts has those of another torus, by cwctl "
                "hosts --write; cwlab ctl --name %s %s hosts --write /etc/hosts puts this lab's in their place\n",
                self->name, lab->name, server);
    } else if (rc < 0) {
        const char *why = rc == -ENOENT ? "there is no file /etc/hosts here, over which the names could be put"
                          : rc == -EINVAL
                              ? "the root folder here is no mount point, as in a chroot, so that no /etc/hosts can be "
                                "put over it for one process alone"
                              : strerror(-rc);
        fprintf(stderr,
                "cwlab %s: names as 1-0-2.cube are not known here (%s); cwlab ctl --name %s %s hosts has the "
                "addresses, and with --write /etc/hosts this machine knows the names\n",
                self->name, why, lab->name, server);
    }
}

/* The keeper lends its user namespace and the server's network namespace. */
int lend_enter(const struct program_command *self, const struct lab *lab, cw_server s)
{
    static const cw_span patience = CW_MS(10000);
    char path[LAB_PATH], why[PEER_WHY], name[TORUS_TEXT];
    const char *server = name;
    struct peer p;
    torus_format(torus_coord(&lab->torus, s), name);
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
    if (rc == 0 && lab_has_tunnel(lab)) {
        say_nameless(self, lab, name, names_lend(lab)); /* names are a comfort: addresses do without */
    }
    return rc == 0 ? PROGRAM_GO : rc;
}
