/* SPDX-License-Identifier: Apache-2.0 */
#include "seal/keyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_MOST = 512, FILE_MOST = 4096, PRIVATE_MODE = 0600, PUBLIC_MODE = 0644 };

__attribute__((format(printf, 3, 4))) static int because(int rc, char why[static SEAL_WHY], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, SEAL_WHY, format, args);
    va_end(args);
    return rc;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static int write_new(const char *path, mode_t mode, const char *text, size_t length, char why[static SEAL_WHY])
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0 && errno == EEXIST) {
        return because(-EEXIST, why, "%s is there already: a key that is lost cannot be had again; choose another name",
                       path);
    }
    if (fd < 0) {
        return because(-errno, why, "%s: %s", path, strerror(errno));
    }
    ssize_t written = write(fd, text, length);
    int rc = written < 0 ? -errno : (size_t)written < length ? -ENOSPC : 0;
    rc = rc == 0 && (fchmod(fd, mode) < 0 || fsync(fd) < 0) ? -errno : rc;
    if (close(fd) < 0 && rc == 0) {
        rc = -errno;
    }
    if (rc < 0) {
        unlink(path);
        return because(rc, why, "%s: %s", path, strerror(-rc));
    }
    return 0;
}

static int write_pair(const struct seal_key *key, const char *path, const char *beside, char why[static SEAL_WHY])
{
    char pem[SEAL_PEM];
    uint8_t raw[SEAL_PUBLIC_BYTES];
    size_t length = seal_key_write(key, pem);
    int rc = length == 0 ? because(-ENOMEM, why, "out of memory") : write_new(path, PRIVATE_MODE, pem, length, why);
    seal_wipe(pem, sizeof pem);
    if (rc < 0) {
        return rc;
    }
    seal_key_public(key, raw);
    length = seal_public_write(raw, pem);
    rc = length == 0 ? because(-ENOMEM, why, "out of memory") : write_new(beside, PUBLIC_MODE, pem, length, why);
    if (rc < 0) {
        unlink(path);
    }
    return rc;
}

int keyfile_make(const char *path, uint8_t raw[static SEAL_PUBLIC_BYTES], char why[static SEAL_WHY])
{
    char beside[PATH_MOST];
    struct seal_key *key;
    why[0] = '\0';
    if ((size_t)snprintf(beside, sizeof beside, "%s.pub", path) >= sizeof beside) {
        return because(-ENAMETOOLONG, why, "%.80s..: too long a path", path);
    }
    int rc = seal_key_make(&key);
    if (rc < 0) {
        return because(rc, why, "no key can be drawn: %s", strerror(-rc));
    }
    rc = write_pair(key, path, beside, why);
    if (rc == 0) {
        seal_key_public(key, raw);
    }
    seal_key_close(key);
    return rc;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* The file's bytes, when nobody else has a bit of `others` to it. Gives how many. */
static ssize_t read_file(const char *path, mode_t others, const char *advice, char text[static FILE_MOST],
                         char why[static SEAL_WHY])
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return because(-errno, why, "%s: %s", path, strerror(errno));
    }
    ssize_t rc = 0;
    if (fstat(fd, &st) < 0) {
        rc = because(-errno, why, "%s: %s", path, strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        rc = because(-EPERM, why, "%s: not a file", path);
    } else if (st.st_uid != 0 && st.st_uid != geteuid()) {
        rc = because(-EPERM, why, "%s: it belongs to user %u, and is trusted only when it is root's or our own", path,
                     (unsigned)st.st_uid);
    } else if ((st.st_mode & others) != 0) {
        rc = because(-EPERM, why, "%s: %s (its mode is %04o)", path, advice, (unsigned)st.st_mode & 07777);
    } else if ((rc = read(fd, text, FILE_MOST)) < 0) {
        rc = because(-errno, why, "%s: %s", path, strerror(errno));
    }
    close(fd);
    return rc;
}

/* Puts the path before what is wrong with the file. */
static int of_file(int rc, const char *path, char why[static SEAL_WHY])
{
    char text[SEAL_WHY];
    snprintf(text, sizeof text, "%s", why);
    return because(rc, why, "%.300s: %.300s", path, text);
}

int keyfile_open(struct seal_key **out, const char *path, char why[static SEAL_WHY])
{
    char text[FILE_MOST];
    why[0] = '\0';
    ssize_t length =
        read_file(path, 077, "others may read this key; chmod 600 it, and make a new one if they did", text, why);
    if (length < 0) {
        return (int)length;
    }
    int rc = seal_key_read(out, text, (size_t)length, why);
    seal_wipe(text, sizeof text);
    return rc < 0 ? of_file(rc, path, why) : 0;
}

int keyfile_public(const char *text, uint8_t raw[static SEAL_PUBLIC_BYTES], char why[static SEAL_WHY])
{
    char bytes[FILE_MOST];
    if (seal_public_read(text, strlen(text), raw, why) == 0) {
        return 0;
    }
    ssize_t length =
        read_file(text, 022, "others may write there, and who does is the operator; chmod 644 it", bytes, why);
    if (length == -ENOENT) {
        return because(-ENOENT, why, "'%.200s': expected 64 hex digits, or a file that holds a public key", text);
    }
    int rc = length < 0 ? (int)length : seal_public_read(bytes, (size_t)length, raw, why);
    return length >= 0 && rc < 0 ? of_file(rc, text, why) : rc;
}
