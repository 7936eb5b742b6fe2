/* SPDX-License-Identifier: Apache-2.0 */
/* A line on terminals only, and not too often. */
#define _GNU_SOURCE /* posix_openpt */
#include "simulator/progress.h"

#include "suite.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(a_file_is_not_written_to)
{
    struct progress p;
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    progress_open(&p, file, "run");
    ck_assert_ptr_null(p.out);
    p.shown_ns -= INT64_C(10000000000); /* ten seconds later */
    progress_show(&p, 1, 2, (cw_time){1}, 1);
    progress_close(&p);
    ck_assert_int_eq(ftell(file), 0);
    fclose(file);
    progress_open(&p, NULL, "run");
    progress_show(&p, 1, 2, (cw_time){1}, 1);
    progress_close(&p);
}
END_TEST

static size_t read_all(int fd, char *text, size_t room)
{
    ssize_t n = read(fd, text, room - 1);
    text[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

START_TEST(a_terminal_sees_a_line_four_times_a_second)
{
    char text[400];
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) {
        return; /* a machine without terminals */
    }
    FILE *out = fopen(ptsname(terminal), "w");
    ck_assert_ptr_nonnull(out);
    struct progress p;
    progress_open(&p, out, "run");
    ck_assert_ptr_eq(p.out, out);
    progress_show(&p, 1, 4, (cw_time){1500000000}, 1000);
    ck_assert_uint_eq(read_all(terminal, text, sizeof text), 0); /* too early */
    p.shown_ns -= 300000000;
    progress_show(&p, 1, 4, (cw_time){1500000000}, 1000);
    ck_assert_uint_gt(read_all(terminal, text, sizeof text), 0);
    ck_assert_ptr_nonnull(strstr(text, "run  1.500 s simulated   25 %  1000 packet-hops"));
    ck_assert_ptr_null(strchr(text, '\n'));
    progress_show(&p, 2, 4, (cw_time){1500000000}, 1000);
    ck_assert_uint_eq(read_all(terminal, text, sizeof text), 0);
    p.shown_ns -= 300000000;
    progress_show(&p, 2, 0, (cw_time){2000000000}, 1000);
    ck_assert_uint_gt(read_all(terminal, text, sizeof text), 0);
    ck_assert_ptr_null(strchr(text, '%')); /* of an unknown total */
    progress_close(&p);
    ck_assert_uint_gt(read_all(terminal, text, sizeof text), 0);
    ck_assert_str_eq(text, "\r\033[K");
    fclose(out);
    close(terminal);
}
END_TEST

START_TEST(the_clock_on_the_wall_goes_on)
{
    double before = progress_seconds();
    ck_assert(progress_seconds() >= before);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_file_is_not_written_to),
    SUITE_TEST(a_terminal_sees_a_line_four_times_a_second),
    SUITE_TEST(the_clock_on_the_wall_goes_on),
};
SUITE_MAIN("simulator/progress", tests)
