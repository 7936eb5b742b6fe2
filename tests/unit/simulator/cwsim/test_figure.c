/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/figure.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const columns[] = {"a", "b", NULL};
static const struct plot_series series[] = {{.title = "b by a", .x = "a", .y = "b", .line = true}};

static struct figure figure_of(const char *folder)
{
    return (struct figure){
        .self = &command_paper,
        .folder = folder,
        .name = "f",
        .list = "points",
        .columns = columns,
        .plot = {.title = "T", .x_label = "x", .y_label = "y", .series = series, .count = 1},
    };
}

static void add(struct report *r, int a, int b)
{
    struct report *point = report_open(NULL);
    report_integer(point, "a", a);
    report_integer(point, "b", b);
    report_integer(point, "not a column", 1);
    report_append(r, "points", point);
}

static void read_text(const char *folder, const char *suffix, char out[static 4000])
{
    char path[64];
    snprintf(path, sizeof path, "%s/f.%s", folder, suffix);
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    out[fread(out, 1, 3999, f)] = '\0';
    fclose(f);
}

/* What was saved last has all points so far. */
START_TEST(points)
{
    char folder[] = "figure-test-XXXXXX", text[4000];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    struct figure f = figure_of(folder);
    struct report *r = report_open("paper");
    ck_assert_int_eq(figure_folder(&command_paper, folder), 0);
    add(r, 1, 2);
    ck_assert_int_eq(figure_save(&f, r), 0);
    read_text(folder, "csv", text);
    ck_assert_str_eq(text, "a,b\n1,2\n");
    add(r, 3, 4);
    ck_assert_int_eq(figure_save(&f, r), 0);
    read_text(folder, "csv", text);
    ck_assert_str_eq(text, "a,b\n1,2\n3,4\n");
    read_text(folder, "json", text);
    ck_assert_ptr_nonnull(strstr(text, "\"not a column\":1"));
    read_text(folder, "gp", text);
    ck_assert_ptr_nonnull(strstr(text, "'f.csv' using (column('a')):(column('b'))"));
    figure_draw(&f);
    report_close(r);
    static const char *const suffixes[] = {"csv", "json", "gp", "png"};
    for (unsigned i = 0; i < 4; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/f.%s", folder, suffixes[i]);
        (void)remove(path);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(folders)
{
    char folder[] = "figure-test-XXXXXX", inner[64], wrong[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(inner, sizeof inner, "%s/new", folder);
    snprintf(wrong, sizeof wrong, "%s/no/such", folder);
    ck_assert_int_eq(figure_folder(&command_paper, inner), 0);
    ck_assert_int_eq(figure_folder(&command_paper, inner), 0);
    ck_assert_int_eq(figure_folder(&command_paper, wrong), -ENOENT);
    struct figure f = figure_of(wrong);
    struct report *r = report_open("paper");
    ck_assert_int_eq(figure_save(&f, r), -ENOENT);
    report_close(r);
    ck_assert_int_eq(rmdir(inner), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(points), SUITE_TEST(folders)};
SUITE_MAIN("figure", tests)
