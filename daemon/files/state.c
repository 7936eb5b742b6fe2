/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/files/state.h"

#include "base/digest.h"
#include "base/quantity.h"
#include "keyspace/torus.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES = 512 };

__attribute__((format(printf, 3, 4))) static int because(int rc, char why[static STATE_WHY], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, STATE_WHY, format, args);
    va_end(args);
    return rc;
}

/* ---- The file's text --------------------------------------------------------------------------------------------- */

static uint64_t digest_text(const char *text, size_t length)
{
    struct digest d;
    digest_init(&d);
    digest_bytes(&d, text, length);
    return digest_value(&d);
}

static size_t format(const struct state *s, char out[static FILE_BYTES])
{
    size_t used = (size_t)snprintf(out, FILE_BYTES, "cubeway-state 1\nincarnation %" PRIu64 "\nid %016" PRIx64 "\n",
                                   s->incarnation, s->id);
    if (s->assigned) {
        char dims[QUANTITY_TEXT], self[TORUS_TEXT];
        quantity_dims_format(s->dims, dims);
        torus_format(s->self, self);
        const uint8_t *d = s->direction;
        used += (size_t)snprintf(out + used, FILE_BYTES - used, "dims %s\ncoordinate %s\nports %u %u %u %u %u %u\n",
                                 dims, self, d[0], d[1], d[2], d[3], d[4], d[5]);
    }
    uint64_t digest = digest_text(out, used);
    return used + (size_t)snprintf(out + used, FILE_BYTES - used, "digest %016" PRIx64 "\n", digest);
}

/* Reads the text back; it is good when writing what was read gives the same bytes. */
static bool parse(const char *text, size_t length, struct state *out)
{
    struct state s = {.incarnation = 0};
    char dims[QUANTITY_TEXT] = "", self[TORUS_TEXT] = "", again[FILE_BYTES];
    uint8_t *d = s.direction;
    int n = sscanf(text,
                   "cubeway-state 1 incarnation %" SCNu64 " id %" SCNx64 " dims %31s coordinate %11s ports %" SCNu8
                   " %" SCNu8 " %" SCNu8 " %" SCNu8 " %" SCNu8 " %" SCNu8,
                   &s.incarnation, &s.id, dims, self, d, d + 1, d + 2, d + 3, d + 4, d + 5);
    struct torus torus;
    s.assigned = n == 10;
    if (n < 2 || (n > 2 && !s.assigned)) {
        return false;
    }
    if (s.assigned && (quantity_dims(dims, strlen(dims), &s.dims) < 0 || torus_init(&torus, s.dims) < 0 ||
                       torus_parse(&torus, self, strlen(self), &s.self) < 0)) {
        return false;
    }
    if (format(&s, again) != length || memcmp(again, text, length) != 0) {
        return false;
    }
    *out = s;
    return true;
}

/* ---- The disk ---------------------------------------------------------------------------------------------------- */

static int take_lock(struct state_file *file, const char *name, char why[static STATE_WHY])
{
    char path[STATE_PATH + 8];
    snprintf(path, sizeof path, "%s/%s.lock", file->folder, name);
    file->lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file->lock < 0) {
        return because(-errno, why, "%s: %s", path, strerror(errno));
    }
    if (flock(file->lock, LOCK_EX | LOCK_NB) < 0) {
        int rc = errno == EWOULDBLOCK ? -EBUSY : -errno;
        return because(rc, why, rc == -EBUSY ? "%s: another daemon of this name runs (%s)" : "%s: %s", path,
                       strerror(-rc));
    }
    return 0;
}

static int read_state(struct state_file *file, char why[static STATE_WHY])
{
    char text[FILE_BYTES + 1];
    int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        file->state = (struct state){.incarnation = 0};
        return 0;
    }
    if (fd < 0) {
        return because(-errno, why, "%s: %s", file->path, strerror(errno));
    }
    ssize_t length = read(fd, text, FILE_BYTES);
    int error = errno;
    close(fd);
    if (length < 0) {
        return because(-error, why, "%s: %s", file->path, strerror(error));
    }
    text[length] = '\0';
    if (!parse(text, (size_t)length, &file->state)) {
        return because(-EBADMSG, why,
                       "%s: this file is damaged; remove it if no other server may have this one's coordinate by now",
                       file->path);
    }
    return 0;
}

int state_look(const char *folder, const char *name, char why[static STATE_WHY])
{
    struct state_file file = {.lock = -1};
    why[0] = '\0';
    if ((size_t)snprintf(file.path, sizeof file.path, "%s/%s.state", folder, name) >= sizeof file.path) {
        return because(-ENAMETOOLONG, why, "%s: too long a path", folder);
    }
    return read_state(&file, why);
}

