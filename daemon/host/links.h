/* SPDX-License-Identifier: Apache-2.0 */
/* links.h - from the words of the configuration to a shim: which kind, on what, with which harm around it. */
#ifndef DAEMON_HOST_LINKS_H
#define DAEMON_HOST_LINKS_H

#include "daemon/config/config.h"
#include "shim/shim.h"

enum { LINKS_WHY = 512 };

/*
 * Opens the shim of a link as configured, its thread around it if it has one, and its fault around that; *out is NULL when the link has none. 0, or the -errno of the shim
 * and in why one sentence that begins with the link ("+x: eth3: no such interface").
 */
CW_MUST_CHECK int links_open(const struct daemon_config *config, cw_link link, struct shim **out,
                             char why[static LINKS_WHY]);
/* All six; those that could be opened are closed again when one could not. why: of all that failed, with "; " between. */
CW_MUST_CHECK int links_open_all(const struct daemon_config *config, struct shim *out[static CW_LINK_COUNT],
                                 char why[static LINKS_WHY]);
void links_close_all(struct shim *shims[static CW_LINK_COUNT]);

/*
 * Puts the fault around *shim when there is any in it. salt makes the streams of several links of one seed differ. On -errno *shim is as it
 * was.
 */
CW_MUST_CHECK int links_wrap(struct shim **shim, const struct config_fault *fault, uint64_t salt,
                             char why[static LINKS_WHY]);

#endif
