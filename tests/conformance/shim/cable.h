/* SPDX-License-Identifier: Apache-2.0 */
/* cable.h - a cable of some kind of shim in a test: opened, fed, listened to, waited for. */
#ifndef CONFORMANCE_SHIM_CABLE_H
#define CONFORMANCE_SHIM_CABLE_H

#include "shim/shim.h"
#include "suite.h"

enum { MEMORY_BYTES = 16384, PATIENCE_MS = 10000 };

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

/* Cables are of this kind from now on. */
void cable_kind(const struct conformance_kind *of);

/* Frame number n of length bytes has the same bytes wherever it is made. */
void frame_fill(uint8_t *bytes, uint32_t number, uint32_t length);
bool frame_is(const uint8_t *bytes, uint32_t number, uint32_t length);
void cable_open(struct cable *c);
void cable_close(struct cable *c);
/* Waits until data_fd is readable, or, where there is none, a little. False: not within ms. */
bool cable_await(struct shim *s, int ms);
/*
 * Sends frame number of length; waits for room as long as it takes (10 s at most), and while it waits drains nothing.
 */
void cable_send(struct shim *s, uint32_t number, uint32_t length);
/* Waits for what the shim says must happen before there can be room. */
void cable_wait_for_room(struct shim *s);
/* Receives the next frame, waiting for it; its length, or 0 when none came within ms. Bytes are in memory. */
uint32_t cable_receive(struct shim *s, uint8_t memory[static MEMORY_BYTES], int ms);
/* Waits until the carrier of s is as it should be, heeding event_fd; false: not within ms. */
bool cable_carrier(struct shim *s, bool carrier, int ms);
/* What a pump does between: asks for room, which lets a shim send what has become due. */
void cable_serve(void);
/* The end is closed by the test itself. */
void cable_forget(int end);
/* poll() of one descriptor, and a rest. */
bool cable_poll(int fd, short events, int ms);
void cable_pause(long us);

#endif
