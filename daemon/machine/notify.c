/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/machine/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int notify_send(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (path == NULL || path[0] == '\0') {
        return 0;
    }
    size_t length = strlen(path);
    if ((path[0] != '/' && path[0] != '@') || length >= sizeof address.sun_path) {
        return -EINVAL;
    }
    memcpy(address.sun_path, path, length);
    if (path[0] == '@') {
        address.sun_path[0] = '\0'; /* an abstract name */
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -errno;
    }
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    ssize_t sent = sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address, size);
    int rc = sent < 0 ? -errno : 1;
    close(fd);
    return rc;
}

cw_span notify_watchdog(void)
{
    const char *text = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    if (text == NULL || (pid != NULL && strtol(pid, NULL, 10) != getpid())) {
        return CW_NS(0);
    }
    char *end;
    errno = 0;
    long long us = strtoll(text, &end, 10);
    bool good = errno == 0 && *end == '\0' && us > 0 && us < INT64_MAX / 1000;
    return good ? CW_US(us / 2) : CW_NS(0);
}
