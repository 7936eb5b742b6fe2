/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_host.h - the files of this machine, for the service multicast (services/multicast/file/host.h): real ones, by
 * pread and pwrite, with SHA-256 from formats/seal.
 *
 * Files to be sent come as open descriptors, under tickets that live as long as the command that brings them: nothing
 * is ever opened for reading by a name that an operator gave. Received files are made in one folder, with mode 0600
 * until they are whole, and locked. A folder in which others could put something else in a file's place (they may write
 * it, and it is not sticky) is refused.
 *
 * file_host_pass() and file_host_drop() are called by the loop's thread, as files_host.claim is; the rest of struct
 * files_host by any thread.
 */
#ifndef DAEMON_FILES_FILE_HOST_H
#define DAEMON_FILES_FILE_HOST_H

#include "daemon/config/config.h"
#include "services/multicast/file/host.h"

struct file_host;
struct log;

/*
 * Makes the folder that the configuration names for received files, unless it is there already, and gives it to the
 * user that the daemon will run as: later there are the rights to neither. The folder above must be there. When that
 * fails, the log (which may be NULL) says so, and no file will be taken. From now on a file that would exceed a limit
 * of the process is an error and no signal (SIGXFSZ). Keeps neither config nor log. 0 or -ENOMEM.
 */
CW_MUST_CHECK int file_host_open(struct file_host **out, const struct daemon_config *config, struct log *log);
/* To be called after the nodes are closed. NULL is allowed. */
void file_host_close(struct file_host *d);

/* Borrowed; good until file_host_close(). */
const struct files_host *file_host_interface(const struct file_host *d);

/*
 * Takes file, an operator's, in any case. 0, and the ticket under which it can be claimed, once, until it is dropped.
 * -EISDIR; -EINVAL: it is no regular file; -EACCES: it was not opened for reading; -EBUSY: another one is being passed.
 */
CW_MUST_CHECK int file_host_pass(struct file_host *d, int file, uint64_t *ticket);
/* From now on nobody can claim the file of that ticket; closes it, unless somebody has claimed it. */
void file_host_drop(struct file_host *d, uint64_t ticket);

#endif
