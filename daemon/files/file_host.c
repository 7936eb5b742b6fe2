/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* renameat2(), fallocate(), O_PATH */
#include "daemon/files/file_host.h"

#include "daemon/files/folder.h"
#include "daemon/machine/log.h"
#include "seal/sha256.h"
#include "services/multicast/file/label.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

enum {
    OTHERS_WRITE = 022,
    FOLDER_MODE = 0755,
    PART_MODE = 0600,
    MODES = 0777,
    AHEAD = 4 << 20,
    MARK_BYTES = 16 + FILES_DIGEST_BYTES
};
static const char mark_name[] = "user.cubeway.sha256";

struct files_file {
    int fd;
};

struct file_host {
    struct files_host host;
    uint64_t ticket; /* of the file that is being passed; 0: none */
    uint64_t tickets;
    int passed;
};

/* ---- What is passed ---------------------------------------------------------------------------------------------- */

static int wrap(int fd, struct files_file **out)
{
    struct files_file *f = malloc(sizeof *f);
    if (f == NULL) {
        close(fd);
        return -ENOMEM;
    }
    f->fd = fd;
    *out = f;
    return 0;
}

static int fit_to_read(int fd)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fstat(fd, &st) < 0) {
        return -errno;
    }
    if (S_ISDIR(st.st_mode)) {
        return -EISDIR;
    }
    if (!S_ISREG(st.st_mode)) {
        return -EINVAL;
    }
    return (flags & O_ACCMODE) == O_WRONLY || (flags & O_PATH) != 0 ? -EACCES : 0;
}

int file_host_pass(struct file_host *d, int file, uint64_t *ticket)
{
    int rc = d->ticket != 0 ? -EBUSY : fit_to_read(file);
    if (rc < 0) {
        close(file);
        return rc;
    }
    (void)posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
    d->passed = file;
    *ticket = d->ticket = ++d->tickets;
    return 0;
}

void file_host_drop(struct file_host *d, uint64_t ticket)
{
    if (ticket != 0 && d->ticket == ticket) {
        d->ticket = 0;
        close(d->passed);
    }
}

static int local_claim(void *context, uint64_t ticket, struct files_file **out)
{
    struct file_host *d = context;
    if (ticket == 0 || d->ticket != ticket) {
        return -ENOENT;
    }
    d->ticket = 0;
    return wrap(d->passed, out);
}

static int64_t ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * CW_NS_PER_SEC + t.tv_nsec;
}

static int local_look(void *context, struct files_file *f, struct files_facts *out)
{
    struct stat st;
    (void)context;
    if (fstat(f->fd, &st) < 0) {
        return -errno;
    }
    *out = (struct files_facts){(uint64_t)st.st_size, st.st_mode & MODES, ns_of(st.st_mtim)};
    return 0;
}

static int local_read(void *context, struct files_file *f, uint64_t offset, uint8_t *out, size_t length)
{
    (void)context;
    (void)posix_fadvise(f->fd, (off_t)(offset + length), AHEAD, POSIX_FADV_WILLNEED);
    return folder_read(f->fd, offset, out, length);
}

/* ---- The folder -------------------------------------------------------------------------------------------------- */

/* The mark of a finished file: its length, the time of its last change, and its digest. */
static void mark_of(const struct stat *st, const uint8_t *digest, uint8_t out[static MARK_BYTES])
{
    uint64_t words[2] = {(uint64_t)st->st_size, (uint64_t)ns_of(st->st_mtim)};
    memcpy(out, words, sizeof words);
    memcpy(out + sizeof words, digest, FILES_DIGEST_BYTES);
}

/*
 * Is the file writable for nobody but us? Whoever may write a file may also write its mark, its bytes and its times,
 * and then the mark proves nothing.
 */
static bool is_ours_alone(const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_uid == geteuid() && st->st_nlink == 1 && (st->st_mode & OTHERS_WRITE) == 0;
}

