/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/entry/pieces.h"

#include "base/base64.h"
#include "services/reply/refuse.h"
#include "services/store/common.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { REVIEW_S = 1 };

/* ---- What is kept goes, read or not ------------------------------------------------------------------------------ */

static void review(cw_svc *svc, void *state, void *arg)
{
    struct store *s = state;
    (void)arg;
    bool uploads = upload_expire(&s->uploads, cw_now(svc)), downloads = download_expire(&s->downloads, cw_now(svc));
    s->pieces_timer = uploads || downloads ? cw_timer_start(svc, CW_SEC(REVIEW_S), review, NULL) : NULL;
}

/* Where there is no room for the timer, the next piece of any value ends what is too old. */
static void review_later(struct store *s)
{
    if (s->pieces_timer == NULL) {
        s->pieces_timer = cw_timer_start(s->svc, CW_SEC(REVIEW_S), review, NULL);
    }
}

void store_pieces_close(struct store *s)
{
    upload_close(&s->uploads);
    download_close(&s->downloads);
}

int store_pieces_stage(struct store *s, cw_request *r, int argc, const char *const *argv)
{
    int rc = upload_command(&s->uploads, r, argc, argv, CW_STORE_VALUE_MAX, cw_now(s->svc));
    review_later(s);
    return rc;
}

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

static size_t write_plain(const uint8_t *bytes, size_t length, char *text)
{
    static const char digits[] = "0123456789abcdef";
    size_t at = 0;
    for (size_t i = 0; i < length; i++) {
        uint8_t c = bytes[i];
        if (c >= ' ' && c <= '~' && c != '\\') {
            text[at++] = (char)c;
            continue;
        }
        text[at++] = '\\';
        text[at++] = 'x';
        text[at++] = digits[c >> 4];
        text[at++] = digits[c & 15];
    }
    return at;
}

void store_pieces_bytes(cw_request *r, const char *field, bool base64, const uint8_t *bytes, size_t length)
{
    char *text = malloc(4 * length + 8);
    if (text == NULL) {
        return;
    }
    if (base64) {
        base64_encode(bytes, length, text);
    } else {
        text[write_plain(bytes, length, text)] = '\0';
    }
    cw_request_text(r, field, text);
    free(text);
}

static int tell_status(cw_request *r, cw_store_status status)
{
    cw_request_text(r, "status", store_status_text(status));
    cw_request_int(r, "code", status);
    return 0;
}

/* ---- Pieces of a value ------------------------------------------------------------------------------------------- */

static struct download_of of_piece(const struct store_piece *p, uint64_t version)
{
    return (struct download_of){p->job, p->name, p->name_length, version};
}

/* Where what is told ends: all of it, or a piece. */
static size_t end_of(const struct store_piece *p, size_t length)
{
    return !p->some || length - p->from < DOWNLOAD_PIECE ? length : (size_t)p->from + DOWNLOAD_PIECE;
}

/* from: not behind the value's end. */
static void tell(cw_request *r, const struct store_piece *p, uint64_t version, uint32_t flags, const uint8_t *bytes,
                 size_t length)
{
    (void)tell_status(r, CW_STORE_OK);
    cw_request_int(r, "version", (int64_t)version);
    store_pieces_bytes(r, p->base64 ? "base64" : "value", p->base64, bytes + p->from, end_of(p, length) - p->from);
    cw_request_int(r, "bytes", (int64_t)length);
    cw_request_int(r, "flags", flags);
}

bool store_pieces_kept(struct store *s, cw_request *r, const struct store_piece *p)
{
    struct download_of of = of_piece(p, p->version);
    const struct download *d = p->some && p->same && p->from > 0 ? download_find(&s->downloads, &of) : NULL;
    if (d == NULL || p->from > d->length) {
        return false;
    }
    tell(r, p, d->version, d->flags, d->bytes, d->length);
    download_was_read(&s->downloads, &of, end_of(p, d->length), cw_now(s->svc));
    return true;
}

static int keep(struct store *s, cw_request *r, const struct store_piece *p, const cw_store_result *result)
{
    struct download_of of = of_piece(p, result->version);
    size_t end = end_of(p, result->value_length);
    if (end == result->value_length) {
        download_was_read(&s->downloads, &of, end, cw_now(s->svc));
        return 0;
    }
    int rc = download_keep(&s->downloads, &of, result->flags, result->value, result->value_length, cw_now(s->svc));
    review_later(s);
    return rc == -EBUSY ? refuse_with(r, rc, "%d long values are being read at this server already: try again in %d s",
                                      DOWNLOADS, DOWNLOAD_LIFE_S)
                        : rc;
}

int store_pieces_tell(struct store *s, cw_request *r, const struct store_piece *p, const cw_store_result *result)
{
    const size_t length = result->value_length;
    const bool none = result->status == CW_STORE_NOT_FOUND;
    if (p->same && (none || p->version != result->version)) {
        cw_request_int(r, "version", none ? 0 : (int64_t)result->version);
        return tell_status(r, CW_STORE_CONFLICT);
    }
    if (none) {
        return tell_status(r, CW_STORE_NOT_FOUND);
    }
    if (!p->some && length > DOWNLOAD_PIECE) {
        return refuse_with(
            r, -EFBIG,
            "the value has %zu bytes, and an answer at most %d: cwctl store get joins them; by hand, get "
            "KEY form=base64 from=0, then from=%d version=%" PRIu64 " and so on",
            length, DOWNLOAD_PIECE, DOWNLOAD_PIECE, result->version);
    }
    if (p->from > length) {
        return refuse_request(r, "the value has %zu bytes: from=%" PRIu64 " is behind them", length, p->from);
    }
    int rc = p->some ? keep(s, r, p, result) : 0;
    if (rc == 0) {
        tell(r, p, result->version, result->flags, result->value, length);
    }
    return rc;
}
