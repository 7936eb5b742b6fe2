/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/internal.h"

#include "services/tunnel/head.h"
#include "suite.h"
#include "tunnel_town.h"

#include <string.h>

static struct rng chance = {61};
static struct ip_kit_packet drawn;
static struct town_piece piece[TOWN_PIECES];
static unsigned pieces;

/* Reads a large packet at server 0 for server 1, and pulls its pieces. */
static void cut_one(unsigned protocol, size_t least)
{
    struct ip_kit_wish wish = {.protocol = protocol, .from = 0, .to = 1, .plain_heads = true, .version = 4};
    do {
        ip_kit_draw(&chance, &wish, &drawn);
    } while (drawn.length < least || drawn.gso_size > 8000 || drawn.gso_size < 1000);
    town_read(0, &drawn);
    for (pieces = 0; town_pull(0, &piece[pieces]); pieces++) {
    }
}

static void is_written(unsigned server)
{
    town_flush(server);
    ck_assert_uint_eq(town[server].writes, 1);
    const struct town_write *w = &town[server].write[0];
    ck_assert_uint_eq(w->length, drawn.length);
    ck_assert_mem_eq(w->bytes, drawn.bytes, drawn.length);
    ck_assert_uint_eq(w->head[4] | w->head[5] << 8, drawn.gso_size);
    town_forget(server);
}

START_TEST(whole_again)
{
    town_open(NULL);
    for (unsigned i = 0; i < 40; i++) {
        cut_one(i % 2 == 0 ? 6 : 17, 20000);
        ck_assert_uint_ge(pieces, 3);
        for (unsigned k = 0; k < pieces; k++) {
            town_bring(0, 1, &piece[k], false);
            ck_assert_uint_eq(town[1].flushes, 1); /* asked for once */
        }
        is_written(1);
    }
    ck_assert_uint_eq(town_count(1, "written"), 40);
    town_close();
}
END_TEST

/* Neighbours have one path between them, so nothing is waited for; a row of 3 has no others. */
START_TEST(one_path)
{
    town_open(NULL);
    cut_one(6, 20000);
    town_bring(0, 1, &piece[1], false);
    town_bring(0, 1, &piece[0], false);
    town_flush(1);
    ck_assert_uint_eq(town[1].writes, 2);
    town_close();
}
END_TEST

START_TEST(damage_and_lies)
{
    town_open(NULL);
    cut_one(6, 20000);
    struct town_piece bad = piece[0];
    bad.bytes[100] ^= 1;
    town_bring(0, 1, &bad, false);
    ck_assert_uint_eq(town_count(1, "drop-damaged"), 1);
    town_bring(2, 1, &piece[0], false); /* of another server: the sum tells */
    ck_assert_uint_eq(town_count(1, "drop-damaged"), 2);
    town_bring(0, 2, &piece[0], false);
    ck_assert_uint_eq(town_count(2, "drop-damaged"), 1);
    /* A server that lies about the source address, with a right sum. */
    struct piece_head head;
    ck_assert_int_eq(piece_decode(piece[0].bytes, piece[0].length, 0, 1, &head), 0);
    bad = piece[0];
    piece_encode(&head, 2, 1, bad.bytes, bad.length);
    town_bring(2, 1, &bad, false);
    ck_assert_uint_eq(town_count(1, "drop-source"), 1);
    piece_encode(&head, 0, 2, bad.bytes, bad.length);
    town_bring(0, 2, &bad, false);
    ck_assert_uint_eq(town_count(2, "drop-not-here"), 1);
    head.gso_size = 60000;
    piece_encode(&head, 0, 1, bad.bytes, bad.length);
    town_bring(0, 1, &bad, false);
    ck_assert_uint_eq(town_count(1, "drop-offload"), 1);
    bad.length = 16;
    town_bring(0, 1, &bad, false);
    ck_assert_uint_eq(town_count(1, "drop-offload"), 2);
    town_flush(1);
    ck_assert_uint_eq(town[1].writes, 0);
    town_close();
}
END_TEST

