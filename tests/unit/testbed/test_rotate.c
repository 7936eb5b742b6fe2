/* SPDX-License-Identifier: Apache-2.0 */
#include "lab_place.h"
#include "testbed/rotate.h"

#include <fcntl.h>
#include <stdio.h>

static off_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_size : -1;
}

START_TEST(a_log_that_is_written_to_is_cut)
{
    char *place = place_make(), path[128], older[136];
    snprintf(path, sizeof path, "%s/0,0,0.log", place);
    snprintf(older, sizeof older, "%s.1", path);
    ck_assert_int_eq(rotate_log(path, 8), 0); /* it is not there */
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    ck_assert(fd >= 0 && write(fd, "12345678", 8) == 8);
    ck_assert_int_eq(rotate_log(path, 8), 0);
    ck_assert(write(fd, "9", 1) == 1);
    ck_assert_int_eq(rotate_log(path, 8), 1);
    ck_assert(size_of(path) == 0 && size_of(older) == 9);
    ck_assert(write(fd, "abc", 3) == 3); /* the writer goes on at the beginning */
    ck_assert_int_eq(size_of(path), 3);
    ck_assert_int_eq(rotate_log(path, 1), 1);
    ck_assert_int_eq(size_of(older), 3); /* what was cut off before is lost */
    close(fd);
    place_remove(place);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_log_that_is_written_to_is_cut)};
SUITE_MAIN("rotate", tests)