static int local_have(void *context, const char *folder, const char *name, uint64_t bytes, const uint8_t *digest)
{
    uint8_t mark[MARK_BYTES], expected[MARK_BYTES];
    struct stat st;
    (void)context;
    int at = folder_open(folder);
    if (at < 0) {
        return at;
    }
    int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int has = fd < 0 && errno == ENOENT ? FILES_NONE : FILES_OTHER;
    if (fd >= 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_size == bytes && is_ours_alone(&st) &&
        fgetxattr(fd, mark_name, mark, sizeof mark) == (ssize_t)sizeof mark) {
        mark_of(&st, digest, expected);
        has = memcmp(mark, expected, sizeof mark) == 0 ? FILES_SAME : FILES_OTHER;
    }
    if (fd >= 0) {
        close(fd);
    }
    close(at);
    return has;
}

/* Locks the part, which must be a file of ours alone that nobody else has open. 1: it is empty; 0: it is not. */
static int seize(int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0) {
        return -errno;
    }
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink > 1) {
        return -EPERM;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        return errno == EWOULDBLOCK ? -EBUSY : -errno;
    }
    if (fstat(fd, &st) < 0) {
        return -errno;
    }
    return st.st_nlink == 0 ? -EBUSY : st.st_size == 0; /* it was swept in between: try again later */
}

static int reserve(int fd, uint64_t bytes)
{
    int rc;
    do {
        rc = bytes > 0 && fallocate(fd, 0, 0, (off_t)bytes) < 0 ? -errno : 0;
    } while (rc == -EINTR);
    return rc == -EOPNOTSUPP ? 0 : rc; /* this file system cannot reserve room: writes will tell */
}

static int local_open(void *context, const char *folder, const char *part, uint64_t bytes, struct files_file **out)
{
    (void)context;
    int at = folder_open(folder);
    if (at < 0) {
        return at;
    }
    int fd = openat(at, part, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, PART_MODE);
    int made = fd < 0 ? -errno : seize(fd);
    int rc = made < 0 ? made : reserve(fd, bytes);
    if (made >= 0 && rc < 0) {
        (void)unlinkat(at, part, 0); /* a file that cannot be completed takes no room */
    }
    if (rc < 0 && fd >= 0) {
        close(fd);
    }
    close(at);
    rc = rc < 0 ? rc : wrap(fd, out);
    return rc < 0 ? rc : made;
}

static int local_write(void *context, struct files_file *f, uint64_t offset, const uint8_t *bytes, size_t length)
{
    (void)context;
    return folder_write(f->fd, offset, bytes, length);
}

static int local_sync(void *context, struct files_file *f)
{
    (void)context;
    return fdatasync(f->fd) < 0 ? -errno : 0;
}

static int sync_folder(int at)
{
    return fsync(at) < 0 && errno != EINVAL ? -errno : 0; /* EINVAL: a file system that does not sync folders */
}

