/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* fallocate() */
#include "daemon/files/disk_desk.h"

#include "base/check.h"
#include "base/container.h"
#include "daemon/machine/privileges.h"
#include "shim/clock.h"
#include "shim/thread.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

struct order {
    struct order *next;
    struct disk_order order;
    int64_t result;
};

struct orders {
    struct order *first, *last;
};

/* A file that is open. Its place in the table is its handle. */
struct file {
    char name[DISK_NAME_BYTES]; /* "": the place is free */
    int fd;
    bool fresh; /* created, and its name not synced yet */
};

struct lane {
    struct disk_desk *desk;
    pthread_t thread;
    bool started;
    pthread_cond_t more;
    struct orders waiting;
};

struct disk_desk {
    struct disk face;
    int folder, event;
    pthread_mutex_t lock; /* of all below; files are looked up under it and used without */
    struct lane lane[DISK_LANES];
    struct orders done;
    bool ending;
    struct file *file;
    uint32_t files;
    struct disk_desk_counts counts;
};

static void push(struct orders *orders, struct order *order)
{
    order->next = NULL;
    if (orders->first == NULL) {
        orders->first = order;
    } else {
        orders->last->next = order;
    }
    orders->last = order;
}

static struct order *pop(struct orders *orders)
{
    struct order *order = orders->first;
    if (order != NULL) {
        orders->first = order->next;
    }
    return order;
}

/* A copy of the file of a handle: its descriptor stays open as long as the owner does not remove it. */
static struct file file_of(struct disk_desk *d, uint32_t handle)
{
    pthread_mutex_lock(&d->lock);
    CHECK(handle < d->files && d->file[handle].name[0] != '\0');
    struct file f = d->file[handle];
    pthread_mutex_unlock(&d->lock);
    return f;
}

/* Enters an open file into the table: its handle, or -ENOMEM. Called with the lock held. */
static int64_t enter(struct disk_desk *d, const char *name, int fd, bool fresh)
{
    uint32_t at = 0;
    while (at < d->files && d->file[at].name[0] != '\0') {
        at++;
    }
    if (at == d->files) {
        struct file *more = realloc(d->file, (d->files + 1) * sizeof *more);
        if (more == NULL) {
            return -ENOMEM;
        }
        d->file = more;
        d->files++;
    }
    d->file[at] = (struct file){.fd = fd, .fresh = fresh};
    memcpy(d->file[at].name, name, strlen(name) + 1);
    return at;
}

static int64_t find(struct disk_desk *d, const char *name)
{
    for (uint32_t i = 0; i < d->files; i++) {
        if (strcmp(d->file[i].name, name) == 0) {
            return i;
        }
    }
    return -ENOENT;
}

/* Opens one that is not in the table. O_NOFOLLOW: a link in the folder is nobody's file. */
static int64_t open_file(struct disk_desk *d, const struct disk_order *o)
{
    CHECK(o->name[0] != '\0' && o->name[0] != '.' && strlen(o->name) < DISK_NAME_BYTES && strchr(o->name, '/') == NULL);
    pthread_mutex_lock(&d->lock);
    int64_t handle = find(d, o->name);
    pthread_mutex_unlock(&d->lock);
    if (handle >= 0) {
        return handle;
    }
    bool fresh = false;
    int fd = openat(d->folder, o->name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT && o->create) {
        fresh = true;
        fd = openat(d->folder, o->name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_CREAT | O_EXCL, 0600);
    }
    if (fd < 0) {
        return -errno;
    }
    pthread_mutex_lock(&d->lock);
    handle = enter(d, o->name, fd, fresh);
    pthread_mutex_unlock(&d->lock);
    if (handle < 0) {
        close(fd);
    }
    return handle;
}

static int64_t write_all(int fd, const struct disk_order *o)
{
    const uint8_t *from = o->from;
    for (uint32_t done = 0; done < o->size;) {
        ssize_t n = pwrite(fd, from + done, o->size - done, (off_t)(o->offset + done));
        if (n <= 0 && (n == 0 || errno != EINTR)) {
            return n == 0 ? -EIO : -errno;
        }
        done += n > 0 ? (uint32_t)n : 0;
    }
    return 0;
}

