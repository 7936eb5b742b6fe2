/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/scrub.h"

#include "services/store/disk/journal.h"
#include "store_cellar.h"
#include "suite.h"

#include <string.h>

static const char *const value = "a-value-that-can-be-found-again";

/* Flips a bit of the value where it stands in the log of that server. */
static void rot(cw_server s)
{
    enum { LOOKED_AT = 1 << 20 };
    static char bytes[LOOKED_AT];
    struct sim_disk *disk = store_cellar_disk(s);
    sim_disk_peek(disk, "meta-000001.seg", 0, bytes, sizeof bytes);
    size_t at = 0;
    while (at + strlen(value) < sizeof bytes && memcmp(bytes + at, value, strlen(value)) != 0) {
        at++;
    }
    ck_assert_uint_lt(at + strlen(value), sizeof bytes);
    sim_disk_flip(disk, "meta-000001.seg", at * 8 + 3);
}

static int64_t told(struct fake_net *net, cw_server s, const char *command, const char *what)
{
    return fake_int(store_town_ask(net, s, command), 0, what);
}

START_TEST(rot_is_found_and_mended)
{
    struct fake_net *net = store_cellar_open(3);
    cw_server member[STORE_COPIES_MOST];
    char put[100];
    snprintf(put, sizeof put, "put a %s", value);
    store_town_must(net, 0, put, CW_STORE_OK);
    store_town_members(net, "a", member);
    store_cellar_run(net, CW_SEC(1));
    rot(member[1]);
    ck_assert_str_eq(fake_text(store_town_ask(net, member[1], "scrub now"), 0, "pace"), "at once");
    store_cellar_run(net, CW_SEC(1));
    ck_assert_int_eq(told(net, member[1], "scrub", "damaged"), 1);
    ck_assert_int_eq(told(net, member[1], "scrub", "passes"), 1);
    ck_assert_int_eq(told(net, member[1], "status", "disk_damaged"), 1);
    (void)store_town_ask(net, member[1], "scrub now"); /* what was damaged has been written again */
    store_cellar_run(net, CW_SEC(1));
    ck_assert_int_eq(told(net, member[1], "scrub", "damaged"), 1);
    ck_assert_int_eq(told(net, member[1], "scrub", "passes"), 2);
    ck_assert_int_eq(told(net, member[1], "scrub", "verified"), 2 * told(net, member[1], "scrub", "records"));
    store_cellar_close(net);
}
END_TEST

/* By itself a pass takes days: the next step is hours away; and a server without registers has none. */
START_TEST(it_goes_slowly_by_itself)
{
    struct fake_net *net = store_cellar_open(3);
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_cellar_run(net, CW_SEC(3));
    for (cw_server s = 0; s < STORE_TOWN; s++) {
        bool holds = store_town_of(net, s)->registers > 0;
        ck_assert(holds == (store_town_of(net, s)->scrub.timer != NULL));
        ck_assert_str_eq(fake_text(store_town_ask(net, s, "scrub"), 0, "pace"),
                         holds ? "in 14 days" : "nothing to read");
    }
    store_cellar_close(net);
}
END_TEST

START_TEST(words_are_judged)
{
    struct fake_net *net = store_cellar_open(3);
    ck_assert_ptr_nonnull(strstr(fake_text(store_town_ask(net, 0, "scrub later"), 0, "error"), "'now'"));
    store_cellar_close(net);
    net = store_town_open(3);
    ck_assert_ptr_nonnull(strstr(fake_text(store_town_ask(net, 0, "scrub now"), 0, "error"), "disk"));
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(rot_is_found_and_mended),
    SUITE_TEST(it_goes_slowly_by_itself),
    SUITE_TEST(words_are_judged),
};
SUITE_MAIN("store scrub", tests)
