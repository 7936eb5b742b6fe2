/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/config.h"

#include "suite.h"

static const struct store_config first = {1, 3, {4, 7, 9}, {40, 70, 90}};
static const struct store_ballot low = {(uint64_t)1 << 32 | 5, 1}, high = {(uint64_t)1 << 32 | 6, 1};

static struct store_config next_of(unsigned place, cw_server server, uint64_t id)
{
    struct store_config c = first;
    c.epoch++;
    c.member[place] = server;
    c.store_id[place] = id;
    return c;
}

START_TEST(bytes_come_back)
{
    uint8_t bytes[STORE_SEAL_MOST];
    struct store_config c;
    struct store_seal seal = {low, next_of(1, 8, 80)}, other;
    size_t size = store_config_encode(&first, bytes);
    ck_assert_uint_eq(size, store_config_size(&first));
    ck_assert(store_config_decode(bytes, size, &c));
    ck_assert(store_config_equal(&c, &first));
    for (size_t i = 0; i < size; i++) {
        SUITE_HOLDS(!store_config_decode(bytes, i, &c));
    }
    bytes[5] = 1;
    ck_assert(!store_config_decode(bytes, size, &c));
    size = store_seal_encode(&seal, bytes);
    ck_assert(store_seal_decode(bytes, size, &other));
    ck_assert(store_config_equal(&other.next, &seal.next));
    ck_assert_int_eq(store_ballot_compare(other.ballot, low), 0);
    ck_assert(!store_seal_decode(bytes, size - 1, &other));
    seal.ballot = (struct store_ballot){0, 0};
    ck_assert_uint_eq(store_seal_encode(&seal, bytes), 0);
    ck_assert(store_seal_decode(bytes, 0, &other));
    ck_assert(store_ballot_is_none(other.ballot));
}
END_TEST

START_TEST(nonsense_is_refused)
{
    uint8_t bytes[STORE_CONFIG_MOST];
    struct store_config c, twice = next_of(1, 4, 80), none = first;
    ck_assert(!store_config_decode(bytes, store_config_encode(&twice, bytes), &c)); /* a server has one place */
    none.epoch = 0;
    ck_assert(!store_config_decode(bytes, store_config_encode(&none, bytes), &c));
    none = first;
    none.count = 2;
    ck_assert(!store_config_decode(bytes, store_config_encode(&none, bytes), &c));
}
END_TEST

START_TEST(a_next_one_differs_in_one_place)
{
    struct store_config next = next_of(2, 8, 80);
    ck_assert_uint_eq(store_config_changed(&first, &next), 2);
    next = next_of(1, 7, 71); /* the same server in another life */
    ck_assert_uint_eq(store_config_changed(&first, &next), 1);
    ck_assert_uint_eq(store_config_changed(&first, &first), 3);
    next.member[0] = 1;
    ck_assert_uint_eq(store_config_changed(&first, &next), 3);
    ck_assert_uint_eq(store_config_place(&first, 9), 2);
    ck_assert_uint_eq(store_config_place(&first, 8), 3);
}
END_TEST

/* Store rules 10 and 12. */
START_TEST(what_is_sealed_is_judged)
{
    const struct store_config next = next_of(2, 8, 80), other = next_of(1, 8, 80);
    struct store_seal seal[STORE_COPIES_MOST] = {{.ballot = {0, 0}}};
    unsigned which = 9;
    ck_assert_int_eq(store_seal_judge(&first, 7, seal, &which), STORE_SEAL_NONE);
    seal[0] = (struct store_seal){low, next};
    ck_assert_int_eq(store_seal_judge(&first, 3, seal, &which), STORE_SEAL_NONE); /* the second will not seal it */
    ck_assert_int_eq(store_seal_judge(&first, 5, seal, &which), STORE_SEAL_DOUBT);
    seal[1] = seal[0];
    ck_assert_int_eq(store_seal_judge(&first, 3, seal, &which), STORE_SEAL_DECIDED);
    ck_assert_uint_eq(which, 0);
    ck_assert_int_eq(store_seal_judge(&first, 6, seal, &which), STORE_SEAL_DOUBT);
    seal[0] = (struct store_seal){high, other}; /* who asked for it knew that the lower one is not decided */
    ck_assert_int_eq(store_seal_judge(&first, 3, seal, &which), STORE_SEAL_DOUBT);
    ck_assert_uint_eq(which, 0);
    seal[2] = seal[0];
    ck_assert_int_eq(store_seal_judge(&first, 7, seal, &which), STORE_SEAL_DECIDED);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(bytes_come_back),
    SUITE_TEST(nonsense_is_refused),
    SUITE_TEST(a_next_one_differs_in_one_place),
    SUITE_TEST(what_is_sealed_is_judged),
};
SUITE_MAIN("store config", tests)
