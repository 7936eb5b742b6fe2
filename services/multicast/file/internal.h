/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - struct files, which the sources of this folder share: take.c takes files, send.c sends them, rows.c
 * writes the rows about them for operators, clock.c starts their clock, and files.c holds all of these together.
 */
#ifndef SERVICES_MULTICAST_FILE_INTERNAL_H
#define SERVICES_MULTICAST_FILE_INTERNAL_H

#include "services/multicast/file/files.h"
#include "services/multicast/file/pace.h"
#include "services/multicast/file/progress.h"
#include "services/multicast/file/reader.h"
#include "services/reply/metrics.h"

enum {
    FILES_SENDS = 16,      /* sendings under way from this server */
    FILES_SENDS_KEPT = 32, /* sendings that file-status shows, ended ones among them */
    FILES_SLOTS = 16,      /* files that come to this server */
    FILES_CAME_KEPT = 16,  /* files that have come, or have not, and that file-status still shows */
};
/* What has ended is shown by file-status for so long. */
#define FILES_SHOWN CW_MINUTES(10)
/* The time between two looks after everything that is on its way. */
#define FILES_BEAT CW_MS(100)

enum { FILES_TAKEN, FILES_FAILED, FILES_SENT, FILES_DROPPED, FILES_MALFORMED, FILES_COUNTS };

/* A file that comes: its part, and the message that writes it. */
struct file_slot {
    struct file_slot *next;
    struct files *files;
    struct file_part *part; /* NULL: it is over, and closed */
    uint64_t ticket;
    cw_server origin;
    bool open;     /* the message has the sink, and end() is still to come */
    bool detached; /* the part is not this message's any more */
    /* Another file of this name came meanwhile, from `rival`: which of the two stays is not the same everywhere. */
    bool contested;
    cw_server rival;
    /* When the message asked for a sink last, when a piece came last, when the source was told of the progress last. */
    cw_time asked, moved, reported, began;
};

/* A file that has come, or has failed to. */
struct file_came {
    char name[FILE_NAME_MOST + 1];
    cw_server origin;
    int status; /* 0: it is there */
    uint64_t bytes, there, before;
    cw_span took;
    cw_time at; /* when it ended */
};

/* A member of a file that is sent. */
struct file_goal {
    cw_server server;
    /* By its last progress packet; nothing is decided by these. */
    enum file_part_state state;
    uint64_t there; /* bytes */
    bool reported;  /* a progress packet has come */
    struct file_pace pace;
    /* By the engine. */
    bool ended;
    int status; /* when it has ended: 0 or -errno */
    cw_span took;
    bool away;  /* it is out of sight, and may come back */
    bool asked; /* what it had before anything was sent is known: `before` bytes */
    uint64_t before;
    uint64_t missed; /* bytes that were sent again for it, as they had passed it by */
    /* By its word: another file of this name came to it at the same time; the one of the two that ends last stays. */
    bool contested;
};

enum { FILE_GROUP = 65 };

/* A file that is sent: first digested (and the members of a group asked for), then on its way, then over. */
struct file_send {
    struct file_send *next;
    struct files *files;
    uint32_t id;
    cw_request *request; /* NULL: nobody waits for the end */
    cw_span every;       /* between two rows of progress; 0: none are wanted */
    cw_time began, sent, rowed, over_at;
    struct file_label label;
    bool mode_given;            /* by the command; else the mode is the file's */
    struct file_reader *reader; /* NULL: closed */
    uint8_t *set;               /* the members, until the message is made */
    uint64_t ticket;            /* of the message, once it is under way */
    bool asking;                /* for the members of a group */
    char group[FILE_GROUP];     /* the name of that group, as far as there is room */
    bool digested;
    bool sending; /* the engine has the message, or had it */
    bool over;
    int status; /* when it is over */
    /* A member has said that another file of this name came to it at the same time, from `rival`. */
    bool contested;
    cw_server rival;
    struct file_goal *goal;
    unsigned goals;
    /* Bytes that were read to be sent; pieces that were sent more than once, and those by reasons. */
    uint64_t given, repeated;
    struct cast_repeats repeats;
    uint32_t piece_bytes; /* 0: the message has not been made yet */
    /* How fast bytes are read to be sent, and how many are still to be dealt out in this round. */
    struct file_pace pace;
    uint64_t undealt;
};

struct files {
    cw_svc *s;
    struct cast_engine *engine;
    const struct torus *torus;
    /* As in struct files_config. */
    int (*read_recipients)(void *context, cw_request *r, int argc, const char *const *argv, uint8_t *set,
                           files_members_fn done, void *arg);
    void (*cancel_recipients)(void *context, const void *arg);
    void *context;

    struct file_env env;
    struct file_slot *slots;
    struct file_send *sends; /* the newest first */
    unsigned slot_count, send_count;
    struct file_came came[FILES_CAME_KEPT]; /* a ring */
    unsigned came_count;                    /* of all that ever came: the next is put at its rest */
    /* Tickets of messages that wait for the part of another message. */
    uint64_t waiting[FILES_SLOTS];
    unsigned waitings;
    uint32_t ids;

    /* The clock: runs while anything is on its way (files_wake()). */
    cw_timer *timer;
    cw_timer_fn tick;
    /* The sweeping of parts that broke off. */
    cw_timer *sweeper;
    cw_span part_age;
    struct file_work sweep;
    bool sweeping;
    int swept;

    cw_counter *count[FILES_COUNTS];
};

/* clock.c */
/* Something is on its way: the clock runs from now on, until nothing is. */
void files_wake(struct files *f);

/* take.c */
/* A cast_accept_fn; context is struct files. */
int file_take(void *context, const struct cast_offer *offer, struct cast_sink *sink);
void file_take_tick(struct files *f, cw_time now);
/* A row for each file that comes. *first: no row of this reply has been begun. */
void file_take_status(struct files *f, cw_request *r, bool *first);
void file_take_close(struct files *f);

/* send.c */
int file_send_begin(struct files *f, cw_request *r, int argc, const char *const *argv);
int file_send_stop(struct files *f, cw_request *r, int argc, const char *const *argv);
void file_send_progress(struct files *f, cw_server from, const struct file_progress *progress);
void file_send_tick(struct files *f, cw_time now);
/* A row for each file that is sent, and with `members` a row for each of its members. */
void file_send_status(struct files *f, cw_request *r, bool members, bool *first);
void file_send_close(struct files *f);

/* rows.c */
void file_rows_progress(struct file_send *send, cw_request *r);
/*
 * Rows about the members that keep the others waiting, slowest first and three at most: under way, and behind most of
 * the others by a tenth of the file. Gives how many rows it made; each is ended.
 */
unsigned file_rows_slow(struct file_send *send, cw_request *r);
void file_rows_end(struct file_send *send, cw_request *r);
void file_rows_members(struct file_send *send, cw_request *r);

#endif
