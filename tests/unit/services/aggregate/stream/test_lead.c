/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"
#include "sanitized.h"
#include "services/aggregate/stream/lead.h"
#include "stream_town.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LINES = 2000, ALL = 0x1ff };

static const char *part(cw_server s)
{
    static char text[STREAM_TOWN][STREAM_TOWN * (LINES + 1) * 24];
    snprintf(text[s], sizeof text[s], "%s", stream_town_result(s));
    return text[s];
}

/* How many lines the parts of these servers have together; each is in one of them. */
static unsigned lines_of(uint32_t servers)
{
    unsigned n = 0;
    for (cw_server s = 0; s < STREAM_TOWN; s++) {
        const char *text = servers >> s & 1 ? part(s) : "";
        ck_assert_str_ne(text, "-");
        for (const char *c = text; *c != '\0'; c++) {
            n += *c == '\n';
        }
    }
    return n;
}

START_TEST(a_part_on_each)
{
    struct fake_net *net = stream_town_open(NULL);
    stream_town_fill(LINES);
    const struct fake_result *r = stream_town_ask(net, 4, "run map=kv from=in to=each:out");
    ck_assert_int_eq(r->rc, 0);
    ck_assert(fake_int(r, 0, "parts") == 9 && fake_int(r, 0, "with_result") == 9);
    ck_assert_int_eq(fake_int(r, 0, "keys"), 9 * LINES + 1);
    ck_assert_str_eq(fake_text(r, 0, "to"), "each");
    ck_assert_uint_eq(lines_of(ALL), 9 * LINES + 1);
    unsigned have = 0;
    for (cw_server s = 0; s < STREAM_TOWN; s++) {
        have += strncmp(part(s), "all\t9\n", 6) == 0;
    }
    ck_assert_uint_eq(have, 1);
    stream_town_close(net);
}
END_TEST

START_TEST(parts_on_two)
{
    struct fake_net *net = stream_town_open(NULL);
    stream_town_fill(LINES);
    const struct fake_result *r = stream_town_ask(net, 4, "run map=kv from=in to=0,0,0:out to=2,1,0:out of=1,0,0");
    ck_assert_int_eq(r->rc, 0);
    ck_assert_int_eq(fake_int(r, 0, "parts"), 2);
    ck_assert_uint_eq(lines_of(1u << 0 | 1u << 7), LINES + 1);
    stream_town_close(net);
}
END_TEST

START_TEST(mistakes)
{
    static const struct {
        const char *words, *says;
    } wrong[] = {
        {"run from=in to=0,0,0:a to=1,0,0:b", "the parts of a result have one name"},
        {"run from=in to=0,0,0:a to=each:a", "stand alone"},
        {"run from=in to=- to=0,0,0:a", "stand alone"},
        {"run from=in to=each:a top=3", "top is of one result"},
        {"run from=in to=each", "expected SERVER:FILE"},
    };
    struct fake_net *net = stream_town_open(NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct fake_result *r = stream_town_ask(net, 0, wrong[i].words);
        ck_assert_int_eq(r->rc, -EINVAL);
        ck_assert_msg(strstr(fake_text(r, 0, "error"), wrong[i].says) != NULL, "%s", fake_text(r, 0, "error"));
    }
    stream_town_close(net);
}
END_TEST

/* A server is lost while roots collect: nothing has a name, or all begin again without. */
START_TEST(one_is_lost)
{
    unsigned again = 0, failed = 0;
    for (int us = 100; us < 3000; us += SANITIZED ? 300 : 100) {
        static struct fake_result r;
        bool without = us % 200 == 0;
        struct fake_net *net = stream_town_open(NULL);
        stream_town_fill(LINES);
        stream_town_begin(net, 1,
                          without ? "run map=kv from=in to=each:out without=1" : "run map=kv from=in to=each:out", &r);
        fake_net_run(net, CW_US(us));
        stream_town_lose(net, 8);
        fake_net_finish(net, &r);
        if (r.rc == 0 && fake_int(&r, 0, "counted") == 8) {
            ck_assert_uint_eq(lines_of(ALL & ~(1u << 8)), 8 * LINES + 1); /* aggregate rule 25 */
            again++;
        } else if (r.rc != 0) {
            ck_assert(!without);
            for (cw_server s = 0; s < STREAM_TOWN; s++) {
                ck_assert_str_eq(part(s), "-"); /* aggregate rule 28 */
            }
            failed++;
        }
        fake_net_run(net, CW_SEC(2));
        stream_town_close(net);
    }
    ck_assert_uint_gt(again, SANITIZED ? 0 : 3);
    ck_assert_uint_gt(failed, SANITIZED ? 0 : 3);
}
END_TEST

/*
 * All of a wide town write, more roots than collect at a time: one whose turn has not come is lost. The lead is told of
 * it, or finds out when its turn comes.
 */
static int without_one_that_waits(bool told, const char *without, int64_t *with_result)
{
    enum { LOST = STREAM_TOWN_WIDE - 1 };
    static struct fake_result r;
    char line[64 + STREAM_TOWN_WIDE * 16];
    struct fake_net *net = stream_town_open_wide();
    int length = snprintf(line, sizeof line, "run map=kv from=in of=0,0,0 %s", without);
    for (cw_server s = 0; s < STREAM_TOWN_WIDE; s++) {
        length += snprintf(line + length, sizeof line - (size_t)length, " to=%u,%u,0:out", s / 6, s % 6);
    }
    stream_town_put(0, "a\t1\nb\t2\n");
    stream_town_begin(net, 1, line, &r);
    const struct lead *l = lead_of_number(stream_town_at(net, 1), 1);
    for (int us = 0; l->state != LEAD_COLLECTS; us++) {
        ck_assert_int_lt(us, 100000);
        fake_net_run(net, CW_US(1));
    }
    ck_assert_uint_eq(l->parts, STREAM_TOWN_WIDE);
    ck_assert_int_eq(l->part[LOST].state, LEAD_PART_WAITS);
    if (told) {
        stream_town_lose(net, LOST);
    } else {
        net->server[1]->down[LOST] = true;
    }
    fake_net_finish(net, &r);
    *with_result = r.rc == 0 ? fake_int(&r, 0, "with_result") : 0;
    fake_net_run(net, CW_SEC(2));
    stream_town_close(net);
    return r.rc;
}

