/* SPDX-License-Identifier: Apache-2.0 */
#include "lab_place.h"
#include "testbed/cwlab/lend.h"

#include <stdio.h>

START_TEST(programs_know_their_server)
{
    char *place = place_make(), why[LAB_WHY], socket[128], file[LAB_PATH];
    struct lab lab = {.driver = LAB_NETNS};
    ck_assert_int_eq(torus_init(&lab.torus, (cw_dims){2, 2, 2}), 0);
    ck_assert(lab_place(&lab, "lent", why) == 0 && lab_make_folder(&lab) == 0);
    lend_environment(&lab, 3);
    snprintf(socket, sizeof socket, "%s/lent/0,1,1.sock", place);
    ck_assert_str_eq(getenv("CUBEWAY_SOCKET"), socket);
    ck_assert_str_eq(getenv("CWLAB_NAME"), "lent");
    ck_assert_str_eq(getenv("CWLAB_SERVER"), "0,1,1");
    ck_assert_str_eq(getenv("PS1"), "[lent 0,1,1] # ");
    static char sh[] = "sh", c[] = "-c", script[] = "case $PATH in */*:*) exit 7;; esac";
    char *const argv[] = {sh, c, script, NULL};
    ck_assert_int_eq(lend_run(&command_exec, argv), 7);
    static char none[] = "no-such-program";
    char *const missing[] = {none, NULL};
    ck_assert_int_eq(lend_run(&command_exec, missing), 127);
    ck_assert(!lend_prompt(&lab, "/bin/dash", file));
    ck_assert(lend_prompt(&lab, "/bin/bash", file) && access(file, R_OK) == 0);
    place_remove(place);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(programs_know_their_server)};
SUITE_MAIN("lend", tests)
