/* SPDX-License-Identifier: Apache-2.0 */
/* test_path.c - from the path of an item to its line, and from an item to its path. */
#include "conf/conf.h"
#include "suite.h"

#include <string.h>

static const char text[] = "a = 1\nb {\n c = 2\n +x {\n d = 3 } }\nservice \"k.v\" {\n w = 1 }\n";

static struct conf open_good(void)
{
    struct conf conf;
    unsigned line = 0;
    char why[CONF_WHY];
    ck_assert_msg(conf_open(&conf, text, strlen(text), &line, why) == 0, "line %u: %s", line, why);
    return conf;
}

START_TEST(a_path_has_a_line)
{
    struct conf conf = open_good();
    ck_assert_uint_eq(conf_line(&conf, "a"), 1);
    ck_assert_uint_eq(conf_line(&conf, "b"), 2);
    ck_assert_uint_eq(conf_line(&conf, "b.c"), 3);
    ck_assert_uint_eq(conf_line(&conf, "b.+x.d"), 5);
    ck_assert_uint_eq(conf_line(&conf, "b.nothing"), 2);
    ck_assert_uint_eq(conf_line(&conf, "bc"), 1);
    ck_assert_uint_eq(conf_line(&conf, "service \"k.v\".w"), 7);
    ck_assert_uint_eq(conf_line(&conf, "service \"k\""), 1);
    ck_assert_uint_eq(conf_line(&conf, ""), 1);
    conf_close(&conf);
}
END_TEST

/* Every item's path leads back to the item's line. */
START_TEST(an_item_has_a_path)
{
    struct conf conf = open_good();
    char path[CONF_PATH];
    for (uint32_t i = 1; i < conf.count; i++) {
        ck_assert_uint_eq(conf_line(&conf, conf_path(&conf, &conf.item[i], path)), conf.item[i].line);
    }
    ck_assert_str_eq(conf_path(&conf, &conf.item[conf.count - 1], path), "service \"k.v\".w");
    conf_close(&conf);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_path_has_a_line), SUITE_TEST(an_item_has_a_path)};
SUITE_MAIN("path", tests)
