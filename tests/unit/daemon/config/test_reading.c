/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of an item that is not as it should be, with its line and its key. */
#include "daemon/config/reading.h"

#include "daemon_said.h"
#include "suite.h"

static struct said said;
static struct reading r;
static struct daemon_config config;

static const struct conf_item *read_text(const char *text)
{
    said = (struct said){.count = 0};
    config = config_default();
    r = (struct reading){.file = "c", .config = &config, .mistake = say, .context = &said};
    ck_assert_int_eq(conf_open_most(&r.tree, text, strlen(text), NULL, NULL), 0);
    return reading_item(&r, r.tree.item[0].first);
}

static void is_said(const char *text)
{
    ck_assert_msg(was_said(&said, text), "%u: %s", said.count, said.text[0]);
    conf_close(&r.tree);
}

START_TEST(kinds_of_items)
{
    const struct conf_item *i = read_text("name = x; pump { } service ping { }");
    ck_assert(reading_want_value(&r, i) && !reading_want_section(&r, i, false));
    is_said("c:1: name: expected a section: name { ... }");
    i = reading_next(&r, read_text("name = x; pump { } service ping { }"));
    ck_assert(reading_want_section(&r, i, false) && !reading_want_section(&r, i, true));
    is_said("c:1: pump: this section needs a name: pump \"name\" { ... }");
    i = reading_next(&r, reading_next(&r, read_text("name = x; pump { } service ping { }")));
    ck_assert(reading_want_section(&r, i, true) && !reading_want_value(&r, i) && reading_next(&r, i) == NULL);
    is_said("c:1: service \"ping\": expected a value, not a section");
}
END_TEST

START_TEST(keys_of_a_table)
{
    const struct setting *top = config_sections[0].settings;
    const struct conf_item *i = read_text("mtu = 1\nmtw = 2\nmtu = 2000");
    ck_assert(reading_setting(&r, top, i, &config));
    ck_assert(was_said(&said, "c:1: mtu: '1': expected a whole number from 1500 to 9000"));
    i = reading_next(&r, i);
    ck_assert(!reading_setting(&r, top, i, &config));
    reading_unknown(&r, i, top, "here");
    ck_assert(was_said(&said, "c:2: mtw: no such key here; did you mean mtu?"));
    i = reading_next(&r, i);
    ck_assert(reading_setting(&r, top, i, &config) && config.mtu == 2000);
    ck_assert(!reading_is_first(&r, &r.tree.item[0], i));
    is_said("c:3: mtu: it was given before, in line 1");
}
END_TEST

/* More than a few of them tell nobody anything. */
START_TEST(not_all_are_told)
{
    const struct conf_item *i = read_text("name = x");
    for (unsigned n = 0; n < CONFIG_MISTAKES + 5; n++) {
        reading_wrong(&r, i, "number %u", n);
    }
    ck_assert_uint_eq(said.count, CONFIG_MISTAKES);
    ck_assert_uint_eq(r.mistakes, CONFIG_MISTAKES + 5);
    is_said("c:1: name: number 0");
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(kinds_of_items), SUITE_TEST(keys_of_a_table),
                                          SUITE_TEST(not_all_are_told)};
SUITE_MAIN("config_reading", tests)
