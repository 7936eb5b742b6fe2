/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload.h - values that operators send in pieces, because a request of the control protocol is shorter than a value
 * may be. There are few at one time, and each lives for a short time. A piece says where it belongs, so that what is
 * taken at the end is either all that was sent or nothing.
 */
#ifndef SERVICES_REPLY_UPLOAD_H
#define SERVICES_REPLY_UPLOAD_H

#include "cubeway/service.h"

enum { UPLOADS = 16, UPLOAD_LIFE_S = 30 };

/* All zero is empty. */
struct uploads {
    struct upload {
        uint64_t id; /* 0: free */
        cw_time latest;
        uint8_t *bytes;
        size_t length;
    } upload[UPLOADS];
};

/*
 * Adds bytes to the upload with that number, which is not 0; `at` is how many bytes came before them. -ESPIPE: not so
 * many are here (upload_length()), and nothing has changed. -EBUSY: UPLOADS others are under way. -EMSGSIZE: the value
 * became longer than `most`, and the upload is gone. -ENOMEM.
 */
CW_MUST_CHECK int upload_add(struct uploads *s, uint64_t id, uint64_t at, const uint8_t *bytes, size_t length,
                             size_t most, cw_time now);
/* How many bytes of it are here; 0 as well when there is none with that number. */
size_t upload_length(const struct uploads *s, uint64_t id);
/* Gives the bytes, for the caller to free, and forgets the upload. NULL: there is none with that number. */
uint8_t *upload_take(struct uploads *s, uint64_t id, size_t *length);
/* Forgets it, if there is one. */
void upload_drop(struct uploads *s, uint64_t id);
/* Forgets those to which nothing was added for UPLOAD_LIFE_S. True: others are under way, so call again in a second. */
bool upload_expire(struct uploads *s, cw_time now);
void upload_close(struct uploads *s);

/*
 * The command `stage N BASE64 [from=AT] [drop=1]`, as on_command gives it: adds a piece to the upload N; with drop=1 it
 * is forgotten, whatever the bytes are.
 */
int upload_command(struct uploads *s, cw_request *r, int argc, const char *const *argv, size_t most, cw_time now);
/* The word VALUE of a put, and what else says which bytes it stands for. */
struct upload_word {
    const char *word;
    uint64_t upload; /* not 0: the bytes that were brought under this number, whatever the word is */
    bool base64;
};

/*
 * Gives the bytes that the word stands for, for the caller to free, and their number; an upload is taken. NULL: it was
 * refused, or there is no memory; *rc is what the command gives then.
 */
uint8_t *upload_value(struct uploads *s, cw_request *r, const struct upload_word *w, size_t *length, int *rc);

#endif
