/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share_kit.h - an attachment for tests: both areas and some regions in blocks of their own, both sides open, commands
 * drawn from dice, and a judge of commands that is too simple to be wrong.
 */
#ifndef KIT_SHARE_KIT_H
#define KIT_SHARE_KIT_H

#include "dice.h"
#include "share/commands.h"
#include "share/inbox_read.h"
#include "share/inbox_write.h"
#include "share/levels.h"
#include "share/rest.h"

enum { KIT_REGIONS = 4, KIT_ENDPOINTS = 8, KIT_PEERS = 128, KIT_WORDS = 16, KIT_GUARD = 4096 };

struct share_kit {
    struct share_geometry g;
    unsigned char *sub, *com;           /* each followed by KIT_GUARD bytes that nobody may touch */
    unsigned char *region[KIT_REGIONS]; /* 1 is none */
    struct share_region regions[KIT_REGIONS];
    uint64_t endpoint[1], peer[2];
    struct share_tables tables;
    struct share_out process_sub, daemon_com;
    struct share_in daemon_sub, process_com;
    /* the process's */
    struct share_putter putter;
    struct share_listener listener;
    struct share_inbox_reader reader;
    uint32_t *units;
    /* the daemon's */
    struct share_taker taker;
    struct share_teller teller;
    struct share_inbox_writer writer;
    struct share_note *notes;
    uint64_t held[KIT_ENDPOINTS];
    struct share_levels levels;
    struct share_waker waker;
};

/* Makes one; all indices begin at `start`, positions at 64 * start. Exits when there is no memory. */
void share_kit_open(struct share_kit *k, uint32_t commands, uint32_t inbox_bytes, uint32_t start);
/* As it was opened, but for the bytes of regions: for who needs many, one after the other. */
void share_kit_again(struct share_kit *k, uint32_t start);
/* Gives everything back. False: somebody wrote behind an area. */
bool share_kit_close(struct share_kit *k);

/* A command as a process would put it: its lead and its inline body are `lead` and `body`. */
struct share_said {
    struct share_command c;
    unsigned char lead[SHARE_INLINE_BYTES], body[SHARE_INLINE_BYTES];
    size_t lead_bytes, body_bytes;
};

/*
 * Draws a command. Most are fine; of the others most have one thing wrong. Bodies that stand away are written into
 * their region, before it is put.
 */
void share_kit_draw(struct share_kit *k, struct dice *d, struct share_said *out);

/* All faults of a command and of the parts and places that came with it: a bit for each enum share_verdict. */
uint32_t share_model_faults(const struct share_command *c, const struct share_tables *t);
uint32_t share_model_parts(const struct share_taken *taken, const struct share_tables *t);
/* Where the body stands inline, by the model. */
size_t share_model_lead(const struct share_command *c);
/* 'b': bytes, 'p': parts, 'i': items, 'n': none. The op is one that there is. */
char share_model_body(const struct share_command *c);

#endif
