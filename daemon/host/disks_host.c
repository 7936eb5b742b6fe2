/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/disks_host.h"

#include "daemon/files/disk_desk.h"
#include "daemon/files/folder.h"
#include "daemon/files/state.h"
#include "daemon/host/internal.h"
#include "daemon/machine/outside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* A disk that is open: the face that storage submits to is the desk's own. */
struct open_disk {
    struct list_node node; /* of host.disks_open */
    struct disk_desk *desk;
    struct host_server *server;
    char service[TABLE_NAME_MAX + 1];
    unsigned version;
    struct outside_watch *watch;
    struct host_deferred work;
};

static void on_visit(void *context, cw_svc *svc, const void *exports)
{
    struct open_disk *d = context;
    (void)svc;
    (void)exports;
    (void)disk_desk_collect(d->desk);
}

/* Outside of all servers, at the end of a turn. */
static void collect(void *context)
{
    struct open_disk *d = context;
    (void)!host_visit(d->server, d->service, d->version, on_visit, d);
}

static void on_ready(void *context)
{
    struct open_disk *d = context;
    host_defer(d->server->host, &d->work);
}

/* A descriptor of the folder, which nobody else has; or -errno. */
static int open_folder(const struct host *h, cw_coord self, const char *folder, char path[static STATE_PATH])
{
    int length = snprintf(path, STATE_PATH, "%s", folder), fd;
    if (h->config.place == CONFIG_WHOLE && length > 0 && length < STATE_PATH) {
        fd = folder_open(path);
        if (fd < 0) {
            return fd;
        }
        close(fd);
        length = snprintf(path, STATE_PATH, "%s/%u,%u,%u", folder, self.x, self.y, self.z);
    }
    if (length < 0 || length >= STATE_PATH) {
        return -ENAMETOOLONG;
    }
    fd = folder_open(path);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
        int rc = errno == EWOULDBLOCK ? -EBUSY : -errno;
        close(fd);
        return rc;
    }
    return fd;
}

static int watch_disk(struct host *h, struct open_disk *d)
{
    d->work = (struct host_deferred){.fn = collect, .context = d};
    d->watch = outside_watch(host_outside(h), disk_desk_fd(d->desk), OUTSIDE_CALM, on_ready, d);
    return d->watch != NULL ? 0 : -ENOMEM;
}

static int local_open(void *context, cw_coord self, const char *service, unsigned version, const char *folder,
                      struct disk **out, char why[static DISKS_WHY])
{
    struct host *h = context;
    char path[STATE_PATH];
    int fd = open_folder(h, self, folder, path);
    struct open_disk *d = fd >= 0 ? calloc(1, sizeof *d) : NULL;
    int rc = fd < 0 ? fd : d == NULL ? -ENOMEM : disk_desk_open(&d->desk, fd);
    if (rc < 0) {
        if (fd >= 0) {
            close(fd);
        }
        free(d);
        const char *what = rc == -EPERM   ? "others may write there; give it to the daemon's user alone (chmod 0700)"
                           : rc == -EBUSY ? "another program uses it"
                                          : strerror(-rc);
        snprintf(why, DISKS_WHY, "the folder %.200s cannot be used: %s", path, what);
        return rc;
    }
    d->server = host_find(h, self);
    d->version = version;
    snprintf(d->service, sizeof d->service, "%s", service);
    rc = watch_disk(h, d);
    if (rc < 0) {
        disk_desk_close(d->desk);
        free(d);
        snprintf(why, DISKS_WHY, "the folder %.200s cannot be used: %s", path, strerror(-rc));
        return rc;
    }
    list_push_back(&h->disks_open, &d->node);
    *out = disk_desk_face(d->desk);
    return 0;
}

static void local_close(void *context, struct disk *disk)
{
    struct host *h = context;
    for (struct list_node *n = list_first(&h->disks_open); n != NULL; n = list_next(&h->disks_open, n)) {
        struct open_disk *d = container_of(n, struct open_disk, node);
        if (disk_desk_face(d->desk) == disk) {
            list_remove(n);
            host_undefer(&d->work);
            outside_unwatch(d->watch);
            disk_desk_close(d->desk);
            free(d);
            return;
        }
    }
}

void disks_host_open(struct disks_host *out, struct host *h)
{
    list_init(&h->disks_open);
    *out = (struct disks_host){.size = sizeof *out, .context = h, .open = local_open, .close = local_close};
}
