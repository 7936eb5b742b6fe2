/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.h - the face of this folder: files as messages. What a server takes into its folder, and what operators send
 * from it. docs/services/multicast.md says what is promised.
 *
 *   file-send ticket=N name=NAME [mode=OCTAL] [keep=1] [progress=MS] [wait=0] to all|SERVER...|GROUP
 *                              sends the file that was passed under that ticket; with progress, rows follow
 *   file-status [members=1]    the files on their way from here, and to here
 *   file-stop ID               ends a sending
 *
 * Options of the service: folder, into which files are put (not set: files are refused), and part_age, after which the
 * parts of transfers that broke off are dropped.
 */
#ifndef SERVICES_MULTICAST_FILE_FILES_H
#define SERVICES_MULTICAST_FILE_FILES_H

#include "services/multicast/cast/engine.h"

struct files;

/*
 * The answer to a question for a group's members. status 0: set has a bit for each server, and `count` are set;
 * borrowed for the call. -ENOENT: the group has no member; -ETIMEDOUT: its root has not answered.
 */
typedef void (*files_members_fn)(void *arg, int status, const uint8_t *set, unsigned count);

struct files_config {
    cw_svc *s;
    struct cast_engine *engine;
    const struct torus *torus;
    /*
     * To whom a command sends: as recipients_read() and recipients_cancel() of recipients.h, which this folder may not
     * know. 0: *set is filled; 1: done(arg, ...) follows from a later upcall, unless it is cancelled; -errno: refused,
     * and the reply says why.
     */
    int (*read_recipients)(void *context, cw_request *r, int argc, const char *const *argv, uint8_t *set,
                           files_members_fn done, void *arg);
    void (*cancel_recipients)(void *context, const void *arg);
    void *context;
};

/*
 * Borrows what config points at; config itself for the call. -EINVAL: an option is wrong, and the log says which;
 * -ENOMEM.
 */
CW_MUST_CHECK int files_open(struct files **out, const struct files_config *config);
/* To be called after the engine's close, which ends every sink and every sending. NULL is allowed. */
void files_close(struct files *f);

/* As on_command of a service; argv[0] is one of the commands above. */
int files_command(struct files *f, cw_request *r, int argc, const char *const *argv);
/* Takes a packet that came to FILE_PORT. -EBADMSG: it could not be decoded, or came from a stranger. */
int files_packet(struct files *f, const uint8_t *bytes, size_t length, const cw_rx *rx);

#endif
