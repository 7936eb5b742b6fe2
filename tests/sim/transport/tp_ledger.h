/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tp_ledger.h - the messages that the transport was asked to send, and how they ended, in one place that sees all
 * servers: too simple to be wrong.
 *
 * Every message has a number, its tag. The bytes of the message follow from that number, and so does everything that
 * the receiver does with it.
 */
#ifndef SIM_TP_LEDGER_H
#define SIM_TP_LEDGER_H

#include "cubeway/types.h"
#include "seeds.h"

#include <stdint.h>

enum { LEDGER_HEAD_MOST = 48, LEDGER_HEAD_AT = 1 << 30 /* the head is of bytes that no message has */ };
enum { LEDGER_MESSAGES = 1 << 16, LEDGER_TAKERS = 6, LEDGER_LAST = 8192 /* kept for the last words */ };

struct ledger_message {
    uint64_t bytes;
    cw_server from;
    uint64_t life; /* of the sender's instance */
    bool restart;  /* TRANSPORT_RESTART: may be taken once by each of several */
    bool request;
    bool refused;                  /* it was refused at once: its sender is told no end */
    bool must;                     /* it was sent when nothing was wrong any more, so it must be taken */
    unsigned ends;                 /* how often its sender was told an end */
    int status;                    /* the end that its sender was told */
    uint64_t come;                 /* bytes that its receiver was given in pieces, in the last attempt */
    unsigned takers;               /* how often it was taken */
    uint64_t taker[LEDGER_TAKERS]; /* lives of the instances that took it */
};

struct ledger {
    uint32_t count;
    struct ledger_message message[LEDGER_MESSAGES];
    uint64_t taken, done, failed, bytes;
    char wrong[SEEDS_WRONG_BYTES]; /* the first thing that was wrong; empty: all is well */
};

extern struct ledger *ledger;

/* Byte number at of message number. */
static inline uint8_t ledger_byte(uint32_t number, uint64_t at)
{
    return (uint8_t)(number * 31u + (uint32_t)at * 7u + (uint32_t)(at >> 8) * 13u + (uint32_t)(at >> 16));
}
void ledger_fill(uint32_t number, uint64_t offset, uint8_t *out, size_t length);
bool ledger_same(uint32_t number, uint64_t offset, const uint8_t *bytes, size_t length);

/* Bytes of the answer to a request. */
uint64_t ledger_answer_bytes(uint32_t number);
uint32_t ledger_answer_number(uint32_t number); /* the number from which the bytes of the answer follow */

/* The head of a message, and of an answer by the number of its bytes. Writes up to 48 bytes, and returns how many. */
size_t ledger_head(uint32_t number, uint8_t *out);
bool ledger_head_same(uint32_t number, const uint8_t *head, size_t length);

#define ledger_wrong(rule, ...) seeds_fail(ledger->wrong, rule, __VA_ARGS__)
void ledger_taken(uint32_t number, uint64_t bytes, uint64_t life);
void ledger_ended(uint32_t number, uint64_t life, int status);

#endif