static int move(int at, const struct files_end *end)
{
    if (end->replace) {
        return renameat(at, end->part, at, end->name) < 0 ? -errno : 0;
    }
    if (renameat2(at, end->part, at, end->name, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return -errno;
    }
    /* For a file system that cannot rename so: a second name is refused where there is one. */
    if (linkat(at, end->part, at, end->name, 0) < 0) {
        return -errno;
    }
    int rc = unlinkat(at, end->part, 0) < 0 ? -errno : 0;
    if (rc < 0) {
        (void)unlinkat(at, end->name, 0);
    }
    return rc;
}

/* Gives the file its mark and its mode before it is synced. */
static int dress(const struct files_file *f, const struct files_end *end)
{
    uint8_t mark[MARK_BYTES];
    struct stat st;
    if (fstat(f->fd, &st) < 0) {
        return -errno;
    }
    mark_of(&st, end->digest, mark);
    (void)fsetxattr(f->fd, mark_name, mark, sizeof mark, 0); /* without the mark, the file is only sent again in vain */
    return fchmod(f->fd, (mode_t)(end->mode & MODES)) < 0 || fsync(f->fd) < 0 ? -errno : 0;
}

static int local_finish(void *context, const char *folder, struct files_file *f, const struct files_end *end)
{
    (void)context;
    int at = folder_open(folder);
    if (at < 0) {
        return at;
    }
    int rc = dress(f, end);
    rc = rc < 0 ? rc : move(at, end);
    if (rc < 0) {
        (void)fchmod(f->fd, PART_MODE); /* it stays a part, which its owner can open */
    } else {
        /* 1: the file has its name and cannot be taken back, for that would have to be synced too. */
        rc = sync_folder(at) < 0 ? 1 : 0;
    }
    close(at);
    return rc;
}

static void local_close(void *context, struct files_file *f)
{
    (void)context;
    close(f->fd);
    free(f);
}

/* ---- Small files ------------------------------------------------------------------------------------------------- */

static int64_t local_load(void *context, const char *folder, const char *name, uint8_t *out, size_t room)
{
    struct stat st;
    int at = folder_open(folder);
    if (at < 0) {
        return at;
    }
    struct files_file f = {.fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    int64_t rc = f.fd < 0 || fstat(f.fd, &st) < 0 ? -errno : 0;
    if (rc == 0 && (!S_ISREG(st.st_mode) || st.st_uid != geteuid())) {
        rc = -EPERM;
    } else if (rc == 0) {
        rc = (uint64_t)st.st_size > room ? -EFBIG : local_read(context, &f, 0, out, (size_t)st.st_size);
    }
    if (f.fd >= 0) {
        close(f.fd);
    }
    close(at);
    return rc < 0 ? rc : st.st_size;
}

static int local_store(void *context, const char *folder, const char *name, const uint8_t *bytes, size_t length)
{
    char beside[FILE_BESIDE + 8];
    int at = folder_open(folder);
    if (at < 0) {
        return at;
    }
    snprintf(beside, sizeof beside, "%s~", name);
    (void)unlinkat(at, beside, 0);
    struct files_file f = {.fd = openat(at, beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, PART_MODE)};
    int rc = f.fd < 0 ? -errno : local_write(context, &f, 0, bytes, length);
    rc = rc == 0 && fdatasync(f.fd) < 0 ? -errno : rc;
    if (f.fd >= 0 && close(f.fd) < 0 && rc == 0) {
        rc = -errno;
    }
    if (rc == 0 && renameat(at, beside, at, name) < 0) {
        rc = -errno;
    }
    if (rc < 0) {
        (void)unlinkat(at, beside, 0);
    }
    close(at);
    return rc;
}

static int local_drop(void *context, const char *folder, const char *name)
{
    (void)context;
    int at = folder_open(folder);
    if (at < 0) {
        return at;
    }
    int rc = unlinkat(at, name, 0) < 0 ? -errno : 0;
    close(at);
    return rc;
}

/* Is the part old, and open to nobody? */
static bool is_stale(int at, const char *name, int64_t before_ns)
{
    struct stat st;
    int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool stale = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
                 ns_of(st.st_mtim) < before_ns && flock(fd, LOCK_EX | LOCK_NB) == 0 && unlinkat(at, name, 0) == 0;
    if (fd >= 0) {
        close(fd); /* the lock goes with it, and whoever opens the part now makes a new one */
    }
    return stale;
}

static int local_sweep(void *context, const char *folder, cw_span age)
{
    struct timespec now;
    int count = 0, at = folder_open(folder);
    (void)context;
    DIR *all = at >= 0 ? fdopendir(at) : NULL;
    if (all == NULL) {
        int rc = at < 0 ? at : -errno;
        if (at >= 0) {
            close(at);
        }
        return rc;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    for (const struct dirent *e; (e = readdir(all)) != NULL;) {
        char name[FILE_BESIDE];
        size_t length = strlen(e->d_name);
        bool half = length > 0 && e->d_name[length - 1] == '~'; /* left by a write that was cut off */
        snprintf(name, sizeof name, "%.*s", (int)(length - half), e->d_name);
        count += file_label_is_part(name) && is_stale(at, e->d_name, ns_of(now) - age.ns);
    }
    closedir(all);
    return count;
}

/* ---- Digests ----------------------------------------------------------------------------------------------------- */

static struct files_digest *local_digest_open(void *context)
{
    struct sha256 *s;
    (void)context;
    return sha256_open(&s) == 0 ? (struct files_digest *)(void *)s : NULL;
}

static int local_digest_add(struct files_digest *d, const uint8_t *bytes, size_t length)
{
    return sha256_add((struct sha256 *)(void *)d, bytes, length);
}

static int local_digest_end(struct files_digest *d, uint8_t out[static FILES_DIGEST_BYTES])
{
    return sha256_end((struct sha256 *)(void *)d, out);
}

static void local_digest_close(struct files_digest *d)
{
    sha256_close((struct sha256 *)(void *)d);
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

/* 0 (also when the folder is there: then it stays as it is) or -errno. */
static int make_folder(const char *folder, const char *user)
{
    const struct passwd *who = user[0] != '\0' ? getpwnam(user) : NULL;
    if (mkdir(folder, FOLDER_MODE) < 0) {
        return errno == EEXIST ? 0 : -errno;
    }
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int rc = fd < 0 ? -errno : 0;
    if (rc == 0 && who != NULL && who->pw_uid != geteuid() && fchown(fd, who->pw_uid, (gid_t)-1) < 0) {
        rc = -errno;
    }
    if (fd >= 0) {
        close(fd);
    }
    return rc;
}

/* The folder for received files is an option of the service that receives them; the service checks its value. */
static void make_folders(const struct daemon_config *config, struct log *log)
{
    static const char receiver[] = "multicast", folder[] = "folder";
    for (unsigned i = 0; i < config->service_count; i++) {
        const struct config_service *s = &config->service[i];
        for (unsigned o = 0; strcmp(s->name, receiver) == 0 && o < s->options; o++) {
            const struct config_option *option = &s->option[o];
            bool named = strcmp(option->name, folder) == 0 && option->value[0] == '/';
            int rc = named ? make_folder(option->value, config->user) : 0;
            if (rc < 0) {
                LOG(log, CW_LOG_WARN, "the folder for files cannot be made: none will be taken",
                    {"folder", option->value}, {"why", strerror(-rc)});
            }
        }
    }
}

int file_host_open(struct file_host **out, const struct daemon_config *config, struct log *log)
{
    struct file_host *d = calloc(1, sizeof *d);
    if (d == NULL) {
        return -ENOMEM;
    }
    make_folders(config, log);
    uint32_t first = 0;
    /* A guess at somebody else's ticket gains nothing: a ticket lives for one command. */
    (void)!getrandom(&first, sizeof first, 0);
    d->tickets = first;
    signal(SIGXFSZ, SIG_IGN);
    d->host = (struct files_host){
        .size = sizeof d->host,
        .context = d,
        .several = config->place == CONFIG_WHOLE,
        .claim = local_claim,
        .look = local_look,
        .read = local_read,
        .have = local_have,
        .open = local_open,
        .write = local_write,
        .sync = local_sync,
        .finish = local_finish,
        .close = local_close,
        .load = local_load,
        .store = local_store,
        .drop = local_drop,
        .sweep = local_sweep,
        .digest_open = local_digest_open,
        .digest_add = local_digest_add,
        .digest_end = local_digest_end,
        .digest_close = local_digest_close,
    };
    *out = d;
    return 0;
}

void file_host_close(struct file_host *d)
{
    if (d != NULL) {
        file_host_drop(d, d->ticket);
        free(d);
    }
}

const struct files_host *file_host_interface(const struct file_host *d)
{
    return &d->host;
}
