/* SPDX-License-Identifier: Apache-2.0 */
/* test_builds.c - the build that a lab runs is found again when its file has another one. */
#include "testbed/builds.h"

#include "lab_place.h"
#include "suite.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static struct lab lab;
static char file[LAB_PATH], found[LAB_PATH];

static void make_lab(void)
{
    char why[LAB_WHY];
    memset(&lab, 0, sizeof lab);
    ck_assert_int_eq(torus_init(&lab.torus, (cw_dims){2, 1, 1}), 0);
    ck_assert_int_eq(lab_place(&lab, "t", why), 0);
    ck_assert_int_eq(lab_make_folder(&lab), 0);
    lab_data(&lab, "own", ".so", file);
}

/* As a build is put in the place of another one. */
static void put(const char *module)
{
    char command[5 * LAB_PATH];
    snprintf(command, sizeof command, "cp '%s' '%s.new' && mv '%s.new' '%s'", module, file, file, file);
    ck_assert_int_eq(system(command), 0);
}

static const char *build_of(const char *path)
{
    static char build[LOADER_BUILD_ID];
    struct loader_module module;
    char why[TABLE_WHY_BYTES];
    ck_assert_msg(loader_open(path, &module, why) == 0, "%s", why);
    loader_build_id(&module, build);
    loader_close(&module);
    return build;
}

START_TEST(a_build_outlives_its_file)
{
    char first[LOADER_BUILD_ID];
    char *at = place_make();
    make_lab();
    put(MODULES "/build1.so");
    snprintf(first, sizeof first, "%s", build_of(file));
    ck_assert_int_eq(builds_keep(&lab, file), 0);
    ck_assert_int_eq(builds_keep(&lab, file), 0);
    ck_assert_str_eq(builds_find(&lab, "builds", first, file, found), file);
    put(MODULES "/build2.so");
    ck_assert_str_ne(build_of(file), first);
    ck_assert_ptr_nonnull(builds_find(&lab, "builds", first, file, found));
    ck_assert_str_ne(found, file);
    ck_assert_str_eq(build_of(found), first);
    ck_assert_int_eq(unlink(file), 0);
    ck_assert_ptr_nonnull(builds_find(&lab, "builds", first, file, found));
    ck_assert_int_eq(builds_keep(&lab, file), -ENOENT);
    place_remove(at);
}
END_TEST

START_TEST(what_was_looked_for_is_kept)
{
    char *at = place_make();
    char first[LOADER_BUILD_ID];
    make_lab();
    put(MODULES "/build1.so");
    snprintf(first, sizeof first, "%s", build_of(file));
    ck_assert_ptr_null(builds_find(&lab, "builds", "", file, found));
    ck_assert_ptr_null(builds_find(&lab, "other", first, file, found));
    ck_assert_ptr_null(builds_find(&lab, "builds", "0123456789ab", file, found));
    ck_assert_str_eq(builds_find(&lab, "builds", first, file, found), file);
    put(MODULES "/build2.so");
    ck_assert_ptr_nonnull(builds_find(&lab, "builds", first, file, found));
    place_remove(at);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_build_outlives_its_file),
    SUITE_TEST(what_was_looked_for_is_kept),
};
SUITE_MAIN("builds", tests)
