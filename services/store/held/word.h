/* SPDX-License-Identifier: Apache-2.0 */
/*
 * word.h - what servers say to one another on port 4 when a class is made, and who knows of one: a part of wire.h, with
 * its rules.
 */
#ifndef SERVICES_STORE_HELD_WORD_H
#define SERVICES_STORE_HELD_WORD_H

#include "cubeway/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STORE_CLASS_NAME = 15 };

/* What all know of a class. id 0: there is none. */
struct store_class {
    uint64_t id;
    char name[STORE_CLASS_NAME + 1]; /* 1 to 15 letters, digits and dashes */
    uint8_t copies;
    bool disk; /* its members write to disks what they promise and accept */
};
/* A class is whole, or there is none: all of it zero. Names are ended by zeros alone. */
bool store_class_makes_sense(const struct store_class *c);

enum store_word_kind {
    STORE_WORD_OFFER = 1,  /* will you be of this class? Answer: AGREED with the store id, or KNOWN */
    STORE_WORD_AGREED = 2, /* who is of it already says so by its record, with the ids that it knows */
    STORE_WORD_KNOWN = 3,  /* no: I am of a class already (its record), or was offered another a moment ago (id 0) */
    STORE_WORD_RECORD = 4, /* you are of this class. Answer: AGREED or KNOWN. Also the answer to ASK */
    STORE_WORD_ASK = 5,    /* of which class are you? Answer: RECORD, or NOBODY */
    STORE_WORD_NOBODY = 6,
    STORE_WORD_CANCEL = 7,  /* the offer is over */
    STORE_WORD_NO_DISK = 8, /* no: the class is one on disks, and I have none */
    STORE_WORD_HEARD = 9,   /* how far did you hear that my log goes, `store_id`? Answer: POSITION */
    STORE_WORD_POSITION = 10,
    STORE_WORD_NOT_YET = 11, /* perhaps: I am still reading my folder; ask me again */
    STORE_WORD_KINDS,
};

enum { STORE_ENTRY_BYTES = 12, STORE_WORD_HEAD = 52, STORE_ENTRIES_MOST = 100 };

struct store_word {
    enum store_word_kind kind;
    uint64_t store_id;     /* AGREED, HEARD: of who says it; RECORD: of the receiver, or 0 */
    uint64_t position;     /* POSITION: the highest that was heard; 0: none */
    struct store_class of; /* OFFER, RECORD, KNOWN, CANCEL; AGREED: of who is of it */
    /* RECORD, AGREED: servers and their store ids, STORE_ENTRY_BYTES each. */
    const uint8_t *entries;
    uint16_t count;
};

size_t store_word_size(const struct store_word *w);
void store_word_encode(const struct store_word *w, uint8_t *out);
CW_MUST_CHECK bool store_word_decode(const uint8_t *bytes, size_t size, struct store_word *out);
void store_entry_encode(cw_server server, uint64_t id, uint8_t out[static STORE_ENTRY_BYTES]);
cw_server store_entry_decode(const uint8_t bytes[static STORE_ENTRY_BYTES], uint64_t *id);
/* 1 to 15 letters, digits and dashes? */
bool store_class_name_valid(const char *name);

#endif
