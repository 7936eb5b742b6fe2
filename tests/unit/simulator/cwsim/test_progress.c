/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* posix_openpt() */
#include "simulator/cwsim/progress.h"
#include "suite.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Into a file or a pipe nothing is written, however long it takes. */
START_TEST(quiet_when_piped)
{
    struct progress p;
    FILE *file = tmpfile();
    progress_open(&p, file, "run");
    ck_assert_ptr_null(p.out);
    p.shown_ns -= 1000000000;
    progress_show(&p, 1, 2, (cw_time){0}, 5);
    progress_close(&p);
    ck_assert_int_eq(ftell(file), 0);
    fclose(file);
    progress_open(&p, NULL, "run");
    progress_show(&p, 1, 2, (cw_time){0}, 5);
    progress_close(&p);
}
END_TEST

/* On a terminal: a line, at most four times a second, taken away in the end. */
START_TEST(terminal)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0) {
        return; /* no terminals here */
    }
    FILE *out = fopen(ptsname(master), "w");
    ck_assert_ptr_nonnull(out);
    struct progress p;
    progress_open(&p, out, "churn");
    for (unsigned i = 0; i < 1000; i++) {
        progress_show(&p, i, 1000, (cw_time){1500000000}, i);
    }
    ck_assert(!p.shown);
    p.shown_ns -= 250000000;
    progress_show(&p, 250, 1000, (cw_time){1500000000}, 7000000);
    ck_assert(p.shown);
    progress_close(&p);
    fclose(out);
    char text[512];
    ssize_t n = 0, more;
    while ((more = read(master, text + n, sizeof text - 1 - (size_t)n)) > 0) {
        n += more; /* it comes in pieces; then an error: the terminal is gone and all has been read */
    }
    ck_assert_int_gt(n, 4);
    text[n] = '\0';
    ck_assert_ptr_nonnull(strstr(text, "churn  1.500 s simulated   25 %  7000000 packet-hops"));
    ck_assert_str_eq(text + n - 4, "\r\033[K");
    close(master);
}
END_TEST

START_TEST(seconds_grow)
{
    double a = progress_seconds();
    ck_assert_double_ge(progress_seconds(), a);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(quiet_when_piped), SUITE_TEST(terminal), SUITE_TEST(seconds_grow)};
SUITE_MAIN("progress", tests)
