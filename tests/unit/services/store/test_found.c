/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/found.h"

#include "services/store/disk/journal.h"
#include "store_cellar.h"
#include "suite.h"

#include <string.h>

START_TEST(all_lose_their_power)
{
    struct fake_net *net = store_cellar_open(3);
    char line[40];
    for (unsigned i = 0; i < 20; i++) {
        snprintf(line, sizeof line, "put name%u value%u", i, i);
        store_town_must(net, i % STORE_TOWN, line, CW_STORE_OK);
    }
    store_town_must(net, 3, "delete name5", CW_STORE_OK);
    for (cw_server s = 0; s < STORE_TOWN; s++) {
        fake_net_down(net, s);
        store_cellar_crash(s);
    }
    for (cw_server s = 0; s < STORE_TOWN; s++) {
        fake_net_up(net, s);
    }
    store_cellar_run(net, CW_SEC(3));
    for (unsigned i = 0; i < 20; i++) {
        snprintf(line, sizeof line, "get name%u", i);
        store_town_must(net, (i + 4) % STORE_TOWN, line, i == 5 ? CW_STORE_NOT_FOUND : CW_STORE_OK);
    }
    store_cellar_close(net);
}
END_TEST

/* Store rule 21: a member that cannot read all that it had written does not vote as if it had not. */
START_TEST(what_a_later_release_wrote)
{
    struct fake_net *net = store_cellar_open(3);
    struct store *s = store_town_of(net, 0);
    const uint8_t later[] = {STORE_FOUND_VERSION + 7, 1, 2, 3}, cut[] = {STORE_FOUND_VERSION, 1, 2, 3};
    ck_assert_uint_eq(s->found_strange, 0);
    store_found(s, STORE_FOUND_REGISTER, later, sizeof later);
    store_found(s, STORE_FOUND_REGISTER, cut, sizeof cut);
    store_found(s, STORE_FOUND_CLASS, cut, sizeof cut);
    store_found(s, STORE_FOUND_SHARD, later, sizeof later);
    ck_assert_uint_eq(s->found_strange, 4);
    store_cellar_close(net);
}
END_TEST

/* The class's record is a word of the wire: that of an earlier version says the same. */
START_TEST(what_an_earlier_release_wrote)
{
    struct fake_net *net = store_cellar_open(3);
    struct store *s = store_town_of(net, 0);
    const struct store_word w = {.kind = STORE_WORD_RECORD, .of = s->of};
    uint8_t bytes[1 + STORE_WORD_HEAD] = {STORE_FOUND_VERSION};
    store_word_encode(&w, bytes + 1);
    for (uint8_t version = 2; version <= STORE_WIRE_VERSION; version++) {
        bytes[1] = version;
        store_found(s, STORE_FOUND_CLASS, bytes, sizeof bytes);
        ck_assert_uint_eq(s->found_strange, 0);
    }
    bytes[1] = STORE_WIRE_VERSION + 1;
    store_found(s, STORE_FOUND_CLASS, bytes, sizeof bytes);
    ck_assert_uint_eq(s->found_strange, 1);
    store_cellar_close(net);
}
END_TEST

static void rots(struct store *s, const char *text)
{
    const struct store_name name = {STORE_JOB, (const uint8_t *)text, strlen(text)};
    const cw_key key = store_places_record(&name);
    store_found_damaged(s, STORE_FOUND_REGISTER, &key);
}

/* Some registers in one upcall, not all that are there. */
START_TEST(what_rots_is_written_again)
{
    struct fake_net *net = store_cellar_open(3);
    cw_server member[STORE_COPIES_MOST];
    struct journal_status before, after;
    char line[40];
    for (unsigned i = 0; i < 2000; i++) {
        snprintf(line, sizeof line, "put {t}%u value", i);
        store_town_must(net, 0, line, CW_STORE_OK);
    }
    store_town_members(net, "{t}", member);
    struct store *s = store_town_of(net, member[1]);
    journal_status(s->journal, &before);
    rots(s, "{t}5");
    rots(s, "{t}1999");
    rots(s, "{t}1999");
    rots(s, "nobody's");
    journal_status(s->journal, &after);
    ck_assert_uint_eq(after.put, before.put);
    store_cellar_run(net, CW_MS(1));
    rots(s, "{t}7");
    store_cellar_run(net, CW_MS(100));
    journal_status(s->journal, &after);
    ck_assert_uint_eq(after.put, before.put + 3);
    ck_assert_ptr_null(s->damage.timer);
    ck_assert_uint_eq(s->damage.count, 0);
    store_cellar_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_an_earlier_release_wrote),
    SUITE_TEST(what_a_later_release_wrote),
    SUITE_TEST(all_lose_their_power),
    SUITE_TEST(what_rots_is_written_again),
};
SUITE_MAIN("store found", tests)
