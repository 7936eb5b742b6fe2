/* SPDX-License-Identifier: Apache-2.0 */
/*
 * responses.h - the response table: one-time rights of local services to answer a request (NMU 4.2; semantics 7.4).
 *
 * Guarantee: a right is used at most once, only by the service it was given to, and not after its time; one requester never has
 * more than the quota of them open here, so that no client can fill a server's table. Rights are named by handles (expiry.h) that
 * are never 0. Numbers in, numbers out: knows no packet.
 */
#ifndef CORE_RESPONSES_H
#define CORE_RESPONSES_H

#include "core/expiry.h"
#include "wire/extension.h"

enum { RESPONSES_PATH_BYTES = EXT_PATH_WORDS_MAX * EXT_WORD_BYTES };

/* Who asked: the sender of the request as its NMU stamped it. */
struct responses_requester {
    cw_job job;
    cw_process process;
    cw_server server;
};

struct response_right {
    struct expiry_item item; /* item.handle names the right */
    uint64_t who;            /* the requester, as one number */
    struct responses_requester requester;
    struct ext_request request; /* where the answer goes, and the requester's number of the call */
    uint8_t path_bytes;         /* 0: the request recorded no path */
    uint8_t path[RESPONSES_PATH_BYTES];
    uint8_t service;
};

/* How many rights each requester has: open addressing, allocated with the first right. */
struct responses_count {
    uint64_t who; /* 0: empty */
    uint32_t rights;
};

struct responses {
    struct expiry table;
    struct responses_count *counts;
    uint32_t counts_mask;
    uint32_t quota;
    uint64_t salt;
};

/* At most limit rights, quota of one requester. -ENOMEM. */
CW_MUST_CHECK int responses_open(struct responses *r, uint32_t limit, uint32_t quota, uint64_t salt);
void responses_close(struct responses *r);
size_t responses_bytes(const struct responses *r);

/*
 * Opens a right for a service until `until`. Gives the right, whose path the caller may fill, or NULL: the table is full, the requester
 * is at its quota, or no memory.
 */
struct response_right *responses_open_right(struct responses *r, unsigned service,
                                            const struct responses_requester *requester,
                                            const struct ext_request *request, cw_time until);
/* Borrows the right of that handle if the service has it; NULL: used, timed out, never was, or another's. */
struct response_right *responses_find(const struct responses *r, unsigned service, uint32_t handle);
/* Takes the right: it has been used. */
void responses_end(struct responses *r, struct response_right *right);
/* Ends all rights that are due at now, or all of one service. */
void responses_expire(struct responses *r, cw_time now);
void responses_end_all(struct responses *r, unsigned service);

static inline cw_time responses_wake(const struct responses *r)
{
    return expiry_wake(&r->table);
}

#endif
