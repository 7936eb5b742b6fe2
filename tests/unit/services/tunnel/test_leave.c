/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/internal.h"

#include "base/bytes.h"
#include "services/tunnel/head.h"
#include "suite.h"
#include "tunnel_town.h"

#include <errno.h>
#include <string.h>

static struct rng chance = {51};
static struct ip_kit_packet drawn;
static struct town_piece piece;
static struct piece_head head;

static void draw(unsigned version, unsigned protocol, size_t most, unsigned to)
{
    struct ip_kit_wish wish = {
        .version = version, .protocol = protocol, .payload_most = most, .from = 0, .to = (uint8_t)to};
    ip_kit_draw(&chance, &wish, &drawn);
}

/* What was told last to the programs of server 0: ICMP's type and code. */
static void is_told(unsigned type, unsigned code)
{
    ck_assert_uint_eq(town[0].writes, 1);
    const struct town_write *w = &town[0].write[0];
    size_t ip = w->bytes[0] >> 4 == 4 ? 20 : 40;
    ck_assert_uint_eq(w->bytes[ip], type);
    ck_assert_uint_eq(w->bytes[ip + 1], code);
    town_forget(0);
}

/* Each piece fits, has the next number, and all together are the packet. */
START_TEST(pieces)
{
    struct ip_kit_list want = {0}, got = {0};
    uint32_t number[TUNNEL_STRANDS] = {0};
    unsigned many = 0;
    static const char *const plan[] = {"subnet6=fd00::/48", NULL};
    town_open(plan);
    for (unsigned i = 0; i < 150; i++) {
        cw_server to = 1;
        draw(0, 0, 0, to);
        ip_kit_clear(&want);
        ip_kit_clear(&got);
        ip_kit_segments(drawn.bytes, drawn.length, true, drawn.gso_size, false, &want);
        bool too_big =
            drawn.gso_size == 0 ? drawn.length > FAKE_MTU - 16 : ip_kit_heads(&drawn) + drawn.gso_size > FAKE_MTU - 16u;
        town_read(0, &drawn);
        unsigned count = 0;
        for (; town_pull(0, &piece); count++) {
            SUITE_HOLDS(piece_decode(piece.bytes, piece.length, 0, to, &head) == 0);
            SUITE_HOLDS(head.number == number[head.strand]++);
            const uint8_t *ip = piece.bytes + TUNNEL_HEAD_BYTES;
            SUITE_HOLDS(head.kind == PIECE_PARTIAL);
            ip_kit_segments(ip, piece.length - TUNNEL_HEAD_BYTES, true, head.gso_size, false, &got);
        }
        SUITE_HOLDS(too_big ? count == 0 : ip_kit_equal(&want, &got), "packet %u", i);
        many += count > 1;
        town_forget(0);
    }
    ck_assert_uint_gt(many, 30);
    ip_kit_free(&want);
    ip_kit_free(&got);
    town_close();
}
END_TEST

/*
 * Flows for two servers that share a queue: the second packet wants another link than the first one, and leaves though
 * nothing else is read.
 */
START_TEST(one_queue_for_two_servers)
{
    struct ip_kit_wish wish = {.protocol = 17, .version = 4, .plain_heads = true, .payload_most = 100, .from = 1};
    bool shared = false;
    town_open(NULL);
    for (unsigned i = 0; i < 20000 && !shared; i++) {
        for (unsigned k = 0; k < 2; k++) {
            wish.to = k == 0 ? 0 : 2;
            ip_kit_draw(&chance, &wish, &drawn);
            drawn.gso_size = 0;
            town_read(1, &drawn);
        }
        shared = (town[1].s->polled & (town[1].s->polled - 1)) == 0;
        ck_assert(town_pull(1, &piece) && town_pull(1, &piece) && !town_pull(1, &piece));
    }
    ck_assert_msg(shared, "no two flows share a queue");
    town_close();
}
END_TEST

START_TEST(what_is_refused_is_told)
{
    town_open(NULL);
    draw(4, 17, 1000, 1);
    town[0].s->down[1] = true;
    town_read(0, &drawn);
    ck_assert_uint_eq(town_count(0, "drop-unreachable"), 1);
    ck_assert_uint_eq(town[0].writes, 0); /* it may be about to come back */
    fake_run(town[0].s, cw_hold(town[0].s));
    fake_run(town[0].s, CW_MS(1));
    town_read(0, &drawn);
    is_told(3, 1);
    draw(6, 17, 1000, 1);
    struct tunnel_place place;
    town_api()->place(town[0].s, &place);
    memcpy(drawn.bytes + 8, place.own6.b, 16);
    memcpy(drawn.bytes + 24, place.own6.b, 16);
    drawn.bytes[31] = 77; /* a server that there is not */
    town_read(0, &drawn);
    is_told(1, 3);
    ck_assert_uint_eq(town_count(0, "drop-outside"), 1);
    draw(4, 17, 1000, 1);
    town_read(1, &drawn); /* server 1 reads what is of server 0 */
    ck_assert_uint_eq(town_count(1, "drop-source"), 1);
    ck_assert_uint_eq(town[1].writes, 0);
    drawn.length--;
    town_read(0, &drawn);
    ck_assert_uint_eq(town_count(0, "drop-length"), 1);
    ck_assert_uint_eq(town[0].writes, 0);
    town_close();
}
END_TEST

