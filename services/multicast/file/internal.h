/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - struct files, between what takes files (take.c), what sends them (send.c) and what holds both (files.c).
 */
#ifndef SERVICES_MULTICAST_FILE_INTERNAL_H
#define SERVICES_MULTICAST_FILE_INTERNAL_H

#include "services/multicast/file/files.h"
#include "services/multicast/file/progress.h"
#include "services/multicast/file/reader.h"

enum { FILES_SENDS = 16, FILES_SENDS_KEPT = 32, FILES_SLOTS = 16 };

/* A file that comes: its part, and the message it comes by. */
struct file_slot {
    struct file_slot *next;
    struct files *files;
    struct file_part *part; /* NULL: over, and closed */
    uint64_t ticket;
    cw_server origin;
    bool open;     /* the message has the sink */
    bool detached; /* the part is not the message's any more */
    cw_time asked, moved, reported;
};

struct file_goal {
    cw_server server;
    enum file_part_state state; /* by its last note */
    uint64_t there;
    bool reported, ended;
    int status; /* when ended */
    cw_span took;
};

/* A file that is sent. */
struct file_send {
    struct file_send *next;
    struct files *files;
    uint32_t id;
    cw_request *request; /* NULL: nobody waits for it */
    cw_span every;       /* of rows on the way; 0: none */
    cw_time began, sent, rowed, over_at;
    struct file_label label;
    bool mode_given;
    struct file_reader *reader; /* NULL: closed */
    uint8_t *set;               /* of members, while it is digested */
    uint64_t ticket;
    bool asking;   /* who is in the group */
    bool digested; /* and is not sent yet */
    bool sending, over;
    int status;
    struct file_goal *goal;
    unsigned goals;
    uint64_t given, repeated;
};

struct files {
    cw_svc *s;
    struct cast_engine *engine;
    const struct torus *torus;
    int (*members)(void *context, cw_request *r, int argc, const char *const *argv, uint8_t *set);
    int (*group)(void *context, const char *name, files_group_fn done, void *arg);
    void (*group_cancel)(void *context, const void *arg);
    void *context;
    struct file_env env;
    cw_span part_age;
    struct file_slot *slots;
    struct file_send *sends;
    unsigned slot_count, send_count;
    uint64_t waiting[FILES_SLOTS]; /* tickets of messages whose part another one has */
    unsigned waitings;
    uint32_t ids;
    cw_timer *timer, *sweeper;
    struct file_work sweep;
    bool sweeping;
    int swept;
    cw_counter *taken, *failed, *sent, *dropped, *malformed;
};

/* files.c */
/* Something is on its way: looks after it from now on. */
void files_wake(struct files *f);
/* Puts a sentence into "error". Gives rc. */
__attribute__((format(printf, 3, 4))) int files_refuse(cw_request *r, int rc, const char *format, ...);
void files_tell_server(const struct files *f, cw_request *r, const char *name, cw_server server);

/* take.c */
int file_take(void *context, const struct cast_offer *offer, struct cast_sink *sink); /* cast_accept_fn */
void file_take_tick(struct files *f, cw_time now);
void file_take_status(struct files *f, cw_request *r, bool *first);
void file_take_close(struct files *f);

/* send.c */
int file_send_begin(struct files *f, cw_request *r, int argc, const char *const *argv);
int file_send_stop(struct files *f, cw_request *r, int argc, const char *const *argv);
void file_send_progress(struct files *f, cw_server from, const struct file_progress *progress);
void file_send_tick(struct files *f, cw_time now);
void file_send_status(struct files *f, cw_request *r, bool members, bool *first);
void file_send_close(struct files *f);
/* rows.c */
void file_rows_progress(struct file_send *send, cw_request *r);
void file_rows_end(struct file_send *send, cw_request *r);
void file_rows_members(struct file_send *send, cw_request *r);

#endif
