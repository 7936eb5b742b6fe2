/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_PATH */
#include "daemon/files/vector_host.h"

#include "daemon/files/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 4096, PIECE = 8 << 20 };

struct vectors_file {
    int at; /* the folder */
    int fd;
    uint64_t length;           /* so far */
    char name[NAME_MAX + 1];   /* in the folder, when it is whole */
    char beside[FOLDER_DRAWN]; /* the drawn name that it has before */
    bool named;                /* it has the drawn name */
};

/* Reads the file that is open, of at most `most` bytes. */
static int load_open(int fd, uint64_t most, uint8_t **bytes, uint64_t *length)
{
    struct stat st;
    if (fstat(fd, &st) < 0) {
        return -errno;
    }
    if (!S_ISREG(st.st_mode)) {
        return -EINVAL;
    }
    if ((uint64_t)st.st_size > most) {
        return -EFBIG;
    }
    uint8_t *memory = malloc((size_t)st.st_size + 1);
    if (memory == NULL) {
        return -ENOMEM;
    }
    int rc = folder_read(fd, 0, memory, (uint64_t)st.st_size);
    if (rc < 0) {
        free(memory);
        return rc;
    }
    *bytes = memory;
    *length = (uint64_t)st.st_size;
    return 0;
}

static int local_load(void *context, const char *folder, const char *name, uint64_t most, uint8_t **bytes,
                      uint64_t *length)
{
    (void)context;
    int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0) {
        return -errno;
    }
    int fd = folder_below(at, name, O_RDONLY | O_NONBLOCK, 0);
    int rc = fd < 0 ? fd : load_open(fd, most, bytes, length);
    if (fd >= 0) {
        close(fd);
    }
    close(at);
    return rc;
}

/* Gives the descriptor of a folder below another one, in which only we make files. */
static int open_sub(int at, const char *name)
{
    int fd = folder_below(at, name, O_RDONLY | O_DIRECTORY, 0);
    int rc = fd < 0 ? fd : folder_is_ours(fd);
    if (rc < 0 && fd >= 0) {
        close(fd);
    }
    return rc < 0 ? rc : fd;
}

/* linkat() replaces no file that is there, and rename() wants a name: so the file gets the drawn one first. */
static int name_file(int at, int fd, const char *beside, bool *named)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (!*named && linkat(AT_FDCWD, path, at, beside, AT_SYMLINK_FOLLOW) < 0) {
        return -errno;
    }
    *named = true;
    return 0;
}

static int local_write(void *context, struct vectors_file *f, const uint8_t *bytes, uint64_t length)
{
    (void)context;
    int rc = folder_write(f->fd, f->length, bytes, length);
    f->length += length;
    return rc == 0 && fdatasync(f->fd) < 0 ? -errno : rc; /* so that end() has little left to do */
}

static void file_close(struct vectors_file *f)
{
    close(f->fd);
    close(f->at);
    free(f);
}

static void local_abandon(void *context, struct vectors_file *f)
{
    (void)context;
    if (f->named) {
        (void)unlinkat(f->at, f->beside, 0);
    }
    file_close(f);
}

static int local_end(void *context, struct vectors_file *f)
{
    int rc = fsync(f->fd) < 0 ? -errno : 0;
    rc = rc < 0 ? rc : name_file(f->at, f->fd, f->beside, &f->named);
    rc = rc == 0 && renameat(f->at, f->beside, f->at, f->name) < 0 ? -errno : rc;
    if (rc < 0) {
        local_abandon(context, f);
        return rc;
    }
    (void)fsync(f->at); /* the file has its name, which cannot be taken back */
    file_close(f);
    return 0;
}

/* Takes `at` when it gives 0. */
static int begin_in(int at, const char *name, struct vectors_file **out)
{
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        return -EINVAL;
    }
    struct vectors_file *f = strlen(name) <= NAME_MAX ? calloc(1, sizeof *f) : NULL;
    if (f == NULL) {
        return strlen(name) <= NAME_MAX ? -ENOMEM : -ENAMETOOLONG;
    }
    f->at = at;
    snprintf(f->name, sizeof f->name, "%s", name);
    f->fd = folder_make(at, O_WRONLY, f->beside, &f->named);
    if (f->fd < 0) {
        int rc = f->fd;
        free(f);
        return rc;
    }
    *out = f;
    return 0;
}

static int local_begin(void *context, const char *folder, const char *name, struct vectors_file **out)
{
    char path[PATH_ROOM];
    (void)context;
    int at = folder_open(folder), in = at;
    const char *slash = strrchr(name, '/');
    if (at < 0) {
        return at;
    }
    if (slash != NULL) {
        snprintf(path, sizeof path, "%.*s", (int)(slash - name), name);
        in = open_sub(at, path);
        close(at);
    }
    int rc = in < 0 ? in : begin_in(in, slash != NULL ? slash + 1 : name, out);
    if (rc < 0 && in >= 0) {
        close(in);
    }
    return rc;
}

void vector_host_open(struct vectors_host *out, bool several)
{
    *out = (struct vectors_host){.size = sizeof *out, .several = several, .load = local_load, .piece = PIECE};
    out->begin = local_begin;
    out->write = local_write;
    out->end = local_end;
    out->abandon = local_abandon;
}
