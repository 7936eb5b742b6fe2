/* SPDX-License-Identifier: Apache-2.0 */
/* One client's conversation: in pieces, too long, half, wrong; and bounded. */
#include "services/kvcache/memcached/session.h"

#include "mc_talk.h"
#include "services/kvcache/memcached/binary.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>

START_TEST(every_command_is_answered)
{
    struct talk t;
    talk_open(&t);
    say(&t, "set n 1 0 1\r\n5\r\nincr n 2\r\ndecr n 1\r\ntouch n 10\r\ngat 10 n\r\nms n 2 F3\r\nhi\r\nmg n v f\r\n"
            "append n 0 0 1\r\n!\r\nget n\r\nmd n\r\ndelete n\r\nverbosity 1\r\nflush_all\r\nmn\r\n");
    ck_assert_str_eq(hear(&t),
                     "STORED\r\n7\r\n6\r\nTOUCHED\r\nVALUE n 1 1\r\n6\r\nEND\r\nHD\r\nVA 2 f3\r\nhi\r\nSTORED\r\n"
                     "VALUE n 3 3\r\nhi!\r\nEND\r\nHD\r\nNOT_FOUND\r\nOK\r\nOK\r\nMN\r\n");
    ck_assert_uint_eq(t.cache.flushed, 1);
    say(&t, "flush_all 30\r\nversion\r\n");
    ck_assert_ptr_nonnull(strstr(hear(&t), "OK\r\nVERSION 1.6.18-cubeway-"));
    ck_assert_int_eq(t.cache.flush_delay.ns, CW_SEC(30).ns);
    say(&t, "stats\r\n");
    ck_assert_ptr_nonnull(strstr(hear(&t), "STAT cmd_flush 2\r\n"));
    say(&t, "quit\r\nget n\r\n");
    ck_assert(mc_session_over(t.session));
    ck_assert_str_eq(hear(&t), "");
    talk_close(&t);
}
END_TEST

START_TEST(pieces_make_no_difference)
{
    static const char said[] = "set a 0 0 10\r\n0123456789\r\nget a a\r\nms b 3 q\r\nxyz\r\nset c 0 0 2 "
                               "noreply\r\nzz\r\nget b c\r\nset d 0 0 1\r\nzzz\r\nmn\r\n";
    char *whole = NULL;
    for (size_t piece = sizeof said; piece > 0; piece--) {
        struct talk t;
        talk_open(&t);
        for (size_t i = 0; i < sizeof said - 1; i += piece) {
            size_t length = sizeof said - 1 - i < piece ? sizeof said - 1 - i : piece;
            mc_session_feed(t.session, (const uint8_t *)said + i, length);
        }
        const char *heard = hear(&t);
        if (whole == NULL) {
            whole = strdup(heard);
            ck_assert_ptr_nonnull(strstr(whole, "VALUE a 0 10\r\n0123456789\r\n"));
            ck_assert_ptr_nonnull(strstr(whole, "CLIENT_ERROR bad data chunk\r\n"));
        }
        ck_assert_str_eq(heard, whole);
        ck_assert(!mc_session_owes(t.session));
        talk_close(&t);
    }
    free(whole);
}
END_TEST

START_TEST(a_large_value_and_a_larger_one)
{
    struct talk t;
    talk_open(&t);
    size_t length = KV_VALUE_MAX;
    char *value = malloc(length + 2);
    memset(value, 'x', length + 1);
    value[length + 1] = '\0';
    say(&t, "set a 0 0 1048576\r\n");
    ck_assert(mc_session_owes(t.session));
    mc_session_feed(t.session, (const uint8_t *)value, length);
    say(&t, "\r\nget a\r\n");
    ck_assert_uint_eq(strlen(hear(&t)), 8 + strlen("VALUE a 0 1048576\r\n") + length + 2 + 5);
    say(&t, "set a 0 0 1048577\r\n");
    mc_session_feed(t.session, (const uint8_t *)value, length + 1);
    say(&t, "\r\nget a\r\n"); /* what should have been replaced is not served */
    ck_assert_str_eq(hear(&t), "SERVER_ERROR object too large for cache\r\nEND\r\n");
    free(value);
    talk_close(&t);
}
END_TEST

