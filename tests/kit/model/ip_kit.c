/* SPDX-License-Identifier: Apache-2.0 */
#include "ip_kit.h"

#include <stdlib.h>
#include <string.h>

enum { TCP = 6, UDP = 17, ID = 4, FRAGMENT = 6, SUM4 = 10 };

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

static unsigned get16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static void put16(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static void put32(uint8_t *p, uint32_t v)
{
    put16(p, v >> 16);
    put16(p + 2, v & 0xffff);
}

/* One word after the other, with the carry added at once: RFC 1071 as it is told. */
static unsigned add_words(unsigned sum, const uint8_t *p, size_t size)
{
    for (size_t i = 0; i < size; i += 2) {
        sum += (unsigned)p[i] << 8 | (i + 1 < size ? p[i + 1] : 0);
        if (sum > 0xffff) {
            sum = (sum & 0xffff) + 1;
        }
    }
    return sum;
}

static unsigned pseudo_sum(const uint8_t *ip, unsigned protocol, size_t length)
{
    uint8_t head[40] = {0};
    bool four = ip[0] >> 4 == 4;
    size_t addresses = four ? 8 : 32;
    memcpy(head, ip + (four ? 12 : 8), addresses);
    put32(head + addresses, (uint32_t)length);
    head[addresses + 7] = (uint8_t)protocol;
    return add_words(0, head, addresses + 8);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

struct heads {
    unsigned protocol;
    size_t ip, all, checksum; /* bytes of the IP heads, of all heads; where the transport's checksum stands */
};

/* Knows the packets that are drawn here: TCP or UDP, IPv6 with extension heads for options only. */
static bool read_heads(const uint8_t *b, size_t length, struct heads *h)
{
    if (length < 20) {
        return false;
    }
    if (b[0] >> 4 == 4) {
        h->ip = (b[0] & 15u) * 4;
        h->protocol = b[9];
    } else {
        h->ip = 40;
        h->protocol = b[6];
        while ((h->protocol == 0 || h->protocol == 60) && h->ip + 8 <= length) {
            h->protocol = b[h->ip];
            h->ip += (b[h->ip + 1] + 1u) * 8;
        }
    }
    if ((h->protocol != TCP && h->protocol != UDP) || h->ip + 8 > length) {
        return false;
    }
    h->all = h->ip + (h->protocol == UDP ? 8 : (size_t)(b[h->ip + 12] >> 4) * 4);
    h->checksum = h->ip + (h->protocol == TCP ? 16 : 6);
    return h->all <= length;
}

const char *ip_kit_wrong(const uint8_t *b, size_t length, bool partial, uint16_t gso_size)
{
    struct heads h;
    if (!read_heads(b, length, &h)) {
        return "the heads are cut short";
    }
    if (b[0] >> 4 == 4 ? get16(b + 2) != length : get16(b + 4) + 40u != length) {
        return "the length in the IP head is wrong";
    }
    if (b[0] >> 4 == 4 && add_words(0, b, h.ip) != 0xffff) {
        return "the checksum of the IPv4 head is wrong";
    }
    if (h.protocol == UDP && get16(b + h.ip + 4) != length - h.ip) {
        return "the length in the UDP head is wrong";
    }
    unsigned pseudo = pseudo_sum(b, h.protocol, length - h.ip);
    if (partial) {
        if (get16(b + h.checksum) != pseudo) {
            return "the sum of the pseudo-head is wrong";
        }
    } else if (!(h.protocol == UDP && get16(b + h.checksum) == 0) &&
               add_words(pseudo, b + h.ip, length - h.ip) != 0xffff) {
        return "the checksum is wrong";
    }
    if (gso_size != 0 && (!partial || length - h.all <= gso_size)) {
        return "the gso size is wrong";
    }
    return NULL;
}

/* ---- Segments ---------------------------------------------------------------------------------------------------- */

static uint8_t *append(struct ip_kit_list *list, size_t length)
{
    if (list->used + 4 + length > list->room) {
        list->room = 2 * (list->room + 4 + length);
        list->bytes = realloc(list->bytes, list->room);
        if (list->bytes == NULL) {
            abort();
        }
    }
    uint8_t *at = list->bytes + list->used;
    put32(at, (uint32_t)length);
    list->used += 4 + length;
    list->count++;
    return at + 4;
}

static void finish(uint8_t *s, size_t length, const struct heads *h, bool blind)
{
    if (s[0] >> 4 == 4) {
        if (blind && (get16(s + FRAGMENT) & 0x4000) != 0) {
            put16(s + ID, 0);
        }
        put16(s + 2, (unsigned)length);
        put16(s + SUM4, 0);
        put16(s + SUM4, ~add_words(0, s, h->ip) & 0xffff);
    } else {
        put16(s + 4, (unsigned)length - 40);
    }
    if (h->protocol == UDP) {
        put16(s + h->ip + 4, (unsigned)(length - h->ip));
    }
    put16(s + h->checksum, 0);
    unsigned sum = ~add_words(pseudo_sum(s, h->protocol, length - h->ip), s + h->ip, length - h->ip) & 0xffff;
    put16(s + h->checksum, sum == 0 && h->protocol == UDP ? 0xffff : sum);
}

void ip_kit_segments(const uint8_t *b, size_t length, bool partial, uint16_t gso_size, bool blind,
                     struct ip_kit_list *list)
{
    struct heads h;
    if (!partial || !read_heads(b, length, &h)) {
        memcpy(append(list, length), b, length);
        return;
    }
    size_t payload = length - h.all, step = gso_size == 0 ? payload : gso_size, done = 0;
    for (unsigned i = 0; i == 0 || done < payload; i++) {
        size_t part = payload - done < step ? payload - done : step;
        uint8_t *s = append(list, h.all + part);
        memcpy(s, b, h.all);
        memcpy(s + h.all, b + h.all + done, part);
        if (b[0] >> 4 == 4) {
            put16(s + ID, get16(b + ID) + i);
        }
        if (h.protocol == TCP) {
            put32(s + h.ip + 4, get32(b + h.ip + 4) + (uint32_t)done);
            s[h.ip + 13] &= (uint8_t)(i > 0 ? 0x7f : 0xff);                     /* CWR: the first */
            s[h.ip + 13] &= (uint8_t)(done + part < payload ? 0xff - 9 : 0xff); /* FIN, PSH: the last */
        }
        finish(s, h.all + part, &h, blind);
        done += part;
    }
}

const uint8_t *ip_kit_segment(const struct ip_kit_list *list, unsigned i, size_t *length)
{
    const uint8_t *at = list->bytes;
    for (; i > 0; i--) {
        at += 4 + get32(at);
    }
    *length = get32(at);
    return at + 4;
}

bool ip_kit_equal(const struct ip_kit_list *a, const struct ip_kit_list *b)
{
    return a->used == b->used && (a->used == 0 || memcmp(a->bytes, b->bytes, a->used) == 0);
}

void ip_kit_clear(struct ip_kit_list *list)
{
    list->used = 0;
    list->count = 0;
}

void ip_kit_free(struct ip_kit_list *list)
{
    free(list->bytes);
    *list = (struct ip_kit_list){0};
}

/* ---- Drawing ----------------------------------------------------------------------------------------------------- */

static unsigned below(struct rng *r, unsigned n)
{
    return (unsigned)rng_below(r, n);
}

static void fill(struct rng *r, uint8_t *p, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        p[i] = (uint8_t)rng_next(r);
    }
}

static size_t draw_ip4(struct rng *r, const struct ip_kit_wish *w, uint8_t *b, unsigned protocol)
{
    size_t options = w->plain_heads || below(r, 4) != 0 ? 0 : 4 * (size_t)(1 + below(r, 10));
    b[0] = (uint8_t)(0x40 | (20 + options) / 4);
    b[1] = (uint8_t)rng_next(r);
    fill(r, b + ID, 2);
    put16(b + FRAGMENT, below(r, 3) == 0 ? 0 : 0x4000);
    b[8] = (uint8_t)(1 + below(r, 255));
    b[9] = (uint8_t)protocol;
    fill(r, b + 12, 8);
    memset(b + 20, 1, options); /* "no operation" */
    if (w->from != w->to) {
        memcpy(b + 12, (const uint8_t[]){10, 64, w->from, 1, 10, 64, w->to, 1}, 8);
    }
    return 20 + options;
}

static size_t draw_ip6(struct rng *r, const struct ip_kit_wish *w, uint8_t *b, unsigned protocol)
{
    bool extension = !w->plain_heads && below(r, 4) == 0;
    fill(r, b, 4);
    b[0] = (uint8_t)(0x60 | (b[0] & 15));
    b[6] = (uint8_t)(extension ? 60 : protocol);
    b[7] = (uint8_t)(1 + below(r, 255));
    fill(r, b + 8, 32);
    if (w->from != w->to) {
        memset(b + 8, 0, 32);
        b[8] = b[24] = 0xfd;
        b[15] = w->from;
        b[31] = w->to;
        b[23] = b[39] = 1;
    }
    if (!extension) {
        return 40;
    }
    memcpy(b + 40, (const uint8_t[]){(uint8_t)protocol, 0, 1, 4, 0, 0, 0, 0}, 8); /* padding */
    return 48;
}

static size_t draw_tcp(struct rng *r, uint8_t *t)
{
    size_t options = 4 * (size_t)below(r, 11);
    fill(r, t, 20 + options);
    t[12] = (uint8_t)((20 + options) / 4 << 4);
    t[13] = (uint8_t)(0x10 | (rng_next(r) & 0x49)); /* ACK; ECE, PSH and FIN drawn */
    t[13] |= below(r, 4) == 0 ? 0x80 : 0;
    put16(t + 18, 0);
    return 20 + options;
}

void ip_kit_draw(struct rng *r, const struct ip_kit_wish *wish, struct ip_kit_packet *out)
{
    unsigned version = wish->version != 0 ? wish->version : below(r, 2) == 0 ? 4 : 6;
    unsigned protocol = wish->protocol != 0 ? wish->protocol : below(r, 3) == 0 ? UDP : TCP;
    uint8_t *b = out->bytes;
    memset(b, 0, 128);
    size_t ip = version == 4 ? draw_ip4(r, wish, b, protocol) : draw_ip6(r, wish, b, protocol);
    size_t heads = ip + (protocol == TCP ? draw_tcp(r, b + ip) : 8);
    if (protocol == UDP) {
        fill(r, b + ip, 4);
    }
    size_t most = 65535 - heads;
    most = wish->payload_most != 0 && wish->payload_most < most ? wish->payload_most : most;
    /* Small ones and large ones; segments of all sizes, of which the last one is often one byte, or whole. */
    size_t payload = 1 + (size_t)rng_below(r, below(r, 2) == 0 ? most : most / 8 + 1);
    unsigned gso = 8 + below(r, below(r, 3) == 0 ? 100 : 8900);
    unsigned last = below(r, 4);
    if (last < 2 && payload > gso) {
        payload -= payload % gso;
        payload += last == 1 && payload < most ? 1 : 0;
    }
    if (protocol == UDP && payload > 128u * gso) {
        payload = 128u * gso; /* more segments Linux does not make */
    }
    fill(r, b + heads, payload);
    out->partial = true;
    out->gso_size = (uint16_t)(payload > gso ? gso : 0);
    out->length = heads + payload;
    struct heads h;
    if (!read_heads(b, out->length, &h)) {
        abort();
    }
    finish(b, out->length, &h, false);
    put16(b + h.checksum, pseudo_sum(b, protocol, out->length - ip));
}

size_t ip_kit_heads(const struct ip_kit_packet *p)
{
    struct heads h;
    return read_heads(p->bytes, p->length, &h) ? h.all : 0;
}

size_t ip_kit_payload(const struct ip_kit_packet *p)
{
    return p->length - ip_kit_heads(p);
}

void ip_kit_part(const struct ip_kit_packet *whole, size_t from, size_t to, unsigned segments,
                 struct ip_kit_packet *out)
{
    struct heads h;
    if (!read_heads(whole->bytes, whole->length, &h)) {
        abort();
    }
    uint8_t *b = out->bytes;
    out->partial = true;
    out->gso_size = to - from > whole->gso_size ? whole->gso_size : 0;
    out->length = h.all + to - from;
    memcpy(b, whole->bytes, h.all);
    memcpy(b + h.all, whole->bytes + h.all + from, to - from);
    if (b[0] >> 4 == 4) {
        put16(b + ID, get16(b + ID) + segments);
    }
    if (h.protocol == TCP) {
        put32(b + h.ip + 4, get32(b + h.ip + 4) + (uint32_t)from);
        b[h.ip + 13] &= (uint8_t)(from > 0 ? 0x7f : 0xff);
        b[h.ip + 13] &= (uint8_t)(h.all + to < whole->length ? 0xff - 9 : 0xff);
    }
    finish(b, out->length, &h, false);
    put16(b + h.checksum, pseudo_sum(b, h.protocol, out->length - h.ip));
}
