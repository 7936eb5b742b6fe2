/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/claim.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int claim_interface(uint32_t index, uint16_t ethertype)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    /* A zero byte first: abstract. */
    int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "cubeway/link/%u/%04x", index, ethertype);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -errno;
    }
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    if (bind(fd, (const struct sockaddr *)&address, size) < 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    return fd;
}
