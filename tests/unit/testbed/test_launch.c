/* SPDX-License-Identifier: Apache-2.0 */
#include "lab_place.h"
#include "testbed/launch.h"

#include <errno.h>
#include <sys/wait.h>

/* What a killed keeper has left is found, said, and removed; the lab of a living one is not touched. */
START_TEST(the_remains_of_a_dead_lab)
{
    char *place = place_make(), why[LAB_WHY];
    struct launch l, second;
    bool cleaned;
    struct lab lab = {.driver = LAB_PROCESS, .mtu = 9000, .scale = 1};
    ck_assert_int_eq(torus_init(&lab.torus, (cw_dims){3, 3, 3}), 0);
    sprintf(lab.daemon, "%s/daemon", place);
    FILE *f = fopen(lab.daemon, "w");
    fputs("#!/bin/sh\nexec sleep 100\n", f);
    fclose(f);
    ck_assert_int_eq(chmod(lab.daemon, 0755), 0);
    ck_assert_int_eq(lab_place(&lab, "k", why), 0);
    ck_assert(launch_begin(&l, &lab, &cleaned, why) == 0 && !cleaned);
    ck_assert_int_eq(launch_wait(&l, NULL, NULL, why), 0);
    ck_assert_int_eq(launch_begin(&second, &lab, &cleaned, why), -EEXIST);
    ck_assert(strstr(why, "up already") != NULL);
    ck_assert_int_eq(kill(lab.keeper, SIGKILL), 0);
    while (lab_lives(&lab)) {
        usleep(1000);
    }
    ck_assert_int_eq(access(lab.folder, F_OK), 0);
    ck_assert(launch_begin(&second, &lab, &cleaned, why) == 0 && cleaned);
    ck_assert_int_eq(launch_wait(&second, NULL, NULL, why), 0);
    launch_close(&second, &lab);
    close(l.lifeline);
    place_remove(place);
}
END_TEST

START_TEST(is_it_allowed)
{
    char why[LAB_WHY] = "";
    int rc = launch_allowed(why);
    ck_assert(rc == 0 || why[0] != '\0');
    ck_assert_int_lt(waitpid(-1, NULL, WNOHANG), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(the_remains_of_a_dead_lab), SUITE_TEST(is_it_allowed)};
SUITE_MAIN("launch", tests)
