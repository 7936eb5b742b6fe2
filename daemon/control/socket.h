/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket.h - the file by which a daemon is found: a Unix socket whose rights are those of the people who may command
 * it.
 *
 * It appears complete (bound under another name, given mode and group, listening, then renamed), and replaces only a
 * socket on which nobody listens any more.
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
 * mode: as of chmod. group: NULL or "" leaves that of the process. Missing folders are made, 0755. -EADDRINUSE: a
 * living daemon has the socket; -EEXIST: what is there is no socket; -ENAMETOOLONG; -ENOENT: no such group; or an
 * -errno of the system. why says what is wrong and what to do.
 */
CW_MUST_CHECK int control_socket_open(struct control_socket *out, const char *path, unsigned mode, const char *group,
                                      char why[static CONTROL_WHY]);
/*
 * Gives the file to the user that the process becomes ("": it becomes none). Such a user may not be allowed to remove
 * the file, but it can say by the file's mode that it left in order. What fails is left as it is.
 */
void control_socket_give(const struct control_socket *s, const char *user);
/*
 * Closes the socket, and removes the file if it is still ours. Where that is not allowed, the file is left without any
 * rights (mode 0): so cwctl knows that its daemon left in order, and did not die.
 */
void control_socket_close(struct control_socket *s);

#endif
