/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_PATH */
#include "daemon/files/module_host.h"

#include "daemon/files/folder.h"
#include "seal/sha256.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILES_MOST = 64,
    PIECE = 64 << 10,
    BYTES_MOST = 16 << 20,
    ALL_MOST = 64 << 20,
    OTHERS_WRITE = S_IWGRP | S_IWOTH
};

_Static_assert((int)MODULES_DIGEST == (int)SHA256_BYTES, "one digest");

/*
 * Files stay open as long as they are loaded: they are loaded by the names of their descriptors, so what was digested
 * is what runs, and a file that has another one's name gets a name of its own.
 */
struct module_files {
    unsigned count;
    uint64_t bytes; /* that were digested, which holds up the server: of modules that were left out, too */
    struct {
        void *handle;
        int fd;
    } one[FILES_MOST];
};

static int digest_of_file(int fd, uint8_t out[static MODULES_DIGEST])
{
    static uint8_t piece[PIECE];
    struct sha256 *sha = NULL;
    struct stat st;
    int rc = fstat(fd, &st) < 0 ? -errno : sha256_open(&sha);
    uint64_t left = rc == 0 ? (uint64_t)st.st_size : 0;
    for (uint64_t at = 0; rc == 0 && left > 0;) {
        uint64_t length = left < PIECE ? left : PIECE;
        rc = folder_read(fd, at, piece, length);
        rc = rc < 0 ? rc : sha256_add(sha, piece, length);
        at += length;
        left -= length;
    }
    rc = rc < 0 ? rc : sha256_end(sha, out);
    sha256_close(sha);
    return rc;
}

/* The user that the daemon runs as once its links are open; services may open before that, and after it. */
static uid_t user_of(const char *name)
{
    const struct passwd *who = name[0] != '\0' ? getpwnam(name) : NULL;
    return who != NULL ? who->pw_uid : geteuid();
}

/* Stricter than folder_is_ours(): nobody else may put anything into it, not even where all delete only their own. */
static int is_trusted(int folder, uid_t user)
{
    struct stat st;
    if (fstat(folder, &st) < 0) {
        return -errno;
    }
    return (st.st_uid == 0 || st.st_uid == user) && (st.st_mode & OTHERS_WRITE) == 0 ? 0 : -EPERM;
}

/* Why nobody should run what is in the file; NULL: it may be run, and its bytes are counted. */
static const char *mistrust(struct module_files *files, int fd, uid_t user)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > BYTES_MOST) {
        return "it is no regular file of at most 16 MiB";
    }
    if (st.st_uid != 0 && st.st_uid != user) {
        return "it belongs neither to root nor to the daemon's user";
    }
    if ((st.st_mode & OTHERS_WRITE) != 0) {
        return "others may write it";
    }
    if ((uint64_t)st.st_size > ALL_MOST - files->bytes) {
        return "all together they have more than 64 MiB";
    }
    files->bytes += (uint64_t)st.st_size;
    return NULL;
}

/* Fills f with what the file exports, and keeps it. */
static void load_one(struct module_files *files, int fd, struct module_file *f)
{
    char path[64];
    const cw_combiner *(*combine)(void);
    const cw_mapper *(*map)(void);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        const char *why = dlerror();
        f->why = why != NULL ? why : "it cannot be loaded";
        close(fd);
        return;
    }
    *(void **)&combine = dlsym(handle, "cw_combine_entry");
    *(void **)&map = dlsym(handle, "cw_mapper_entry");
    f->combiner = combine != NULL ? combine() : NULL;
    f->mapper = map != NULL ? map() : NULL;
    files->one[files->count].handle = handle;
    files->one[files->count++].fd = fd;
}

static void drop_last(struct module_files *files)
{
    files->count--;
    dlclose(files->one[files->count].handle);
    close(files->one[files->count].fd);
}

static void load_file(struct module_files *files, int at, uid_t user, const char *name,
                      bool (*found)(void *arg, const struct module_file *f), void *arg)
{
    uint8_t digest[MODULES_DIGEST];
    struct module_file f = {.file = name, .digest = digest};
    int fd = folder_below(at, name, O_RDONLY | O_NONBLOCK, 0), rc = 0;
    f.why = fd < 0 ? strerror(-fd) : files->count == FILES_MOST ? "there are 64 others" : mistrust(files, fd, user);
    if (f.why == NULL && (rc = digest_of_file(fd, digest)) < 0) {
        f.why = strerror(-rc);
    }
    if (f.why == NULL) {
        load_one(files, fd, &f);
    } else if (fd >= 0) {
        close(fd);
    }
    if (!found(arg, &f) && f.why == NULL) {
        drop_last(files);
    }
}

static int is_module(const struct dirent *e)
{
    size_t length = strlen(e->d_name);
    return length > 3 && strcmp(e->d_name + length - 3, ".so") == 0;
}

static int local_load(void *context, const char *folder, bool (*found)(void *arg, const struct module_file *f),
                      void *arg, struct module_files **out)
{
    struct dirent **entry = NULL;
    struct module_files *files = calloc(1, sizeof *files);
    uid_t user = user_of(context);
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = files == NULL ? -ENOMEM : at < 0 ? -errno : is_trusted(at, user);
    int n = rc < 0 ? 0 : scandirat(at, ".", &entry, is_module, alphasort);
    rc = n < 0 ? -errno : rc;
    for (int i = 0; i < n; i++) {
        load_file(files, at, user, entry[i]->d_name, found, arg);
        free(entry[i]);
    }
    free(entry);
    if (at >= 0) {
        close(at);
    }
    if (rc < 0) {
        free(files);
        return rc;
    }
    *out = files;
    return 0;
}

static void local_unload(void *context, struct module_files *files)
{
    (void)context;
    while (files->count > 0) {
        drop_last(files);
    }
    free(files);
}

void module_host_open(struct modules_host *out, const char *user)
{
    *out = (struct modules_host){
        .size = sizeof *out, .context = (void *)(uintptr_t)user, .load = local_load, .unload = local_unload};
}
