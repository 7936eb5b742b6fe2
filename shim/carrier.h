/* SPDX-License-Identifier: Apache-2.0 */
/*
 * carrier.h - one network interface, watched through netlink: its number, address, mtu, and whether it can carry
 * frames.
 *
 * An interface is found by its name once. From then on the device is followed, not the name: a renamed interface is
 * still the same cable. When the device is deleted (or taken into another network namespace), the next device that gets
 * the name takes its place, with another index. Linux only.
 */
#ifndef SHIM_CARRIER_H
#define SHIM_CARRIER_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

struct mnl_socket;

enum carrier_state {
    CARRIER_UP,
    CARRIER_NONE, /* up, but nobody at the other end of the cable */
    CARRIER_DOWN, /* administratively down */
    CARRIER_GONE, /* no such interface now */
};

struct carrier {
    struct mnl_socket *netlink;
    char wanted[IFNAMSIZ]; /* the name it was opened by */
    char name[IFNAMSIZ];   /* its name now */
    enum carrier_state state;
    uint32_t index; /* 0 while it is gone */
    uint32_t mtu;
    uint32_t generation; /* grows when another device takes the place */
    uint32_t outages;    /* times that it was up and then was not, also those that were over before they were read */
    enum carrier_state outage; /* what it became the last time */
    uint8_t mac[6];
    bool ethernet;
};

/*
 * Finds the interface. 0, -ENODEV when there is none of that name, -ENAMETOOLONG, or another -errno; then nothing is
 * held.
 */
int carrier_open(struct carrier *c, const char *interface);
/* The same, but an interface that is not there yet is waited for: 0, and the state is CARRIER_GONE, generation 0. */
int carrier_await(struct carrier *c, const char *interface);
void carrier_close(struct carrier *c);

/* Readable when something may have changed. */
int carrier_fd(const struct carrier *c);
/* Reads what has changed; true when any field has. */
bool carrier_service(struct carrier *c);

/* The state in words; static. */
const char *carrier_text(enum carrier_state state);

/* Speed of the medium in bits per second as the driver tells it; 0: unknown, or made up (veth, tun). */
uint64_t carrier_speed(const struct carrier *c);

/*
 * What is lost behind us: how many frames an interface has dropped on their way out since it was made, by the device
 * and by its queueing disciplines, whoever sent them.
 */
struct carrier_loss {
    uint32_t index;  /* of the interface; from the caller; 0: none */
    bool known;      /* false: there is no such interface, or the kernel did not say */
    uint64_t frames; /* 0 unless known */
};
/*
 * Asks the kernel for all of these interfaces, by one socket and one dump of the queueing disciplines. The kernel
 * answers under a lock that whoever configures interfaces may hold for a long time: not for the thread of a loop.
 * 0, or -errno: then none is known.
 */
int carrier_lost(struct carrier_loss *losses, unsigned count);

#endif
