/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/plot.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const double said[] = {1, 2, 3, 4.5};
static const struct plot_series series[] = {
    {.title = "it's measured", .x = "a", .y = "b", .line = true},
    {.title = "said", .point = said, .points = 2},
};
static const struct plot example = {
    .title = "A title", .x_label = "x, in it's units", .y_label = "y", .x_log = true, .series = series, .count = 2};

static void make_folder(char path[static 32])
{
    snprintf(path, 32, "plot-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(path));
}

static void file_of(char out[static 64], const char *folder, const char *suffix)
{
    snprintf(out, 64, "%s/f.%s", folder, suffix);
}

static void clean(const char *folder)
{
    static const char *const suffixes[] = {"gp", "csv", "png"};
    for (unsigned i = 0; i < 3; i++) {
        char path[64];
        file_of(path, folder, suffixes[i]);
        (void)remove(path);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}

START_TEST(script)
{
    char folder[32], path[64], text[4000] = "";
    make_folder(folder);
    ck_assert_int_eq(plot_write(&example, folder, "f"), 0);
    file_of(path, folder, "gp");
    FILE *f = fopen(path, "r");
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, f), 100);
    fclose(f);
    ck_assert_ptr_nonnull(strstr(text, "set output 'f.png'\n"));
    ck_assert_ptr_nonnull(strstr(text, "set xlabel 'x, in it''s units'\n"));
    ck_assert_ptr_nonnull(strstr(text, "set logscale x\n"));
    ck_assert_ptr_nonnull(strstr(text, "$series1 << END\n1,2\n3,4.5\nEND\n"));
    ck_assert_ptr_nonnull(strstr(text, "set yrange [0:*]\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "plot 'f.csv' using (column('a')):(column('b')):xtic(stringcolumn('a')) with linespoints "));
    ck_assert_ptr_nonnull(strstr(text, " title 'it''s measured', \\\n     $series1 using 1:2 with points "));
    ck_assert_ptr_nonnull(strstr(text, " title 'said', \\\n     $series1 using 1:($2 != 0 ? $2 : NaN):2 with labels "));
    clean(folder);
    ck_assert_int_eq(plot_write(&example, "no/such/folder", "f"), -ENOENT);
}
END_TEST

START_TEST(picture)
{
    char folder[32], path[64];
    struct stat st;
    make_folder(folder);
    file_of(path, folder, "csv");
    FILE *f = fopen(path, "w");
    fputs("a,b,c\n1,2,3\n4,5,6\n", f);
    fclose(f);
    ck_assert_int_eq(plot_write(&example, folder, "f"), 0);
    int rc = plot_draw(folder, "f");
    file_of(path, folder, "png");
    if (rc == -ENOPKG) {
        puts("no gnuplot here: the picture is not drawn");
    } else {
        ck_assert_int_eq(rc, 0);
        ck_assert(stat(path, &st) == 0 && st.st_size > 1000);
    }
    clean(folder);
}
END_TEST

START_TEST(logarithm_of_y)
{
    char folder[32], path[64], text[4000] = "";
    struct plot both = example;
    both.x_log = false;
    both.y_log = true;
    make_folder(folder);
    ck_assert_int_eq(plot_write(&both, folder, "f"), 0);
    file_of(path, folder, "gp");
    FILE *f = fopen(path, "r");
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, f), 100);
    fclose(f);
    ck_assert_ptr_nonnull(strstr(text, "set logscale y\n"));
    ck_assert_ptr_null(strstr(text, "yrange"));
    ck_assert_ptr_null(strstr(text, "xtic"));
    clean(folder);
}
END_TEST

/* What is missing is told apart: the script, its folder, gnuplot. */
START_TEST(missing)
{
    char folder[32];
    make_folder(folder);
    ck_assert_int_eq(plot_draw(folder, "f"), -ENOENT);
    ck_assert_int_eq(plot_draw("no/such/folder", "f"), -ENOENT);
    ck_assert_int_eq(setenv("PATH", "/nowhere", 1), 0);
    ck_assert_int_eq(plot_draw(folder, "f"), -ENOENT);
    ck_assert_int_eq(plot_write(&example, folder, "f"), 0);
    ck_assert_int_eq(plot_draw(folder, "f"), -ENOPKG);
    clean(folder);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(script), SUITE_TEST(logarithm_of_y), SUITE_TEST(picture),
                                          SUITE_TEST(missing)};
SUITE_MAIN("plot", tests)