START_TEST(too_big)
{
    static const char *const small[] = {"mtu=1280", NULL};
    town_open(small);
    do {
        draw(4, 17, 3000, 1);
    } while (drawn.length <= 1280);
    drawn.gso_size = 0;
    town_read(0, &drawn);
    is_told(3, 4);
    ck_assert(!town_pull(0, &piece));
    town_close();
}
END_TEST

/* A destination that goes while its packets wait. */
START_TEST(the_server_goes)
{
    town_open(NULL);
    do {
        draw(4, 6, 60000, 1);
    } while (drawn.length < 40000 || drawn.gso_size > 8000 || drawn.gso_size == 0);
    town_read(0, &drawn);
    ck_assert(town_pull(0, &piece));
    town[0].s->refuse = -EACCES;
    ck_assert(!town_pull(0, &piece));
    is_told(3, 13);
    ck_assert_uint_eq(town_count(0, "drop-prohibited"), 1);
    town[0].s->refuse = 0;
    town_read(0, &drawn);
    ck_assert(town_pull(0, &piece));
    town[0].s->down[1] = true;
    const cw_event ev = {.size = sizeof ev, .kind = CW_EVENT_SERVER_DOWN, .server = {1, 0, 0}};
    tunnel_service.on_event(town[0].s, town[0].s->state, &ev);
    ck_assert(!town_pull(0, &piece));
    ck_assert_uint_eq(town_count(0, "drop-unreachable"), 1);
    town_close();
}
END_TEST

/* Marks follow a standing queue; what cannot be marked is dropped. */
START_TEST(standing_queue)
{
    unsigned marked = 0;
    town_open(NULL);
    struct rng own = {52};
    for (unsigned i = 0; i < 400; i++) {
        chance = own; /* the same flow again */
        draw(4, 6, 800, 1);
        drawn.gso_size = 0;
        drawn.bytes[1] = (uint8_t)((drawn.bytes[1] & 0xfc) | (i < 200 ? ECN_ECT0 : ECN_NOT));
        ip_set_length(drawn.bytes, (drawn.bytes[0] & 15u) * 4, drawn.length);
        town_read(0, &drawn);
    }
    while (town_pull(0, &piece)) {
        fake_run(town[0].s, CW_MS(1));
        marked += ip_ecn(piece.bytes + TUNNEL_HEAD_BYTES) == ECN_CE;
    }
    ck_assert_uint_gt(marked, 2);
    ck_assert_uint_gt(town_count(0, "codel"), 2);
    ck_assert_uint_eq(town_count(0, "read"), 400);
    town_close();
}
END_TEST

/* Server 1 is a gateway: what is for the world goes there, and the kernel of a gateway may speak for the world. */
START_TEST(to_a_gateway)
{
    static const char *const options[] = {"gateway_servers=1", NULL};
    town_open(options);
    draw(4, 17, 1000, 1);
    memcpy(drawn.bytes + 16, (const uint8_t[]){8, 8, 8, 8}, 4);
    ip_set_length(drawn.bytes, 20, drawn.length);
    town_read(0, &drawn);
    ck_assert(town_pull(0, &piece));
    ck_assert_int_eq(piece_decode(piece.bytes, piece.length, 0, 1, &head), 0);
    town_bring(0, 1, &piece, false);
    town_flush(1);
    ck_assert_uint_eq(town[1].writes, 1);
    town[0].s->down[1] = true;
    const cw_event down = {.kind = CW_EVENT_SERVER_DOWN, .server = {1, 0, 0}};
    tunnel_service.on_event(town[0].s, town[0].s->state, &down);
    town_read(0, &drawn);
    ck_assert_uint_eq(town_count(0, "drop-no-gateway"), 1);
    is_told(3, 1);
    memcpy(drawn.bytes + 12, (const uint8_t[]){8, 8, 8, 8}, 4);
    memcpy(drawn.bytes + 16, (const uint8_t[]){10, 64, 0, 1}, 4);
    ip_set_length(drawn.bytes, 20, drawn.length);
    town_read(2, &drawn);
    ck_assert_uint_eq(town_count(2, "drop-source"), 1);
    town_read(1, &drawn);
    ck_assert(town_pull(1, &piece));
    town_close();
}
END_TEST

/* Pulls a piece for a longer path; 0: none waits for that link. Gives what the node is told of its length. */
static size_t pull_longer(unsigned server, cw_link link)
{
    cw_svc *s = town[server].s;
    size_t length;
    cw_peek peek = {.size = sizeof peek};
    bool there = tunnel_service.peek_packet(s, s->state, CW_PLACE_BACKGROUND, link, &peek);
    cw_packet *p = tunnel_service.next_packet(s, s->state, CW_PLACE_BACKGROUND, link);
    ck_assert(there == (p != NULL));
    if (p == NULL) {
        return 0;
    }
    const uint8_t *data = cw_packet_data(p, &length);
    memcpy(piece.bytes, data, length);
    piece.length = length;
    cw_packet_free(s, p);
    return peek.length;
}

