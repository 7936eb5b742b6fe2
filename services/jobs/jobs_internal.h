/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs_internal.h - one instance of the service, and what its files know of one another. Only they include it.
 *
 *   jobs.c     the table: packets, events and commands go to the others
 *   packets.c  packets with one frame, made and sent     counts.c  what is counted
 *   take.c     a record that came: is it news? is it signed? then shelf, NMU, neighbours, disk, acknowledgement - in this order
 *   gossip.c   from neighbour to neighbour: floods, and who lacks what
 *   fetch.c    records in parts, from one who has them
 *   put.c  `put`: a change until all have acknowledged it
 *   show.c     `list`, `show`, `status`
 *   ask.c      `explain`, `audit`: what other servers' NMUs say
 */
#ifndef SERVICES_JOBS_JOBS_INTERNAL_H
#define SERVICES_JOBS_JOBS_INTERNAL_H

#include "nmu/desk.h"
#include "nmu/nmu.h"
#include "services/jobs/change.h"
#include "services/jobs/jobs.h"
#include "services/jobs/records.h"
#include "services/reply/metrics.h"

#include <string.h>

enum {
    JOBS_TAKING = 16, /* records whose signature is being checked */
    JOBS_WANTS = 64,  /* records to fetch */
    JOBS_CHANGES = 8,
    JOBS_ASKING = 8,       /* explain and audit under way */
    JOBS_ASK_BURST = 64,   /* servers asked again in one go */
    JOBS_ASK_SERVERS = 16, /* asked at one time by an audit */
    JOBS_ROUND_MS = 2000,  /* between two hellos */
};

enum jobs_count {
    JOBS_COUNT_ACCEPTED,
    JOBS_COUNT_REPEATED,
    JOBS_COUNT_OLD,
    JOBS_COUNT_FORKS,
    JOBS_COUNT_UNSIGNED,
    JOBS_COUNT_FOREIGN,
    JOBS_COUNT_MALFORMED,
    JOBS_COUNT_STRANGERS,
    JOBS_COUNT_FULL,
    JOBS_COUNT_BUSY,
    JOBS_COUNT_NMU,
    JOBS_COUNT_UNKEPT,
    JOBS_COUNTS,
};

struct jobs;
struct jobs_put;
struct jobs_asking;

/* A record on its way in. */
struct jobs_taking {
    struct jobs *jobs; /* NULL: free */
    struct jobs_mark mark;
    cw_packet *packet; /* whose bytes they are, ours; or NULL */
    const uint8_t *bytes;
    size_t size;
    cw_server from;   /* who has it anyway; CW_SERVER_NONE: nobody */
    cw_server origin; /* who wants to know, when ticket is not 0 */
    uint64_t ticket;
    bool fetched;         /* the bytes are the fetch's */
    struct jobs_put *put; /* put here, or NULL */
    int verdict;          /* of verify */
};

struct jobs_want {
    struct jobs_mark mark;
    cw_server from, origin;
    uint64_t ticket;
};

struct jobs_fetch {
    struct jobs_want want[JOBS_WANTS]; /* [0] is under way when busy */
    unsigned wants;
    bool busy;
    cw_server overflow; /* had more than there was room for; CW_SERVER_NONE */
    uint32_t got, total;
    uint8_t *room; /* RECORDS_RECORD_MAX */
};

struct jobs {
    cw_svc *svc;
    cw_server self;
    uint32_t servers;
    uint32_t cluster;
    const struct nmu_desk *desk;  /* NULL: there is no NMU to govern */
    const struct jobs_host *host; /* NULL: no signed jobs */
    struct nmu_source source;
    struct records records;
    struct jobs_taking taking[JOBS_TAKING];
    struct jobs_fetch fetch;
    struct records_blob *keeping; /* being stored; ours */
    cw_job keeping_job;
    int keeping_result;
    cw_timer *round;
    cw_link turn; /* said hello last */
    struct jobs_put *puts;
    unsigned put_count;
    struct jobs_asking *askings;
    unsigned asking_count;
    uint8_t *stage; /* of a put in several commands */
    size_t staged;
    uint64_t count[JOBS_COUNTS];
    cw_counter *counter[JOBS_COUNTS];
};

/* ---- counts.c ---------------------------------------------------------------------------------------------------- */

extern const struct metric jobs_counts[JOBS_COUNTS];
void jobs_count(struct jobs *j, enum jobs_count what);

