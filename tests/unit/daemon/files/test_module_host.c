/* SPDX-License-Identifier: Apache-2.0 */
/* test_module_host.c - real modules of functions, from a folder of the machine. */
#include "daemon/files/module_host.h"

#include "suite.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64];
static struct modules_host h;

/* In the folder. */
static void run(const char *commands)
{
    char line[600];
    snprintf(line, sizeof line, "cd %s && %s", top, commands);
    ck_assert_int_eq(system(line), 0);
}

static void setup(void)
{
    strcpy(top, "/tmp/cubeway-modules-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(top));
    module_host_open(&h, "");
}

static void teardown(void)
{
    char line[100];
    snprintf(line, sizeof line, "rm -rf %s", top);
    ck_assert_int_eq(system(line), 0);
}

static char said[600];
static uint8_t digest[2][MODULES_DIGEST];
static const cw_combiner *combiner;
static const cw_mapper *mapper;
static unsigned good;

static const char *unwanted = ""; /* nobody wants that file */

static bool found(void *arg, const struct module_file *f)
{
    (void)arg;
    if (f->why == NULL) {
        combiner = f->combiner;
        mapper = f->mapper;
        memcpy(digest[good++ % 2], f->digest, MODULES_DIGEST);
    }
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s: %.31s\n", f->file, f->why != NULL ? f->why : "good");
    return strcmp(f->file, unwanted) != 0;
}

START_TEST(files)
{
    struct module_files *all = NULL;
    const uint8_t line[] = "abc", value[] = "12";
    const cw_bytes values[] = {{value, 2}, {value, 1}, {value, 1}};
    uint8_t out[8];
    setup();
    run("cp " MODULE " a.so && cp a.so b.so && cp a.so open.so && chmod 755 a.so b.so && chmod 777 open.so && "
        "echo > no.so && echo > other && mkdir x.so");
    ck_assert_int_eq(h.load(h.context, top, found, NULL, &all), 0);
    ck_assert_msg(strstr(said, "a.so: good\nb.so: good\nno.so: ") == said, "%s", said);
    ck_assert(strstr(said, "open.so: others may write it\nx.so: it is no regular file") != NULL);
    ck_assert(good == 2 && memcmp(digest[0], digest[1], MODULES_DIGEST) == 0);
    ck_assert(combiner != NULL && mapper != NULL);
    ck_assert_int_eq(combiner->combine((cw_bytes){line, 1}, values, 3, 0, out, sizeof out), 1);
    ck_assert_int_eq(out[0], '1');
    h.unload(h.context, all);
    teardown();
}
END_TEST

static bool is_mapped(const char *file)
{
    char line[600];
    bool mapped = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    ck_assert_ptr_nonnull(maps);
    while (fgets(line, sizeof line, maps) != NULL) {
        mapped = mapped || (strstr(line, top) != NULL && strstr(line, file) != NULL);
    }
    fclose(maps);
    return mapped;
}

/* A file that is left out does not stay in memory; and what the server waits for is bounded. */
START_TEST(left_out)
{
    struct module_files *all = NULL;
    setup();
    run("cp " MODULE " a.so && cp a.so b.so && chmod 755 a.so b.so && truncate -s 16M c.so d.so e.so f.so");
    unwanted = "b.so";
    said[0] = '\0';
    ck_assert_int_eq(h.load(h.context, top, found, NULL, &all), 0);
    ck_assert(is_mapped("/a.so") && !is_mapped("/b.so"));
    ck_assert_msg(strstr(said, "f.so: all together they have mor") != NULL, "%s", said);
    ck_assert(strstr(said, "e.so: all together") == NULL);
    unwanted = "";
    h.unload(h.context, all);
    ck_assert(!is_mapped("/a.so"));
    teardown();
}
END_TEST

START_TEST(folders)
{
    struct module_files *all = NULL;
    setup();
    ck_assert_int_eq(h.load(h.context, "/nowhere/at/all", found, NULL, &all), -ENOENT);
    ck_assert_int_eq(chmod(top, 0777), 0);
    ck_assert_int_eq(h.load(h.context, top, found, NULL, &all), -EPERM);
    ck_assert_int_eq(chmod(top, 01777), 0);
    ck_assert_int_eq(h.load(h.context, top, found, NULL, &all), -EPERM);
    teardown();
}
END_TEST

/* Services may open before the daemon gives up being root: whose files are trusted does not hang on that. */
START_TEST(the_user_to_be)
{
    struct module_files *all = NULL;
    const struct passwd *nobody = getpwnam("nobody");
    if (geteuid() != 0 || nobody == NULL) {
        return;
    }
    setup();
    run("cp " MODULE " a.so && chmod 755 a.so && chown nobody . a.so");
    ck_assert_int_eq(h.load(h.context, top, found, NULL, &all), -EPERM);
    module_host_open(&h, "nobody");
    said[0] = '\0';
    ck_assert_int_eq(h.load(h.context, top, found, NULL, &all), 0);
    ck_assert_str_eq(said, "a.so: good\n");
    h.unload(h.context, all);
    teardown();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(files), SUITE_TEST(left_out), SUITE_TEST(folders),
                                          SUITE_TEST(the_user_to_be)};
SUITE_MAIN("module_host", tests)