static void draw_large(unsigned port)
{
    do {
        draw(4, 6, 60000, 1);
    } while (drawn.length < 40000 || drawn.gso_size == 0 || drawn.gso_size > 8000);
    put_be16(drawn.bytes + 20, (uint16_t)port);
}

/* A large packet has pieces by both ways round a ring of three, and is whole at the other end; a small one has none. */
START_TEST(longer_paths)
{
    static const char *const spread[] = {"spread=disjoint", NULL};
    const cw_link away = CW_LINK_XM;
    town_open(spread);
    struct tunnel_place place;
    town_api()->place(town[0].s, &place);
    ck_assert_uint_eq(place.mtu, FAKE_MTU - TUNNEL_HEAD_BYTES - LONGER_BYTES);
    do {
        draw(4, 6, 1000, 1);
    } while (drawn.gso_size != 0);
    town_read(0, &drawn);
    ck_assert_uint_eq(pull_longer(0, away), 0);
    ck_assert(town_pull(0, &piece));
    draw_large(1000);
    town_read(0, &drawn);
    ck_assert_uint_eq(town[0].s->polled_background, cw_links_of(away));
    ck_assert_uint_eq(pull_longer(0, CW_LINK_XP), 0);
    unsigned longer = 0, shorter = 0;
    for (size_t told; (told = pull_longer(0, away)) > 0 || town_pull(0, &piece);) {
        ck_assert_uint_le(told, FAKE_MTU);
        ck_assert(told == 0 || told == piece.length + 8); /* one way-point */
        ck_assert_int_eq(piece_decode(piece.bytes, piece.length, 0, 1, &head), 0);
        town_bring(0, 1, &piece, false);
        longer += told > 0;
        shorter += told == 0;
        if (longer > 2 && shorter == 0) {
            ck_assert(town_pull(0, &piece));
            town_bring(0, 1, &piece, false);
            shorter++;
        }
    }
    town_flush(1);
    ck_assert_uint_ge(longer, 2);
    ck_assert_uint_ge(shorter, 1);
    ck_assert_uint_eq(town_count(0, "longer"), longer);
    ck_assert_uint_eq(town[1].writes, 1);
    ck_assert_uint_eq(town[1].write[0].length, drawn.length);
    town_read(0, &drawn);
    town[0].s->down[2] = true; /* who is on the longer path */
    ck_assert_uint_eq(pull_longer(0, away), 0);
    const cw_event ev = {.size = sizeof ev, .kind = CW_EVENT_SERVER_DOWN, .server = {2, 0, 0}};
    tunnel_service.on_event(town[0].s, town[0].s->state, &ev);
    ck_assert_uint_eq(town[0].s->polled_background, CW_LINKS_NONE);
    ck_assert(town_pull(0, &piece));
    town_close();
}
END_TEST

START_TEST(longer_paths_of_some_ports)
{
    static const char *const spread[] = {"spread=disjoint 873 5000-5010", NULL};
    static const struct {
        unsigned port;
        cw_links links;
    } of[] = {{872, CW_LINKS_NONE}, {873, 1 << CW_LINK_XM}, {5010, 1 << CW_LINK_XM}, {5011, CW_LINKS_NONE}};
    for (unsigned i = 0; i < sizeof of / sizeof *of; i++) {
        town_open(spread);
        draw_large(of[i].port);
        put_be16(drawn.bytes + 22, 1);
        town_read(0, &drawn);
        ck_assert_uint_eq(town[0].s->polled_background, of[i].links);
        town_close();
    }
}
END_TEST

/* A small MTU is the programs' affair: pieces are as large as frames all the same. */
START_TEST(pieces_fill_frames)
{
    static const char *const usual[] = {"mtu=1500", NULL};
    town_open(usual);
    do {
        draw(4, 6, 60000, 1);
    } while (drawn.length < 40000 || drawn.gso_size == 0 || drawn.gso_size > 1400);
    town_read(0, &drawn);
    ck_assert(town_pull(0, &piece));
    ck_assert_uint_gt(piece.length, FAKE_MTU - 16 - 1500u);
    ck_assert_uint_le(piece.length, FAKE_MTU);
    town_close();
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(longer_paths),
    SUITE_TEST(longer_paths_of_some_ports),
    SUITE_TEST(pieces_fill_frames),
    SUITE_TEST(to_a_gateway),
    SUITE_TEST(pieces),
    SUITE_TEST(one_queue_for_two_servers),
    SUITE_TEST(what_is_refused_is_told),
    SUITE_TEST(too_big),
    SUITE_TEST(the_server_goes),
    SUITE_TEST(standing_queue),
};
SUITE_MAIN("leave", tests)