/* ---- packets.c --------------------------------------------------------------------------------------------------- */

/*
 * Gives a packet with the frame in it and rest bytes behind it for the caller to fill at *at (may be NULL), or NULL.
 * Sets the frame's cluster.
 */
cw_packet *jobs_packet(struct jobs *j, struct jobs_frame *frame, size_t rest, uint8_t **at);
cw_to jobs_to(const struct jobs *j, cw_server server);
/* As jobs_packet(), to a server; not sent: somebody will ask again. */
void jobs_send(struct jobs *j, cw_server to, struct jobs_frame *frame);

/* ---- take.c ------------------------------------------------------------------------------------------------------ */

/*
 * A record came. 1: it is being checked, and the packet and the collect are its; else they are still the caller's: 0:
 * it is held; -ESTALE: one is held that wins; -EINPROGRESS: it is being checked; -EBADMSG, -ENOTSUP (no host), -EBUSY.
 */
CW_MUST_CHECK int jobs_take(struct jobs *j, const struct jobs_taking *what);
/* The bytes of one more that was kept over a restart. */
void jobs_take_kept(void *jobs, const uint8_t *signed_record, size_t size);
/* Somebody wants to be told that the item is held: now, or when it is kept. */
void jobs_owe(struct jobs *j, struct records_item *item, cw_server origin, uint64_t ticket);
void jobs_take_close(struct jobs *j);

/* ---- gossip.c ---------------------------------------------------------------------------------------------------- */

/* Gives the record, or the offer of it, to a server. */
void jobs_give(struct jobs *j, cw_server to, const struct records_item *item, cw_server origin, uint64_t ticket);
/* To all neighbours but one. */
void jobs_flood(struct jobs *j, const struct records_item *item, cw_server except, cw_server origin, uint64_t ticket);
void jobs_hello(struct jobs *j, cw_server to, bool answer);
void jobs_heard_hello(struct jobs *j, cw_server from, const struct jobs_frame *frame);
void jobs_heard_summary(struct jobs *j, cw_server from, const struct jobs_frame *frame);
void jobs_start_rounds(struct jobs *j);
void jobs_link_up(struct jobs *j, cw_link link);

/* ---- fetch.c ----------------------------------------------------------------------------------------------------- */

void jobs_want(struct jobs *j, const struct jobs_want *want);
/* The one that was fetched has been judged. */
void jobs_fetch_judged(struct jobs *j);
/* Answers a FETCH; takes the packet. */
void jobs_give_part(struct jobs *j, uint32_t call, cw_packet *p, const struct jobs_frame *frame);

/* ---- put.c --------------------------------------------------------------------------------------------------- */

int jobs_command_put(struct jobs *j, cw_request *r, int argc, const char *const *argv);
int jobs_command_more(struct jobs *j, cw_request *r, int argc, const char *const *argv);
/*
 * What came of jobs_take(): 0: it is held, and this is the first flood's ticket; else why not. The collect may be gone
 * afterwards.
 */
void jobs_put_taken(struct jobs *j, struct jobs_put *c, int rc);
uint64_t jobs_put_ticket(const struct jobs_put *c);
void jobs_put_ack(struct jobs *j, cw_server from, uint64_t ticket, const struct jobs_mark *mark, unsigned word);
void jobs_put_doubt(struct jobs *j, cw_server s);
void jobs_put_close(struct jobs *j);

/* ---- show.c ------------------------------------------------------------------------------------------------------ */

int jobs_command_list(struct jobs *j, cw_request *r);
int jobs_command_show(struct jobs *j, cw_request *r, int argc, const char *const *argv);
int jobs_command_status(struct jobs *j, cw_request *r);
/* A job by number or by name; 0: there is none of that name here. Length bytes of text. */
cw_job jobs_named(const struct jobs *j, const char *text, size_t length);

/* ---- ask.c ------------------------------------------------------------------------------------------------------- */

int jobs_command_explain(struct jobs *j, cw_request *r, int argc, const char *const *argv);
int jobs_command_audit(struct jobs *j, cw_request *r, int argc, const char *const *argv);
/* Answer an ASK or an AUDIT; take the packet. */
void jobs_say(struct jobs *j, uint32_t call, cw_packet *p, const struct jobs_frame *frame);
void jobs_give_rows(struct jobs *j, uint32_t call, cw_packet *p, const struct jobs_frame *frame);
void jobs_ask_close(struct jobs *j);

#endif
