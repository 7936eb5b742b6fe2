/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/config/offline.h"

#include "suite.h"

#include <string.h>

static char said[20000];

/* What an answer of that form has written, to both streams. */
static const char *answer(bool json, void (*give)(struct offline *o))
{
    memset(said, 0, sizeof said);
    FILE *out = fmemopen(said, sizeof said, "w");
    struct offline o = {json, out, out};
    give(&o);
    fclose(out);
    return said;
}

static void version(struct offline *o)
{
    offline_version(o);
}

static void findings(struct offline *o)
{
    offline_mistake(o, "a: wrong");
    offline_warning(o, "b: odd");
    offline_note(o, "file", "know this");
    offline_checked(o, "file", 1, 1);
}

static void fine(struct offline *o)
{
    offline_checked(o, "file", 0, 0);
    offline_checked(o, "file", 0, 1);
}

static void out_of_order(struct offline *o)
{
    struct offline_sorter s = {.offline = o, .file = "f.conf"};
    offline_sort_mistake(&s, "other:1: of another file");
    offline_sort_mistake(&s, "f.conf:12: twelve");
    offline_sort_warning(&s, "f.conf:3: three");
    offline_sort_mistake(&s, "f.conf: and 2 more");
    offline_sort_mistake(&s, "f.conf:3: three again");
    offline_sorted(&s);
    offline_sorted(&s); /* nothing is left */
}

static void config(struct offline *o)
{
    static struct daemon_config c;
    c = config_default();
    offline_config(o, &c);
}

START_TEST(as_text)
{
    ck_assert_int_eq(strncmp(answer(false, version), "cubewayd ", 9), 0);
    ck_assert_str_eq(answer(false, findings), "cubewayd: a: wrong\ncubewayd: b: odd\nfile: know this\n");
    ck_assert_str_eq(answer(false, fine), "file: good\nfile: good, with 1 warning\n");
}
END_TEST

START_TEST(as_json)
{
    ck_assert_ptr_nonnull(strstr(answer(true, version), "{\"program\":\"cubewayd\",\"version\":\""));
    ck_assert_str_eq(answer(true, findings), "{\"kind\":\"mistake\",\"text\":\"a: wrong\"}\n"
                                             "{\"kind\":\"warning\",\"text\":\"b: odd\"}\n"
                                             "{\"kind\":\"note\",\"text\":\"know this\"}\n"
                                             "{\"file\":\"file\",\"good\":false,\"mistakes\":1,\"warnings\":1}\n");
    ck_assert_ptr_nonnull(strstr(answer(true, config), "{\"key\":\"watcher\",\"value\":\""));
}
END_TEST

START_TEST(by_line)
{
    ck_assert_str_eq(answer(false, out_of_order), "cubewayd: f.conf:3: three\ncubewayd: f.conf:3: three again\n"
                                                  "cubewayd: f.conf:12: twelve\ncubewayd: other:1: of another file\n"
                                                  "cubewayd: f.conf: and 2 more\n");
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(as_text),
    SUITE_TEST(as_json),
    SUITE_TEST(by_line),
};
SUITE_MAIN("offline", tests)
