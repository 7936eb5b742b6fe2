/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.h - files on the multicast: what a server takes into its folder, and what operators send from it. docs/services/multicast.md says what is promised.
 *
 *   file-send ticket=N name=NAME mode=OCTAL [keep=1] [progress=MS] [wait=0] to WHO..   the file that was passed under that ticket; rows follow as it goes on
 *   file-status [members=1]                                                            what is on its way from here, and to here
 *   file-stop ID                                                                       ends a sending
 *
 * Options of the service: folder, where files are put (none: they are refused), and part_age, after which what broke off is dropped.
 */
#ifndef SERVICES_MULTICAST_FILE_FILES_H
#define SERVICES_MULTICAST_FILE_FILES_H

#include "services/multicast/cast/engine.h"

struct files;

/* status 0: the group's members, as a set of servers; borrowed for the call. Else -ENOENT nobody, -ETIMEDOUT nobody knows. */
typedef void (*files_group_fn)(void *arg, int status, const uint8_t *set, unsigned count);

struct files_config {
    cw_svc *s;
    struct cast_engine *engine;
    const struct torus *torus;
    /* Reads "all" or servers into a set of servers (cast_set_bytes()), as multicast.c does for messages. 0, or -errno with "error" said. */
    int (*members)(void *context, cw_request *r, int argc, const char *const *argv, uint8_t *set);
    /*
     * Who is in a group. 1: that is no group's name (members() reads it). 0: done is told once, from a later upcall, unless group_cancel(arg) came before. -errno.
     * NULL: there are no groups.
     */
    int (*group)(void *context, const char *name, files_group_fn done, void *arg);
    void (*group_cancel)(void *context, const void *arg);
    void *context;
};

/* Asks for its options. -EINVAL: one is wrong, and the log says which; -ENOMEM. Borrows what config points at; config itself for the call. */
CW_MUST_CHECK int files_open(struct files **out, const struct files_config *config);
/* After the engine's, which ends every sink and every sending. NULL is allowed. */
void files_close(struct files *f);

/* As on_command; argv[0] is one of those above. */
int files_command(struct files *f, cw_request *r, int argc, const char *const *argv);
/* A packet at FILE_PORT. -EBADMSG. */
int files_packet(struct files *f, const uint8_t *bytes, size_t length, const cw_rx *rx);

#endif