START_TEST(one_whose_turn_has_not_come_is_lost)
{
    int64_t with_result;
    for (unsigned told = 0; told < 2; told++) {
        ck_assert_int_eq(without_one_that_waits(told != 0, "without=1", &with_result), 0);
        ck_assert_int_eq(with_result, STREAM_TOWN_WIDE - 1);
        ck_assert_int_lt(without_one_that_waits(told != 0, "", &with_result), 0);
    }
}
END_TEST

START_TEST(the_caller_fetches_it)
{
    struct fake_net *net = stream_town_open(NULL);
    stream_town_fill(3);
    const struct fake_result *r = stream_town_ask(net, 2, "run map=kv from=in to=- of=0,0,0");
    ck_assert_int_eq(r->rc, 0);
    ck_assert_str_eq(fake_text(r, 0, "to"), "caller");
    fake_net_run(net, CW_MS(5));
    struct lead *l = lead_of_number(stream_town_at(net, 2), (uint32_t)fake_int(r, 0, "id"));
    ck_assert(l != NULL && l->state == LEAD_GIVES);
    static struct fake_result taken;
    fake_result_init(&taken);
    stream_town_begin(net, 2, "take 1", &taken);
    fake_net_finish(net, &taken);
    uint8_t text[100] = "";
    ck_assert_int_gt(base64_decode(fake_text(&taken, 0, "data"), text, sizeof text - 1), 0);
    ck_assert_str_eq((const char *)text, "all\t1\ns0k0\t0\ns0k1\t1\ns0k2\t2\n");
    ck_assert_int_eq(fake_int(&taken, 1, "last"), 1);
    fake_net_run(net, CW_MS(100));
    ck_assert_int_eq(stream_town_ask(net, 2, "take 1")->rc, -ENOENT);
    stream_town_close(net);
}
END_TEST

START_TEST(nobody_fetches_it)
{
    struct fake_net *net = stream_town_open(NULL);
    struct stream_overview look;
    stream_town_fill(3);
    ck_assert_int_eq(stream_town_ask(net, 2, "run map=kv from=in to=- limit_ms=300")->rc, 0);
    fake_net_run(net, CW_SEC(2));
    ck_assert_int_eq(stream_town_ask(net, 2, "take 1")->rc, -ENOENT);
    stream_look(stream_town_at(net, 2), &look);
    ck_assert(look.collectors == 0 && look.memory == 0);
    stream_town_close(net);
}
END_TEST

enum { WRITERS = 1u << 0 | 1u << 1 | 1u << 2, LEAD = 4 };

/* How many of the three that write have their part; all collectors have ended. */
static unsigned with_part(struct fake_net *net)
{
    unsigned n = 0;
    for (cw_server s = 0; s < 3; s++) {
        ck_assert(list_is_empty(&stream_town_at(net, s)->collectors));
        n += strcmp(part(s), "-") != 0;
    }
    return n;
}

/* All that write have written their part, and wait for its name. */
static bool all_hold(struct fake_net *net, const struct run_name *run)
{
    for (cw_server s = 0; s < 3; s++) {
        const struct collector *c = collector_of_lead(stream_town_at(net, s), run);
        if (c == NULL || c->state != COLLECTOR_HOLDS) {
            return false;
        }
    }
    return true;
}

/* The lead dies before its COMMIT has left, or when only server 0 has heard it. */
static unsigned after_a_death(bool heard)
{
    static struct fake_result r;
    struct fake_net *net = stream_town_open(NULL);
    stream_town_fill(10);
    stream_town_begin(net, LEAD, "run map=kv from=in to=0,0,0:out to=0,1,0:out to=0,2,0:out of=0,0,0 of=1,0,0", &r);
    const struct lead *l = lead_of_number(stream_town_at(net, LEAD), 1);
    for (int us = 0; !all_hold(net, &l->run); us++) {
        ck_assert_int_lt(us, 100000);
        fake_net_run(net, CW_US(1));
    }
    ck_assert_int_ne(l->state, LEAD_NAMES); /* that the last one holds its part, it has not heard */
    struct letter commit = {.kind = LETTER_COMMIT, .run = l->run, .attempt = l->round, .servers = STREAM_TOWN};
    commit.members[0] = WRITERS;
    fake_net_down(net, LEAD);
    if (heard) {
        ck_assert_int_eq(collector_commit(stream_town_at(net, 0), &commit, NULL), 0);
    }
    fake_net_run(net, CW_SEC(4));
    unsigned n = with_part(net);
    stream_town_close(net);
    return n;
}

START_TEST(the_lead_dies)
{
    ck_assert_uint_eq(after_a_death(true), 3); /* aggregate rule 29 */
    ck_assert_uint_eq(after_a_death(false), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_part_on_each),
                                          SUITE_TEST(parts_on_two),
                                          SUITE_TEST(mistakes),
                                          SUITE_TEST(one_is_lost),
                                          SUITE_TEST(one_whose_turn_has_not_come_is_lost),
                                          SUITE_TEST(the_caller_fetches_it),
                                          SUITE_TEST(nobody_fetches_it),
                                          SUITE_TEST(the_lead_dies)};
SUITE_MAIN("lead", tests)
