/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tunnel_world.c - large packets of one flow are cut into pieces, some of which are lost, marked, changed, or
 * change places on their way; what comes is joined. These rules are held:
 *
 *   cut     each piece is a right packet by itself, and the segments of all pieces are, byte for byte, those of the
 *           packet;
 *   join    the segments of what was joined are, byte for byte and in order, those of the pieces that came.
 *   source  a packet is taken only from the server that has its source address;
 *   icmp    what is said of a packet that cannot be carried is a right packet, and nothing is ever said of that;
 *   order, once, bounds, home: see strands_way.h.
 *
 * What a segment of a packet is, kit/model/ip_kit.h says, which knows nothing of the product.
 */
#include "ip_kit.h"
#include "sanitized.h"
#include "seeds.h"
#include "services/tunnel/cut.h"
#include "services/tunnel/icmp.h"
#include "services/tunnel/join.h"
#include "services/tunnel/judge.h"
#include "strands_way.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 12, PARTS = 3, PIECES = 9000, SERVERS = 27 };

struct ledger {
    char wrong[SEEDS_WRONG_BYTES];
    uint64_t packets, pieces, lost, joined, written;
    struct strands_way_sums strands;
};
static struct ledger *ledger, sums;

struct piece {
    size_t length;
    struct offload offload;
    uint8_t *bytes;
};

static struct rng chance;
static struct ip_kit_packet whole, part;
static struct piece pieces[PIECES];
static unsigned count;
static struct join join;

static unsigned below(unsigned n)
{
    return (unsigned)rng_below(&chance, n);
}

static void fail(const char *rule, const char *what)
{
    seeds_fail(ledger->wrong, rule, "packet %lu: %s", (unsigned long)ledger->packets, what);
}

static void keep(const uint8_t *bytes, size_t length, const struct offload *offload)
{
    uint8_t *copy = malloc(length); /* exact: a sanitizer sees one byte too many */
    if (copy == NULL || count == PIECES) {
        abort();
    }
    memcpy(copy, bytes, length);
    pieces[count++] = (struct piece){length, *offload, copy};
}

/* ---- Cutting ----------------------------------------------------------------------------------------------------- */

static void cut_part(size_t room)
{
    static uint8_t bytes[IP_KIT_BYTES];
    struct ip_packet p;
    struct cut cut;
    struct offload offload;
    struct ip_kit_list want = {0}, got = {0};
    if (ip_read(part.bytes, part.length, &p) != TUNNEL_GOOD ||
        cut_begin(&cut, &p, &(struct offload){true, part.gso_size}, room) != TUNNEL_GOOD) {
        fail("cut", "it is refused");
        return;
    }
    ip_kit_segments(part.bytes, part.length, true, part.gso_size, false, &want);
    for (size_t length; (length = cut_next(&cut, bytes, &offload)) != 0;) {
        const char *wrong = ip_kit_wrong(bytes, length, offload.partial, offload.gso_size);
        if (wrong != NULL) {
            fail("cut", wrong);
        }
        ip_kit_segments(bytes, length, offload.partial, offload.gso_size, false, &got);
        keep(bytes, length, &offload);
    }
    if (!ip_kit_equal(&want, &got)) {
        fail("cut", "the segments of the pieces are not those of the packet");
    }
    ledger->packets++;
    ip_kit_free(&want);
    ip_kit_free(&got);
}

/* A drawn packet, sent in one to three parts, each cut. */
static void cut_flow(void)
{
    ip_kit_draw(&chance, &(struct ip_kit_wish){.payload_most = below(4) == 0 ? 0 : 20000}, &whole);
    size_t heads = ip_kit_heads(&whole), payload = ip_kit_payload(&whole), at = 0;
    size_t least = heads + (whole.gso_size == 0 ? payload : whole.gso_size);
    size_t room = least + below(9000);
    unsigned segments = 0;
    for (unsigned i = 0; i < PARTS && at < payload; i++) {
        size_t to = i + 1 == PARTS || below(2) == 0 ? payload : at + 1 + below((unsigned)(payload - at));
        if (whole.gso_size == 0) {
            to = payload;
        }
        ip_kit_part(&whole, at, to, segments, &part);
        segments += part.gso_size == 0 ? 1 : (unsigned)((to - at - 1) / part.gso_size + 1);
        cut_part(room);
        at = to;
    }
}

/* ---- The way ----------------------------------------------------------------------------------------------------- */

/* Changes what TCP would have changed between two segments, had more happened: a byte of its head. */
static void change_head(struct piece *p)
{
    struct ip_packet packet;
    if (ip_read(p->bytes, p->length, &packet) == TUNNEL_GOOD && ip_is_tcp(&packet)) {
        unsigned at = below(3);
        unsigned options = packet.heads - packet.ip_head - TCP_HEAD;
        unsigned byte = at == 0 ? 8 + below(4) : at == 1 || options == 0 ? 14 + below(2) : TCP_HEAD + below(options);
        p->bytes[packet.ip_head + byte] ^= (uint8_t)(1 + below(255));
    }
}

static void lose(unsigned i)
{
    free(pieces[i].bytes);
    count--;
    memmove(&pieces[i], &pieces[i + 1], (count - i) * sizeof *pieces);
    ledger->lost++;
}

static void go_the_way(void)
{
    for (unsigned i = 0; i < count; i++) {
        switch (below(25)) {
        case 0:
            lose(i);
            break;
        case 1:
            ip_mark(pieces[i].bytes);
            break;
        case 2:
            change_head(&pieces[i]);
            break;
        case 3:
            if (i > 0) {
                struct piece p = pieces[i];
                pieces[i] = pieces[i - 1];
                pieces[i - 1] = p;
            }
            break;
        default:
            break;
        }
    }
}

