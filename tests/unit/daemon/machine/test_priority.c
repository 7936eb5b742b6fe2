/* SPDX-License-Identifier: Apache-2.0 */
/* test_priority.c - what is missing of the priority that is configured is said, and nothing where none is wanted. */
#include "daemon/machine/priority.h"

#include "suite.h"

#include <string.h>

static const char *take(int place, int priority)
{
    struct daemon_config config = config_default();
    config.place = place;
    config.priority = priority;
    return priority_take(&config, NULL);
}

START_TEST(none_is_wanted)
{
    ck_assert_ptr_null(take(CONFIG_STATIC, CONFIG_NORMAL));
    ck_assert_ptr_null(take(CONFIG_WHOLE, CONFIG_NORMAL));
    ck_assert_str_eq(take(CONFIG_WHOLE, CONFIG_REALTIME), "all of it: a torus in one process holds time");
}
END_TEST

/* By the rights of whoever runs this it is all there, or it is said what is missing. */
START_TEST(what_the_system_allows)
{
    const char *high = take(CONFIG_STATIC, CONFIG_HIGH);
    ck_assert_msg(high == NULL || strstr(high, "all of it: ") == high || strstr(high, "other sessions: ") == high, "%s",
                  high);
    const char *realtime = take(CONFIG_STATIC, CONFIG_REALTIME);
    ck_assert_msg(realtime == NULL || strstr(realtime, "real time: ") == realtime, "%s", realtime);
    ck_assert_ptr_nonnull(strstr(priority_realtime_takes, "CAP_SYS_NICE"));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(none_is_wanted), SUITE_TEST(what_the_system_allows)};
SUITE_MAIN("priority", tests)
