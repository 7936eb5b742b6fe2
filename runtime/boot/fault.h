/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault.h - one thing that is wrong with the cables, and the sentence that tells people of it.
 *
 * A fault says what was seen (which server, which port, where its cable goes) and what was expected there. Servers are
 * named by id, by name where they have one, and by the position found for them so far: before the torus is agreed on,
 * that is a guess from the other cables, counted from the server with the smallest id.
 */
#ifndef BOOT_FAULT_H
#define BOOT_FAULT_H

#include "boot/place.h"

enum { BOOT_NAME_BYTES = 16, BOOT_FAULT_TEXT = 320 };

enum boot_fault_kind {
    BOOT_FAULT_SILENT = 1,  /* nothing is heard on a port that must have a cable */
    BOOT_FAULT_ONE_WAY,     /* the port hears its neighbour, but the neighbour does not hear it */
    BOOT_FAULT_LOOP,        /* both ends of the cable are at the same server */
    BOOT_FAULT_SPARE,       /* there is a cable on an axis of length 1 */
    BOOT_FAULT_SAME_SIGN,   /* the cable goes from +x to +x */
    BOOT_FAULT_CROSSED,     /* the cable goes from one axis to another, as from +x to -y */
    BOOT_FAULT_WRONG_END,   /* the cable goes to the right kind of port, of the wrong server */
    BOOT_FAULT_WRONG_PLACE, /* the neighbour says that its place is another one, or in another torus */
    BOOT_FAULT_CLUSTER,     /* the neighbour belongs to another cluster */
    BOOT_FAULT_SAME_ID,     /* the neighbour is another server with this server's id */
    BOOT_FAULT_TWISTED,     /* the rows of an axis do not close where they began: they are shifted */
    BOOT_FAULT_JOINED,      /* cables join two or more tori */
    BOOT_FAULT_SAME_PLACE,  /* two servers have the same coordinate */
    BOOT_FAULT_EMPTY_PLACE, /* no server has this coordinate */
    BOOT_FAULT_COUNT,       /* a torus of these dims has another number of servers */
    BOOT_FAULT_DIMS,        /* servers were told different dims, or dims that the cables do not have */
    BOOT_FAULT_TAKEN,       /* the coordinate that seems free here is that of a server that is alive elsewhere */
    BOOT_FAULT_SHAPE,       /* the cables do not form a torus at all */
    BOOT_FAULT_KINDS,
};

/* A server as far as it is known. */
struct boot_who {
    uint64_t id; /* 0: nobody, or nobody that is known */
    char name[BOOT_NAME_BYTES];
    cw_coord at;
    bool placed; /* at is known */
};

/* Members that do not matter for a kind are zero. */
struct boot_fault {
    uint8_t kind; /* enum boot_fault_kind */
    /* The server and the port where the fault was seen, and the port's direction, as labelled or found. */
    struct boot_who who;
    uint8_t port;
    uint8_t direction;
    /* Where the port's cable goes; far.id is 0 when it goes nowhere. */
    struct boot_who far;
    uint8_t far_port;
    uint8_t far_direction;
    /* Who should be there; with id 0 and placed: that position, whose server is not known. */
    struct boot_who expected;
    /* WRONG_END, CROSSED, SAME_SIGN: exchanging this end with the end at other's port would put both cables right. */
    bool swapped;
    uint8_t other_port;
    struct boot_who other;
    /* The fault is told, but it does not keep a torus from being agreed on or joined. */
    bool tells_only;
    /*
     * TWISTED, JOINED, COUNT: the dims of the torus; DIMS: those that `who` was told or has; WRONG_PLACE: those of far.
     */
    cw_dims dims;
    /* DIMS: what the cables say. */
    cw_dims found;
    /* TWISTED: where a row arrives, relative to where it started. */
    int16_t shift[CW_AXES];
    /* TWISTED: how many cables are off; JOINED: how many tori; COUNT and SHAPE: how many servers are known. */
    uint32_t count;
};

/* The short name of a kind ("crossed"), for counters and metrics. Static, never NULL. */
const char *boot_fault_name(uint8_t kind);

/* Writes the sentence, cut to BOOT_FAULT_TEXT bytes with the NUL, and gives its length. */
size_t boot_fault_text(const struct boot_fault *fault, char out[static BOOT_FAULT_TEXT]);

/*
 * Two plugs whose exchange puts two cables right. Each cable has two ends, so there are two such pairs; of these the
 * one at one server, if there is any, and always the same one: faults of both cables give equal swaps.
 */
struct boot_swap {
    struct {
        struct boot_who who;
        uint8_t direction;
    } plug[2];
};
/* False: the fault is no such exchange, or it is not known of which directions. */
bool boot_fault_swap(const struct boot_fault *fault, struct boot_swap *out);
bool boot_swap_equal(const struct boot_swap *a, const struct boot_swap *b);
/*
 * "the cables in +x and -y of a are exchanged", or for two servers "the cables in +x of a and +x of b are ..". Without
 * positions, which are guesses while no torus is agreed on, and with ids only where there is no name. The length.
 */
size_t boot_swap_text(const struct boot_swap *swap, char out[static BOOT_FAULT_TEXT]);
/* What to do: "exchange the plugs in +x and -y of a". */
size_t boot_swap_remedy(const struct boot_swap *swap, char out[static BOOT_FAULT_TEXT]);

#endif
