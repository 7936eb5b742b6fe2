/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip_kit.h - IP packets for the tunnel's tests: drawn at random, checked, and cut into single segments by a reference
 * that is too simple to be wrong. Nothing here uses the product's code.
 */
#ifndef KIT_IP_KIT_H
#define KIT_IP_KIT_H

#include "rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IP_KIT_BYTES = 65536 };

/* A packet, and what a virtio head would say of it. */
struct ip_kit_packet {
    bool partial;
    uint16_t gso_size;
    size_t length;
    uint8_t bytes[IP_KIT_BYTES];
};

/* What a drawn packet is to be; a member that is 0 is drawn. */
struct ip_kit_wish {
    unsigned version;  /* 4 or 6 */
    unsigned protocol; /* 6 or 17 */
    bool plain_heads;  /* no IPv4 options, no IPv6 extension heads */
    /* Payload bytes at most; 0: as many as fit. */
    size_t payload_most;
    /* The addresses: the last bytes of source and destination. 0, 0: drawn. */
    uint8_t from, to;
};

/*
 * Draws a packet of TCP or UDP with a partial checksum and mostly a gso size: any flags that go with one, options, ECN,
 * DF or not, odd lengths, a last segment of any size. Its addresses are those of 10.64.0.0/12 or fd00::/48, when the
 * wish names servers.
 */
void ip_kit_draw(struct rng *r, const struct ip_kit_wish *wish, struct ip_kit_packet *out);

/* How many bytes of heads, and of payload, the packet has. */
size_t ip_kit_heads(const struct ip_kit_packet *p);
size_t ip_kit_payload(const struct ip_kit_packet *p);
/*
 * Makes a packet of the payload bytes from..to-1 of another one, as a program that sends the same in two parts would:
 * FIN and PSH if it has the last byte, CWR if it has the first, and IPv4's identification counted on by `segments`.
 */
void ip_kit_part(const struct ip_kit_packet *whole, size_t from, size_t to, unsigned segments,
                 struct ip_kit_packet *out);

/*
 * Is this one packet, partial or not, one that a receiver would take: lengths, the IPv4 head's checksum, TCP's or UDP's
 * own (of a partial one, the sum of the pseudo-head)? NULL, or what is wrong with it.
 */
const char *ip_kit_wrong(const uint8_t *bytes, size_t length, bool partial, uint16_t gso_size);

/* Packets, one behind the other, each behind four bytes that are its length. */
struct ip_kit_list {
    size_t used, room;
    unsigned count;
    uint8_t *bytes;
};

/*
 * Appends the segments that the packet stands for, with complete checksums. blind: with DF, IPv4's identification is
 * written as 0, for comparisons in which it does not count. A packet that is not partial is appended as it is.
 */
void ip_kit_segments(const uint8_t *bytes, size_t length, bool partial, uint16_t gso_size, bool blind,
                     struct ip_kit_list *list);
/* Segment i; its bytes are borrowed. */
const uint8_t *ip_kit_segment(const struct ip_kit_list *list, unsigned i, size_t *length);
bool ip_kit_equal(const struct ip_kit_list *a, const struct ip_kit_list *b);
void ip_kit_clear(struct ip_kit_list *list);
void ip_kit_free(struct ip_kit_list *list);

#endif