int state_open(struct state_file *file, const char *folder, const char *name, char why[static STATE_WHY])
{
    *file = (struct state_file){.lock = -1};
    why[0] = '\0';
    if ((size_t)snprintf(file->folder, sizeof file->folder, "%s", folder) >= sizeof file->folder ||
        (size_t)snprintf(file->path, sizeof file->path, "%s/%s.state", folder, name) >= sizeof file->path) {
        return because(-ENAMETOOLONG, why, "%s: too long a path", folder);
    }
    file->made = mkdir(folder, 0755) == 0;
    if (!file->made && errno != EEXIST) {
        return because(-errno, why, "%s: %s (state_dir; it is made when its parent is there)", folder, strerror(errno));
    }
    int rc = take_lock(file, name, why);
    rc = rc < 0 ? rc : read_state(file, why);
    if (rc < 0) {
        state_close(file);
    }
    return rc;
}

void state_close(struct state_file *file)
{
    if (file->lock >= 0) {
        close(file->lock);
        file->lock = -1;
    }
}

/*
 * Writes the whole text and syncs it, or gives an error. It never follows what somebody else may have put there: the
 * folder may be a user's while we are root.
 */
static int write_file(const char *path, const char *text, size_t length)
{
    if (unlink(path) < 0 && errno != ENOENT) {
        return -errno;
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) {
        return -errno;
    }
    ssize_t written = write(fd, text, length);
    int rc = written < 0 ? -errno : (size_t)written < length ? -ENOSPC : 0;
    if (rc == 0 && fsync(fd) < 0) {
        rc = -errno;
    }
    if (close(fd) < 0 && rc == 0) {
        rc = -errno;
    }
    return rc;
}

static int sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 || fsync(fd) < 0 ? -errno : 0;
    if (fd >= 0) {
        close(fd);
    }
    return rc == -EINVAL ? 0 : rc; /* a file system that does not sync folders has nothing to sync */
}

int state_save(struct state_file *file, const struct state *state, char why[static STATE_WHY])
{
    char text[FILE_BYTES], beside[STATE_PATH + 8];
    size_t length = format(state, text);
    snprintf(beside, sizeof beside, "%s.new", file->path);
    int rc = write_file(beside, text, length);
    if (rc == 0 && rename(beside, file->path) < 0) {
        rc = -errno;
    }
    if (rc < 0) {
        unlink(beside);
    }
    rc = rc < 0 ? rc : sync_folder(file->folder);
    if (rc < 0) {
        return because(rc, why, "%s: what must outlive a crash cannot be written: %s", file->path, strerror(-rc));
    }
    file->state = *state;
    return 0;
}

int state_incarnations(struct state_file *file, uint64_t now_us, uint64_t count, uint64_t *first,
                       char why[static STATE_WHY])
{
    struct state next = file->state;
    uint64_t at = next.incarnation + 1 > now_us ? next.incarnation + 1 : now_us;
    next.incarnation = at + count - 1;
    int rc = state_save(file, &next, why);
    if (rc == 0) {
        *first = at;
    }
    return rc;
}

/*
 * Is the lock an empty file of root's that has no other name? Nothing else is given away, whatever the user whose
 * folder this is may have put in its place.
 */
static bool is_ours(int lock)
{
    struct stat st;
    return fstat(lock, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 && st.st_size == 0 &&
           st.st_uid == geteuid();
}

int state_give(const struct state_file *file, const char *user, char why[static STATE_WHY])
{
    why[0] = '\0';
    if (user[0] == '\0' || geteuid() != 0) {
        return 0;
    }
    const struct passwd *who = getpwnam(user);
    if (who == NULL) {
        return because(-ENOENT, why, "user %.100s: no such user (key user)", user);
    }
    if (is_ours(file->lock) && fchown(file->lock, who->pw_uid, who->pw_gid) < 0) {
        return because(-errno, why, "%s/: cannot give its lock to user %.100s: %s", file->folder, user,
                       strerror(errno));
    }
    if (file->made && lchown(file->folder, who->pw_uid, who->pw_gid) < 0) {
        return because(-errno, why, "%s: cannot give it to user %.100s: %s", file->folder, user, strerror(errno));
    }
    return 0;
}

int state_check(const struct state_file *file, char why[static STATE_WHY])
{
    why[0] = '\0';
    if (access(file->folder, W_OK | X_OK) < 0) {
        return because(-errno, why,
                       "%s: the place that will be found could not be kept there: %s (chown it to the user)",
                       file->folder, strerror(errno));
    }
    return 0;
}