/* A server with other subnets is named in the log, with the option that makes both alike, once a minute. */
START_TEST(other_subnets_are_told)
{
    struct piece_head head;
    town_open(NULL);
    char *logged = town[1].s->logged;
    for (unsigned i = 0; i < 3; i++) {
        cut_one(6, 20000);
        struct town_piece bad = piece[0];
        uint8_t *packet = bad.bytes + TUNNEL_HEAD_BYTES;
        ck_assert_int_eq(piece_decode(bad.bytes, bad.length, 0, 1, &head), 0);
        packet[13] = i == 0 ? 65 : 80; /* 10.65.0.1 is in the subnet, 10.80.0.1 is not */
        ip_set_length(packet, 4 * (size_t)(packet[0] & 15), bad.length - TUNNEL_HEAD_BYTES);
        piece_encode(&head, 0, 1, bad.bytes, bad.length);
        logged[0] = '\0';
        town_bring(0, 1, &bad, false);
        ck_assert_uint_eq(town_count(1, "drop-source"), i + 1);
        if (i == 1) {
            ck_assert_str_eq(logged,
                             "server 0,0,0 sends from 10.80.0.1, which is in no subnet of this network, where we have "
                             "10.64.1.1: write the same option subnet on all servers");
        } else {
            ck_assert_str_eq(logged, "");
        }
    }
    town_close();
}
END_TEST

START_TEST(marks_are_told)
{
    town_open(NULL);
    do {
        cut_one(6, 20000);
    } while (ip_ecn(drawn.bytes) != ECN_ECT0 && ip_ecn(drawn.bytes) != ECN_ECT1);
    town_bring(0, 1, &piece[0], true);
    town_bring(0, 1, &piece[1], false);
    town_flush(1);
    ck_assert_uint_eq(town[1].writes, 2); /* a mark is not joined away */
    ck_assert_uint_eq(ip_ecn(town[1].write[0].bytes), ECN_CE);
    ck_assert_uint_ne(ip_ecn(town[1].write[1].bytes), ECN_CE);
    ck_assert_uint_eq(town_count(1, "marked"), 1);
    town_close();
}
END_TEST

/* Sends the drawn packet, which is one piece, so many times; each waits for a millisecond. Gives how many come. */
static unsigned send_again(unsigned times, bool marked)
{
    unsigned came = 0;
    for (unsigned i = 0; i < times; i++) {
        town_read(0, &drawn);
        ck_assert(town_pull(0, &piece[0]));
        town_bring(0, 1, &piece[0], marked);
        town_flush(1);
        came += town[1].writes;
        town_forget(1);
        fake_run(town[1].s, CW_MS(1));
    }
    return came;
}

/* What cannot be marked is dropped now and then while marks go on, and nobody waits for what was dropped. */
START_TEST(marks_on_deaf_packets)
{
    town_open(NULL);
    do {
        cut_one(6, 800);
        drawn.gso_size = 0;
    } while (ip_ecn(drawn.bytes) != ECN_NOT);
    ck_assert_uint_eq(send_again(100, false), 100);
    unsigned came = send_again(400, true);
    uint64_t deaf = town_count(1, "deaf");
    ck_assert_uint_gt(deaf, 10);
    ck_assert_uint_lt(deaf, 150);
    ck_assert_uint_eq(came + deaf, 400);
    ck_assert_uint_eq(town_count(1, "marked"), 0);
    ck_assert_uint_eq(send_again(100, false), 100);
    ck_assert_uint_eq(town_count(1, "deaf"), deaf);
    /* A mark now and then is no queue that stands. */
    for (unsigned i = 0; i < 50; i++) {
        ck_assert_uint_eq(send_again(1, true) + send_again(1, false), 2);
    }
    town_close();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(whole_again),     SUITE_TEST(one_path),
                                          SUITE_TEST(damage_and_lies), SUITE_TEST(other_subnets_are_told),
                                          SUITE_TEST(marks_are_told),  SUITE_TEST(marks_on_deaf_packets)};
SUITE_MAIN("come", tests)
