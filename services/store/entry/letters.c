/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/entry/letters.h"

#include "base/bytes.h"
#include "services/store/carry.h"
#include "services/store/common.h"
#include "services/store/durable.h"
#include "services/store/entry/member.h"

#include <errno.h>

/* What is in hand may come to the disk as well; much of it may be answers that do not, and an empty file is enough. */
enum { BESIDES_MOST = 7 << 20 };

/* A letter begins: is there room for it, and for its answer? */
static int begin(void *context, const struct transport_message *m, struct transport_accept *accept)
{
    struct store *s = context;
    const bool item = m->tag == STORE_PORT_MEMBERS;
    if (m->src_job != STORE_JOB || !m->request || m->head_length != STORE_LETTER_HEAD ||
        (!item && m->tag != STORE_PORT_READ && m->tag != STORE_PORT_WRITE)) {
        store_note(s, STORE_COUNT_MALFORMED);
        return -EBADMSG;
    }
    const enum store_hand hand = item ? STORE_HAND_ITEMS : STORE_HAND_ASKS;
    const size_t answer = get_be32(m->head);
    if (m->bytes > STORE_LETTER_MOST || answer > STORE_LETTER_MOST) {
        return -EMSGSIZE;
    }
    /* Where there is none, and none is to come, an asker is told so. */
    size_t in_hand = s->hand[STORE_HAND_ITEMS] + s->hand[STORE_HAND_ASKS];
    in_hand = in_hand < BESIDES_MOST ? in_hand : BESIDES_MOST;
    const enum journal_room room =
        m->tag == STORE_PORT_READ ? JOURNAL_ROOM : store_durable_room(s, (size_t)m->bytes, in_hand);
    if (store_carry_is_full(s, hand, (size_t)m->bytes + answer) || room == JOURNAL_ROOM_SOON ||
        (room == JOURNAL_ROOM_NONE && item)) {
        store_note(s, STORE_COUNT_LETTERS_HELD);
        return -EAGAIN;
    }
    struct store_parcel *parcel = store_parcel_new(s, hand, (size_t)m->bytes, answer);
    if (parcel == NULL) {
        return -EAGAIN;
    }
    accept->into = parcel->bytes;
    accept->arg = parcel;
    return 0;
}

static int message(void *context, void *arg, const struct transport_message *m, const uint8_t *bytes, int status)
{
    struct store *s = context;
    struct store_parcel *parcel = arg;
    (void)bytes;
    if (status == 0) {
        const struct store_caller from = {.job = m->src_job,
                                          .server = m->src_process,
                                          .port = m->tag,
                                          .right = {.letter = m->reply_to},
                                          .parcel = parcel};
        if (m->tag == STORE_PORT_MEMBERS) {
            store_member_item(s, parcel->bytes, parcel->size, &from);
        } else {
            store_member_ask(s, parcel->bytes, parcel->size, &from);
        }
    }
    store_parcel_drop(parcel);
    return 0;
}

int store_letters_open(struct store *s)
{
    struct transport_config config = transport_config_default(STORE_PORT_LETTERS, s);
    config.begin = begin;
    config.message = message;
    config.background = true;
    list_init(&s->letters);
    return transport_open(s->svc, &config, &s->transport);
}

void store_letters_close(struct store *s)
{
    transport_close(s->transport);
    s->transport = NULL;
}

/* Whoever sends is checked here: the transport remembers every peer that says hello, and keeps what it begins. */
cw_verdict store_letters_packet(struct store *s, cw_packet *p, const cw_rx *rx)
{
    if (rx->src_job != STORE_JOB || rx->src_process >= s->torus.servers) {
        store_note(s, STORE_COUNT_DENIED);
        return CW_DROP;
    }
    return transport_packet(s->transport, p, rx);
}
