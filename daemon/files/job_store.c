/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/files/job_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_MODE = 0755, FILE_MODE = 0644, OTHERS_WRITE = 022, NAME = 32 };
static const char suffix[] = ".job";

__attribute__((format(printf, 3, 4))) static int because(int rc, char why[static JOB_STORE_WHY], const char *format,
                                                         ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, JOB_STORE_WHY, format, args);
    va_end(args);
    return rc;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static int user_of(const char *name, uint32_t *out, char why[static JOB_STORE_WHY])
{
    const struct passwd *who = name[0] != '\0' ? getpwnam(name) : NULL;
    *out = who != NULL ? who->pw_uid : geteuid();
    return who == NULL && name[0] != '\0' ? because(-ENOENT, why, "user %.100s: no such user (key user)", name) : 0;
}

static bool is_trusted(const struct job_store *s, const struct stat *st)
{
    return (st->st_uid == 0 || st->st_uid == geteuid() || st->st_uid == s->user) && (st->st_mode & OTHERS_WRITE) == 0;
}

static int check_folder(const struct job_store *s, char why[static JOB_STORE_WHY])
{
    struct stat st;
    if (fstat(s->fd, &st) < 0) {
        return because(-errno, why, "%s: %s", s->folder, strerror(errno));
    }
    bool give = st.st_uid == 0 && geteuid() == 0 && s->user != 0; /* it is root's so far, and we shall not stay root */
    if (give && fchown(s->fd, s->user, (gid_t)-1) < 0) {
        return because(-errno, why, "%s: cannot give it to the user: %s", s->folder, strerror(errno));
    }
    if (!is_trusted(s, &st)) {
        return because(-EPERM, why,
                       "%s: it belongs to user %u with mode %04o: job records are kept where root or the daemon's user "
                       "alone may write (chown it, chmod 755 it)",
                       s->folder, (unsigned)st.st_uid, (unsigned)st.st_mode & 07777);
    }
    return 0;
}

int job_store_open(struct job_store *s, const char *state_dir, const char *name, const char *user,
                   char why[static JOB_STORE_WHY])
{
    *s = (struct job_store){.fd = -1};
    why[0] = '\0';
    if ((size_t)snprintf(s->folder, sizeof s->folder, "%s/%s.jobs", state_dir, name) >= sizeof s->folder) {
        return because(-ENAMETOOLONG, why, "%.80s..: too long a path", state_dir);
    }
    int rc = user_of(user, &s->user, why);
    if (rc < 0) {
        return rc;
    }
    bool there = mkdir(s->folder, FOLDER_MODE) == 0 || errno == EEXIST;
    s->fd = there ? open(s->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (s->fd < 0) {
        return because(-errno, why, "%s: %s (state_dir)", s->folder, strerror(errno));
    }
    rc = check_folder(s, why);
    if (rc < 0) {
        close(s->fd);
        s->fd = -1;
        return rc;
    }
    pthread_mutex_init(&s->lock, NULL);
    return 0;
}

void job_store_close(struct job_store *s)
{
    if (s->fd >= 0) {
        close(s->fd);
        s->fd = -1;
        pthread_mutex_destroy(&s->lock);
    }
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static int write_all(int fd, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno != EINTR) {
            return -errno;
        }
        bytes += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return fsync(fd) < 0 ? -errno : 0;
}

/* Does not follow what somebody else has put there (O_NOFOLLOW). */
static int write_new(const struct job_store *s, const char *name, const uint8_t *bytes, size_t size)
{
    if (unlinkat(s->fd, name, 0) < 0 && errno != ENOENT) {
        return -errno;
    }
    int fd = openat(s->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    if (fd < 0) {
        return -errno;
    }
    int rc = write_all(fd, bytes, size);
    if (rc == 0 && fchmod(fd, FILE_MODE) < 0) {
        rc = -errno;
    }
    if (close(fd) < 0 && rc == 0) {
        rc = -errno;
    }
    return rc;
}

static int replace(const struct job_store *s, cw_job job, const uint8_t *bytes, size_t size)
{
    char name[NAME], beside[NAME];
    snprintf(name, sizeof name, "%" PRIu32 "%s", job, suffix);
    snprintf(beside, sizeof beside, "%" PRIu32 ".new", job);
    int rc = write_new(s, beside, bytes, size);
    if (rc == 0 && renameat(s->fd, beside, s->fd, name) < 0) {
        rc = -errno;
    }
    if (rc < 0) {
        unlinkat(s->fd, beside, 0);
        return rc;
    }
    return fsync(s->fd) < 0 && errno != EINVAL ? -errno : 0; /* EINVAL: a file system that does not sync folders */
}

int job_store_put(struct job_store *s, cw_job job, const uint8_t *bytes, size_t size)
{
    pthread_mutex_lock(&s->lock);
    int rc = replace(s, job, bytes, size);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* Gives the bytes of the file, to be freed. */
static int read_file(const struct job_store *s, const char *name, uint8_t **bytes, size_t *size,
                     char why[static JOB_STORE_WHY])
{
    struct stat st;
    int fd = openat(s->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int rc = fd < 0 || fstat(fd, &st) < 0 ? -errno : 0;
    *bytes = NULL;
    *size = 0;
    if (rc == 0 && (!S_ISREG(st.st_mode) || !is_trusted(s, &st))) {
        rc = because(-EPERM, why, "%s/%s: it does not count: not a file that root or the daemon's user alone may write",
                     s->folder, name);
    } else if (rc == 0 && st.st_size > JOB_STORE_BYTES) {
        rc = because(-EFBIG, why, "%s/%s: it does not count: too large for a job record", s->folder, name);
    } else if (rc == 0) {
        *size = (size_t)st.st_size;
        *bytes = malloc(*size + 1);
        ssize_t n = *bytes != NULL ? read(fd, *bytes, *size) : 0;
        rc = *bytes == NULL ? -ENOMEM : n < 0 ? -errno : 0;
        rc = rc == 0 && (size_t)n < *size ? -EIO : rc;
    }
    if (rc < 0 && why[0] == '\0') {
        because(rc, why, "%s/%s: %s", s->folder, name, strerror(-rc));
    }
    if (fd >= 0) {
        close(fd);
    }
    return rc;
}

static bool is_record(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    return digits > 0 && strcmp(name + digits, suffix) == 0;
}

int job_store_each(struct job_store *s, void (*each)(void *arg, const uint8_t *bytes, size_t size), void *arg,
                   void (*tell)(void *context, const char *why), void *context)
{
    char why[JOB_STORE_WHY] = "";
    int first = 0, fd = openat(s->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (folder == NULL) {
        first = because(-errno, why, "%s: %s", s->folder, strerror(errno));
        tell(context, why);
        if (fd >= 0) {
            close(fd);
        }
        return first;
    }
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        uint8_t *bytes;
        size_t size;
        if (!is_record(entry->d_name)) {
            continue;
        }
        why[0] = '\0';
        int rc = read_file(s, entry->d_name, &bytes, &size, why);
        if (rc < 0) {
            tell(context, why);
            first = first < 0 ? first : rc;
        } else {
            each(arg, bytes, size);
        }
        free(bytes);
    }
    closedir(folder);
    return first;
}
