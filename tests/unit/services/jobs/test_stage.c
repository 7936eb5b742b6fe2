/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs_town.h"
#include "suite.h"

static int64_t last(const char *name)
{
    return fake_int(&town_result, town_result.rows - 1, name);
}

static void open_town(void)
{
    town_prepare();
    town_open((cw_dims){3, 2, 1});
    town_run(1);
}

START_TEST(in_pieces)
{
    open_town();
    size_t size = kit_version(9, 5, town_room);
    char text[1024], line[1200];
    base64_encode(town_room, 60, text);
    snprintf(line, sizeof line, "more 0 %s", text);
    town_line(0, line);
    ck_assert_int_eq(last("bytes"), 60);
    town_line(0, "more 30 AAAA");
    ck_assert_int_eq(town_result.rc, -EINVAL);
    /* Somebody else's that needs no pieces is put as it is, and harms nothing. */
    static uint8_t other[KIT_RECORD_MAX];
    base64_encode(other, kit_version(10, 1, other), text);
    snprintf(line, sizeof line, "put %s", text);
    town_line(0, line);
    ck_assert_int_eq(town_result.rc, 0);
    ck_assert_int_eq(last("job"), 10);
    base64_encode(town_room + 60, 30, text);
    snprintf(line, sizeof line, "more 60 %s", text);
    town_line(0, line);
    ck_assert_int_eq(last("bytes"), 90);
    base64_encode(town_room + 90, size - 90, text);
    memmove(text + 5, text + 4, strlen(text + 4) + 1); /* and in two words */
    text[4] = ' ';
    snprintf(line, sizeof line, "put %s wait=1", text);
    town_line(0, line);
    ck_assert_int_eq(town_result.rc, 0);
    ck_assert_int_eq(last("acked"), 6);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(in_pieces),
};
SUITE_MAIN("stage", tests)
