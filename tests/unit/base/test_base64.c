/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

static uint8_t out[64];

/* RFC 4648, section 10. */
START_TEST(the_standards_own)
{
    static const struct {
        const char *text, *is;
    } table[] = {{"", ""},
                 {"Zg==", "f"},
                 {"Zm8=", "fo"},
                 {"Zm9v", "foo"},
                 {"Zm9vYg==", "foob"},
                 {"Zm9vYmE=", "fooba"},
                 {"Zm9vYmFy", "foobar"}};
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_int_eq(base64_decode(table[i].text, out, sizeof out), (int)strlen(table[i].is));
        ck_assert_int_eq(memcmp(out, table[i].is, strlen(table[i].is)), 0);
    }
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        char text[16];
        base64_encode((const uint8_t *)table[i].is, strlen(table[i].is), text);
        ck_assert_str_eq(text, table[i].text);
        ck_assert_uint_eq(base64_length(strlen(table[i].is)), strlen(table[i].text));
    }
    ck_assert_int_eq(base64_decode("//79", out, 3), 3);
    ck_assert_uint_eq(out[0], 0xff);
    ck_assert_uint_eq(out[2], 0xfd);
}
END_TEST

START_TEST(what_is_none)
{
    static const char *const bad[] = {"Z", "Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zm=v", "Zm 9", "Zm9\n", "Zm9v="};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(base64_decode(bad[i], out, sizeof out) == -EINVAL, "%s", bad[i]);
    }
    ck_assert_int_eq(base64_decode("Zm9v", out, 2), -EMSGSIZE);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(the_standards_own), SUITE_TEST(what_is_none)};
SUITE_MAIN("base64", tests)
