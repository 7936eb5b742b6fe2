/* SPDX-License-Identifier: Apache-2.0 */
#include "pair.h"

START_TEST(probes_at_once_and_then_in_time)
{
    cw_time now = {1};
    struct boot *b = pair_open(NULL, now);
    ck_assert_uint_eq(boot_tick(b, now), CW_LINKS_ALL);
    for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
        struct pair_sent sent = pair_pull(b, port, now);
        ck_assert_uint_eq(sent.frames, 1);
        ck_assert_uint_eq(sent.probe.id, PAIR_ID);
        ck_assert_uint_eq(sent.probe.port, port);
        ck_assert_uint_eq(sent.probe.label, port);
        ck_assert_uint_eq(sent.probe.heard, 0);
        ck_assert_uint_eq(pair_pull(b, port, now).frames, 0);
    }
    cw_time wake = boot_next_wake(b);
    ck_assert(cw_time_before(now, wake));
    ck_assert(cw_time_before(wake, cw_time_add(now, CW_MS(126))));
    boot_close(b);
}
END_TEST

/* Words go to a neighbour that hears us, once; again when nobody acknowledges; not after an acknowledgement. */
START_TEST(words_until_acknowledged)
{
    cw_time now = {1};
    struct boot *b = pair_open(NULL, now);
    boot_tick(b, now);
    uint32_t session = pair_pull(b, 0, now).probe.session;
    struct probe deaf = pair_neighbour(0, 0), hears = pair_neighbour(0, session);
    pair_probe(b, 0, &deaf, now);
    ck_assert_uint_eq(pair_pull(b, 0, now).adverts, 0);
    now = cw_time_add(now, CW_MS(10)); /* adverts wait for more of them */
    pair_probe(b, 0, &hears, now);
    struct pair_sent sent = pair_pull(b, 0, now);
    ck_assert_uint_eq(sent.adverts, 1);
    ck_assert_uint_eq(sent.advert.id, PAIR_ID);
    now = cw_time_add(now, CW_MS(250)); /* what it says has changed by now: it has a neighbour */
    boot_tick(b, now);
    sent = pair_pull(b, 0, now);
    ck_assert_uint_eq(sent.adverts, 1);
    ck_assert_uint_eq(sent.advert.port[0].far_id, 200);
    now = cw_time_add(now, CW_MS(250));
    boot_tick(b, now);
    sent = pair_pull(b, 0, now);
    ck_assert_uint_eq(sent.adverts, 1);
    uint8_t ack[CABLING_HEAD_BYTES + CABLING_ACK_ENTRY_BYTES];
    cabling_ack_put(&(struct cabling_ack){PAIR_ID, sent.advert.version}, ack, 0);
    pair_put(b, 0, ack, cabling_ack_finish(1000, session, 1, ack), now);
    now = cw_time_add(now, CW_MS(250));
    boot_tick(b, now);
    ck_assert_uint_eq(pair_pull(b, 0, now).adverts, 0);
    boot_close(b);
}
END_TEST

static bool lives(void *context, cw_coord server)
{
    (void)context;
    return server.x == 1; /* the one over +x */
}

START_TEST(a_place_is_told_and_whether_it_is_taken)
{
    struct boot_place place = {{3, 3, 3}, {0, 1, 2}, {4, 1, 2, 3, 0, 5}}; /* port 4 is +x */
    struct boot_config config = boot_config_default();
    struct boot *b;
    config.id = PAIR_ID;
    config.cluster = PAIR_CLUSTER;
    config.place = &place;
    config.alive = lives;
    memset(config.port, BOOT_UNLABELLED, sizeof config.port);
    ck_assert_int_eq(boot_open(&b, &config, (cw_time){1}), 0);
    struct probe stranger = {.session = 5, .cluster = PAIR_CLUSTER, .id = 300, .label = PROBE_UNLABELLED};
    pair_probe(b, 4, &stranger, (cw_time){1});
    pair_probe(b, 2, &stranger, (cw_time){1});
    boot_tick(b, (cw_time){1});
    struct probe over_x = pair_pull(b, 4, (cw_time){1}).probe, over_y = pair_pull(b, 2, (cw_time){1}).probe;
    ck_assert_uint_eq(over_x.flags, PROBE_PLACED | PROBE_TAKEN);
    ck_assert_uint_eq(over_y.flags, PROBE_PLACED);
    ck_assert_uint_eq(over_x.label, CW_LINK_XP);
    ck_assert_uint_eq(over_x.at.z, 2);
    ck_assert_uint_eq(over_x.heard, 5);
    boot_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(probes_at_once_and_then_in_time),
    SUITE_TEST(words_until_acknowledged),
    SUITE_TEST(a_place_is_told_and_whether_it_is_taken),
};
SUITE_MAIN("boot_tx", tests)
