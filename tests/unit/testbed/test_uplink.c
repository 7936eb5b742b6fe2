/* SPDX-License-Identifier: Apache-2.0 */
#include "lab_place.h"
#include "testbed/uplink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

/* Instead of slirp4netns: writes down its words, and whether the path among them is a network namespace. */
static const char script[] = "#!/bin/sh\necho \"$@\" > \"$0.words\"\nreadlink \"$4\" >> \"$0.words\"\nexec sleep 60\n";

START_TEST(the_first_gateway_has_it)
{
    const struct lab one = {.gateways = "3 17"}, other = {.gateways = "0"};
    ck_assert_uint_eq(uplink_server(&one), 3);
    ck_assert_uint_eq(uplink_server(&other), 0);
}
END_TEST

START_TEST(it_is_started_for_a_namespace)
{
    char *place = place_make(), why[LAB_WHY], file[LAB_PATH], words[LAB_PATH + 8], line[2][200] = {"", ""};
    struct lab lab = {.driver = LAB_NETNS};
    struct crew c = {.status = -1};
    ck_assert(lab_place(&lab, "up", why) == 0 && lab_make_folder(&lab) == 0);
    snprintf(lab.uplink, sizeof lab.uplink, "%s", lab_path(&lab, "slirp", "", file));
    snprintf(words, sizeof words, "%s.words", file);
    FILE *out = fopen(file, "w");
    ck_assert(out != NULL && fputs(script, out) >= 0 && fclose(out) == 0 && chmod(file, 0700) == 0);
    int ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(uplink_start(&c, &lab, ns), 0);
    for (int i = 0; i < 500 && line[1][0] == '\0'; i++) {
        FILE *in = fopen(words, "r");
        if (in != NULL) {
            (void)!(fgets(line[0], sizeof line[0], in) != NULL && fgets(line[1], sizeof line[1], in) != NULL);
            fclose(in);
        }
        usleep(10000);
    }
    ck_assert_msg(strncmp(line[0], "--configure --mtu=1500 --netns-type=path /proc/", 46) == 0, "%s", line[0]);
    ck_assert_msg(strstr(line[0], " up0\n") != NULL, "%s", line[0]);
    ck_assert_msg(strncmp(line[1], "net:[", 5) == 0, "%s", line[1]);
    ck_assert_int_eq(crew_kill(&c, true), 0);
    snprintf(lab.uplink, sizeof lab.uplink, "%s/nowhere", place);
    struct crew none = {.status = -1};
    ck_assert_int_eq(uplink_start(&none, &lab, ns), -ENOENT);
    close(ns);
    place_remove(place);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(the_first_gateway_has_it),
                                          SUITE_TEST(it_is_started_for_a_namespace)};
SUITE_MAIN("uplink", tests)