static int64_t read_all(int fd, const struct disk_order *o)
{
    uint8_t *to = o->to;
    uint32_t done = 0;
    while (done < o->size) {
        ssize_t n = pread(fd, to + done, o->size - done, (off_t)(o->offset + done));
        if (n == 0) {
            break;
        }
        if (n < 0 && errno != EINTR) {
            return -errno;
        }
        done += n > 0 ? (uint32_t)n : 0;
    }
    return done;
}

/* One file's bytes, and its name when that is new. A failure is final: nothing here is tried twice. */
static int64_t sync_file(struct disk_desk *d, uint32_t handle)
{
    struct file f = file_of(d, handle);
    if (fdatasync(f.fd) != 0 || (f.fresh && fsync(d->folder) != 0)) {
        return -errno;
    }
    if (f.fresh) {
        pthread_mutex_lock(&d->lock);
        d->file[handle].fresh = false;
        pthread_mutex_unlock(&d->lock);
    }
    return 0;
}

static int64_t allocate(int fd, uint64_t size)
{
    if (fallocate(fd, 0, 0, (off_t)size) == 0) {
        return 0;
    }
    if (errno != EOPNOTSUPP) {
        return -errno;
    }
    /* A file system without reservation: the zeros that follow find out whether there is room. */
    struct stat st;
    return fstat(fd, &st) != 0 || ((uint64_t)st.st_size < size && ftruncate(fd, (off_t)size) != 0) ? -errno : 0;
}

static int64_t remove_file(struct disk_desk *d, uint32_t handle)
{
    struct file f = file_of(d, handle);
    if (unlinkat(d->folder, f.name, 0) != 0 && errno != ENOENT) {
        return -errno;
    }
    close(f.fd);
    pthread_mutex_lock(&d->lock);
    d->file[handle].name[0] = '\0';
    pthread_mutex_unlock(&d->lock);
    return 0;
}

