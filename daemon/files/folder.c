/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* S_ISVTX, O_TMPFILE, SYS_openat2 */
#include "daemon/files/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FOLDER_MODE = 0755, FILE_MODE = 0644, OTHERS_WRITE = 022 };

int folder_is_ours(int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0) {
        return -errno;
    }
    bool ours = st.st_uid == 0 || st.st_uid == geteuid();
    bool others = (st.st_mode & OTHERS_WRITE) != 0 && (st.st_mode & S_ISVTX) == 0;
    return ours && !others ? 0 : -EPERM;
}

int folder_open(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && mkdir(path, FOLDER_MODE) == 0) {
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    int rc = fd < 0 ? -errno : folder_is_ours(fd);
    if (rc < 0 && fd >= 0) {
        close(fd);
    }
    return rc < 0 ? rc : fd;
}

int folder_below(int at, const char *name, int flags, unsigned mode)
{
    struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC | O_NOCTTY), .mode = mode};
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    long fd = syscall(SYS_openat2, at, name, &how, sizeof how);
    return fd < 0 ? -errno : (int)fd;
}

int folder_make(int at, int access, char drawn[static FOLDER_DRAWN], bool *named)
{
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) {
        return -EIO;
    }
    snprintf(drawn, FOLDER_DRAWN, ".cubeway-%016" PRIx64, number);
    int fd = openat(at, ".", O_TMPFILE | access | O_CLOEXEC, FILE_MODE);
    *named = fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL);
    if (*named) {
        fd = openat(at, drawn, access | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
        *named = fd >= 0;
    }
    return fd < 0 ? -errno : fd;
}

int folder_read(int fd, uint64_t offset, uint8_t *out, uint64_t length)
{
    for (uint64_t at = 0; at < length;) {
        ssize_t n = pread(fd, out + at, length - at, (off_t)(offset + at));
        if (n == 0) {
            return -ENODATA;
        }
        if (n < 0 && errno != EINTR) {
            return -errno;
        }
        at += n > 0 ? (uint64_t)n : 0;
    }
    return 0;
}

int folder_write(int fd, uint64_t offset, const uint8_t *bytes, uint64_t length)
{
    for (uint64_t at = 0; at < length;) {
        ssize_t n = pwrite(fd, bytes + at, length - at, (off_t)(offset + at));
        if (n < 0 && errno != EINTR) {
            return -errno;
        }
        at += n > 0 ? (uint64_t)n : 0;
    }
    return 0;
}
