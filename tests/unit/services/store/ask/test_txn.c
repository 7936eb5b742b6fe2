/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/ask/asker.h"
#include "services/store/held/bundle.h"

#include "store_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static uint8_t value[CW_STORE_TXN_VALUE_MAX + 1];
static cw_store_outcome last;
static cw_store_got got[CW_STORE_TXN_STEPS_MAX];
static bool same;
static unsigned times;

static void on_done(void *arg, const cw_store_outcome *out)
{
    (void)arg;
    times++;
    last = *out;
    same = true;
    for (unsigned i = 0; i < out->count; i++) {
        got[i] = out->got[i];
        same = same && (got[i].value_length == 0 || memcmp(got[i].value, value, got[i].value_length) == 0);
    }
}

static cw_store_step step(cw_store_op op, const char *name, size_t length)
{
    return (cw_store_step){.op = op,
                           .name = name,
                           .name_length = strlen(name),
                           .value = length > 0 ? value : NULL,
                           .value_length = length};
}

static int ask(struct fake_net *net, const cw_store_step *steps, unsigned count)
{
    const cw_store_txn x = {CW_STORE_TXN_INIT, .job = STORE_JOB, .step = steps, .steps = count};
    times = 0;
    int rc = store_asker_txn(store_town_of(net, 3), &x, on_done, NULL);
    ck_assert_uint_eq(times, 0);
    fake_net_run(net, CW_SEC(3));
    ck_assert_uint_eq(times, rc == 0);
    return rc;
}

/* What fits no packet goes as a letter, both ways. */
START_TEST(long_ones)
{
    struct fake_net *net = store_town_open(3);
    memset(value, 'v', sizeof value);
    const cw_store_step puts[] = {step(CW_STORE_PUT, "{a}x", CW_STORE_TXN_VALUE_MAX),
                                  step(CW_STORE_PUT, "{a}y", CW_STORE_TXN_VALUE_MAX - 1)};
    const cw_store_step gets[] = {step(CW_STORE_GET, "{a}y", 0), step(CW_STORE_GET, "{a}x", 0),
                                  step(CW_STORE_DELETE, "{a}x", 0), step(CW_STORE_GET, "{a}z", 0)};
    ck_assert_int_eq(ask(net, puts, 2), 0);
    ck_assert_int_eq(last.status, CW_STORE_OK);
    ck_assert_uint_eq(last.count, 2);
    const uint64_t version = got[1].version;
    ck_assert_uint_eq(version, got[0].version + 1);
    ck_assert_int_eq(ask(net, gets, 4), 0);
    ck_assert_int_eq(last.status, CW_STORE_OK);
    ck_assert_uint_eq(last.count, 4);
    ck_assert_uint_eq(got[0].version, version);
    ck_assert_uint_eq(got[0].value_length, CW_STORE_TXN_VALUE_MAX - 1);
    ck_assert_uint_eq(got[1].value_length, CW_STORE_TXN_VALUE_MAX);
    ck_assert(same);
    ck_assert_int_eq(got[3].status, CW_STORE_NOT_FOUND);
    ck_assert_int_eq(ask(net, gets, 2), 0); /* what only reads */
    ck_assert_int_eq(got[1].status, CW_STORE_NOT_FOUND);
    store_town_close(net);
}
END_TEST

START_TEST(mistakes)
{
    struct fake_net *net = store_town_open(3);
    cw_store_step s[] = {step(CW_STORE_PUT, "{a}x", 3), step(CW_STORE_PUT, "{b}x", 3)};
    ck_assert_int_eq(ask(net, s, 2), -EINVAL); /* two tags */
    ck_assert_int_eq(ask(net, s, 0), -EINVAL);
    s[1] = s[0];
    ck_assert_int_eq(ask(net, s, 2), -EINVAL); /* put twice */
    s[1] = step(CW_STORE_GET, "{a}x", 3);
    ck_assert_int_eq(ask(net, s, 2), -EINVAL); /* a get with a value */
    s[0] = step(CW_STORE_PUT, "x", 3);
    ck_assert_int_eq(ask(net, s, 1), -EINVAL); /* no tag */
    s[0] = step(CW_STORE_PUT, "{a}x", CW_STORE_TXN_VALUE_MAX + 1);
    ck_assert_int_eq(ask(net, s, 1), -EMSGSIZE);
    s[0] = step(CW_STORE_PUT, "{a}x", 3);
    s[0].ttl = CW_SEC(CW_STORE_TTL_MAX_S + 1);
    ck_assert_int_eq(ask(net, s, 1), -EINVAL);
    s[0].ttl = CW_SEC(1);
    ck_assert_int_eq(ask(net, s, 1), 0);
    ck_assert_int_eq(last.status, CW_STORE_OK);
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(long_ones),
    SUITE_TEST(mistakes),
};
SUITE_MAIN("store asker's transactions", tests)