/* What a browser is made to send: commands in the body of a request. None of them is carried out. */
START_TEST(a_browser_is_hung_up_on)
{
    static const char *const said[] = {
        "POST / HTTP/1.1\r\nHost: localhost:11211\r\n\r\nset a 0 0 1\r\nx\r\n",
        "GET /a HTTP/1.0\nset a 0 0 1\r\nx\r\n",
        "PRI * HTTP/2.0\r\n\r\nset a 0 0 1\r\nx\r\n",
    };
    struct talk t;
    talk_open(&t);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        say(&t, "mn\r\n");
        say(&t, said[i]);
        ck_assert(mc_session_over(t.session));
        ck_assert(!mc_session_wants(t.session));
        ck_assert_str_eq(hear(&t), "MN\r\n");
        ck_assert_uint_eq(t.cache.asked, 0);
        mc_session_close(t.session);
        t.session = mc_session_open(&t.hub, &t);
    }
    say(&t, "set HTTP/1.1 0 0 1\r\nx\r\nget HTTP/1.1\r\nwhat HTTP\r\n"); /* these are none */
    ck_assert_str_eq(hear(&t), "STORED\r\nVALUE HTTP/1.1 0 1\r\nx\r\nEND\r\nERROR\r\n");
    talk_close(&t);
}
END_TEST

/* It hears so in its own protocol, at once: with what its request's head says, or of one byte alone. */
START_TEST(the_binary_protocol_is_refused)
{
    static const uint8_t get[] = {0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 9, 8, 7, 6, 0, 0, 0, 0, 0, 0, 0, 0, 'k'};
    struct talk t;
    talk_open(&t);
    static const size_t come[] = {sizeof get, MC_BINARY_HEAD, 1, 13};
    for (size_t i = 0; i < sizeof come / sizeof *come; i++) {
        ck_assert(mc_session_wants(t.session));
        mc_session_feed(t.session, get, come[i]);
        ck_assert(mc_session_over(t.session));
        const uint8_t *heard = mc_buffer_bytes(mc_session_answers(t.session));
        ck_assert_uint_gt(mc_buffer_length(mc_session_answers(t.session)), MC_BINARY_HEAD);
        ck_assert_uint_eq(heard[0], 0x81);
        ck_assert_uint_eq(heard[7], 0x81);
        ck_assert_uint_eq(heard[12], come[i] > 12 ? 9 : 0);
        ck_assert_uint_eq(heard[13], come[i] > 13 ? 8 : 0);
        mc_session_close(t.session);
        t.session = mc_session_open(&t.hub, &t);
    }
    say(&t, "mn\r\n\x80\r\n"); /* later it is a word as any other */
    ck_assert_str_eq(hear(&t), "MN\r\nERROR\r\n");
    talk_close(&t);
}
END_TEST

START_TEST(lines_have_an_end)
{
    struct talk t;
    talk_open(&t);
    for (unsigned i = 0; i < MC_LINE_MAX; i++) {
        say(&t, "x");
        ck_assert(mc_session_wants(t.session));
    }
    say(&t, "x");
    ck_assert(mc_session_over(t.session));
    ck_assert_str_eq(hear(&t), "CLIENT_ERROR line too long\r\n");
    mc_session_close(t.session);
    t.session = mc_session_open(&t.hub, &t);
    say(&t, "gets ");
    for (unsigned i = 0; i < 2000; i++) {
        say(&t, "keykeykey ");
    }
    say(&t, "\r\n");
    ck_assert_str_eq(hear(&t), "END\r\n");
    say(&t, "get ");
    for (unsigned i = 0; i < MC_KEYS_MAX / 8 && !mc_session_over(t.session); i++) {
        say(&t, "12345678 ");
    }
    ck_assert(mc_session_over(t.session));
    talk_close(&t);
}
END_TEST

