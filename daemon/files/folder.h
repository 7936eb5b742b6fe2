/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - folders into which the daemon writes files for its services, and whole reads and writes: for file_host.c,
 * spool_host.c and vector_host.c. All functions may wait for a disk.
 */
#ifndef DAEMON_FILES_FOLDER_H
#define DAEMON_FILES_FOLDER_H

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
/*
 * Opens a name below the folder `at`: links are not followed, and ".." leads nowhere outside. flags and mode are
 * openat()'s. A descriptor; -EXDEV, -ELOOP: the name leads out of the folder; or -errno.
 */
CW_MUST_CHECK int folder_below(int at, const char *name, int flags, unsigned mode);
enum { FOLDER_DRAWN = 32 };
/*
 * Makes a file in the folder that has no name yet, or, where the file system cannot (NFS), the name `drawn`. *named
 * says which. The name is by chance: so two writers, of this daemon or of two, never share a file. access: O_WRONLY or
 * O_RDWR. A descriptor, or -errno.
 */
CW_MUST_CHECK int folder_make(int at, int access, char drawn[static FOLDER_DRAWN], bool *named);
/* Reads exactly `length` bytes from `offset` on. -ENODATA: the file ends before; or -errno. */
CW_MUST_CHECK int folder_read(int fd, uint64_t offset, uint8_t *out, uint64_t length);
/* Writes all bytes from `offset` on; 0, or -errno. */
CW_MUST_CHECK int folder_write(int fd, uint64_t offset, const uint8_t *bytes, uint64_t length);

#endif
