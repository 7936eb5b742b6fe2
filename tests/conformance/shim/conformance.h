/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conformance.h - what shim.h promises, tried on a kind of shim. Each kind's unit test brings the cable; the properties are the
 * same for all of them.
 */
#ifndef CONFORMANCE_SHIM_CONFORMANCE_H
#define CONFORMANCE_SHIM_CONFORMANCE_H

#include "shim/shim.h"
#include "suite.h"

enum { MEMORY_BYTES = 16384 };

/* A cable of a kind, both ends of it open. */
struct cable {
    struct shim *end[2];
    unsigned woken[2]; /* calls of wake */
    void *more;        /* the kind's */
};

struct conformance_kind {
    const char *name; /* as info() tells it */
    uint32_t mtu;
    void (*set_up)(void); /* once in each test's process; NULL: nothing to do */
    /* Opens both ends. */
    void (*open)(struct cable *c, uint32_t mtu);
    void (*cut)(struct cable *c, bool cut);  /* NULL: this kind's carrier cannot be cut by a test */
    void (*stranger)(const struct cable *c); /* sends what end 0 must not receive; NULL: there is no way in */
    bool has_last_words;
    bool needs_namespace;
    uint32_t shortest; /* of frames that arrive with their own length; above 1 where the medium pads */
};

/* main() of a kind's test: the conformance suite, then the tests of its own. */
int conformance_run(const struct conformance_kind *kind, const struct suite_test *more, size_t count);

/* For tests of a kind's own. Frame number n of length bytes has the same bytes wherever it is made. */
void frame_fill(uint8_t *bytes, uint32_t number, uint32_t length);
bool frame_is(const uint8_t *bytes, uint32_t number, uint32_t length);
void cable_open(struct cable *c);
void cable_close(struct cable *c);
/* Waits until data_fd is readable, or, where there is none, a little. False: not within ms. */
bool cable_await(struct shim *s, int ms);
/* Sends frame number of length; waits for room as long as it takes (10 s at most), and while it waits drains nothing. */
void cable_send(struct shim *s, uint32_t number, uint32_t length);
/* Receives the next frame, waiting for it; its length, or 0 when none came within ms. Bytes are in memory. */
uint32_t cable_receive(struct shim *s, uint8_t memory[static MEMORY_BYTES], int ms);
/* Waits until the carrier of s is as it should be, heeding event_fd; false: not within ms. */
bool cable_carrier(struct shim *s, bool carrier, int ms);

#endif
