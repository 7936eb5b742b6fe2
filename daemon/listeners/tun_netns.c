/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* setns */
#include "daemon/listeners/tun_netns.h"

#include "base/check.h"

#include <stdbool.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NAMES "/run/netns/"

int tun_netns_path(const char *netns, char out[static TUN_NETNS_PATH])
{
    bool path = netns[0] == '/', name = strchr(netns, '/') == NULL && netns[0] != '.' && netns[0] != '\0';
    int length = snprintf(out, TUN_NETNS_PATH, "%s%s", path ? "" : NAMES, netns);
    return (path || name) && length < TUN_NETNS_PATH ? 0 : -EINVAL;
}

/* The descriptor of the namespace's file. */
static int open_file(const char *netns, char why[static TUN_NETNS_WHY])
{
    char path[TUN_NETNS_PATH];
    if (tun_netns_path(netns, path) < 0) {
        snprintf(why, TUN_NETNS_WHY, "netns \"%.60s\": expected a name, as of ip netns add NAME, or an absolute path",
                 netns);
        return -EINVAL;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        int error = errno;
        snprintf(why, TUN_NETNS_WHY, "the network namespace %.80s cannot be opened: %s: %s", path, strerror(error),
                 error == EACCES ? "a file of another process takes CAP_SYS_PTRACE: name the namespace (ip netns add), "
                                   "or start the daemon as root"
                                 : "make it (ip netns add) before the daemon starts, or set the option netns to one "
                                   "that is there");
        return -error;
    }
    if (ioctl(fd, NS_GET_NSTYPE) != CLONE_NEWNET) {
        close(fd);
        snprintf(why, TUN_NETNS_WHY,
                 "%.80s is no network namespace: set the option netns to a name of ip netns list, or to a file as "
                 "/proc/PID/ns/net",
                 path);
        return -EINVAL;
    }
    return fd;
}

int tun_netns_enter(struct tun_netns *n, const char *netns, char why[static TUN_NETNS_WHY])
{
    *n = (struct tun_netns){-1};
    if (netns == NULL) {
        return 0;
    }
    int fd = open_file(netns, why), error = 0;
    if (fd < 0) {
        return fd;
    }
    n->former = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (n->former < 0 || setns(fd, CLONE_NEWNET) < 0) {
        error = errno;
        snprintf(why, TUN_NETNS_WHY,
                 error == EPERM ? "the network namespace %.80s cannot be entered: it takes CAP_SYS_ADMIN: start the "
                                  "daemon as root; under systemd, with the drop-in "
                                  "/usr/share/doc/cubeway/examples/tunnel-netns.conf"
                                : "the network namespace %.80s cannot be entered",
                 netns);
    }
    close(fd);
    if (error != 0 && n->former >= 0) {
        close(n->former);
        n->former = -1;
    }
    return -error;
}

void tun_netns_leave(struct tun_netns *n)
{
    if (n->former >= 0) {
        CHECK(setns(n->former, CLONE_NEWNET) == 0);
        close(n->former);
        n->former = -1;
    }
}
