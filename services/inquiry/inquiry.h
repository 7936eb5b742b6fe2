/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inquiry.h - the service that asks the daemons of other servers what an operator wants to know of them: findings of
 * the doctor, events, what a picture of the torus shows. It carries rows, and knows none of their meanings.
 *
 * The program offers a struct inquiry_host to cw_find() under INQUIRY_HOST_NAME, version INQUIRY_HOST_VERSION: it says
 * what there is to say of a server. Without it this server answers with nothing.
 *
 * Command (in brackets what may be left out, with its default):
 *   about TOPIC [SERVER]     every server in view, or that one
 *   [from=0]                 the place in the topic from which on it is told
 *   [timeout=1000000]        us for one attempt to hear an answer; there are three attempts
 *   [away=0]                 1: a server that is not in view has a row with "server" and "unasked" = 1
 * The rows are those of the servers, each with the fields that its daemon gives, in the order in which answers come;
 * among them, the field "server". A server that does not answer has a row with "server" and "unanswered" = 1, and also
 * "away" = 1 if it is out of view by then: others may have answered before they missed it. The last row has "asked",
 * "answered", and "servers", which is how many the torus has.
 */
#ifndef SERVICES_INQUIRY_INQUIRY_H
#define SERVICES_INQUIRY_INQUIRY_H

#include "cubeway/service.h"
#include "services/inquiry/rows.h"

enum { INQUIRY_JOB = 14, INQUIRY_PORT = 0 };

#define INQUIRY_HOST_NAME "inquiry"
enum { INQUIRY_HOST_VERSION = 1 };

enum inquiry_topic { INQUIRY_DOCTOR = 1, INQUIRY_EVENTS = 2, INQUIRY_PICTURE = 3 };

struct inquiry_host {
    size_t size; /* of this struct, as the host knows it */
    void *context;
    /*
     * Writes rows about server `self`, from the place `from` on (0: the beginning), as many as fit. Gives the place of
     * the next row, or 0: that was all. Runs on the server's thread.
     */
    uint64_t (*rows)(void *context, cw_coord self, unsigned topic, uint64_t from, struct rows_writer *out);
};

extern const cw_service inquiry_service;

#endif
