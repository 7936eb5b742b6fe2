/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/receiver.h"

#include "services/multicast/cast/mutant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- The cut ----------------------------------------------------------------------------------------------------- */

int cast_cut_init(struct cast_cut *cut, uint64_t bytes, uint32_t piece_bytes)
{
    if (bytes == 0 || piece_bytes == 0) {
        return -EINVAL;
    }
    uint64_t pieces = bytes / piece_bytes + (bytes % piece_bytes != 0);
    if (pieces >= CAST_OPEN_ENDED / 2) {
        return -E2BIG;
    }
    *cut = (struct cast_cut){.bytes = bytes, .piece_bytes = piece_bytes, .pieces = (uint32_t)pieces};
    return 0;
}

size_t cast_cut_length(const struct cast_cut *cut, uint32_t piece)
{
    uint64_t left = cut->bytes - (uint64_t)piece * cut->piece_bytes;
    return left < cut->piece_bytes ? (size_t)left : cut->piece_bytes;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static void end(struct cast_receiver *t, int status)
{
    int rc = t->sink.end(t->sink.context, status);
    t->status = status < 0 ? status : rc;
    t->state = status == 0 && rc == -EINPROGRESS ? CAST_ENDING : CAST_ENDED;
}

int cast_receiver_open(struct cast_receiver *t, const struct cast_sink *sink, const struct cast_cut *cut)
{
    *t = (struct cast_receiver){.cut = *cut, .sink = *sink};
    t->got = calloc(cut->pieces / 8 + 1, 1);
    if (t->got == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; sink->has != NULL && i < cut->pieces; i++) {
        if (sink->has(sink->context, i)) {
            t->got[i / 8] |= (uint8_t)(1 << i % 8);
            t->count++;
        }
    }
    if (t->count == cut->pieces) {
        end(t, 0);
    }
    return 0;
}

void cast_receiver_refuse(struct cast_receiver *t, const struct cast_cut *cut, int status)
{
    *t = (struct cast_receiver){.cut = *cut, .state = CAST_ENDED, .status = status};
}

void cast_receiver_close(struct cast_receiver *t)
{
    free(t->got);
    t->got = NULL;
}

size_t cast_receiver_memory(const struct cast_receiver *t)
{
    return t->got != NULL ? t->cut.pieces / 8 + 1 : 0;
}

/* ---- Taking ------------------------------------------------------------------------------------------------------ */

/* -EAGAIN as long as it may be waited for; 0: no longer. */
static int wait(struct cast_receiver *t, cw_span patience, cw_time now)
{
    if (t->out) {
        return 0;
    }
    if (t->refused) {
        t->waited.ns += cw_time_since(now, t->refused_at).ns;
    }
    t->refused = true;
    t->refused_at = now;
    t->out = t->waited.ns >= patience.ns;
    return t->out ? 0 : -EAGAIN;
}

int cast_receiver_give(struct cast_receiver *t, const struct cast_head *data, cw_span patience, cw_time now)
{
    if (data->piece >= t->cut.pieces || data->rest_bytes != cast_cut_length(&t->cut, data->piece)) {
        return -EINVAL;
    }
    bool lacks = cast_receiver_lacks(t, data->piece) || (CAST_MUTANT(GIVES_TWICE) && t->state == CAST_RECEIVING);
    if (!lacks) {
        return 0;
    }
    uint64_t offset = (uint64_t)(CAST_MUTANT(WRONG_PLACE) ? data->index : data->piece) * t->cut.piece_bytes;
    int rc = t->sink.write(t->sink.context, offset, data->rest, data->rest_bytes);
    if (rc == -EAGAIN) {
        return wait(t, patience, now);
    }
    if (rc < 0) {
        cast_receiver_stop(t, rc);
        return 0;
    }
    if (t->refused) {
        t->waited.ns = t->slow ? 0 : t->waited.ns + cw_time_since(now, t->refused_at).ns;
        t->refused = false;
    }
    t->got[data->piece / 8] |= (uint8_t)(1 << data->piece % 8);
    t->count++;
    t->here++;
    t->sum += data->sum;
    if (t->count == t->cut.pieces) {
        end(t, 0);
    }
    return 0;
}

void cast_receiver_round(struct cast_receiver *t)
{
    t->slow = t->slow || t->out;
    t->out = t->refused = false;
    t->waited = (cw_span){0};
}

void cast_receiver_stop(struct cast_receiver *t, int status)
{
    if (t->state == CAST_RECEIVING) {
        end(t, status);
    } else if (t->state == CAST_ENDING) {
        t->state = CAST_ENDED; /* the sink's own end comes, and nobody waits for it */
        t->status = status;
    }
}

void cast_receiver_ended(struct cast_receiver *t, int status)
{
    if (t->state == CAST_ENDING) {
        t->state = CAST_ENDED;
        t->status = status;
    }
}

uint64_t cast_receiver_sum(const struct cast_receiver *t)
{
    return t->here == t->cut.pieces ? t->sum : 0;
}

/* ---- What is missing --------------------------------------------------------------------------------------------- */

/*
 * The first piece from there on that is lacking, or is not; the number of pieces: none. Eight at a time where they are
 * alike: a file has ten million, and the thread has other work.
 */
static uint32_t find(const struct cast_receiver *t, uint32_t from, bool lacking)
{
    const uint8_t alike = lacking ? 0xff : 0;
    uint32_t pieces = t->cut.pieces, at = from;
    while (at < pieces && cast_receiver_lacks(t, at) != lacking) {
        at += at % 8 == 0 && t->got[at / 8] == alike ? 8 : 1;
    }
    return at < pieces ? at : pieces;
}

void cast_receiver_lack(const struct cast_receiver *t, uint32_t from, size_t room, struct cast_head *h, uint8_t *bits)
{
    uint32_t pieces = t->cut.pieces;
    h->missing = t->state == CAST_RECEIVING && !CAST_MUTANT(LACKS_NOTHING) ? pieces - t->count : 0;
    h->count = 0;
    h->rest_bytes = 0;
    from = h->missing > 0 && from < pieces ? find(t, from, true) : pieces;
    h->piece = from;
    if (from == pieces) {
        return;
    }
    uint32_t end = find(t, from, false);
    size_t most = room * 8 < pieces - from ? room * 8 : pieces - from;
    h->count = end - from;
    if (h->count >= most) {
        return; /* one run, however long, needs no bits */
    }
    h->count = (uint32_t)most;
    h->rest_bytes = (most + 7) / 8;
    memset(bits, 0, h->rest_bytes);
    for (uint32_t i = 0; i < h->count; i++) {
        bits[i / 8] |= (uint8_t)(cast_receiver_lacks(t, from + i) << i % 8);
    }
}
