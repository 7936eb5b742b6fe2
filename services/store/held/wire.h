/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - what the store's servers say to one another: encoded and decoded here and nowhere else. docs/wire.md has the
 * bytes. Whatever is decoded lies within its bytes, is within the bounds of store.h, and is encoded to the same again.
 *
 *   ask, answer    an operation, from its asker to a member (ports 1 and 2)
 *   item, reply    from a leader to another member (port 3)
 *   word           creating a class, and who knows of one (port 4): word.h
 *
 * Sizes are bytes. Decoders give false for what is no such thing; pointers they give are into the bytes.
 */
#ifndef SERVICES_STORE_HELD_WIRE_H
#define SERVICES_STORE_HELD_WIRE_H

#include "services/store/held/config.h"
#include "services/store/held/verdict.h"
#include "services/store/held/word.h"

enum { STORE_WIRE_VERSION = 5 };

/* ---- Ports 1 and 2 ----------------------------------------------------------------------------------------------- */

struct store_ask {
    uint64_t class_id;
    bool lead; /* who led does not answer, or is no member any more: lead, if you can */
    struct store_order order;
};

enum store_answer_state {
    STORE_ANSWER_DONE = 1,    /* status says how */
    STORE_ANSWER_MOVED = 2,   /* nothing was done; ask `server` */
    STORE_ANSWER_STRANGE = 3, /* nothing was done; this server is no member of the shard, or of no such class */
    STORE_ANSWER_STALE = 4,   /* nothing was done; start over with another number */
    STORE_ANSWER_MAYBE = 5,   /* the leader was deposed in the middle: perhaps it was done */
    STORE_ANSWER_LARGE = 6,   /* the value, of `length` bytes, fits no packet: ask again by a letter */
};

struct store_answer {
    enum store_answer_state state;
    cw_store_status status;
    cw_server server; /* MOVED */
    uint64_t n;       /* of the shard: a majority has seen it, or a higher one; 0: not known */
    uint64_t version;
    uint32_t flags;
    uint32_t length; /* of the value that is there */
    const uint8_t *value;
    bool carries; /* the value's bytes are in the answer: a GET. To LIST: struct store_named, one behind the other, */
                  /* and flags are 1 when the shard may have names behind them. To TXN: struct store_told, one for */
                  /* each step; or in CONFLICT flags are which guard does not hold */
};

/* A name in the answer to LIST, and what is there. Its room is that of the name and STORE_NAMED_HEAD. */
struct store_named {
    struct store_name name; /* of the job that asked */
    uint64_t version;
    uint32_t flags, length;
};
enum { STORE_NAMED_HEAD = 18, STORE_LIST_MORE = 1 };
#define STORE_NAMED_GONE UINT32_MAX /* the length of what was deleted, among changes */
size_t store_named_encode(const struct store_register *r, uint8_t *out);
/* Reads the entry at *at and moves it on. False: there is none behind, or none that can be read. */
bool store_named_next(const uint8_t *bytes, size_t size, size_t *at, struct store_named *out);

enum { STORE_ASK_HEAD = 60, STORE_ANSWER_HEAD = 32 };
size_t store_ask_size(const struct store_ask *ask);
void store_ask_encode(const struct store_ask *ask, uint8_t *out);
/* The first STORE_ASK_HEAD bytes of it. */
void store_ask_encode_head(const struct store_ask *ask, uint8_t *out);
CW_MUST_CHECK bool store_ask_decode(const uint8_t *bytes, size_t size, struct store_ask *out);
size_t store_answer_size(const struct store_answer *a);
void store_answer_encode(const struct store_answer *a, uint8_t *out);
CW_MUST_CHECK bool store_answer_decode(const uint8_t *bytes, size_t size, struct store_answer *out);

/* ---- Registers --------------------------------------------------------------------------------------------------- */

enum { STORE_REGISTER_HEAD = 48, STORE_TTL_BYTES = 4, STORE_NOTED_BYTES = 33 };
size_t store_register_size(const struct store_register *r);
void store_register_encode(const struct store_register *r, uint8_t *out);
/* Gives a register of its own, to be freed. NULL: it is none, or there is no memory. */
struct store_register *store_register_decode(const uint8_t *bytes, size_t size);

/* ---- Port 3 ------------------------------------------------------------------------------------------------------ */

