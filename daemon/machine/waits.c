/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* epoll_pwait2 */
#include "daemon/machine/waits.h"

#include "base/check.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

int waits_open(struct waits *w)
{
    *w = (struct waits){.set = {-1, -1}};
    for (unsigned i = 0; i < WAITS_SETS; i++) {
        w->set[i] = epoll_create1(EPOLL_CLOEXEC);
        if (w->set[i] < 0) {
            return -errno;
        }
    }
    return 0;
}

void waits_close(struct waits *w)
{
    for (unsigned i = 0; i < WAITS_SETS; i++) {
        if (w->set[i] >= 0) {
            close(w->set[i]);
        }
        w->set[i] = -1;
    }
}

static enum waits_set first_set(const struct waits_item *item)
{
    return item->calm ? WAITS_CALM : WAITS_ALL;
}

int waits_add(struct waits *w, struct waits_item *item, int fd, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.ptr = item};
    CHECK(!item->watched);
    item->fd = fd;
    for (unsigned i = first_set(item); i < WAITS_SETS; i++) {
        if (epoll_ctl(w->set[i], EPOLL_CTL_ADD, fd, &e) < 0) {
            int rc = -errno;
            while (i-- > first_set(item)) {
                CHECK(epoll_ctl(w->set[i], EPOLL_CTL_DEL, fd, NULL) == 0);
            }
            return rc;
        }
    }
    item->watched = true;
    return 0;
}

void waits_remove(struct waits *w, struct waits_item *item)
{
    for (unsigned i = first_set(item); item->watched && i < WAITS_SETS; i++) {
        CHECK(epoll_ctl(w->set[i], EPOLL_CTL_DEL, item->fd, NULL) == 0);
    }
    item->watched = false;
}

/* A limit that has no fraction of a millisecond goes by the older call, which every kernel has. */
static int wait_for(int set, struct epoll_event *events, cw_span limit)
{
    if (limit.ns <= 0 || limit.ns % CW_NS_PER_MS == 0) {
        return epoll_wait(set, events, WAITS_AT_ONCE, limit.ns < 0 ? -1 : (int)cw_span_ms(limit));
    }
    struct timespec span = {limit.ns / CW_NS_PER_SEC, limit.ns % CW_NS_PER_SEC};
    int count = epoll_pwait2(set, events, WAITS_AT_ONCE, &span, NULL);
    if (count < 0 && errno == ENOSYS) {
        count = epoll_wait(set, events, WAITS_AT_ONCE, (int)cw_span_ms(limit) + 1);
    }
    return count;
}

unsigned waits_look(struct waits *w, enum waits_set set, cw_span limit)
{
    struct epoll_event events[WAITS_AT_ONCE];
    int count = wait_for(w->set[set], events, limit);
    CHECK(count >= 0 || errno == EINTR);
    for (int i = 0; i < count; i++) {
        const struct waits_item *item = events[i].data.ptr;
        item->fn(item->context);
    }
    return count < 0 ? 0 : (unsigned)count;
}

bool waits_are_fine(void)
{
    int rc = epoll_pwait2(-1, &(struct epoll_event){0}, 1, &(struct timespec){0}, NULL);
    return rc < 0 && errno == EBADF;
}

/* Does the descriptor of that name in /proc/self/fdinfo belong to an epoll set that watches fd? */
static bool lists(const char *name, int fd)
{
    char path[64], line[256];
    bool found = false;
    snprintf(path, sizeof path, "/proc/self/fdinfo/%.32s", name);
    FILE *info = fopen(path, "re");
    while (info != NULL && !found && fgets(line, sizeof line, info) != NULL) {
        int watched;
        found = sscanf(line, "tfd: %d", &watched) == 1 && watched == fd;
    }
    if (info != NULL) {
        fclose(info);
    }
    return found;
}

int waits_find(int fd)
{
    int found = -ENOENT;
    DIR *folder = opendir("/proc/self/fdinfo");
    const struct dirent *e;
    while (folder != NULL && found != -EEXIST && (e = readdir(folder)) != NULL) {
        if (e->d_name[0] != '.' && lists(e->d_name, fd)) {
            found = found == -ENOENT ? (int)strtol(e->d_name, NULL, 10) : -EEXIST;
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return found;
}
