/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/hold.h"

#include "lab_place.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>

/* Somebody who lists labs has the folder for a moment. Gives his number. */
static pid_t look(const struct lab *lab)
{
    int fd = open(lab->folder, O_RDONLY | O_DIRECTORY);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(flock(fd, LOCK_SH), 0);
    pid_t pid = fork();
    if (pid == 0) { /* the lock goes with the last process that has it */
        usleep(50000);
        _exit(0);
    }
    ck_assert_int_gt(pid, 0);
    close(fd);
    return pid;
}

/* A lab's folder that is held is no dead one's, whatever answers there; let go, it is, and is cleared. */
START_TEST(states)
{
    char *place = place_make(), why[LAB_WHY];
    struct lab lab = {.driver = LAB_PROCESS};
    ck_assert_int_eq(lab_place(&lab, "k", why), 0);
    ck_assert_int_eq(hold_state(&lab), HOLD_DEAD);
    int root = hold_root(&lab);
    ck_assert_int_ge(root, 0);
    ck_assert_int_eq(lab_make_folder(&lab), 0);
    pid_t looks = look(&lab);
    int hold = hold_take(&lab);
    close(root);
    ck_assert_int_ge(hold, 0);
    ck_assert_int_eq(waitpid(looks, NULL, 0), looks);
    ck_assert_int_eq(hold_state(&lab), HOLD_COMES);
    ck_assert(!hold_clear(&lab));
    hold_say_end(&lab);
    ck_assert_int_eq(hold_state(&lab), HOLD_ENDS);
    close(hold);
    ck_assert_int_eq(hold_state(&lab), HOLD_DEAD);
    ck_assert(hold_clear(&lab));
    ck_assert_int_eq(access(lab.folder, F_OK), -1);
    place_remove(place);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(states)};
SUITE_MAIN("hold", tests)
