/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_engine.h - the multicast's engine with nothing behind it (services/multicast/cast/engine.h), and a service that
 * holds nothing but its files: a test plays the messages of others, and says what becomes of its own.
 */
#ifndef KIT_FAKE_ENGINE_H
#define KIT_FAKE_ENGINE_H

#include "fake_files.h"
#include "fake_host.h"
#include "services/multicast/file/files.h"

enum { FAKE_MEMBERS = 32 };

struct cast_engine {
    cast_accept_fn accept;
    void *context;
    int refuse; /* < 0: what cast_engine_send() returns */
    bool sending;
    struct cast_order order;
    uint8_t label[CAST_LABEL_MOST];
    uint64_t tickets;
    unsigned resumes, ends;
    uint64_t resumed, ended; /* tickets */
    int status;              /* of the last end */
    struct cast_session session;
    struct cast_session incoming; /* what is known of any message of others */
    bool forgotten;               /* nothing is known of them */
    struct cast_member member[FAKE_MEMBERS];
};

/* A server 0,0,0 of 3x3x3; its engine, disk, and files. */
struct fake_town {
    struct cast_engine engine;
    struct fake_files disk;
    struct files *files;
    cw_svc *s;
    bool no_host;
    files_members_fn group; /* the question for the members of group "g" that waits */
    void *group_arg;
};
extern struct fake_town town;

/* options: as those of fake_open_with(). Returns what files_open() returned. */
int fake_town_begin(const char *const *options);
/* Closes it. Returns the number of handles and packets that were never released. */
size_t fake_town_end(void);
/* Ends the message that is being sent, with the members in its table as they are. */
void fake_engine_done(int status);

#endif
