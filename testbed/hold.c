/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static int lock(const char *folder, int how)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && flock(fd, how) < 0) {
        if (errno != EINTR) {
            int error = errno;
            close(fd);
            return -error;
        }
    }
    return fd < 0 ? -errno : fd;
}

int hold_root(const struct lab *lab)
{
    char root[LAB_PATH];
    int rc = lab_make_root(lab);
    rc = rc < 0 ? rc : lab_root(root);
    return rc < 0 ? rc : lock(root, LOCK_EX);
}

int hold_take(const struct lab *lab)
{
    return lock(lab->folder, LOCK_EX); /* who only looks has it for a moment, too */
}

static bool is_held(const struct lab *lab)
{
    int fd = lock(lab->folder, LOCK_SH | LOCK_NB);
    if (fd >= 0) {
        close(fd);
    }
    return fd == -EWOULDBLOCK;
}

enum hold_state hold_state(const struct lab *lab)
{
    char path[LAB_PATH];
    bool held = is_held(lab);
    if (held && access(lab_path(lab, "ending", "", path), F_OK) == 0) {
        return HOLD_ENDS;
    }
    return lab_lives(lab) ? HOLD_UP : held ? HOLD_COMES : HOLD_DEAD;
}

void hold_say_end(const struct lab *lab)
{
    char path[LAB_PATH];
    int fd = open(lab_path(lab, "ending", "", path), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0) {
        close(fd);
    }
}

bool hold_clear(const struct lab *lab)
{
    int root = hold_root(lab);
    bool dead = root >= 0 && hold_state(lab) == HOLD_DEAD;
    if (dead) {
        lab_remove_folder(lab);
    }
    if (root >= 0) {
        close(root);
    }
    return dead;
}
