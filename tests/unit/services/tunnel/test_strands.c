/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/strands.h"

#include "suite.h"

#include <string.h>

enum { SERVERS = 4, MEMORY = 5000 };

static struct strands s;
static char pieces[3000];
static char said[400]; /* the letters of what was delivered, in order; what was dropped stands in brackets */
static int64_t late_ns;
static cw_time now = {1000000000};

static void deliver(void *context, cw_server from, void *piece)
{
    ck_assert_ptr_eq(context, &s);
    ck_assert_uint_lt(from, SERVERS);
    strncat(said, piece, 1);
}

static void drop(void *context, void *piece)
{
    ck_assert_ptr_eq(context, &s);
    strcat(strncat(strcat(said, "("), piece, 1), ")");
}

static void was_late(void *context, cw_span late)
{
    (void)context;
    late_ns = late.ns;
}

static void open_all(void)
{
    struct strands_config config = {.servers = SERVERS,
                                    .bounds = {.first = CW_MS(5), .least = CW_US(100), .most = CW_MS(20)},
                                    .memory_most = MEMORY,
                                    .deliver = deliver,
                                    .drop = drop,
                                    .was_late = was_late,
                                    .context = &s};
    ck_assert_int_eq(strands_open(&s, &config), 0);
}

/* The piece with that letter comes, with 1,000 and the number that the letter has in the alphabet. */
static void comes_of(cw_server from, uint8_t strand, uint16_t life, char letter, bool one_path)
{
    struct piece_head head = {
        .kind = PIECE_PLAIN, .strand = strand, .life = life, .number = (uint32_t)(1000 + letter - 'a')};
    pieces[(unsigned char)letter] = letter;
    strands_take(&s, from, &head, &pieces[(unsigned char)letter], 1000, one_path, now);
}

static void come(const char *letters)
{
    for (; *letters != '\0'; letters++) {
        comes_of(1, 0, 5, *letters, false);
    }
}

static void is_said(const char *what)
{
    ck_assert_str_eq(said, what);
    said[0] = '\0';
}

START_TEST(order_is_restored)
{
    open_all();
    come("acbd");
    is_said("abcd");
    come("gfe");
    is_said("efg");
    ck_assert_uint_eq(s.counts.in_order, 2);
    ck_assert_uint_eq(s.counts.waited, 3);
    ck_assert_uint_eq(s.counts.filled, 2);
    ck_assert_uint_eq(s.held, 0);
    ck_assert_int_eq(strands_due(&s).ns, CW_NEVER.ns);
    come("e");
    is_said("(e)");
    strands_close(&s);
}
END_TEST

START_TEST(holes_are_given_up)
{
    open_all();
    come("adef");
    is_said("a");
    ck_assert_int_eq(strands_due(&s).ns, cw_time_add(now, CW_MS(5)).ns);
    strands_tick(&s, cw_time_add(now, CW_US(4999)));
    is_said("");
    now = cw_time_add(now, CW_MS(5));
    strands_tick(&s, now);
    is_said("def");
    ck_assert_uint_eq(s.counts.given_up, 2);
    now = cw_time_add(now, CW_MS(1));
    come("b");
    is_said("b");
    ck_assert_uint_eq(s.counts.late_after_all, 1);
    ck_assert_int_eq(late_ns, CW_MS(6).ns); /* behind d, which came 6 ms ago: so long is waited from now on */
    ck_assert_int_eq(strands_wait(&s, 1).ns, CW_MS(9).ns);
    ck_assert_int_eq(strands_wait(&s, 2).ns, CW_MS(5).ns);
    strands_close(&s);
}
END_TEST

START_TEST(learns_from_what_is_filled)
{
    open_all();
    come("ac");
    now = cw_time_add(now, CW_US(400));
    come("b");
    is_said("abc");
    ck_assert_int_eq(late_ns, CW_US(400).ns);
    come("e");
    ck_assert_int_eq(strands_due(&s).ns, cw_time_add(now, CW_US(600)).ns);
    strands_close(&s);
    is_said("(e)");
}
END_TEST

START_TEST(one_path_waits_for_nothing)
{
    open_all();
    comes_of(1, 0, 5, 'a', true);
    comes_of(1, 0, 5, 'c', true);
    is_said("ac");
    comes_of(1, 0, 5, 'd', true);
    is_said("d");
    ck_assert_uint_eq(s.counts.given_up, 1);
    strands_close(&s);
}
END_TEST

START_TEST(strands_and_servers_are_apart)
{
    open_all();
    come("ac");
    comes_of(1, 31, 5, 'x', false);
    comes_of(2, 0, 5, 'y', false);
    is_said("axy");
    comes_of(2, 0, 5, 'z', false);
    is_said("z");
    strands_forget(&s, 2);
    is_said("");
    strands_forget(&s, 1);
    is_said("c");
    come("kl"); /* it begins anew */
    is_said("kl");
    strands_forget(&s, 3);
    strands_close(&s);
}
END_TEST

START_TEST(new_lives)
{
    open_all();
    come("ace");
    comes_of(1, 0, 6, 'a', false);
    is_said("acea");
    come("d"); /* of the former life */
    is_said("d");
    comes_of(1, 0, 6, 'b', false);
    is_said("b");
    ck_assert_uint_eq(s.counts.former, 1);
    strands_close(&s);
}
END_TEST

START_TEST(memory)
{
    open_all();
    come("a");
    comes_of(2, 3, 1, 'a', false);
    come("cde");
    comes_of(2, 3, 1, 'c', false);
    comes_of(2, 3, 1, 'd', false);
    is_said("aa");
    ck_assert_uint_eq(s.held, 5000);
    comes_of(2, 3, 1, 'f', false); /* too much: the fullest is first */
    is_said("cde");
    ck_assert_uint_eq(s.held, 3000);
    strands_close(&s);
    is_said("(c)(d)(f)");
}
END_TEST

START_TEST(hurry)
{
    open_all();
    come("ac");
    comes_of(2, 0, 5, 'p', false);
    comes_of(2, 0, 5, 'r', false);
    is_said("ap");
    strands_hurry(&s, cw_time_add(now, CW_MS(2)));
    now = cw_time_add(now, CW_MS(2));
    strands_tick(&s, now);
    is_said("cr");
    ck_assert_int_eq(strands_due(&s).ns, CW_NEVER.ns);
    strands_close(&s);
}
END_TEST

START_TEST(far_ahead)
{
    open_all();
    struct piece_head head = {.kind = PIECE_PLAIN, .number = 0, .life = 5};
    come("ac");
    head.number = 1000 + 100000;
    pieces[0] = 'X';
    strands_take(&s, 1, &head, &pieces[0], 1000, false, now);
    is_said("ac");
    ck_assert_uint_eq(s.counts.given_up, 1 + 100000 - 3 - STRAND_WINDOW + 1);
    strands_tick(&s, cw_time_add(now, CW_MS(5)));
    is_said("X");
    strands_close(&s);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(order_is_restored),
    SUITE_TEST(holes_are_given_up),
    SUITE_TEST(learns_from_what_is_filled),
    SUITE_TEST(one_path_waits_for_nothing),
    SUITE_TEST(strands_and_servers_are_apart),
    SUITE_TEST(new_lives),
    SUITE_TEST(memory),
    SUITE_TEST(hurry),
    SUITE_TEST(far_ahead),
};
SUITE_MAIN("strands", tests)
