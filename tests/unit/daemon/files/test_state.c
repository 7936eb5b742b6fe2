/* SPDX-License-Identifier: Apache-2.0 */
/* test_state.c - what is kept is there again; nobody gets an incarnation twice; damage and rivals are said. */
#include "daemon/files/state.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/cubeway-state-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[100];
    static const char *const names[] = {"a.state", "a.state.new", "a.lock"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(command, sizeof command, "%s/%s", folder, names[i]);
        unlink(command);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}

static void open_good(struct state_file *s)
{
    char why[STATE_WHY];
    ck_assert_msg(state_open(s, folder, "a", why) == 0, "%s", why);
}

START_TEST(incarnations_only_grow)
{
    struct state_file s;
    char why[STATE_WHY];
    uint64_t first, second;
    make_folder();
    open_good(&s);
    ck_assert_uint_eq(s.state.incarnation, 0);
    ck_assert_int_eq(state_incarnations(&s, 500, 100, &first, why), 0);
    ck_assert_uint_eq(first, 500);
    state_close(&s);
    open_good(&s); /* the clock went back */
    ck_assert_int_eq(state_incarnations(&s, 3, 100, &second, why), 0);
    ck_assert_uint_eq(second, 600);
    ck_assert_int_eq(state_incarnations(&s, 10000, 1, &second, why), 0);
    ck_assert_uint_eq(second, 10000);
    state_close(&s);
    remove_folder();
}
END_TEST

START_TEST(a_place_is_kept)
{
    struct state_file s;
    char why[STATE_WHY];
    make_folder();
    open_good(&s);
    struct state state = {.incarnation = 9, .assigned = true, .dims = {3, 4, 256}, .self = {2, 0, 255}};
    ck_assert_int_eq(state_save(&s, &state, why), 0);
    state_close(&s);
    open_good(&s);
    ck_assert(s.state.assigned && s.state.dims.z == 256 && s.state.self.z == 255 && s.state.incarnation == 9);
    state_close(&s);
    remove_folder();
}
END_TEST

START_TEST(one_at_a_time)
{
    struct state_file s, other;
    char why[STATE_WHY];
    make_folder();
    open_good(&s);
    ck_assert_int_eq(state_open(&other, folder, "a", why), -EBUSY);
    ck_assert_ptr_nonnull(strstr(why, "another daemon of this name runs"));
    state_close(&s);
    open_good(&s);
    state_close(&s);
    remove_folder();
}
END_TEST

/* Every change of one byte, and every cut, is seen. */
START_TEST(damage_is_seen)
{
    struct state_file s;
    char why[STATE_WHY], path[100], text[512];
    make_folder();
    open_good(&s);
    struct state state = {.incarnation = 77, .assigned = true, .dims = {3, 3, 3}, .self = {1, 2, 0}};
    ck_assert_int_eq(state_save(&s, &state, why), 0);
    state_close(&s);
    snprintf(path, sizeof path, "%s/a.state", folder);
    int fd = open(path, O_RDWR);
    ssize_t length = read(fd, text, sizeof text);
    ck_assert_int_gt(length, 0);
    for (ssize_t i = 0; i < length; i++) {
        char flipped = (char)(text[i] ^ 1);
        ck_assert_int_eq(pwrite(fd, &flipped, 1, i), 1);
        ck_assert_msg(state_open(&s, folder, "a", why) == -EBADMSG, "byte %zd", i);
        ck_assert_ptr_nonnull(strstr(why, "damaged"));
        ck_assert_int_eq(pwrite(fd, text + i, 1, i), 1);
    }
    open_good(&s);
    state_close(&s);
    for (ssize_t i = length - 1; i >= 0; i--) {
        ck_assert_int_eq(ftruncate(fd, i), 0);
        ck_assert_msg(state_open(&s, folder, "a", why) == -EBADMSG, "cut at %zd", i);
    }
    close(fd);
    remove_folder();
}
END_TEST

