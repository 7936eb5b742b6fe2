/* SPDX-License-Identifier: Apache-2.0 */
#include "services/reply/upload.h"

#include "base/base64.h"
#include "base/words.h"
#include "services/reply/refuse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void drop(struct upload *at)
{
    free(at->bytes);
    *at = (struct upload){.id = 0};
}

static struct upload *find(struct uploads *s, uint64_t id)
{
    for (unsigned i = 0; i < UPLOADS; i++) {
        if (s->upload[i].id == id) {
            return &s->upload[i];
        }
    }
    return NULL;
}

bool upload_expire(struct uploads *s, cw_time now)
{
    bool more = false;
    for (unsigned i = 0; i < UPLOADS; i++) {
        struct upload *u = &s->upload[i];
        if (u->id != 0 && cw_time_since(now, u->latest).ns > CW_SEC(UPLOAD_LIFE_S).ns) {
            drop(u);
        }
        more = more || u->id != 0;
    }
    return more;
}

size_t upload_length(const struct uploads *s, uint64_t id)
{
    for (unsigned i = 0; id != 0 && i < UPLOADS; i++) {
        if (s->upload[i].id == id) {
            return s->upload[i].length;
        }
    }
    return 0;
}

int upload_add(struct uploads *s, uint64_t id, uint64_t at, const uint8_t *bytes, size_t length, size_t most,
               cw_time now)
{
    (void)upload_expire(s, now);
    if (at != upload_length(s, id)) {
        return -ESPIPE;
    }
    struct upload *u = find(s, id);
    u = u != NULL ? u : find(s, 0);
    if (u == NULL) {
        return -EBUSY;
    }
    if (length > most - u->length) {
        drop(u);
        return -EMSGSIZE;
    }
    uint8_t *more = realloc(u->bytes, u->length + length + 1);
    if (more == NULL) {
        return -ENOMEM;
    }
    if (length > 0) {
        memcpy(more + u->length, bytes, length);
    }
    *u = (struct upload){.id = id, .latest = now, .bytes = more, .length = u->length + length};
    return 0;
}

uint8_t *upload_take(struct uploads *s, uint64_t id, size_t *length)
{
    struct upload *u = id != 0 ? find(s, id) : NULL;
    if (u == NULL) {
        return NULL;
    }
    uint8_t *bytes = u->bytes;
    *length = u->length;
    u->bytes = NULL;
    drop(u);
    return bytes;
}

void upload_drop(struct uploads *s, uint64_t id)
{
    struct upload *u = id != 0 ? find(s, id) : NULL;
    if (u != NULL) {
        drop(u);
    }
}

void upload_close(struct uploads *s)
{
    for (unsigned i = 0; i < UPLOADS; i++) {
        drop(&s->upload[i]);
    }
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static int refuse_piece(const struct uploads *s, cw_request *r, int rc, uint64_t id, size_t most)
{
    switch (rc) {
    case -ESPIPE:
        return refuse_with(r, rc,
                           "%zu bytes are here under %" PRIu64 ": a piece is sent from there on, or all again "
                           "under another number (what is not added to for %d s is forgotten)",
                           upload_length(s, id), id, UPLOAD_LIFE_S);
    case -EMSGSIZE:
        return refuse_request(r, "a value has at most %zu bytes: what was brought under %" PRIu64 " is gone", most, id);
    case -EBUSY:
        return refuse_with(r, rc, "%d values are being brought to this server already", UPLOADS);
    default:
        return rc;
    }
}

static int decode(cw_request *r, const char *word, uint8_t *bytes, size_t room, size_t *length)
{
    int n = base64_decode(word, bytes, room);
    *length = n >= 0 ? (size_t)n : 0;
    return n >= 0 ? 0 : refuse_request(r, "no base64: '%.60s'", word);
}

int upload_command(struct uploads *s, cw_request *r, int argc, const char *const *argv, size_t most, cw_time now)
{
    uint64_t id, at = 0, gone = 0;
    const struct words_option options[] = {{"from", 0, UINT64_MAX, &at}, {"drop", 1, 1, &gone}};
    if (argc < 3 || words_number(argv[1], 1, UINT64_MAX, &id) < 0) {
        return refuse_request(r, "stage takes a number from 1 on, and bytes in base64: '%.60s'",
                              argc > 1 ? argv[1] : "");
    }
    int used = words_options(argc - 3, argv + 3, options, 2);
    if (used < argc - 3) {
        return refuse_option(r, argv[3 + used], options, 2);
    }
    if (gone != 0) {
        upload_drop(s, id);
        return 0;
    }
    size_t room = strlen(argv[2]) + 1;
    uint8_t *bytes = malloc(room);
    if (bytes == NULL) {
        return -ENOMEM;
    }
    size_t length;
    int rc = decode(r, argv[2], bytes, room, &length);
    bool decoded = rc == 0;
    rc = decoded ? upload_add(s, id, at, bytes, length, most, now) : rc;
    free(bytes);
    return decoded ? refuse_piece(s, r, rc, id, most) : rc;
}

uint8_t *upload_value(struct uploads *s, cw_request *r, const struct upload_word *w, size_t *length, int *rc)
{
    if (w->upload != 0) {
        uint8_t *brought = upload_take(s, w->upload, length);
        *rc = brought != NULL
                  ? 0
                  : refuse_request(r, "nothing was brought under %" PRIu64 ", or it was too long ago", w->upload);
        return brought;
    }
    size_t room = strlen(w->word) + 1;
    uint8_t *bytes = malloc(room);
    *rc = bytes == NULL ? -ENOMEM : 0;
    if (bytes != NULL && w->base64) {
        *rc = decode(r, w->word, bytes, room, length);
    } else if (bytes != NULL) {
        *length = room - 1;
        memcpy(bytes, w->word, room);
    }
    if (*rc < 0) {
        free(bytes);
        return NULL;
    }
    return bytes;
}
