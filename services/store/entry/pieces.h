/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces.h - values that are longer than one request or answer of the control protocol, on their way from and to
 * operators. A long answer is written on the thread that serves the links, which fall when it is away for long: so no
 * answer has more than a piece.
 */
#ifndef SERVICES_STORE_ENTRY_PIECES_H
#define SERVICES_STORE_ENTRY_PIECES_H

#include "services/store/internal.h"

/* What a get is to tell of the value. */
struct store_piece {
    cw_job job;
    bool base64;
    bool some;     /* only what fits an answer, beginning at `from`; else all, or it is refused */
    bool same;     /* of that version only */
    uint64_t from; /* in bytes */
    uint64_t version;
    size_t name_length;
    uint8_t name[CW_STORE_NAME_MAX];
};

/* Answers with a piece of what is kept from the piece before. False: nothing is kept, and nothing was answered. */
bool store_pieces_kept(struct store *s, cw_request *r, const struct store_piece *p);
/*
 * Answers with the value that was got (or that there is none), and keeps it if there is more to tell. What
 * cw_request_done() takes.
 */
CW_MUST_CHECK int store_pieces_tell(struct store *s, cw_request *r, const struct store_piece *p,
                                    const cw_store_result *result);
/* stage N BASE64 [from=AT] [drop=1]: one more piece of a value that a later put with stage=N puts. */
int store_pieces_stage(struct store *s, cw_request *r, int argc, const char *const *argv);
void store_pieces_close(struct store *s);

/* Bytes as a field of that name, with what is no plain letter as \xNN; or in base64. */
void store_pieces_bytes(cw_request *r, const char *field, bool base64, const uint8_t *bytes, size_t length);

#endif
