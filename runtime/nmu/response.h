/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response.h - the response table: one-time rights of local speakers to answer a request (NMU 4.2; nmu rules 4 and 5).
 *
 * Guarantee: a right is used at most once, only by the speaker it was given to, and not after its time. One requester
 * never has more than the quota of rights open here, and a right is given only while all requesters of its job together
 * have fewer than are free. So no client fills a server's table, and no job does from however many servers: one job
 * alone gets half, and the next one half of what is left. Rights are named by handles (base/expiry.h) that are never 0.
 * Numbers in, numbers out: knows no packet.
 */
#ifndef NMU_RESPONSE_H
#define NMU_RESPONSE_H

#include "base/expiry.h"
#include "wire/extension.h"

enum { RESPONSE_PATH_BYTES = EXT_PATH_WORDS_MAX * EXT_WORD_BYTES };

/* The sender of a request, as its NMU stamped it. */
struct response_requester {
    cw_job job;
    cw_process process;
    cw_server server;
};

struct response_right {
    struct expiry_item item; /* item.handle names the right */
    uint64_t who;            /* the requester, as one number */
    uint64_t of_job;         /* its job */
    struct response_requester requester;
    struct ext_request request; /* where the answer goes, and the requester's number of the call */
    uint8_t path_bytes;         /* 0: the request recorded no path */
    uint8_t path[RESPONSE_PATH_BYTES];
    uint16_t speaker; /* who has the right */
};

/*
 * How many rights a requester, or a requesting job, has. In a table of open addressing, allocated with the first right.
 */
struct response_count {
    uint64_t who; /* 0: empty */
    uint32_t rights;
};

struct response_table {
    struct expiry table;
    struct response_count *counts;
    uint32_t counts_mask;
    uint32_t quota;
    uint64_t salt;
};

/* At most limit rights, quota of one requester. -ENOMEM. */
CW_MUST_CHECK int response_open(struct response_table *r, uint32_t limit, uint32_t quota, uint64_t salt);
void response_close(struct response_table *r);
size_t response_bytes(const struct response_table *r);

/*
 * Opens a right for a speaker, until `until`. Gives the right, whose path the caller may fill, or NULL: the table is
 * full, the requester is at its quota, its job has its share, or there is no memory.
 */
struct response_right *response_open_right(struct response_table *r, unsigned speaker,
                                           const struct response_requester *requester,
                                           const struct ext_request *request, cw_time until);
/* Borrows the right of that handle if the speaker has it; NULL: used, timed out, never was, or another's. */
struct response_right *response_find(const struct response_table *r, unsigned speaker, uint32_t handle);
/* Ends the right: it has been used. */
void response_end(struct response_table *r, struct response_right *right);
/* Ends all rights whose time is over. */
void response_expire(struct response_table *r, cw_time now);
/* Ends all rights of one speaker. */
void response_end_all(struct response_table *r, unsigned speaker);
/* Borrows the next right of the speaker, from *place on, or NULL; *place is 0 at first. Linear in the open rights. */
struct response_right *response_each_of(const struct response_table *r, unsigned speaker, uint32_t *place);
/* Ends the rights to answer requests from a server, which is gone. Linear in the open rights. */
void response_end_of(struct response_table *r, cw_server requester);

static inline cw_time response_wake(const struct response_table *r)
{
    return expiry_wake(&r->table);
}

#endif