enum store_item_kind {
    STORE_ITEM_PREPARE = 1,
    STORE_ITEM_BUCKETS = 2, /* sums from bucket `from` on */
    STORE_ITEM_LIST = 3,    /* names and tags of bucket `bucket`, from register `from` on */
    STORE_ITEM_FETCH = 4,   /* the register of `name` */
    STORE_ITEM_ACCEPT = 5,  /* a register */
    STORE_ITEM_CONFIRM = 6,
    STORE_ITEM_LEARN = 7,    /* become a learner of the shard, or stay one: struct store_lesson */
    STORE_ITEM_GIVE = 8,     /* a learner takes the register in the place of what it has of that name */
    STORE_ITEM_DROP = 9,     /* a learner forgets the register of `name` */
    STORE_ITEM_SEAL = 10,    /* the members of the next epoch: a struct store_config */
    STORE_ITEM_INSTALL = 11, /* they are decided: a struct store_config. Its ballot says only who speaks */
    STORE_ITEM_KINDS,
};

struct store_item {
    enum store_item_kind kind;
    uint64_t class_id, store_id; /* store_id: of the receiver, whose life it is meant for */
    uint32_t shard;
    struct store_ballot ballot;
    uint64_t position; /* of the sender's log on its disk; 0: it has none */
    uint16_t bucket, from;
    struct store_name name;
    const uint8_t *bytes; /* ACCEPT, GIVE: an encoded register; LEARN, SEAL, INSTALL: what they say */
    size_t length;
};

enum store_reply_why {
    STORE_REPLY_YES = 0,
    STORE_REPLY_PROMISED = 1, /* no: `promised` is above the ballot, or, for all but PREPARE and ACCEPT, another */
    STORE_REPLY_STRANGE = 2,  /* no: this server, in this life, is no member of the shard */
    STORE_REPLY_MEMORY = 3,   /* no: there is no memory */
    STORE_REPLY_EPOCH = 4,    /* no: this server knows of members of another epoch, its bytes: a struct store_config */
    STORE_REPLY_LARGE = 5,    /* what it holds fits no packet: ask again by a letter */
    STORE_REPLY_WHYS,
};

enum { STORE_SUMS = 64, STORE_LIST_ROOM = 1200 };

struct store_reply {
    enum store_item_kind kind;
    enum store_reply_why why;
    bool full; /* the memory for values is used up: nothing that grows should be written */
    uint32_t shard;
    struct store_ballot promised;
    uint64_t n;            /* PREPARE: the highest that was seen; ACCEPT: of the register */
    struct store_sum root; /* PREPARE */
    uint64_t position;     /* of the sender's log on its disk; 0: it has none */
    bool more;             /* LIST: there are more behind these */
    /*
     * BUCKETS: sums; LIST: entries, store_listed_next(); FETCH: an encoded register, or nothing; PREPARE: a struct
     * store_seal, or nothing; LEARN: the learner's store id, 64 bits.
     */
    const uint8_t *bytes;
    size_t length;
};

/* STORE_REPLY_POSITION: where in an encoded reply its position stands, 64 bits. */
enum { STORE_ITEM_HEAD = 52, STORE_REPLY_HEAD = 56, STORE_REPLY_POSITION = 48 };
size_t store_item_size(const struct store_item *i);
void store_item_encode(const struct store_item *i, uint8_t *out);
CW_MUST_CHECK bool store_item_decode(const uint8_t *bytes, size_t size, struct store_item *out);
size_t store_reply_size(const struct store_reply *r);
void store_reply_encode(const struct store_reply *r, uint8_t *out);
CW_MUST_CHECK bool store_reply_decode(const uint8_t *bytes, size_t size, struct store_reply *out);

/* What LEARN says: the class, the leader's n, and who the members are. The class's id is the item's. */
struct store_lesson {
    struct store_class of;
    uint64_t n;
    struct store_config config;
};
enum { STORE_LESSON_HEAD = 28, STORE_LESSON_MOST = STORE_LESSON_HEAD + STORE_CONFIG_MOST };
size_t store_lesson_encode(const struct store_lesson *l, uint8_t out[static STORE_LESSON_MOST]);
CW_MUST_CHECK bool store_lesson_decode(const struct store_item *item, struct store_lesson *out);

/* A sum, and an entry of LIST. The room of an entry is that of its name and STORE_LISTED_HEAD. */
enum { STORE_SUM_BYTES = 16, STORE_LISTED_HEAD = 30 };
void store_sum_encode(struct store_sum sum, uint8_t out[static STORE_SUM_BYTES]);
struct store_sum store_sum_decode(const uint8_t bytes[static STORE_SUM_BYTES]);
size_t store_listed_encode(const struct store_register *r, uint8_t *out);
struct store_listed {
    struct store_name name;
    struct store_tag tag;
};
/* Reads the entry at *at and moves it on. False: there is none behind, or none that can be read. */
bool store_listed_next(const uint8_t *bytes, size_t size, size_t *at, struct store_listed *out);

#endif
