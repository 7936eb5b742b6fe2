/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_PATH */
#include "daemon/files/spool_host.h"

#include "daemon/files/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct spool_file {
    int fd;
    uint64_t length; /* of what was written */
};

/* Takes the descriptor, or the error that it is. */
static int give(int fd, struct spool_file **out)
{
    struct spool_file *f = fd < 0 ? NULL : calloc(1, sizeof *f);
    if (f == NULL) {
        if (fd >= 0) {
            close(fd);
        }
        return fd < 0 ? fd : -ENOMEM;
    }
    f->fd = fd;
    *out = f;
    return 0;
}

static int local_make(void *context, const char *folder, struct spool_file **out)
{
    char drawn[FOLDER_DRAWN];
    bool named = false;
    (void)context;
    int at = folder_open(folder), fd = at < 0 ? at : folder_make(at, O_RDWR, drawn, &named);
    if (named && unlinkat(at, drawn, 0) < 0) {
        int rc = -errno;
        close(fd);
        fd = rc;
    }
    if (at >= 0) {
        close(at);
    }
    return give(fd, out);
}

static int local_write(void *context, struct spool_file *f, const uint8_t *bytes, uint64_t length)
{
    (void)context;
    int rc = folder_write(f->fd, f->length, bytes, length);
    f->length += length;
    return rc;
}

/* A regular file's length. */
static int length_of(int fd, uint64_t *length)
{
    struct stat st;
    if (fstat(fd, &st) < 0) {
        return -errno;
    }
    *length = (uint64_t)st.st_size;
    return S_ISREG(st.st_mode) ? 0 : -EINVAL;
}

static int local_input(void *context, const char *folder, const char *name, struct spool_file **out, uint64_t *length)
{
    (void)context;
    int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0) {
        return -errno;
    }
    int fd = folder_below(at, name, O_RDONLY | O_NONBLOCK, 0);
    close(at);
    int rc = fd < 0 ? fd : length_of(fd, length);
    if (rc < 0 && fd >= 0) {
        close(fd);
    }
    return give(rc < 0 ? rc : fd, out);
}

static int local_read(void *context, struct spool_file *f, uint64_t offset, uint8_t *out, uint64_t length)
{
    (void)context;
    return folder_read(f->fd, offset, out, length);
}

static void local_close(void *context, struct spool_file *f)
{
    (void)context;
    close(f->fd);
    free(f);
}

void spool_host_open(struct spool_host *out, bool several)
{
    *out = (struct spool_host){.size = sizeof *out, .several = several, .make = local_make};
    out->write = local_write;
    out->input = local_input;
    out->read = local_read;
    out->close = local_close;
}
