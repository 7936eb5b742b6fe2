/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_town.h - the multicast on nine fake hosts (3x3x1) that reach one another. On each host two services of two jobs
 * use it, and count what arrives.
 */
#ifndef KIT_GROUP_TOWN_H
#define KIT_GROUP_TOWN_H

#include "cubeway/multicast.h"
#include "fake_net.h"
#include "services/multicast/multicast.h"

enum { TOWN = 9, TOWN_TEXT = 64 };

/* A service that uses the multicast, on one server, and what has happened to it. */
struct town_user {
    cw_multicast *m;
    cw_svc *svc; /* of its job */
    cw_server self;
    unsigned got;
    size_t last_length;
    char last[TOWN_TEXT]; /* the beginning of the last message */
    cw_coord from;
    bool to_group, best_effort;
    unsigned writable, forwards;
    bool stops; /* its forward() stops best-effort messages */
};

/* How the last message ended. */
struct town_result {
    unsigned times;
    int status;
    unsigned members, complete, rows;
    cw_multicast_row row[TOWN];
};

extern struct fake_net *town;
/* The services of jobs 4096 and 4097. */
extern struct town_user town_user[TOWN], town_other[TOWN];
extern struct town_result town_result;
/* Acknowledgements of joins and leaves so far, and the status of the last one. */
extern unsigned town_acks;
extern int town_acked;

/* Opens the town, and waits until the roots of groups are settled. */
void town_open(void);
void town_close(void);
const cw_multicast_api *town_api(void);
void town_join(struct town_user *u, const char *group);
/* Publishes a text and runs for 50 ms. Returns what publish() returned. */
int town_publish(struct town_user *u, const char *group, const char *text, unsigned flags);
void town_done(void *arg, const cw_multicast_result *r);
void town_ack(void *arg, int status);

#endif
