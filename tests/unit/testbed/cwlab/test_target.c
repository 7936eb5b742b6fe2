/* SPDX-License-Identifier: Apache-2.0 */
#include "lab_place.h"
#include "testbed/cwlab/target.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

START_TEST(what_is_a_server)
{
    ck_assert(target_is_server("all") && target_is_server("0,1,2") && target_is_server("10,*,0"));
    ck_assert(target_is_server("*,*,*"));
    ck_assert(target_is_server("0,0,0 1,1,1") && target_is_server(" 0,*,0  all "));
    ck_assert(!target_is_server("0,0,0 links") && !target_is_server("  ") && !target_is_server("links 0,0,0"));
    ck_assert(!target_is_server("0,0,0000000000000000000000000000000000000000000000000000000000000000"));
    ck_assert(!target_is_server("links") && !target_is_server("0,1") && !target_is_server("0,1,2,3"));
    ck_assert(!target_is_server("") && !target_is_server("0,1,2x") && !target_is_server("+x"));
}
END_TEST

START_TEST(which_servers_are_meant)
{
    struct torus t;
    bool who[24] = {false};
    ck_assert_int_eq(torus_init(&t, (cw_dims){4, 3, 2}), 0);
    ck_assert_int_eq(target_mark(&t, "1,0,1", who), 1);
    ck_assert_int_eq(target_mark(&t, "1,0,1", who), 0); /* once more changes nothing */
    ck_assert_int_eq(target_mark(&t, "1,*,*", who), 5);
    ck_assert_int_eq(target_mark(&t, "4,*,*", who), -EINVAL);
    ck_assert_int_eq(target_mark(&t, "1,0,99999999999", who), -EINVAL);
    ck_assert_int_eq(target_mark(&t, "no", who), -EINVAL);
    ck_assert_int_eq(target_mark(&t, "0,0,0 1,0,0 0,0,1", who), 2);
    ck_assert_int_eq(target_mark(&t, "0,0,0 9,0,0", who), -EINVAL);
    ck_assert_int_eq(target_mark(&t, "all", who), 16);
}
END_TEST

/* A lab of that name, which lives as long as the descriptor. */
static int make_lab(const char *name)
{
    struct lab lab = {.driver = LAB_NETNS, .scale = 1};
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    char why[LAB_WHY], path[LAB_PATH];
    ck_assert_int_eq(torus_init(&lab.torus, (cw_dims){2, 2, 2}), 0);
    ck_assert(lab_place(&lab, name, why) == 0 && lab_make_folder(&lab) == 0 && lab_save(&lab) == 0);
    snprintf(a.sun_path, sizeof a.sun_path, "%.100s", lab_path(&lab, "keeper", ".sock", path));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert(bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && listen(fd, 100) == 0);
    return fd;
}

static struct target t;

/* Reads "ctl ..": the words are parted by blanks. */
static int read_line(enum target_reach reach, const char *line)
{
    static char text[200];
    static char *argv[20];
    int argc = 0;
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    return target_read(&command_ctl, argc, argv, reach, &t);
}

START_TEST(the_name_of_the_lab_stands_anywhere)
{
    char *place = place_make();
    cw_server s;
    int one = make_lab("one"), two = make_lab("two");
    unsetenv("CWLAB_NAME");
    ck_assert_int_eq(read_line(TARGET_ANYWHERE, "ctl 0,0,0 links"), EXIT_NO_LAB); /* which of the two? */
    target_close(&t);
    static const char *const lines[] = {"ctl --name two 0,0,1 links +x", "ctl 0,0,1 --name two links +x",
                                        "ctl 0,0,1 links --name=two +x", "ctl 0,0,1 links +x --name two"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        ck_assert_int_eq(read_line(TARGET_ANYWHERE, lines[i]), PROGRAM_GO);
        ck_assert_str_eq(t.lab.name, "two");
        ck_assert(t.words == 2 && strcmp(t.word[0], "links") == 0 && strcmp(t.word[1], "+x") == 0);
        ck_assert(target_one(&command_ctl, &t, &s) == PROGRAM_GO && s == 1);
        target_close(&t);
    }
    /* Words of another program are not touched, and neither is cwctl's own --name. */
    ck_assert_int_eq(read_line(TARGET_BEFORE_WORDS, "exec 0,0,1 --name two prog --name x"), PROGRAM_GO);
    ck_assert(t.words == 3 && strcmp(t.word[1], "--name") == 0);
    target_close(&t);
    /* Where no words follow, options are ours behind the server, too; also one that is not known. */
    ck_assert_int_eq(read_line(TARGET_ALONE, "shell 0,0,1 --name two"), PROGRAM_GO);
    ck_assert_str_eq(t.lab.name, "two");
    target_close(&t);
    ck_assert_int_eq(read_line(TARGET_ALONE, "shell 0,0,1 --nmae two"), EXIT_USAGE);
    target_close(&t);
    ck_assert_int_eq(read_line(TARGET_ALONE, "shell 0,0,1 --help"), EXIT_FINE);
    target_close(&t);
    setenv("CWLAB_NAME", "one", 1);
    ck_assert_int_eq(read_line(TARGET_ANYWHERE, "ctl all services load f.so --name two"), PROGRAM_GO);
    ck_assert(t.words == 5 && t.count == 8 && strcmp(t.lab.name, "one") == 0);
    ck_assert_int_eq(target_one(&command_ctl, &t, &s), EXIT_USAGE);
    target_close(&t);
    ck_assert_int_eq(read_line(TARGET_ANYWHERE, "ctl 2,0,0 links"), EXIT_USAGE);
    target_close(&t);
    ck_assert_int_eq(read_line(TARGET_ANYWHERE, "ctl --nmae x 0,0,0"), EXIT_USAGE);
    target_close(&t);
    ck_assert_int_eq(read_line(TARGET_ANYWHERE, "ctl links"), PROGRAM_GO);
    ck_assert_int_eq(target_one(&command_ctl, &t, &s), EXIT_USAGE); /* no server is named */
    target_close(&t);
    unsetenv("CWLAB_NAME");
    close(one);
    close(two);
    place_remove(place);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(what_is_a_server), SUITE_TEST(which_servers_are_meant),
                                          SUITE_TEST(the_name_of_the_lab_stands_anywhere)};
SUITE_MAIN("target", tests)
