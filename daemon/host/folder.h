/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - folders into which the daemon writes files for its services, and whole reads and writes: for file_host.c
 * and vector_host.c. All functions may wait for a disk.
 */
#ifndef DAEMON_HOST_FOLDER_H
#define DAEMON_HOST_FOLDER_H

#include "cubeway/types.h"

/*
 * Gives the descriptor of the folder; the last part of its path is made when it is missing. -EPERM: folder_is_ours()
 * says no; or -errno.
 */
CW_MUST_CHECK int folder_open(const char *path);
/*
 * 0: nobody but root and the daemon's user can put something else in the place of a file in this folder. -EPERM: it
 * belongs to another user, or others may write it and it is not sticky; or -errno.
 */
CW_MUST_CHECK int folder_is_ours(int fd);
/* Reads exactly `length` bytes from `offset` on. -ENODATA: the file ends before; or -errno. */
CW_MUST_CHECK int folder_read(int fd, uint64_t offset, uint8_t *out, uint64_t length);
/* Writes all bytes from `offset` on; 0, or -errno. */
CW_MUST_CHECK int folder_write(int fd, uint64_t offset, const uint8_t *bytes, uint64_t length);

#endif
