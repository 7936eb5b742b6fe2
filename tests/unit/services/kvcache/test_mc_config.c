/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the front end. */
#include "services/kvcache/mc_config.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

struct pair {
    const char *name, *value;
};

static const char *get(void *context, const char *name)
{
    for (const struct pair *p = context; p->name != NULL; p++) {
        if (strcmp(p->name, name) == 0) {
            return p->value;
        }
    }
    return NULL;
}

static char why[MC_CONFIG_WHY];
static struct mc_config c;

static int read_one(const char *name, const char *value)
{
    struct pair pairs[] = {{name, value}, {NULL, NULL}};
    return mc_config_read(&c, "127.0.0.1:11211", get, pairs, why);
}

START_TEST(what_is_said_counts)
{
    ck_assert_int_eq(read_one("other", "x"), 0);
    ck_assert_str_eq(c.listen, "127.0.0.1:11211");
    ck_assert_uint_eq(c.connections, 1024);
    ck_assert_int_eq(read_one("listen", "[::1]:4000"), 0);
    ck_assert_str_eq(c.listen, "[::1]:4000");
    ck_assert_int_eq(read_one("listen", "none"), 0);
    ck_assert_str_eq(c.listen, "");
    ck_assert_int_eq(read_one("connections", "5"), 0);
    ck_assert_uint_eq(c.connections, 5);
    ck_assert_int_eq(read_one("idle_s", "0"), 0);
    ck_assert_int_eq(c.idle.ns, 0);
    ck_assert_int_eq(read_one("slow_s", "2"), 0);
    ck_assert_int_eq(c.slow.ns, CW_SEC(2).ns);
    ck_assert_int_eq(read_one("output_kib", "16"), 0);
    ck_assert_uint_eq(c.output, 16384);
    ck_assert_int_eq(read_one("answers_mib", "2"), 0);
    ck_assert_uint_eq(c.memory, 2 << 20);
}
END_TEST

START_TEST(what_cannot_be_is_named)
{
    static const struct pair rows[] = {
        {"listen", "11211"},
        {"listen", "localhost"},
        {"listen", ":11211"},
        {"listen", "1.2.3.4:0"},
        {"listen", "1.2.3.4:65536"},
        {"listen", "::1:5"},
        {"listen", "[]:5"},
        {"connections", "0"},
        {"connections", "65537"},
        {"connections", ""},
        {"connections", "-1"},
        {"idle_s", "1h"},
        {"slow_s", "0"},
        {"output_kib", "1"},
        {"answers_mib", "0"},
        {"connections", "1k"},
        {"idle_s", "2k"},
        {"slow_s", "1k"},
        {"output_kib", "1k"},
        {"answers_mib", "1k"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_int_eq(read_one(rows[i].name, rows[i].value), -EINVAL);
        ck_assert_msg(strstr(why, rows[i].name) != NULL && strstr(why, "expected") != NULL, "%s", why);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(what_is_said_counts), SUITE_TEST(what_cannot_be_is_named)};
SUITE_MAIN("mc_config", tests)
