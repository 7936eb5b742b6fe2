/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/carry.h"

#include "services/store/common.h"
#include "services/store/found.h"

#include <stdlib.h>
#include <string.h>

enum {
    CALL_ROOM = 160,        /* bytes of headers and extensions that the runtime may put beside a call's payload */
    SPAN_NS_OF_BYTE = 2000, /* half a megabyte a second: a busy link of 20 Mb/s, or a slow disk */
    HAND_NS_OF_BYTE = 50,   /* 20 MB a second, by which disks get rid of what is in hand before all else */
};

/* ---- Parcels ----------------------------------------------------------------------------------------------------- */

struct store_parcel *store_parcel_new(struct store *s, enum store_hand hand, size_t size, size_t extra)
{
    struct store_parcel *p = malloc(sizeof *p + size);
    if (p != NULL) {
        *p = (struct store_parcel){.store = s, .hand = hand, .users = 1, .counted = size + extra, .size = size};
        s->hand[hand] += p->counted;
    }
    return p;
}

struct store_parcel *store_parcel_share(struct store_parcel *p)
{
    p->users++;
    return p;
}

void store_parcel_drop(struct store_parcel *p)
{
    if (p != NULL && --p->users == 0) {
        p->store->hand[p->hand] -= p->counted;
        free(p);
    }
}

struct store_parcel *store_parcel_of(struct store *s, enum store_hand hand, const struct store_register *r)
{
    struct store_parcel *p = store_parcel_new(s, hand, 1 + store_register_size(r), 0);
    if (p != NULL) {
        p->bytes[0] = STORE_FOUND_VERSION;
        store_register_encode(r, p->bytes + 1);
    }
    return p;
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

bool store_carry_fits(const struct store *s, size_t size)
{
    return size <= cw_mtu(s->svc) - CALL_ROOM;
}

bool store_carry_fits_item(const struct store *s, const struct store_register *r)
{
    return store_carry_fits(s, STORE_ITEM_HEAD + store_register_size(r));
}

bool store_carry_is_full(const struct store *s, enum store_hand hand, size_t bytes)
{
    return s->hand[hand] > 0 && s->hand[hand] + bytes > s->limits.hand_max;
}

cw_span store_carry_span(const struct store *s, size_t size)
{
    size_t in_hand = s->hand[STORE_HAND_ASKS] + s->hand[STORE_HAND_ITEMS];
    return CW_NS((store_carry_fits(s, size) ? 0 : (int64_t)size * SPAN_NS_OF_BYTE) +
                 (int64_t)in_hand * HAND_NS_OF_BYTE);
}

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

static void parcel_read(void *context, void *arg, int status)
{
    (void)context;
    (void)status; /* who hears nothing asks again */
    store_parcel_drop(arg);
}

void store_carry_give(struct store *s, const struct store_right *to, struct store_parcel *parcel)
{
    const struct transport_data data = {.bytes = parcel->bytes, .size = parcel->size};
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .timeout = CW_SEC(STORE_LETTER_S)};
    if (s->transport == NULL ||
        transport_reply(s->transport, &to->letter, 0, &data, &options, parcel_read, parcel) < 0) {
        store_parcel_drop(parcel);
    }
}

void store_carry_answer(struct store *s, const struct store_right *to, const uint8_t *bytes, size_t size)
{
    if (to->call == 0) {
        struct store_parcel *parcel = store_parcel_new(s, STORE_HAND_ASKS, size, 0);
        if (parcel != NULL) {
            memcpy(parcel->bytes, bytes, size);
            store_carry_give(s, to, parcel);
        }
        return;
    }
    cw_packet *p = cw_packet_new(s->svc, size);
    if (p != NULL) {
        memcpy(cw_packet_data(p, NULL), bytes, size);
        (void)cw_reply(s->svc, to->call, 0, p); /* who hears nothing asks again */
    }
}
