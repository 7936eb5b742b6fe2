/* SPDX-License-Identifier: Apache-2.0 */
/* test_reload.c - what changed is named, and what can be changed is. */
#include "daemon/machine/log.h"
#include "daemon/machine/reload.h"
#include "daemon_said.h"
#include "suite.h"

#include <stdlib.h>
#include <unistd.h>

static void note(void *context, const char *key, const char *now, const char *next)
{
    char *all = context;
    size_t used = strlen(all);
    snprintf(all + used, 500 - used, "%s:%s>%s ", key, now != NULL ? now : "", next != NULL ? next : "");
}

START_TEST(differences_are_named)
{
    struct daemon_config a, b;
    struct said said;
    char all[500] = "";
    ck_assert_int_eq(try_config("torus { dims = 3x3x3; coordinate = all } mtu = 2000", &a, &said), 0);
    ck_assert_int_eq(try_config("torus { dims = 3x3x3; coordinate = all } log { level = warn } user = me", &b, &said),
                     0);
    ck_assert_uint_eq(reload_compare(&a, &a, note, all), 0);
    ck_assert_uint_eq(reload_compare(&a, &b, note, all), 3);
    ck_assert_str_eq(all, "mtu:2000> log.level:info>warn user:>me ");
}
END_TEST

static void put(const char *path, const char *text)
{
    FILE *out = fopen(path, "we");
    fputs(text, out);
    fclose(out);
}

START_TEST(the_level_is_changed_and_no_more)
{
    char path[] = "/tmp/cubeway-reload-XXXXXX";
    struct daemon_config c;
    struct said said = {.count = 0};
    int ends[2];
    char text[4000] = "";
    close(mkstemp(path));
    ck_assert_int_eq(pipe(ends), 0);
    struct log *log = log_open(ends[1], CW_LOG_INFO, false);
    put(path, "torus { dims = 3x3x3; coordinate = all }");
    ck_assert_int_eq(config_load(path, &c, say, &said), 0);
    put(path, "torus { dims = 3x3x4; coordinate = all } log { level = debug }");
    reload_level(&c, log);
    ck_assert_int_eq(log_level(log), CW_LOG_DEBUG);
    ck_assert(c.log_level == CW_LOG_DEBUG && c.dims.z == 3);
    put(path, "torus { dims = 3x3x4 } ");
    reload_level(&c, log);
    ck_assert_int_gt(read(ends[0], text, sizeof text - 1), 0);
    ck_assert_ptr_nonnull(strstr(text, "msg=\"this change needs a restart\" key=torus.dims now=3x3x3 file=3x3x4"));
    ck_assert_ptr_nonnull(strstr(text, "msg=\"configuration is not read again\""));
    log_close(log);
    unlink(path);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(differences_are_named),
    SUITE_TEST(the_level_is_changed_and_no_more),
};
SUITE_MAIN("reload", tests)
