/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/quota.h"

#include "services/store/entry/store.h"
#include "store_town.h"
#include "suite.h"

#include <string.h>

START_TEST(a_quota_is_read)
{
    static const char *const good[] = {"quotas=10=1, 5001=0/7,*=64/100000", NULL};
    static const char *const bad[][2] = {{"quotas=10", NULL},        {"quotas=10=", NULL},    {"quotas=10=1/", NULL},
                                         {"quotas=10=1,10=2", NULL}, {"quotas=0=1", NULL},    {"quotas=10=1 5=2", NULL},
                                         {"quotas=*=x", NULL},       {"quotas=10=1/0", NULL}, {"quotas=,", NULL}};
    int rc;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_ptr_null(fake_open_with(&store_service, (cw_dims){3, 3, 1}, (cw_coord){0, 0, 0}, bad[i], &rc));
        ck_assert_int_lt(rc, 0);
    }
    struct fake_net *net = store_town_open_with(good);
    const struct store *s = store_town_of(net, 3);
    ck_assert_uint_eq(store_quota_of(s, 10).bytes, 1 << 20);
    ck_assert_uint_eq(store_quota_of(s, 10).names, UINT64_MAX);
    ck_assert_uint_eq(store_quota_of(s, 5001).bytes, UINT64_MAX);
    ck_assert_uint_eq(store_quota_of(s, 5001).names, 7);
    ck_assert_uint_eq(store_quota_of(s, 77).bytes, 64 << 20);
    ck_assert_uint_eq(store_quota_of(s, 77).names, 100000);
    store_town_close(net);
}
END_TEST

/* Names of one tag are in one shard: its three members hold all of them. Store rule 37, mutant 50. */
START_TEST(what_grows_beyond_it_is_refused_and_was_not_done)
{
    static const char *const options[] = {"quotas=10=0/2,5001=1", NULL};
    struct fake_net *net = store_town_open_with(options);
    ck_assert_int_eq(store_town_ask(net, 0, "create memory copies=3")->rc, 0);
    store_town_must(net, 0, "put {t}a one", CW_STORE_OK);
    store_town_must(net, 1, "put {t}b two", CW_STORE_OK);
    store_town_must(net, 2, "put {t}c three", CW_STORE_QUOTA);
    store_town_must(net, 2, "insert {t}c three", CW_STORE_QUOTA);
    store_town_must(net, 3, "get {t}c", CW_STORE_NOT_FOUND);
    store_town_must(net, 3, "put {t}a longer", CW_STORE_OK); /* no name more */
    const struct fake_result *r;
    cw_server member[STORE_COPIES_MOST];
    store_town_members(net, "{t}a", member);
    r = store_town_ask(net, member[0], "usage");
    ck_assert_uint_eq(r->rows, 2);
    ck_assert_int_eq(fake_int(r, 0, "job"), 10);
    ck_assert_int_eq(fake_int(r, 0, "names"), 2);
    ck_assert_int_eq(fake_int(r, 0, "names_max"), 2);
    ck_assert(!fake_has(r, 0, "bytes_max"));
    ck_assert_int_eq(fake_int(r, 0, "bytes"), 4 + 6 + 4 + 3);
    ck_assert_int_eq(fake_int(r, 1, "jobs"), 1);
    ck_assert_int_eq(fake_int(store_town_ask(net, member[0], "status"), 0, "jobs_at_quota"), 1);
    store_town_must(net, 0, "delete {t}b", CW_STORE_OK);
    store_town_must(net, 0, "put {t}c three", CW_STORE_OK);
    store_town_must(net, 0, "put {t}d four job=77", CW_STORE_OK); /* of which nothing is said */
    r = store_town_ask(net, 0, "txn put {t}e five");
    ck_assert_int_eq(fake_int(r, r->rows - 1, "code"), CW_STORE_QUOTA);
    r = store_town_ask(net, 0, "txn put {t}e five delete {t}c"); /* which is one name as before */
    ck_assert_int_eq(fake_int(r, r->rows - 1, "code"), CW_STORE_OK);
    store_town_close(net);
}
END_TEST

START_TEST(bytes_are_counted_with_their_names)
{
    static uint8_t value[1 << 20];
    static const char *const options[] = {"quotas=5001=1", NULL};
    struct fake_net *net = store_town_open_with(options);
    ck_assert_int_eq(store_town_ask(net, 0, "create memory copies=3")->rc, 0);
    struct store *s = store_town_of(net, 0);
    ck_assert_int_eq(upload_add(&s->uploads, 7, 0, value, sizeof value, sizeof value, net->now), 0);
    store_town_must(net, 0, "put a - stage=7 job=5001", CW_STORE_QUOTA); /* with its name it is a byte too long */
    ck_assert_int_eq(upload_add(&s->uploads, 7, 0, value, sizeof value - 1, sizeof value, net->now), 0);
    store_town_must(net, 0, "put a - stage=7 job=5001", CW_STORE_OK);
    store_town_must(net, 0, "put a less job=5001", CW_STORE_OK); /* what does not grow always goes */
    store_town_must(net, 0, "delete a job=5001", CW_STORE_OK);
    for (cw_server i = 0; i < STORE_TOWN; i++) {
        ck_assert_uint_eq(store_town_of(net, i)->tally.count, 0);
    }
    store_town_close(net);
}
END_TEST

/* What a transaction under way will add counts for whoever comes in the meantime. */
START_TEST(what_is_under_way_counts)
{
    static const char *const options[] = {"quotas=10=0/4", NULL};
    static struct fake_result t[3];
    cw_server member[STORE_COPIES_MOST];
    struct fake_net *net = store_town_open_with(options);
    ck_assert_int_eq(store_town_ask(net, 0, "create memory copies=3")->rc, 0);
    store_town_must(net, 0, "put {t}a one", CW_STORE_OK);
    store_town_members(net, "{t}a", member);
    fake_command(net->server[member[0]], "txn delete {t}1 delete {t}2 delete {t}3", &t[0]);
    fake_net_run(net, CW_SEC(1)); /* its names are of this ballot now, so the next one begins at once */
    fake_command(net->server[member[0]], "txn put {t}1 a put {t}2 a put {t}3 a", &t[0]);
    fake_command(net->server[member[0]], "put {t}b two", &t[1]);
    fake_command(net->server[member[0]], "txn put {t}c two", &t[2]);
    fake_net_run(net, CW_SEC(1));
    ck_assert_int_eq(fake_int(&t[0], t[0].rows - 1, "code"), CW_STORE_OK);
    ck_assert_int_eq(fake_int(&t[1], t[1].rows - 1, "code"), CW_STORE_QUOTA);
    ck_assert_int_eq(fake_int(&t[2], t[2].rows - 1, "code"), CW_STORE_QUOTA);
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_is_under_way_counts),
    SUITE_TEST(a_quota_is_read),
    SUITE_TEST(what_grows_beyond_it_is_refused_and_was_not_done),
    SUITE_TEST(bytes_are_counted_with_their_names),
};
SUITE_MAIN("store quota", tests)
