/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/disk.h"
#include "suite.h"

struct fake {
    struct disk face;
    struct disk_order got;
};

static void take(struct disk *disk, const struct disk_order *order)
{
    ((struct fake *)disk)->got = *order;
}

START_TEST(an_order_is_handed_to_the_kind_of_disk)
{
    static const struct disk_kind kind = {take};
    struct fake fake = {.face = {&kind}};
    disk_submit(&fake.face, &(struct disk_order){.what = DISK_SYNC, .file = 7, .ticket = 9});
    ck_assert_int_eq(fake.got.what, DISK_SYNC);
    ck_assert_uint_eq(fake.got.file, 7);
    ck_assert_uint_eq(fake.got.ticket, 9);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(an_order_is_handed_to_the_kind_of_disk),
};
SUITE_MAIN("disk", tests)