/* ---- Joining ----------------------------------------------------------------------------------------------------- */

static void write_out(struct ip_kit_list *got)
{
    struct ip_packet p;
    struct offload offload;
    if (!join_take(&join, &p, &offload)) {
        return;
    }
    const char *wrong = ip_kit_wrong(p.bytes, p.length, offload.partial, offload.gso_size);
    if (wrong != NULL) {
        fail("join", wrong);
    }
    ip_kit_segments(p.bytes, p.length, offload.partial, offload.gso_size, true, got);
    ledger->written++;
}

static void join_all(void)
{
    struct ip_kit_list want = {0}, got = {0};
    join.udp = below(4) != 0;
    for (unsigned i = 0; i < count; i++) {
        struct piece *piece = &pieces[i];
        struct ip_packet p;
        ip_kit_segments(piece->bytes, piece->length, true, piece->offload.gso_size, true, &want);
        if (ip_read(piece->bytes, piece->length, &p) != TUNNEL_GOOD) {
            fail("join", "a piece cannot be read");
            break;
        }
        if (below(30) == 0) {
            write_out(&got); /* nothing more is there now */
        }
        if (!join_add(&join, &p, &piece->offload)) {
            write_out(&got);
            if (!join_add(&join, &p, &piece->offload)) {
                fail("join", "nothing takes no piece");
            }
        } else {
            ledger->joined++;
        }
        ledger->pieces++;
    }
    write_out(&got);
    if (!ip_kit_equal(&want, &got)) {
        fail("join", "the segments of what was joined are not those of the pieces");
    }
    for (unsigned i = 0; i < count; i++) {
        free(pieces[i].bytes);
    }
    count = 0;
    ip_kit_free(&want);
    ip_kit_free(&got);
}

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

/* What is said of a packet can be read, and nothing is said of that. */
static void try_icmp(const struct address_plan *plan, const struct ip_packet *p, cw_server self)
{
    uint8_t answer[ICMP_BYTES_MOST];
    struct ip_address own;
    struct ip_packet q;
    address_of(plan, self, p->version, &own);
    if (!icmp_may(p)) {
        fail("icmp", "a packet is not answered");
        return;
    }
    size_t length = icmp_make((enum icmp_what)below(3), p, &own, 1280 + below(8000), answer);
    if (ip_read(answer, length, &q) != TUNNEL_GOOD) {
        fail("icmp", "an answer cannot be read");
    } else if (icmp_may(&q)) {
        fail("icmp", "an answer may be answered");
    }
}

static void try_sources(void)
{
    struct address_plan plan;
    char why[ADDRESS_WHY_BYTES];
    struct ip_packet p;
    const struct address_wish addresses = {.subnet6 = "fd00::/48", .dims = {SERVERS, 1, 1}, .job = TUNNEL_JOB};
    enum address_fault fault;
    if (address_plan_make(&plan, &addresses, &fault, why) != 0) {
        fail("source", why);
        return;
    }
    struct ip_kit_wish wish = {.payload_most = 100, .from = (uint8_t)below(SERVERS)};
    wish.to = (uint8_t)((wish.from + 1 + below(SERVERS - 1)) % SERVERS);
    ip_kit_draw(&chance, &wish, &whole);
    cw_server sender = below(SERVERS), to;
    if (ip_read(whole.bytes, whole.length, &p) != TUNNEL_GOOD) {
        fail("source", "a packet cannot be read");
        return;
    }
    bool read = judge_read(&plan, sender, &p, &to) == TUNNEL_GOOD;
    bool came = judge_came(&plan, wish.to, sender, &p) == TUNNEL_GOOD;
    if (read != (sender == wish.from) || (read && to != wish.to)) {
        fail("source", "a packet is read that is of another server, or one is not that is");
    }
    if (came != (sender == wish.from)) {
        fail("source", "a packet is taken that is of another server, or one is not that is");
    }
    try_icmp(&plan, &p, wish.from);
}

static void run(uint64_t seed)
{
    chance.state = seed;
    for (unsigned i = 0; i < ROUNDS; i++) {
        cut_flow();
        go_the_way();
        join_all();
        try_sources();
    }
    strands_way(&chance, ledger->wrong, &ledger->strands);
}

static void add(void)
{
    const uint64_t *from = &ledger->packets;
    uint64_t *to = &sums.packets;
    for (size_t i = 0; i < (sizeof sums - sizeof sums.wrong) / sizeof *to; i++) {
        to[i] += from[i];
    }
}

int main(int argc, char **argv)
{
    ledger = seeds_share(sizeof *ledger);
    const uint64_t usual = SANITIZED ? 60 : 600;
    struct seeds seeds = {.first = 1,
                          .count = getenv("CUBEWAY_SOAK") != NULL ? 20000 : usual,
                          .ledger = ledger,
                          .ledger_bytes = sizeof *ledger,
                          .wrong = ledger->wrong,
                          .run = run,
                          .add = add};
    int rc = seeds_read(&seeds, argc, argv);
    if (rc != 0) {
        return rc;
    }
    rc = seeds_run(&seeds);
    printf("%lu packets, %lu pieces came, %lu were lost; %lu joined into %lu\n", (unsigned long)sums.packets,
           (unsigned long)sums.pieces, (unsigned long)sums.lost, (unsigned long)sums.joined,
           (unsigned long)sums.written);
    const struct strands_way_sums *w = &sums.strands;
    printf(
        "strands: %lu pieces, %lu waited, %lu holes filled, %lu given up, %lu late after all, %lu doubles, %lu lives\n",
        (unsigned long)w->pieces, (unsigned long)w->waited, (unsigned long)w->filled, (unsigned long)w->given_up,
        (unsigned long)w->late, (unsigned long)w->doubles, (unsigned long)w->lives);
    return rc;
}
