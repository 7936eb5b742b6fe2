/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_daemon.h - a process that listens on a socket, reads one line and says what a test gave it.
 */
#ifndef UNIT_CTL_FAKE_DAEMON_H
#define UNIT_CTL_FAKE_DAEMON_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

struct fake_daemon {
    char folder[64], path[80];
    pid_t pid;
};

/* Answers each line with the next of says (ended by NULL), then waits (linger) or hangs up. */
static inline void fake_daemon_start(struct fake_daemon *d, const char *const says[], int linger)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(d->folder, "/tmp/cubeway-test-XXXXXX");
    if (mkdtemp(d->folder) == NULL) {
        abort();
    }
    snprintf(d->path, sizeof d->path, "%s/d.sock", d->folder);
    strcpy(address.sun_path, d->path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 4) < 0) {
        abort();
    }
    d->pid = fork();
    if (d->pid == 0) {
        FILE *client = fdopen(accept(fd, NULL, NULL), "r+");
        static char line[65536];
        for (; *says != NULL && fgets(line, sizeof line, client) != NULL; says++) {
            fflush(client);
            (void)!write(fileno(client), *says, strlen(*says));
        }
        while (linger) {
            pause();
        }
        _exit(0);
    }
    close(fd);
}

static inline void fake_daemon_end(struct fake_daemon *d)
{
    kill(d->pid, SIGKILL);
    waitpid(d->pid, NULL, 0);
    unlink(d->path);
    rmdir(d->folder);
}

#endif
