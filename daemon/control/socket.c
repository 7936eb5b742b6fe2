/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/control/socket.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 64 };

__attribute__((format(printf, 3, 4))) static int refuse(char why[static CONTROL_WHY], int rc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, CONTROL_WHY, format, args);
    va_end(args);
    return rc;
}

static int address_of(const char *path, const char *suffix, struct sockaddr_un *out)
{
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length = snprintf(out->sun_path, sizeof out->sun_path, "%s%s", path, suffix);
    return length < 0 || (size_t)length >= sizeof out->sun_path ? -ENAMETOOLONG : 0;
}

/* 1: somebody listens there. 0: nobody does, or there is nothing. -errno: it cannot be told. */
static int is_alive(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -errno;
    }
    int rc = connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 ? 0 : -errno;
    close(fd);
    if (rc == -ECONNREFUSED || rc == -ENOENT) {
        return 0;
    }
    return rc == 0 || rc == -EAGAIN ? 1 : rc; /* EAGAIN: its backlog is full */
}

static int check_place(const char *path, const struct sockaddr_un *address, char why[static CONTROL_WHY])
{
    struct stat st;
    if (lstat(path, &st) < 0) {
        return errno == ENOENT ? 0 : refuse(why, -errno, "%s: %s", path, strerror(errno));
    }
    if (!S_ISSOCK(st.st_mode)) {
        return refuse(why, -EEXIST, "%s: is there and is no socket; remove it, or choose another path", path);
    }
    if ((st.st_mode & 07777) == 0) {
        return 0; /* left in order, by a daemon that was not allowed to remove it */
    }
    int alive = is_alive(address);
    if (alive < 0) {
        return refuse(why, alive, "%s: cannot tell whether a daemon uses it: %s", path, strerror(-alive));
    }
    if (alive > 0) {
        return refuse(
            why, -EADDRINUSE,
            "%s: in use by a living daemon; stop that one (cwctl --socket %s leave), or give this one another "
            "name or socket",
            path, path);
    }
    return 0; /* left behind by a daemon that died, so it may be replaced */
}

static int make_folders(const char *path, char why[static CONTROL_WHY])
{
    char folder[sizeof(struct sockaddr_un)];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0755) < 0 && errno != EEXIST) {
            return refuse(why, -errno, "%s: cannot make the folder of the control socket: %s", folder, strerror(errno));
        }
        *slash = '/';
    }
    return 0;
}

/* This happens before the socket has its name, so that nobody can connect by other rights. */
static int set_rights(const char *path, unsigned mode, const char *group, char why[static CONTROL_WHY])
{
    if (group != NULL && group[0] != '\0') {
        errno = 0;
        const struct group *entry = getgrnam(group);
        if (entry == NULL) {
            return refuse(why, -ENOENT,
                          "no group '%s' for the control socket; make it (groupadd --system %s), or take "
                          "control.group out of the configuration",
                          group, group);
        }
        if (chown(path, (uid_t)-1, entry->gr_gid) < 0) {
            return refuse(why, -errno, "%s: cannot give it to group '%s': %s", path, group, strerror(errno));
        }
    }
    if (chmod(path, (mode_t)mode) < 0) {
        return refuse(why, -errno, "%s: cannot set its mode to %o: %s", path, mode, strerror(errno));
    }
    return 0;
}

/* The socket is bound under the name `fresh`: gives it its rights, and then its real name. */
static int publish(struct control_socket *s, const char *fresh, unsigned mode, const char *group,
                   char why[static CONTROL_WHY])
{
    struct stat st;
    int rc = set_rights(fresh, mode, group, why);
    if (rc < 0) {
        return rc;
    }
    if (listen(s->fd, BACKLOG) < 0 || stat(fresh, &st) < 0 || rename(fresh, s->path) < 0) {
        return refuse(why, -errno, "%s: %s", s->path, strerror(errno));
    }
    s->device = st.st_dev;
    s->inode = st.st_ino;
    return 0;
}

int control_socket_open(struct control_socket *out, const char *path, unsigned mode, const char *group,
                        char why[static CONTROL_WHY])
{
    struct sockaddr_un address, fresh;
    if (path[0] == '\0' || address_of(path, "", &address) < 0 || address_of(path, ".new", &fresh) < 0) {
        return refuse(why, -ENAMETOOLONG, "'%s': a socket's path has 1 to %zu bytes", path,
                      sizeof address.sun_path - sizeof ".new");
    }
    int rc = make_folders(path, why);
    if (rc == 0) {
        rc = check_place(path, &address, why);
    }
    if (rc < 0) {
        return rc;
    }
    struct control_socket s = {.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    memcpy(s.path, address.sun_path, sizeof s.path);
    if (s.fd < 0) {
        return refuse(why, -errno, "no control socket: %s", strerror(errno));
    }
    (void)unlink(fresh.sun_path); /* left by a daemon that died between bind and rename */
    if (bind(s.fd, (const struct sockaddr *)&fresh, sizeof fresh) < 0) {
        rc = refuse(why, -errno, "%s: %s", fresh.sun_path, strerror(errno));
        close(s.fd);
        return rc;
    }
    rc = publish(&s, fresh.sun_path, mode, group, why);
    if (rc < 0) {
        (void)unlink(fresh.sun_path);
        close(s.fd);
        return rc;
    }
    *out = s;
    return 0;
}

static bool is_ours(const struct control_socket *s)
{
    struct stat st;
    return lstat(s->path, &st) == 0 && (uint64_t)st.st_dev == s->device && (uint64_t)st.st_ino == s->inode;
}

void control_socket_give(const struct control_socket *s, const char *user)
{
    const struct passwd *entry = user[0] != '\0' ? getpwnam(user) : NULL;
    if (entry != NULL && is_ours(s)) {
        (void)!lchown(s->path, entry->pw_uid, (gid_t)-1);
    }
}

void control_socket_close(struct control_socket *s)
{
    if (is_ours(s) && unlink(s->path) < 0) {
        (void)chmod(s->path, 0);
    }
    close(s->fd);
    s->fd = -1;
}
