/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* SOCK_NONBLOCK */
#include "services/kvcache/memcached/system.h"

#include "services/kvcache/mc_config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

int64_t mc_system_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * CW_SEC(1).ns + now.tv_nsec;
}

static int64_t micros(struct timeval t)
{
    return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

void mc_system_usage(int64_t *user_us, int64_t *system_us)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    *user_us = micros(usage.ru_utime);
    *system_us = micros(usage.ru_stime);
}

const char *mc_system_problem(int error)
{
    switch (error) {
    case EADDRINUSE:
        return "the port is in use: another memcached or cubewayd listens there; end it, or set another `listen` of "
               "service kvcache";
    case EADDRNOTAVAIL:
        return "this machine has no such address; set another `listen` of service kvcache";
    case EACCES:
        return "no right to use that port; take one above 1023";
    default:
        return strerror(error);
    }
}

int mc_system_listen(const char *listen_text)
{
    char host[MC_ADDRESS];
    unsigned port = 0;
    struct sockaddr_in six_or_four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    if (!mc_config_split(listen_text, host, &port)) {
        return -EINVAL;
    }
    six_or_four.sin_port = six.sin6_port = htons((uint16_t)port);
    bool four = inet_pton(AF_INET, host, &six_or_four.sin_addr) == 1;
    if (!four && inet_pton(AF_INET6, host, &six.sin6_addr) != 1) {
        return -EINVAL;
    }
    int fd = socket(four ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int one = 1;
    const struct sockaddr *address = four ? (const void *)&six_or_four : (const void *)&six;
    socklen_t length = four ? sizeof six_or_four : sizeof six;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0 || bind(fd, address, length) < 0 ||
        listen(fd, BACKLOG) < 0) {
        int error = errno;
        if (fd >= 0) {
            close(fd);
        }
        return -error;
    }
    return fd;
}
