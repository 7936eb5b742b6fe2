/* SPDX-License-Identifier: Apache-2.0 */
/* test_keys.c - the tables: no key twice, every default inside its own bounds. */
#include "daemon/config/internal.h"
#include "suite.h"

#include <string.h>

static void check_table(const struct setting *table, const void *defaults)
{
    for (const struct setting *s = table; s->name != NULL; s++) {
        for (const struct setting *other = table; other != s; other++) {
            ck_assert_str_ne(other->name, s->name);
            ck_assert_uint_ne(other->at, s->at);
        }
        char value[SETTING_VALUE];
        unsigned char copy[sizeof(struct daemon_config)];
        if (defaults != NULL && setting_write(s, defaults, value)) {
            ck_assert_msg(setting_read(s, value, strlen(value), copy) == 0, "%s = %s", s->name, value);
        }
    }
}

START_TEST(tables_are_sound)
{
    struct daemon_config c = config_default();
    snprintf(c.name, sizeof c.name, "x"); /* which has no default of its own */
    for (const struct config_section *s = config_sections; s->settings != NULL; s++) {
        check_table(s->settings, &c);
    }
    check_table(config_torus_keys, &c);
    check_table(config_link_keys, &c.link[0]);
    check_table(config_fault_keys, &c.fault);
    check_table(config_service_keys, NULL);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(tables_are_sound)};
SUITE_MAIN("config_keys", tests)
