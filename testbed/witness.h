/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness.h - what every server of a lab writes down, in its own words and at the machine's clock, for a judgement
 * afterwards.
 *
 * The witness is a service (witness.so) that cwlab loads into every daemon. It appends records to <folder>/X,Y,Z.trail,
 * by memory that is shared with the file: a killed daemon's last record is there, and writing one costs no system call.
 * It also sends a stream of packets to one key:
 *
 *   stream KEY [rate=1000] [size=64]   KEY: 40 hex digits, or any other text as a name of this service
 *   stop                               the stream
 *   stats                              sent refused delivered
 *
 * Deliveries of the bench service's key packets are written down too.
 */
#ifndef TESTBED_WITNESS_H
#define TESTBED_WITNESS_H

#include "cubeway/types.h"

/* The environment says where the trails go; without it a witness writes nothing. */
#define WITNESS_FOLDER "CUBEWAY_TRAILS"

enum { WITNESS_JOB = 1101 };

enum witness_kind {
    WITNESS_OPENED = 1, /* a process began: what was believed before is over */
    WITNESS_DELIVERED,  /* a key packet, handed to its service here as the key's root */
    WITNESS_SENT,       /* of the stream */
    WITNESS_REFUSED,    /* of the stream: the runtime took it not, for now */
    WITNESS_LINK_UP,    /* the server calls its link up (committed) */
    WITNESS_LINK_DOWN,
    WITNESS_CLOSED, /* in order */
    WITNESS_KINDS,
};

/* CLOCK_MONOTONIC, which all processes of a machine share. */
struct witness_record {
    int64_t turn_ns;    /* when the turn began in which it happened: not later than it */
    int64_t written_ns; /* when it was written down: not earlier; 0: this place is not in use */
    uint64_t key;       /* the 64 bits that route */
    int64_t sent_ns;    /* by its sender's clock; the stream only */
    uint32_t source, number, job;
    uint8_t kind, link;
    uint16_t hops;
};

#endif
