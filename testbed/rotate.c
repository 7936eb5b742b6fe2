/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/rotate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 64 * 1024 };

static int copy(int from, int to)
{
    char bytes[CHUNK];
    ssize_t got;
    while ((got = read(from, bytes, sizeof bytes)) > 0) {
        if (write(to, bytes, (size_t)got) != got) {
            return errno != 0 ? -errno : -ENOSPC;
        }
    }
    return got < 0 ? -errno : 0;
}

int rotate_log(const char *path, off_t most)
{
    char older[PATH_MAX];
    struct stat st;
    if (stat(path, &st) < 0 || st.st_size <= most) {
        return 0;
    }
    if (snprintf(older, sizeof older, "%s.1", path) >= (int)sizeof older) {
        return -ENAMETOOLONG;
    }
    int from = open(path, O_RDWR | O_CLOEXEC);
    int to = from < 0 ? -1 : open(older, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    errno = to < 0 ? errno : 0;
    int rc = to < 0 ? -errno : copy(from, to);
    /* A full disk is a reason more to empty it. */
    if (from >= 0 && ftruncate(from, 0) < 0 && rc == 0) {
        rc = -errno;
    }
    if (to >= 0) {
        close(to);
    }
    if (from >= 0) {
        close(from);
    }
    return rc < 0 ? rc : 1;
}
