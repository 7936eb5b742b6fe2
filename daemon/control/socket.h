/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket.h - the file by which a daemon is found: a Unix socket whose rights are those of whoever may give it commands.
 *
 * It appears whole (bound under another name, given mode and group, listening, then renamed), and takes the place only of a socket that
 * nobody listens on any more.
 */
#ifndef DAEMON_CONTROL_SOCKET_H
#define DAEMON_CONTROL_SOCKET_H

#include "daemon/control/request.h"

struct control_socket {
    int fd; /* listening, non-blocking, closed on exec */
    char path[108];
    uint64_t device, inode; /* of the file we made */
};

/*
 * mode as of chmod; group NULL or "": as it is. Folders that are missing are made, 0755. -EADDRINUSE: a living daemon has it; -EEXIST: what
 * is there is no socket; -ENAMETOOLONG, -ENOENT (group), and those of the system; why says what and what to do.
 */
CW_MUST_CHECK int control_socket_open(struct control_socket *out, const char *path, unsigned mode, const char *group,
                                      char why[static CONTROL_WHY]);
/* Closes, and removes the file if it is still ours. */
void control_socket_close(struct control_socket *s);

#endif
