/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcapng.h - a capture file that Wireshark opens: Ethernet frames on named interfaces, times in nanoseconds.
 *
 * pcapng 1.0 (IETF opsawg draft): a section header, an interface block for each interface, enhanced packet blocks.
 * Little-endian on every machine, so that equal runs give equal files. Frames need not come in order of time.
 */
#ifndef CAPTURE_PCAPNG_H
#define CAPTURE_PCAPNG_H

#include "cubeway/time.h"
#include "cubeway/types.h"

struct pcapng;

/* Creates the file and writes its head, with the application's name in it. -errno. */
CW_MUST_CHECK int pcapng_open(struct pcapng **out, const char *path, const char *application);
/* Adds an interface, and returns its number: 0, 1, ... speed is in bits per second; 0: the file does not say it. */
CW_MUST_CHECK int pcapng_interface(struct pcapng *p, const char *name, uint64_t speed);

struct pcapng_frame {
    cw_time at; /* 0 or later */
    uint8_t to[6], from[6];
    uint16_t type;
    const uint8_t *bytes; /* behind the Ethernet header */
    uint32_t length;
    uint32_t zeros;      /* how many zero bytes follow on the wire */
    const char *comment; /* NULL: none; at most 200 bytes of it are kept */
};
/* Pads a frame that is too short for Ethernet with zeros, as a card does. Errors are kept for pcapng_close(). */
void pcapng_frame(struct pcapng *p, unsigned interface, const struct pcapng_frame *frame);

/* 0, or the first error: -errno. NULL is allowed. */
int pcapng_close(struct pcapng *p);

#endif