START_TEST(what_cannot_be_written_is_said)
{
    struct state_file s;
    char why[STATE_WHY];
    uint64_t first = 5;
    ck_assert_int_eq(state_open(&s, "/proc/nowhere/x", "a", why), -ENOENT);
    ck_assert_ptr_nonnull(strstr(why, "/proc/nowhere/x"));
    make_folder();
    open_good(&s);
    snprintf(s.path, sizeof s.path, "%s/gone/a.state", folder);
    ck_assert_int_eq(state_incarnations(&s, 1, 1, &first, why), -ENOENT);
    ck_assert_uint_eq(first, 5);
    state_close(&s);
    remove_folder();
}
END_TEST

/* A user's folder and a root that writes there: a link laid in the way leads nowhere. */
START_TEST(links_in_the_way_are_not_followed)
{
    struct state_file s;
    char why[STATE_WHY], path[100], target[100];
    uint64_t first;
    make_folder();
    snprintf(target, sizeof target, "%s/a.lock", folder);
    snprintf(path, sizeof path, "%s/a.state.new", folder);
    open_good(&s);
    ck_assert(!s.made);
    ck_assert_int_eq(symlink(target, path), 0);
    ck_assert_int_eq(state_incarnations(&s, 500, 100, &first, why), 0);
    struct stat st;
    ck_assert_int_eq(stat(target, &st), 0);
    ck_assert_int_eq(st.st_size, 0); /* nothing was written to it */
    state_close(&s);
    ck_assert_int_eq(unlink(target), 0);
    ck_assert_int_eq(symlink("/nowhere", target), 0);
    ck_assert_int_eq(state_open(&s, folder, "a", why), -ELOOP);
    remove_folder();
}
END_TEST

START_TEST(a_folder_that_was_made_is_given_to_the_user)
{
    struct state_file s;
    char why[STATE_WHY];
    make_folder();
    ck_assert_int_eq(rmdir(folder), 0);
    open_good(&s);
    ck_assert(s.made);
    ck_assert_int_eq(state_give(&s, "", why), 0);
    ck_assert_int_eq(state_check(&s, why), 0);
    if (geteuid() == 0) {
        struct stat st;
        ck_assert_int_eq(state_give(&s, "no-such-user-here", why), -ENOENT);
        ck_assert_int_eq(state_give(&s, "nobody", why), 0);
        ck_assert_int_eq(fstat(s.lock, &st), 0);
        ck_assert_uint_ne(st.st_uid, 0);
        ck_assert_int_eq(stat(folder, &st), 0);
        ck_assert_uint_ne(st.st_uid, 0);
    }
    state_close(&s);
    remove_folder();
}
END_TEST

/* A user laid another of root's files where the lock is: it stays root's. */
START_TEST(only_the_lock_is_given)
{
    struct state_file s;
    struct stat st;
    char why[STATE_WHY], lock[100], other[100];
    if (geteuid() != 0) {
        return;
    }
    make_folder();
    snprintf(lock, sizeof lock, "%s/a.lock", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    close(open(other, O_CREAT | O_WRONLY, 0600));
    ck_assert_int_eq(link(other, lock), 0);
    open_good(&s);
    ck_assert_int_eq(state_give(&s, "nobody", why), 0);
    ck_assert_int_eq(stat(other, &st), 0);
    ck_assert_uint_eq(st.st_uid, 0);
    state_close(&s);
    ck_assert_int_eq(unlink(other), 0);
    remove_folder();
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(incarnations_only_grow),
    SUITE_TEST(a_place_is_kept),
    SUITE_TEST(one_at_a_time),
    SUITE_TEST(damage_is_seen),
    SUITE_TEST(what_cannot_be_written_is_said),
    SUITE_TEST(links_in_the_way_are_not_followed),
    SUITE_TEST(a_folder_that_was_made_is_given_to_the_user),
    SUITE_TEST(only_the_lock_is_given),
};
SUITE_MAIN("state", tests)
