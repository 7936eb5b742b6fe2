/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/atlas.h"
#include "rng.h"
#include "suite.h"

#include <errno.h>

static struct cabling advert(uint64_t id, uint32_t version)
{
    return (struct cabling){.id = id, .version = version};
}

START_TEST(newer_words_replace_older)
{
    struct atlas a = atlas_empty(100);
    struct cabling held, w = advert(5, 2), old = advert(5, 1), next = advert(5, 3);
    ck_assert_uint_eq(atlas_find(&a, 5), ATLAS_NONE);
    ck_assert_int_eq(atlas_put(&a, &w, 0x3, &held), 1);
    ck_assert_uint_eq(held.id, 0);
    ck_assert_int_eq(atlas_put(&a, &old, 0x3f, &held), 0);
    ck_assert_uint_eq(held.version, 2);
    ck_assert_int_eq(atlas_put(&a, &w, 0x3f, NULL), 0);
    ck_assert_uint_eq(a.owed_count[0], 1);
    ck_assert_uint_eq(a.owed_count[2], 0);
    ck_assert_int_eq(atlas_put(&a, &next, 0x4, NULL), 1);
    ck_assert_uint_eq(a.owed_count[0], 0);
    ck_assert_uint_eq(a.owed_count[2], 1);
    ck_assert_uint_eq(a.count, 1);
    atlas_clear(&a);
    ck_assert_uint_eq(atlas_find(&a, 5), ATLAS_NONE);
}
END_TEST

START_TEST(owed_until_acknowledged)
{
    struct atlas a = atlas_empty(100);
    for (uint64_t id = 1; id <= 10; id++) {
        struct cabling w = advert(id, 7);
        ck_assert_int_eq(atlas_put(&a, &w, 0x1, NULL), 1);
    }
    for (unsigned i = 0; i < 10; i++) {
        ck_assert_uint_ne(atlas_next(&a, 0), ATLAS_NONE);
    }
    ck_assert_uint_eq(atlas_next(&a, 0), ATLAS_NONE);
    atlas_acked(&a, 0, 3, 7);
    atlas_acked(&a, 0, 4, 6); /* an older one */
    atlas_acked(&a, 0, 99, 7);
    ck_assert_uint_eq(a.owed_count[0], 9);
    atlas_resend(&a, 0);
    unsigned sent = 0;
    for (uint32_t i; (i = atlas_next(&a, 0)) != ATLAS_NONE; sent++) {
        ck_assert_uint_ne(a.entry[i].id, 3);
    }
    ck_assert_uint_eq(sent, 9);
    atlas_owe_none(&a, 0);
    atlas_resend(&a, 0);
    ck_assert_uint_eq(atlas_next(&a, 0), ATLAS_NONE);
    atlas_owe(&a, 4, 5);
    ck_assert_uint_eq(atlas_next(&a, 5), 4);
    atlas_owe_all(&a, 3);
    ck_assert_uint_eq(a.unsent_count[3], 10);
    atlas_clear(&a);
}
END_TEST

START_TEST(holds_no_more_than_it_may)
{
    struct atlas a = atlas_empty(37);
    struct rng r = {1};
    for (unsigned i = 0; i < 1000; i++) {
        struct cabling w = advert(1 + rng_below(&r, 60), 1 + (uint32_t)rng_below(&r, 50));
        int rc = atlas_put(&a, &w, (cw_links)rng_below(&r, 64), NULL);
        ck_assert(rc >= 0 || rc == -ENOSPC);
        ck_assert_uint_le(a.count, 37);
    }
    ck_assert_uint_eq(a.count, 37);
    ck_assert_uint_gt(a.refused, 0);
    for (unsigned port = 0; port < CW_LINK_COUNT; port++) { /* the counts are those of the bits */
        unsigned owed = 0;
        for (uint32_t i = 0; i < a.count; i++) {
            owed += a.owed[i] >> port & 1;
            ck_assert_uint_eq(atlas_find(&a, a.entry[i].id), i);
        }
        ck_assert_uint_eq(owed, a.owed_count[port]);
    }
    atlas_clear(&a);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(newer_words_replace_older),
    SUITE_TEST(owed_until_acknowledged),
    SUITE_TEST(holds_no_more_than_it_may),
};
SUITE_MAIN("atlas", tests)
