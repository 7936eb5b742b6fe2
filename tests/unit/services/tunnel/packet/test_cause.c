/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/packet/cause.h"
#include "suite.h"

#include <ctype.h>
#include <string.h>

START_TEST(each_has_a_name_and_a_sentence)
{
    for (int i = 0; i < TUNNEL_CAUSES; i++) {
        const char *name = tunnel_cause_name((enum tunnel_cause)i);
        const char *text = tunnel_cause_text((enum tunnel_cause)i);
        ck_assert(name != NULL && text != NULL);
        SUITE_HOLDS(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name), "%s", name);
        SUITE_HOLDS(strlen(name) >= 3 && strlen(name) < 24, "%s", name);
        SUITE_HOLDS(isupper((unsigned char)text[0]) && text[strlen(text) - 1] == '.', "%s", text);
        for (int k = 0; k < i; k++) {
            SUITE_HOLDS(strcmp(name, tunnel_cause_name((enum tunnel_cause)k)) != 0, "%s", name);
        }
    }
}
END_TEST

START_TEST(beyond_the_last)
{
    (void)tunnel_cause_name(TUNNEL_CAUSES);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(each_has_a_name_and_a_sentence), SUITE_ABORTS(beyond_the_last)};
SUITE_MAIN("cause", tests)
