/* SPDX-License-Identifier: Apache-2.0 */
/* links.h - the shims of a configuration: of which kind, on which interface, with which faults injected around them. */
#ifndef DAEMON_MACHINE_LINKS_H
#define DAEMON_MACHINE_LINKS_H

#include "daemon/config/config.h"
#include "shim/shim.h"

enum { LINKS_WHY = 512 };

/*
 * Opens the shim of a link as configured, with its thread around it if it has one, and its fault injector around that.
 * *out is NULL when the link has no shim. 0; or the -errno of the shim, and in why a sentence that begins with the link
 * ("+x: eth3: no such interface").
 */
CW_MUST_CHECK int links_open(const struct daemon_config *config, cw_link link, struct shim **out,
                             char why[static LINKS_WHY]);
/*
 * Opens all six links. When one of them fails, the others are closed again, and why tells of all that failed, parted by
 * "; ".
 *
 * An interface of a raw link that is not there yet is no failure: the link has no carrier until the interface comes,
 * and why names all such interfaces ("+x: eth3: no such interface; -x: ..."), or is "". What comes must carry frames as
 * long as the other links do: config.mtu, or the smallest mtu of the links that are there, or 1500 where none is.
 */
CW_MUST_CHECK int links_open_all(const struct daemon_config *config, struct shim *out[static CW_LINK_COUNT],
                                 char why[static LINKS_WHY]);
/* The same; waits while the watcher of a daemon that has just died still holds its interfaces (-EADDRINUSE). */
CW_MUST_CHECK int links_open_patiently(const struct daemon_config *config, struct shim *out[static CW_LINK_COUNT],
                                       char why[static LINKS_WHY]);
void links_close_all(struct shim *shims[static CW_LINK_COUNT]);

/*
 * Wraps *shim in a fault injector, when there is any fault to inject. salt: makes the random streams of several links
 * differ, which share one seed. On -errno *shim is as it was.
 */
CW_MUST_CHECK int links_wrap(struct shim **shim, const struct config_fault *fault, uint64_t salt,
                             char why[static LINKS_WHY]);

#endif
