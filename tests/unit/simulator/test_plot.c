/* SPDX-License-Identifier: Apache-2.0 */
/* The script that draws, and what is said when nothing can draw. */
#define _GNU_SOURCE /* mkdtemp, setenv */
#include "simulator/plot.h"

#include "suite.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "plot-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[80];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void enter(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void leave(void)
{
    static const char *const names[] = {"fig.gp", "gnuplot", "drawn"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unlink(path_of(names[i]));
    }
    ck_assert_int_eq(rmdir(folder), 0);
}

static void write_script(void)
{
    static const double points[] = {1, 2.5, 3, 4};
    const struct plot_series series[] = {
        {"measured", "servers", "gbps", NULL, 0, true},
        {"the paper's", NULL, NULL, points, 2, false},
    };
    const struct plot plot = {"It's a title", "servers", "Gb/s", true, series, 2};
    ck_assert_int_eq(plot_write(&plot, folder, "fig"), 0);
}

START_TEST(the_script_says_it_all)
{
    char text[4000];
    enter();
    write_script();
    FILE *f = fopen(path_of("fig.gp"), "r");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    static const char *const lines[] = {
        "set output 'fig.png'\n",
        "set title 'It''s a title'\n",
        "set ylabel 'Gb/s'\n",
        "set logscale x 2\n",
        "$series1 << END\n1,2.5\n3,4\nEND\n",
        "plot 'fig.csv' using (column('servers')):(column('gbps')) with linespoints pointsize 1.5 title 'measured', "
        "\\\n",
        "$series1 using 1:2 with points pointsize 1.5 title 'the paper''s'\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        ck_assert_msg(strstr(text, lines[i]) != NULL, "no '%s' in\n%s", lines[i], text);
    }
    leave();
}
END_TEST

START_TEST(without_gnuplot_it_is_said)
{
    enter();
    write_script();
    setenv("PATH", "no/such/folder", 1);
    ck_assert_int_eq(plot_draw(folder, "fig"), -ENOENT);
    leave();
}
END_TEST

/* A stand-in for gnuplot, which runs in the folder and gets the script. */
static void stand_in(const char *does)
{
    char here[4096];
    FILE *f = fopen(path_of("gnuplot"), "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "#!/bin/sh\n%s\n", does);
    fclose(f);
    ck_assert_int_eq(chmod(path_of("gnuplot"), 0700), 0);
    char *cwd = realpath(folder, here);
    ck_assert_ptr_nonnull(cwd);
    setenv("PATH", cwd, 1);
}

START_TEST(gnuplot_runs_in_the_folder_and_may_fail)
{
    enter();
    write_script();
    stand_in("test -f \"$1\" && : > drawn");
    ck_assert_int_eq(plot_draw(folder, "fig"), 0);
    ck_assert_int_eq(access(path_of("drawn"), F_OK), 0);
    stand_in("exit 3");
    ck_assert_int_eq(plot_draw(folder, "fig"), -EIO);
    leave();
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_an_error)
{
    const struct plot plot = {"", "", "", false, NULL, 0};
    ck_assert_int_eq(plot_write(&plot, "no/such/folder", "fig"), -ENOENT);
    char name[5000];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    ck_assert_int_eq(plot_write(&plot, ".", name), -ENAMETOOLONG);
    ck_assert_int_eq(plot_draw(".", name), -ENAMETOOLONG);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_script_says_it_all),
    SUITE_TEST(without_gnuplot_it_is_said),
    SUITE_TEST(gnuplot_runs_in_the_folder_and_may_fail),
    SUITE_TEST(a_folder_that_is_not_there_is_an_error),
};
SUITE_MAIN("simulator/plot", tests)
