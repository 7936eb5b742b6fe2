/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault.h - one thing that is wrong with the cables, and the sentence for people that names it.
 *
 * A fault says what was seen (which server, which port, where its cable goes) and what was expected there. Servers
 * are named by id, by name where they have one, and by the position they have so far: before the torus is agreed on, that is a
 * guess from the other cables, counted from the server with the smallest id.
 */
#ifndef BOOT_FAULT_H
#define BOOT_FAULT_H

#include "boot/place.h"

enum { BOOT_NAME_BYTES = 16, BOOT_FAULT_TEXT = 320 };

enum boot_fault_kind {
    BOOT_FAULT_SILENT = 1,  /* nothing is heard on a port that must have a cable */
    BOOT_FAULT_ONE_WAY,     /* it hears its neighbour, which does not hear it */
    BOOT_FAULT_LOOP,        /* the cable ends at the same server */
    BOOT_FAULT_SPARE,       /* a cable on an axis of one server */
    BOOT_FAULT_SAME_SIGN,   /* +x to +x */
    BOOT_FAULT_CROSSED,     /* +x to -y: two axes */
    BOOT_FAULT_WRONG_END,   /* the right kind of port, of the wrong server */
    BOOT_FAULT_WRONG_PLACE, /* the neighbour says it stands elsewhere, in another torus, or the like */
    BOOT_FAULT_CLUSTER,     /* a neighbour of another cluster */
    BOOT_FAULT_SAME_ID,     /* a neighbour that has the id of this server */
    BOOT_FAULT_TWISTED,     /* the rows of an axis close shifted */
    BOOT_FAULT_JOINED,      /* two or more tori, joined by cables */
    BOOT_FAULT_SAME_PLACE,  /* two servers for one coordinate */
    BOOT_FAULT_EMPTY_PLACE, /* no server for a coordinate */
    BOOT_FAULT_COUNT,       /* the dims expected need another number of servers */
    BOOT_FAULT_DIMS,        /* servers were told different dims, or dims that the cables do not have */
    BOOT_FAULT_TAKEN,       /* the coordinate that is free here is held by a server that lives */
    BOOT_FAULT_SHAPE,       /* no torus can be made out at all */
    BOOT_FAULT_KINDS,
};

/* A server as far as it is known. */
struct boot_who {
    uint64_t id; /* 0: nobody, or nobody known */
    char name[BOOT_NAME_BYTES];
    cw_coord at;
    bool placed; /* at is known */
};

/* Fields that a kind does not speak of are zero. */
struct boot_fault {
    uint8_t kind;      /* enum boot_fault_kind */
    uint8_t port;      /* of who */
    uint8_t direction; /* of that port, as labelled or found; BOOT_UNLABELLED */
    uint8_t far_port;  /* where its cable goes */
    uint8_t far_direction;
    bool
        swapped; /* WRONG_END, CROSSED, SAME_SIGN: exchanging this end with that of other (port other_port) puts both right */
    uint8_t other_port;
    bool tells_only; /* seen and told, but does not keep a torus from being agreed on or joined */
    struct boot_who who;
    struct boot_who far;      /* where its cable goes; id 0: nowhere */
    struct boot_who expected; /* who should be there; id 0 with placed: that position, held by nobody known */
    struct boot_who other;
    cw_dims dims;           /* TWISTED, JOINED, COUNT: of the torus; DIMS: those that who was told, or has */
    cw_dims found;          /* DIMS: what the cables say */
    int16_t shift[CW_AXES]; /* TWISTED: where a row arrives instead of where it started */
    uint32_t count;         /* TWISTED: cables; JOINED: servers beside; COUNT: servers found */
};

/* Short name ("crossed"), for counters and metrics. Static, never NULL. */
const char *boot_fault_name(uint8_t kind);

/* The sentence, cut to BOOT_FAULT_TEXT bytes with the NUL; gives its length. */
size_t boot_fault_text(const struct boot_fault *fault, char out[static BOOT_FAULT_TEXT]);

#endif
