/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness.h - the records that every server of a lab writes: what it saw, with the machine's clock, to be judged
 * afterwards.
 *
 * The witness is a service (witness.so) that cwlab loads into every daemon. It appends records to <folder>/X,Y,Z.trail
 * through memory that is shared with the file: so a killed daemon's last record is there, and writing one costs no
 * system call. It can also send a stream of packets to one key:
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

/* The environment variable that says where trails are written; without it a witness writes nothing. */
#define WITNESS_FOLDER "CUBEWAY_TRAILS"

enum { WITNESS_JOB = 1101 };

enum witness_kind {
    WITNESS_OPENED = 1, /* a daemon's process began: links of the one before do not count any more */
    WITNESS_DELIVERED,  /* a key packet was handed to its service here as the key's root */
    WITNESS_SENT,       /* a packet of the stream was sent */
    WITNESS_REFUSED,    /* a packet of the stream was refused for now */
    WITNESS_LINK_UP,    /* the server calls its link up (committed) */
    WITNESS_LINK_DOWN,  /* the server does not call its link up any more */
    WITNESS_CLOSED,     /* the daemon ends in good order */
    WITNESS_KINDS,
};

/*
 * What happened, between turn_ns and written_ns. Times are CLOCK_BOOTTIME, which all processes of a machine share and
 * by which daemons live (shim/clock.h).
 */
struct witness_record {
    int64_t turn_ns;    /* when the turn of the daemon's loop began in which it happened */
    int64_t written_ns; /* when it was written down; 0: this place is not in use */
    uint64_t key;       /* the 64 bits that route */
    int64_t sent_ns;    /* of a packet of the stream: when its sender sent it */
    uint32_t source, number, job;
    uint8_t kind; /* enum witness_kind */
    uint8_t link; /* of WITNESS_LINK_UP and WITNESS_LINK_DOWN */
    uint16_t hops;
};

#endif