static int64_t list(struct disk_desk *d, const struct disk_order *o)
{
    int64_t count = 0;
    int copy = openat(d->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = copy < 0 ? NULL : fdopendir(copy);
    if (folder == NULL) {
        int rc = -errno;
        if (copy >= 0) {
            close(copy);
        }
        return rc;
    }
    for (struct dirent *e; (e = readdir(folder)) != NULL;) {
        struct stat st;
        size_t length = strlen(e->d_name);
        if (e->d_name[0] == '.' || length >= DISK_NAME_BYTES ||
            fstatat(d->folder, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode)) {
            continue;
        }
        if (count < o->size) {
            memcpy(o->list[count].name, e->d_name, length + 1);
            o->list[count].size = (uint64_t)st.st_size;
        }
        count++;
    }
    closedir(folder);
    return count;
}

static int64_t carry_out(struct disk_desk *d, const struct disk_order *o)
{
    int64_t rc;
    switch (o->what) {
    case DISK_OPEN:
        return open_file(d, o);
    case DISK_ALLOCATE:
        return allocate(file_of(d, o->file).fd, o->offset);
    case DISK_WRITE:
        rc = write_all(file_of(d, o->file).fd, o);
        return rc < 0 || !o->sync ? rc : sync_file(d, o->file);
    case DISK_SYNC:
        return sync_file(d, o->file);
    case DISK_READ:
        return read_all(file_of(d, o->file).fd, o);
    case DISK_REMOVE:
        return remove_file(d, o->file);
    default:
        return list(d, o);
    }
}

/* Called with the lock held. */
static void finished(struct disk_desk *d, struct order *q, cw_span took)
{
    uint64_t one = 1;
    bool synced = q->order.what == DISK_SYNC || (q->order.what == DISK_WRITE && q->order.sync);
    d->counts.failed += q->result < 0;
    d->counts.slow += synced && took.ns > CW_SEC(1).ns;
    d->counts.slowest.ns = synced && took.ns > d->counts.slowest.ns ? took.ns : d->counts.slowest.ns;
    d->counts.waiting--;
    push(&d->done, q);
    ssize_t rc = write(d->event, &one, sizeof one); /* a full counter is readable too */
    (void)rc;
}

static void *run(void *arg)
{
    struct lane *lane = arg;
    struct disk_desk *d = lane->desk;
    privileges_take_time();
    privileges_have_none(); /* the folder is open: nothing needs a right */
    pthread_mutex_lock(&d->lock);
    while (!d->ending) {
        struct order *q = pop(&lane->waiting);
        if (q == NULL) {
            pthread_cond_wait(&lane->more, &d->lock);
            continue;
        }
        pthread_mutex_unlock(&d->lock);
        cw_time before = clock_now();
        q->result = carry_out(d, &q->order);
        cw_span took = cw_time_since(clock_now(), before);
        pthread_mutex_lock(&d->lock);
        finished(d, q, took);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

static void submit(struct disk *face, const struct disk_order *order)
{
    struct disk_desk *d = container_of(face, struct disk_desk, face);
    struct lane *lane = &d->lane[order->lane];
    struct order *q = malloc(sizeof *q);
    CHECK(q != NULL); /* somebody waits for the ticket */
    *q = (struct order){.order = *order};
    pthread_mutex_lock(&d->lock);
    d->counts.orders++;
    d->counts.waiting++;
    if (!lane->started) {
        lane->started = thread_start(&lane->thread, run, lane) == 0;
    }
    if (lane->started) {
        push(&lane->waiting, q);
        pthread_cond_signal(&lane->more);
    } else {
        q->result = -EAGAIN; /* no thread can be had: the owner takes it for a broken disk, and is right */
        finished(d, q, CW_NS(0));
    }
    pthread_mutex_unlock(&d->lock);
}

int disk_desk_open(struct disk_desk **out, int folder)
{
    static const struct disk_kind kind = {submit};
    struct disk_desk *d = calloc(1, sizeof *d);
    if (d == NULL) {
        return -ENOMEM;
    }
    d->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (d->event < 0) {
        int rc = -errno;
        free(d);
        return rc;
    }
    d->face.kind = &kind;
    d->folder = folder;
    pthread_mutex_init(&d->lock, NULL);
    for (int i = 0; i < DISK_LANES; i++) {
        d->lane[i].desk = d;
        pthread_cond_init(&d->lane[i].more, NULL);
    }
    *out = d;
    return 0;
}

static void free_all(struct orders *orders)
{
    for (struct order *q; (q = pop(orders)) != NULL;) {
        free(q);
    }
}

void disk_desk_close(struct disk_desk *d)
{
    pthread_mutex_lock(&d->lock);
    d->ending = true;
    for (int i = 0; i < DISK_LANES; i++) {
        pthread_cond_signal(&d->lane[i].more);
    }
    pthread_mutex_unlock(&d->lock);
    for (int i = 0; i < DISK_LANES; i++) {
        if (d->lane[i].started) {
            pthread_join(d->lane[i].thread, NULL);
        }
        free_all(&d->lane[i].waiting);
        pthread_cond_destroy(&d->lane[i].more);
    }
    free_all(&d->done);
    for (uint32_t i = 0; i < d->files; i++) {
        if (d->file[i].name[0] != '\0') {
            close(d->file[i].fd);
        }
    }
    free(d->file);
    close(d->event);
    close(d->folder);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

struct disk *disk_desk_face(struct disk_desk *d)
{
    return &d->face;
}

int disk_desk_fd(const struct disk_desk *d)
{
    return d->event;
}

unsigned disk_desk_collect(struct disk_desk *d)
{
    uint64_t seen;
    unsigned count = 0;
    ssize_t rc = read(d->event, &seen, sizeof seen);
    (void)rc;
    pthread_mutex_lock(&d->lock);
    struct orders done = d->done;
    d->done = (struct orders){NULL, NULL};
    pthread_mutex_unlock(&d->lock);
    for (struct order *q; (q = pop(&done)) != NULL; count++) {
        struct disk_waiter *waiter = q->order.waiter;
        uint64_t ticket = q->order.ticket;
        int64_t result = q->result;
        free(q);
        waiter->told(waiter, ticket, result);
    }
    return count;
}

void disk_desk_counts(struct disk_desk *d, struct disk_desk_counts *out)
{
    pthread_mutex_lock(&d->lock);
    *out = d->counts;
    pthread_mutex_unlock(&d->lock);
}
