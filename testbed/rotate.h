/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rotate.h - a log that a program appends to stays within bounds, while the program goes on.
 *
 * The program keeps its descriptor, so the file cannot be replaced: its content is copied to FILE.1, whose old content
 * is lost, and the file is emptied. The program must append (O_APPEND). Lines that it writes between the copy and the
 * emptying, some microseconds, are lost.
 */
#ifndef TESTBED_ROTATE_H
#define TESTBED_ROTATE_H

#include <sys/types.h>

/* Bytes after which a daemon's log is cut. With 512 daemons, both files of all of them take 4 GiB at most. */
enum { ROTATE_BYTES = 4 * 1024 * 1024 };

/* Cuts the log when it has more than so many bytes. 1: it was cut; 0: it was short enough, or is not there; -errno. */
int rotate_log(const char *path, off_t most);

#endif
