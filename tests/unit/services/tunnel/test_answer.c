/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/internal.h"

#include "suite.h"
#include "tunnel_town.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct fake_result r;

static void ask(unsigned server, const char *words)
{
    fake_command(town[server].s, words, &r);
    ck_assert_msg(r.rc == 0, "%s", words);
}

START_TEST(status_and_explain)
{
    town_open(NULL);
    ask(0, "status");
    ck_assert_str_eq(fake_text(&r, 0, "ipv4"), "10.64.0.1");
    ck_assert_str_eq(fake_text(&r, 0, "door"), "open");
    ck_assert_str_eq(fake_text(&r, 0, "device"), "cw0");
    ck_assert(fake_has(&r, 0, "lateness_p99_ns"));
    ask(0, "explain 10.64.2.77");
    ck_assert_str_eq(fake_text(&r, 0, "server"), "2,0,0");
    ck_assert_str_eq(fake_text(&r, 0, "reachable"), "yes");
    ck_assert_str_eq(fake_text(&r, 0, "links"), "-x");
    ck_assert_int_ge(fake_int(&r, 0, "hole_wait_ns"), CW_US(100).ns); /* nanoseconds, as all spans that are told */
    static const char *const bad[] = {
        "explain 10.64.3.1", "explain 8.8.8.8", "explain x",  "explain", "status now", "",
        "flows 0",           "flows x",         "flows 1025", "hosts x", "drops x",    "next-hops x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fake_command(town[0].s, bad[i], &r);
        SUITE_HOLDS(r.rc == -EINVAL, "%s", bad[i]);
    }
    town_close();
}
END_TEST

START_TEST(flows_that_have_sent)
{
    struct rng rng = {5};
    struct ip_kit_packet *p = malloc(sizeof *p);
    town_open(NULL);
    ask(0, "flows");
    ck_assert(!fake_has(&r, 0, "from"));
    for (unsigned i = 0; i < 3; i++) {
        ip_kit_draw(&rng, &(struct ip_kit_wish){.version = 4, .payload_most = 5000, .from = 0, .to = 1 + i % 2}, p);
        town_read(0, p);
    }
    ask(0, "flows");
    ck_assert_uint_ge(r.rows, 2);
    for (unsigned i = 1; i < r.rows; i++) {
        ck_assert_int_ge(fake_int(&r, i - 1, "bytes"), fake_int(&r, i, "bytes"));
    }
    ck_assert(strncmp(fake_text(&r, 0, "from"), "10.64.0.", 8) == 0);
    ck_assert_int_gt(fake_int(&r, 0, "waiting_bytes"), 0);
    ask(0, "flows 1");
    ck_assert_uint_eq(r.rows, 1);
    ask(0, "status");
    ck_assert_int_eq(fake_int(&r, 0, "waiting"), 3);
    town_close();
    free(p);
}
END_TEST

START_TEST(drops_and_hosts)
{
    struct rng rng = {6};
    struct ip_kit_packet *p = malloc(sizeof *p);
    town_open(NULL);
    ip_kit_draw(&rng, &(struct ip_kit_wish){.version = 4, .payload_most = 500, .from = 1, .to = 2}, p);
    town_read(0, p); /* with the address of another server */
    ask(0, "drops");
    bool found = false;
    for (unsigned i = 0; i < r.rows; i++) {
        bool source = strcmp(fake_text(&r, i, "cause"), "source") == 0;
        found = found || source;
        SUITE_HOLDS(fake_int(&r, i, "packets") == (source ? 1 : 0), "%s", fake_text(&r, i, "cause"));
    }
    ck_assert(found);
    ask(0, "status");
    ck_assert_int_eq(fake_int(&r, 0, "dropped"), 1);
    ask(2, "hosts");
    ck_assert_uint_eq(r.rows, TOWN_SERVERS);
    ck_assert_str_eq(fake_text(&r, 1, "server"), "1,0,0");
    ck_assert_str_eq(fake_text(&r, 1, "ipv4"), "10.64.1.1");
    ask(0, "next-hops");
    ck_assert_uint_eq(r.rows, TOWN_SERVERS - 1);
    ck_assert_str_eq(fake_text(&r, 0, "server"), "1,0,0");
    ck_assert_str_eq(fake_text(&r, 0, "links"), "+x");
    ck_assert_str_eq(fake_text(&r, 1, "links"), "-x");
    town[0].s->down[2] = true;
    ask(0, "next-hops");
    ck_assert_uint_eq(r.rows, 1);
    town_close();
    free(p);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(status_and_explain), SUITE_TEST(flows_that_have_sent),
                                          SUITE_TEST(drops_and_hosts)};
SUITE_MAIN("answer", tests)
