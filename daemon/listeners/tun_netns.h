/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tun_netns.h - the network namespace in which the device of a network is: the thread goes there and comes back.
 */
#ifndef DAEMON_LISTENERS_TUN_NETNS_H
#define DAEMON_LISTENERS_TUN_NETNS_H

enum { TUN_NETNS_WHY = 296, TUN_NETNS_PATH = 200 };

/* Where the thread was before; a namespace that nobody wished for has -1. */
struct tun_netns {
    int former;
};

/*
 * The file of a namespace: /run/netns/NAME, as ip-netns(8) has them, or the path itself where it is absolute. -EINVAL:
 * neither a name nor a path.
 */
int tun_netns_path(const char *netns, char out[static TUN_NETNS_PATH]);

/*
 * The calling thread goes into that namespace, which tun_netns_leave() ends; netns NULL: it stays. -errno, with why[] a
 * sentence that names the namespace and says what to write or to do, and the thread is where it was: -ENOENT, -EINVAL,
 * -EPERM (it takes CAP_SYS_ADMIN), or what open() says.
 */
int tun_netns_enter(struct tun_netns *n, const char *netns, char why[static TUN_NETNS_WHY]);
/* A thread that cannot come back would make everything else in the wrong place: then the program ends. */
void tun_netns_leave(struct tun_netns *n);

#endif
