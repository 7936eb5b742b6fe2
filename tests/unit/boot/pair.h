/* SPDX-License-Identifier: Apache-2.0 */
/* pair.h - one bootstrap under the eyes of a test that plays its neighbours: probes and adverts are put in by hand. */
#ifndef PAIR_H
#define PAIR_H

#include "boot/boot.h"
#include "suite.h"
#include "wire/cabling.h"
#include "wire/frame.h"

#include <string.h>

enum { PAIR_ID = 100, PAIR_CLUSTER = 7 };

static inline struct boot *pair_open(const struct boot_place *place, cw_time now)
{
    struct boot *b;
    struct boot_config config = boot_config_default();
    config.id = PAIR_ID;
    config.cluster = PAIR_CLUSTER;
    config.place = place;
    ck_assert_int_eq(boot_open(&b, &config, now), 0);
    return b;
}

/* What the bootstrap sends on a port now: the probe in it, if any (id 0), and how many adverts and acknowledgements. */
struct pair_sent {
    struct probe probe;
    uint32_t frames, adverts, acks;
    struct cabling advert; /* the last */
};

static inline struct pair_sent pair_pull(struct boot *b, unsigned port, cw_time now)
{
    struct pair_sent sent = {0};
    uint8_t frame[1500];
    for (uint32_t length; (length = boot_tx_pull(b, port, frame, sizeof frame, now)) > 0; sent.frames++) {
        struct frame_head head;
        struct frame_walk walk;
        struct frame_slice slice;
        struct cabling_list list;
        ck_assert_uint_le(length, 1500);
        ck_assert_int_eq(frame_decode(frame, length, &head, &walk), WIRE_OK);
        while (frame_next(frame, &walk, &slice)) {
            const uint8_t *p = frame + slice.at;
            if (p[1] == CONTROL_PROBE) {
                ck_assert_int_eq(probe_decode(p, slice.size, &sent.probe), WIRE_OK);
            } else if (p[1] == CONTROL_CABLING) {
                ck_assert_int_eq(cabling_decode(p, slice.size, &list), WIRE_OK);
                sent.adverts += list.count;
                sent.advert = cabling_get(&list, list.count - 1);
            } else {
                ck_assert_int_eq(cabling_ack_decode(p, slice.size, &list), WIRE_OK);
                sent.acks += list.count;
            }
        }
    }
    return sent;
}

static inline cw_links pair_put(struct boot *b, unsigned port, const uint8_t *packet, uint32_t size, cw_time now)
{
    uint8_t frame[1500];
    struct frame_head head = {.packets = 1};
    frame_encode(&head, frame);
    memcpy(frame + FRAME_HEAD_BYTES, packet, size);
    return boot_rx(b, port, frame, FRAME_HEAD_BYTES + size, now);
}

static inline cw_links pair_probe(struct boot *b, unsigned port, const struct probe *probe, cw_time now)
{
    uint8_t packet[PROBE_BYTES];
    probe_encode(probe, packet);
    return pair_put(b, port, packet, PROBE_BYTES, now);
}

/* The neighbour that belongs to port d of a labelled server, without a place; heard as the caller says. */
static inline struct probe pair_neighbour(unsigned port, uint32_t heard)
{
    return (struct probe){
        .session = 1000 + port,
        .cluster = PAIR_CLUSTER,
        .heard = heard,
        .id = 200 + port,
        .port = (uint8_t)(port ^ 1),
        .label = (uint8_t)(port ^ 1),
    };
}

#endif
