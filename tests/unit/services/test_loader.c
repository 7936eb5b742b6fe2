/* SPDX-License-Identifier: Apache-2.0 */
#include "services/loader.h"

#include "fake_host.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct loader_module module;
static char why[TABLE_WHY_BYTES];

static int load(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", MODULES, name);
    int rc = loader_open(path, &module, why);
    /* What is said begins with the file that it is about. */
    ck_assert_msg(rc == 0 ? why[0] == '\0' : strstr(why, ".so: ") != NULL || name[0] == '\0', "%d: %s", rc, why);
    return rc;
}

static void refused(const char *name, int rc, const char *words)
{
    int got = load(name);
    ck_assert_msg(got == rc && strstr(why, words) != NULL, "%s gave %d: %s", name, got, why);
}

START_TEST(the_example_loads_and_runs)
{
    ck_assert_int_eq(load("hitcount.so"), 0);
    ck_assert_str_eq(module.service->name, "hitcount");
    cw_svc *s = fake_open(module.service, (cw_dims){3, 1, 1}, (cw_coord){0, 0, 0});
    struct fake_result r;
    fake_command(s, "walk 1,0,0", &r);
    ck_assert_int_eq(r.rc, 0);
    ck_assert_uint_eq(fake_sends(s), 1);
    ck_assert_uint_eq(fake_close(s), 0);
    loader_close(&module);
    ck_assert_ptr_null(module.handle);
}
END_TEST

START_TEST(a_bare_name_is_a_file_here)
{
    ck_assert_int_eq(chdir(MODULES), 0);
    ck_assert_int_eq(loader_open("none.so", &module, why), 0);
    loader_close(&module);
    ck_assert_int_eq(loader_open("libc.so.6", &module, why), -ENOENT);
}
END_TEST

static void copy(const char *from, const char *to)
{
    char command[600];
    snprintf(command, sizeof command, "cp '%s/%s' '%s'", MODULES, from, to);
    ck_assert_int_eq(system(command), 0);
}

/* A new build that was put in the place of the old one is opened beside it; the same file is the same module. */
START_TEST(a_file_that_took_the_place_of_another)
{
    char folder[] = "/tmp/cubeway-test-XXXXXX", path[64], fresh[64], id[LOADER_BUILD_ID], other[LOADER_BUILD_ID];
    struct loader_module old, again;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/h.so", folder);
    snprintf(fresh, sizeof fresh, "%s/fresh.so", folder);
    copy("hitcount.so", path);
    ck_assert_int_eq(loader_open(path, &old, why), 0);
    ck_assert_int_eq(loader_open(path, &again, why), 0);
    ck_assert_ptr_eq(again.handle, old.handle);
    loader_close(&again);
    copy("none.so", fresh);
    ck_assert_int_eq(rename(fresh, path), 0);
    ck_assert_int_eq(loader_open(path, &again, why), 0);
    ck_assert_ptr_ne(again.handle, old.handle);
    ck_assert_str_ne(again.service->name, old.service->name);
    loader_build_id(&old, id);
    loader_build_id(&again, other);
    ck_assert_uint_eq(strlen(id), LOADER_BUILD_ID - 1);
    ck_assert_str_ne(id, other);
    loader_close(&again);
    loader_close(&old);
    ck_assert(unlink(path) == 0 && rmdir(folder) == 0);
}
END_TEST

START_TEST(twice)
{
    struct loader_module first;
    ck_assert_int_eq(load("none.so"), 0);
    first = module;
    ck_assert_int_eq(load("none.so"), 0);
    ck_assert_ptr_eq(module.service, first.service);
    loader_close(&first);
    ck_assert_str_eq(module.service->name, "fault");
    loader_close(&module);
}
END_TEST

START_TEST(files_that_are_no_modules)
{
    refused("nowhere.so", -ENOENT, "No such file");
    FILE *f = fopen(MODULES "/text.so", "w");
    ck_assert_ptr_nonnull(f);
    fputs("not a program at all, but long enough for the head of one: here it ends.\n", f);
    fclose(f);
    refused("text.so", -ENOEXEC, "invalid ELF header");
    refused("", -ENOEXEC, "");
}
END_TEST

/* A copy that was broken off: the daemon says so, and does not die of it. */
START_TEST(a_file_that_is_cut_short)
{
    static const unsigned bytes[] = {40, 100, 700, 2000};
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        char command[900];
        snprintf(command, sizeof command, "cd '%s' && head -c %u none.so > cut.so", MODULES, bytes[i]);
        ck_assert_int_eq(system(command), 0);
        ck_assert_int_eq(load("cut.so"), -ENOEXEC);
        ck_assert_msg(i == 0 || strstr(why, "it is cut short") != NULL, "%u: %s", bytes[i], why);
    }
}
END_TEST

START_TEST(modules_that_are_no_services)
{
    refused("no_entry.so", -ENOEXEC, "does not export cw_service_entry");
    refused("undefined.so", -ENOEXEC, "a_function_that_no_host_has");
    refused("no_table.so", -ENOEXEC, "entry gave NULL");
}
END_TEST

START_TEST(services_for_another_server)
{
    refused("api.so", -EPROTO, "version 3 of the service API, and this is version 2");
    refused("short.so", -EPROTO, "bytes long");
    refused("long_in_use.so", -EPROTO, "bytes long");
    ck_assert_int_eq(load("long_unused.so"), 0);
    loader_close(&module);
}
END_TEST

START_TEST(services_that_are_unsound)
{
    refused("name.so", -ENOEXEC, "letters, digits and dashes");
    refused("builtin_name.so", -ENOEXEC, "its service is called ping, as one that is built in: give it another name");
    refused("builtin_job.so", -ENOEXEC, "1024 or above");
    refused("no_packet.so", -ENOEXEC, "on_packet");
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_example_loads_and_runs),
    SUITE_TEST(a_bare_name_is_a_file_here),
    SUITE_TEST(a_file_that_took_the_place_of_another),
    SUITE_TEST(twice),
    SUITE_TEST(files_that_are_no_modules),
    SUITE_TEST(a_file_that_is_cut_short),
    SUITE_TEST(modules_that_are_no_services),
    SUITE_TEST(services_for_another_server),
    SUITE_TEST(services_that_are_unsound),
};
SUITE_MAIN("loader", tests)
