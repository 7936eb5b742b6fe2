/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* namespaces */
#include "lab_place.h"
#include "testbed/cwlab/names.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct lab lab_of(uint16_t x, uint16_t y, uint16_t z)
{
    struct lab lab = {.name = "t", .service = {LAB_TUNNEL}, .services = 1};
    ck_assert_int_eq(torus_init(&lab.torus, (cw_dims){x, y, z}), 0);
    return lab;
}

START_TEST(every_server_has_names)
{
    char *text = NULL;
    size_t length = 0, lines = 0;
    const struct lab lab = lab_of(3, 3, 3);
    FILE *out = open_memstream(&text, &length);
    names_write(&lab, out);
    fclose(out);
    for (size_t i = 0; i < length; i++) {
        lines += text[i] == '\n';
    }
    ck_assert_uint_eq(lines, 2 * 27);
    ck_assert(strncmp(text, "10.64.0.1 0-0-0.cube s0.cube\nfd", 31) == 0);
    ck_assert(strstr(text, "\n10.64.11.1 1-0-2.cube s11.cube\n") != NULL);
    free(text);
}
END_TEST

static bool known(const char *line)
{
    char text[4096];
    bool found = false;
    FILE *in = fopen("/etc/hosts", "r");
    while (in != NULL && fgets(text, sizeof text, in) != NULL) {
        found = found || strcmp(text, line) == 0;
    }
    if (in != NULL) {
        fclose(in);
    }
    return found;
}

static unsigned known_lines(void)
{
    char *line = NULL;
    size_t room = 0;
    unsigned count = 0;
    FILE *in = fopen("/etc/hosts", "r");
    while (in != NULL && getline(&line, &room, in) > 0) {
        count++;
    }
    free(line);
    if (in != NULL) {
        fclose(in);
    }
    return count;
}

/* Only programs of the lab see them. */
START_TEST(lent)
{
    static const char line[] = "10.64.1.1 1-0-0.cube s1.cube\n";
    char why[LAB_WHY];
    struct lab lab = lab_of(2, 1, 1);
    const char *folder = place_make();
    const unsigned machine = known_lines();
    ck_assert_int_eq(lab_place(&lab, "t", why), 0);
    ck_assert_int_eq(lab_make_folder(&lab), 0);
    ck_assert(!known(line));
    if ((geteuid() == 0 || unshare(CLONE_NEWUSER) == 0) && names_lend(&lab) == 0) {
        ck_assert(known(line));
        ck_assert_int_eq(names_lend(&lab), 0); /* once more, as exec inside of exec does */
        ck_assert(known(line));
        /* Another lab has the same names: those of the first one go, and whatever the machine's file says stays. */
        struct lab other = lab_of(1, 1, 2);
        ck_assert_int_eq(lab_place(&other, "u", why), 0);
        ck_assert_int_eq(lab_make_folder(&other), 0);
        ck_assert_int_eq(names_lend(&other), 0);
        ck_assert(known("10.64.1.1 0-0-1.cube s1.cube\n"));
        ck_assert(!known(line) && known_lines() == machine + 2 + 4);
        ck_assert_int_eq(names_lend(&lab), 0);
        ck_assert(known(line) && !known("10.64.1.1 0-0-1.cube s1.cube\n"));
        ck_assert(known_lines() == machine + 2 + 4);
    }
    place_remove(folder);
}
END_TEST

/* In a chroot nothing can be put over a file for one process alone: but its own file may have the names. */
START_TEST(in_a_chroot)
{
    struct lab lab = lab_of(2, 1, 1);
    const char *folder = place_make();
    pid_t child = fork();
    if (child == 0) { /* who is in a chroot cannot clear up */
        bool root = geteuid() == 0 || unshare(CLONE_NEWUSER) == 0;
        if (!root || chroot(folder) < 0 || chdir("/") < 0) {
            _exit(0);
        }
        strcpy(lab.folder, "/lab");
        if (mkdir("/lab", 0700) < 0 || mkdir("/etc", 0700) < 0 || names_lend(&lab) != -EINVAL) {
            _exit(1);
        }
        FILE *out = fopen("/etc/hosts", "w");
        names_write(&lab, out);
        fclose(out);
        struct lab larger = lab_of(3, 3, 3), smaller = lab_of(1, 1, 1);
        strcpy(larger.folder, "/lab");
        strcpy(smaller.folder, "/lab");
        if (names_lend(&lab) != 0 || names_lend(&larger) != -ESTALE || names_lend(&smaller) != -ESTALE) {
            _exit(2); /* all three have a server 0,0,0, with the same line */
        }
        out = fopen("/etc/hosts", "w");
        fputs("10.0.0.1 my-own.cube 1-2.cube x1-0-0.cube\n", out); /* no servers */
        fclose(out);
        _exit(names_lend(&lab) == -EINVAL ? 0 : 3);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    place_remove(folder);
}
END_TEST

START_TEST(each_network_has_a_domain)
{
    char *text = NULL;
    size_t length = 0;
    struct lab lab = lab_of(3, 3, 3);
    lab.services = 0;
    lab.networks = 2;
    strcpy(lab.network[1], "blue");
    FILE *out = open_memstream(&text, &length);
    names_write(&lab, out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "\n10.96.11.1 1-0-2.blue s11.blue\n"));
    ck_assert_ptr_null(strstr(text, "cube"));
    free(text);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(each_network_has_a_domain), SUITE_TEST(every_server_has_names),
                                          SUITE_TEST(lent), SUITE_TEST(in_a_chroot)};
SUITE_MAIN("names", tests)
