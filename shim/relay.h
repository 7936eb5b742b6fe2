/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay.h - the relay in the kernel: it is loaded, attached to the interfaces of raw links, and taken away
 * (docs/relay.md). What it decides by is published into relay_shared(), by the functions of wire/relay_publish.h.
 *
 * Loading and attaching need CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN, in the first user namespace; what comes after that
 * (publishing, counting) needs no right and no system call. A relay of which nothing has been published passes every
 * frame up. It is attached by tcx, where the kernel has it (6.6), and ends then with the last descriptor of its
 * attachment; else by a filter of the clsact discipline, which stays when its process dies, and then relays until the
 * published lease is over.
 *
 * A build without clang, bpftool or libbpf has no relay: relay_open() says so.
 */
#ifndef SHIM_RELAY_H
#define SHIM_RELAY_H

#include "cubeway/types.h"
#include "wire/relay_state.h"

enum { RELAY_WHY_BYTES = 256 };

enum relay_hook {
    RELAY_DETACHED,
    RELAY_TCX,
    RELAY_CLSACT,
};

struct relay;

/*
 * Loads the program, attached to nothing. 0; or -errno, and in why one sentence that says what is missing and what to
 * do: -EOPNOTSUPP (not in this build, or the kernel is older than 5.12), -EPERM (a right is missing, or this is a user
 * namespace), or another -errno of the kernel.
 */
CW_MUST_CHECK int relay_open(struct relay **out, char why[static RELAY_WHY_BYTES]);

/* Takes the relay; its attachments end. NULL is allowed. */
void relay_close(struct relay *r);

/* Borrows the value that the program reads. */
struct relay_state *relay_shared(struct relay *r);

/*
 * Attaches the program to the interface of a link, in place of what an earlier process may have left there. clsact_only
 * is for tests. Gives the interface's index, which frames that leave by the link need; or -errno, and one sentence in
 * why.
 */
CW_MUST_CHECK int relay_attach(struct relay *r, cw_link link, const char *interface, bool clsact_only,
                               char why[static RELAY_WHY_BYTES]);
/*
 * Ends the attachment, if there is one. What the program has begun to send still leaves, and where the watcher holds
 * the descriptor too, the program stays, and takes its frames for those of no link.
 */
void relay_detach(struct relay *r, cw_link link);
/* How the link is attached. */
enum relay_hook relay_hook(const struct relay *r, cw_link link);

/*
 * The descriptors by which attachments hold: while a process that has inherited them lives, they stay. The watcher
 * (daemon/machine/watcher.h) holds them, because an attachment that ends within a process's exit delays that exit by a
 * grace period of the kernel: it clears `live`, says goodbye, and ends them. Gives how many there are.
 */
unsigned relay_taps(const struct relay *r, int fds[static CW_LINK_COUNT]);

/* Adds up what was counted on all processors since relay_open(). */
void relay_counted(const struct relay *r, struct relay_counts *out);

/* Borrows the descriptor of the program: tests run it. */
int relay_program(const struct relay *r);

#endif
