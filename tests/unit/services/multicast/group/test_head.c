/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/group/head.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

static uint8_t bytes[512];

static int through(const struct group_head *h, size_t length, struct group_head *out)
{
    memset(bytes, 0x5c, sizeof bytes);
    group_head_encode(h, bytes);
    return group_head_decode(bytes, length, out);
}

static struct group_head datagram(void)
{
    static const uint8_t set[4] = {1, 2, 3, 4};
    return (struct group_head){.kind = GROUP_DATAGRAM,
                               .flags = DATAGRAM_RELIABLE | DATAGRAM_TO_GROUP,
                               .tree = 5,
                               .job = 4096,
                               .life = 0x1122334455667788,
                               .origin = 26,
                               .number = 9,
                               .servers = 27,
                               .set = set,
                               .name = "web",
                               .name_bytes = 3,
                               .bytes = (const uint8_t *)"hello",
                               .length = 5};
}

START_TEST(every_kind_comes_back)
{
    struct group_head out, h = {.kind = GROUP_ANNOUNCE, .flags = GROUP_KEEPER, .job = 7, .life = 8, .serial = 9};
    h.name = "a-name";
    h.name_bytes = 6;
    ck_assert_int_eq(through(&h, group_head_bytes(&h), &out), 0);
    ck_assert(out.kind == GROUP_ANNOUNCE && out.flags == GROUP_KEEPER && out.job == 7 && out.life == 8);
    ck_assert(out.serial == 9 && out.name_bytes == 6 && memcmp(out.name, "a-name", 6) == 0);
    h = (struct group_head){.kind = GROUP_MEMBERS, .job = 7, .name = "x", .name_bytes = 1};
    ck_assert_int_eq(through(&h, group_head_bytes(&h), &out), 0);
    ck_assert(out.kind == GROUP_MEMBERS && out.job == 7 && out.name_bytes == 1 && out.name[0] == 'x');
    h = datagram();
    ck_assert_int_eq(through(&h, group_head_bytes(&h), &out), 0);
    ck_assert(out.flags == h.flags && out.tree == 5 && out.job == 4096 && out.life == h.life && out.origin == 26);
    ck_assert(out.number == 9 && out.servers == 27 && memcmp(out.set, h.set, 4) == 0);
    ck_assert(out.length == 5 && memcmp(out.bytes, "hello", 5) == 0 && memcmp(out.name, "web", 3) == 0);
    h = (struct group_head){.kind = GROUP_RECEIPT, .status = -ENOENT, .life = 3, .number = 4};
    ck_assert_int_eq(through(&h, group_head_bytes(&h), &out), 0);
    ck_assert(out.status == -ENOENT && out.life == 3 && out.number == 4);
}
END_TEST

START_TEST(no_other_length)
{
    struct group_head out, some[] = {{.kind = GROUP_ANNOUNCE, .name = "abc", .name_bytes = 3},
                                     {.kind = GROUP_MEMBERS, .name = "abc", .name_bytes = 3},
                                     datagram(),
                                     {.kind = GROUP_RECEIPT}};
    for (unsigned i = 0; i < 4; i++) {
        size_t whole = group_head_bytes(&some[i]);
        for (size_t n = 0; n <= whole + 1; n++) {
            ck_assert_int_eq(through(&some[i], n, &out), n == whole ? 0 : -EBADMSG);
        }
    }
}
END_TEST

START_TEST(nonsense_is_refused)
{
    struct group_head out, h = datagram();
    size_t whole = group_head_bytes(&h);
    for (size_t i = GROUP_DATAGRAM_HEAD; i < whole; i++) { /* what the sum is of */
        through(&h, whole, &out);
        bytes[i] ^= 1;
        ck_assert_int_eq(group_head_decode(bytes, whole, &out), -EBADMSG);
    }
    h.tree = 6;
    ck_assert_int_eq(through(&h, whole, &out), -EBADMSG);
    h = datagram();
    h.flags = 8;
    ck_assert_int_eq(through(&h, whole, &out), -EBADMSG);
    h = datagram();
    h.origin = 27;
    ck_assert_int_eq(through(&h, whole, &out), -EBADMSG);
    h = (struct group_head){.kind = GROUP_RECEIPT, .status = 1};
    ck_assert_int_eq(through(&h, GROUP_RECEIPT_BYTES, &out), -EBADMSG);
    h.status = -5000;
    ck_assert_int_eq(through(&h, GROUP_RECEIPT_BYTES, &out), -EBADMSG);
    h = (struct group_head){.kind = GROUP_ANNOUNCE, .flags = 4, .name = "a", .name_bytes = 1};
    ck_assert_int_eq(through(&h, group_head_bytes(&h), &out), -EBADMSG);
    h = (struct group_head){.kind = GROUP_MEMBERS, .name = "", .name_bytes = 0};
    ck_assert_int_eq(through(&h, group_head_bytes(&h), &out), -EBADMSG);
    static char longer[GROUP_NAME_MOST + 1];
    h = (struct group_head){.kind = GROUP_MEMBERS, .name = longer, .name_bytes = sizeof longer};
    ck_assert_int_eq(through(&h, group_head_bytes(&h), &out), -EBADMSG);
}
END_TEST

START_TEST(sets)
{
    const uint8_t set[8] = {0, 0, 0, 27, 1, 2, 3, 4};
    ck_assert(group_set_decode(set, 8, 27) == set + 4);
    ck_assert(group_set_decode(set, 7, 27) == NULL && group_set_decode(set, 8, 26) == NULL);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(every_kind_comes_back), SUITE_TEST(no_other_length),
                                          SUITE_TEST(nonsense_is_refused), SUITE_TEST(sets)};
SUITE_MAIN("group_head", tests)