START_TEST(who_does_not_read_is_not_read)
{
    struct talk t;
    talk_open(&t);
    t.config.output = 16 * 1024;
    char value[4096], line[64];
    memset(value, 'v', sizeof value);
    value[sizeof value - 1] = '\0';
    snprintf(line, sizeof line, "set a 0 0 %zu\r\n", strlen(value));
    say(&t, line);
    say(&t, value);
    say(&t, "\r\n");
    unsigned gets = 0;
    while (mc_session_wants(t.session) && gets < 100) {
        say(&t, "get a a\r\n");
        gets++;
    }
    ck_assert_uint_lt(gets, 5);
    ck_assert(mc_session_owes(t.session));
    ck_assert_uint_lt(mc_buffer_length(mc_session_answers(t.session)), 16 * 1024 + 2 * sizeof value);
    size_t heard = 0;
    for (unsigned i = 0; i < 10; i++) {
        heard += strlen(hear(&t));
        mc_session_resume(t.session);
    }
    ck_assert(mc_session_wants(t.session));
    ck_assert_uint_eq(heard, 8 + gets * (2 * (strlen("VALUE a 0 4095\r\n") + 4095 + 2) + 5));
    talk_close(&t);
}
END_TEST

START_TEST(a_cache_that_refuses_or_fails)
{
    struct talk t;
    talk_open(&t);
    t.cache.refuses = -ESHUTDOWN;
    say(&t, "get a\r\nset a 0 0 1\r\n1\r\nset a 0 0 1 noreply\r\n1\r\nflush_all\r\nmg a v\r\n");
    ck_assert_str_eq(hear(&t), "END\r\nSERVER_ERROR the cache does not run on this server now\r\n"
                               "SERVER_ERROR the cache does not run on this server now\r\nEN\r\n");
    t.cache.refuses = 0;
    t.cache.fails = KV_NO_MAJORITY;
    say(&t, "get a\r\nset a 0 0 1\r\n1\r\n");
    ck_assert_str_eq(hear(&t), "END\r\nSERVER_ERROR this part of the cluster has no majority and takes no writes\r\n");
    talk_close(&t);
}
END_TEST

/* Whatever it asks for, keys or commands: after so many steps it is others' turn. */
START_TEST(nobody_keeps_the_server)
{
    static const char *const before[] = {"get ", ""}, *const behind[] = {"\r\n", "mn\r\n"};
    static const char *const each[] = {"k ", "mn\r\n"};
    for (unsigned way = 0; way < 2; way++) {
        struct talk t;
        static char many[16 * MC_STEPS], text[sizeof many + 16];
        talk_open(&t);
        many[0] = '\0';
        for (unsigned i = 0; i < 3 * MC_STEPS; i++) {
            strcpy(many + i * strlen(each[way]), each[way]);
        }
        snprintf(text, sizeof text, "%s%s%s", before[way], many, behind[way]);
        mc_session_feed(t.session, (const uint8_t *)text, strlen(text));
        unsigned turns = 1;
        for (; talk_yields(&t); turns++) {
            ck_assert_uint_le(t.hub.steps, turns * (MC_STEPS + 1));
            mc_session_resume(t.session);
        }
        ck_assert_uint_eq(turns, 4);
        ck_assert_uint_eq(strlen(hear(&t)), way == 0 ? strlen("END\r\n") : (3 * MC_STEPS + 1) * strlen("MN\r\n"));
        talk_close(&t);
    }
}
END_TEST

START_TEST(hits_take_no_memory)
{
    struct talk t;
    talk_open(&t);
    say(&t, "set a 0 0 1\r\n1\r\nget a\r\n");
    (void)hear(&t);
    const uint8_t *bytes = mc_session_answers(t.session)->bytes;
    struct mc_slot *spare = t.hub.spare;
    for (unsigned i = 0; i < 1000; i++) {
        say(&t, "get a\r\n");
        ck_assert_uint_eq(mc_buffer_length(mc_session_answers(t.session)), 21);
        mc_session_taken(t.session, 21);
    }
    ck_assert_ptr_eq(bytes, mc_session_answers(t.session)->bytes);
    ck_assert_ptr_eq(spare, t.hub.spare);
    ck_assert_uint_eq(t.hub.spares, 1);
    talk_close(&t);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(every_command_is_answered),      SUITE_TEST(pieces_make_no_difference),
    SUITE_TEST(a_large_value_and_a_larger_one), SUITE_TEST(a_browser_is_hung_up_on),
    SUITE_TEST(the_binary_protocol_is_refused), SUITE_TEST(lines_have_an_end),
    SUITE_TEST(who_does_not_read_is_not_read),  SUITE_TEST(a_cache_that_refuses_or_fails),
    SUITE_TEST(nobody_keeps_the_server),        SUITE_TEST(hits_take_no_memory)};
SUITE_MAIN("mc_session", tests)
