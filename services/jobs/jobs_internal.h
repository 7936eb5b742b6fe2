/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs_internal.h - one instance of the service, and what its files know of one another. Only they include it.
 *
 *   jobs.c     the table: packets, events and commands go to the others
 *   take.c     a record that came: is it news? is it signed? then it is held, given to the NMU, to neighbours and to
 *              the disk, and acknowledged, in this order
 *   gossip.c   from neighbour to neighbour: who lacks what
 *   fetch.c    records in parts, from a server that has them
 *   put.c      `put`: a change until all servers in reach have acknowledged it
 *   stage.c    the bytes of a put, and `more`
 *   show.c     `list`, `show`, `status`
 *   ask.c      `explain`, `audit`: what other servers' NMUs say
 *   packets.c  packets with one frame, made and sent: to a server, or as a flood to all neighbours
 *   counts.c   what is counted
 *
 * Leaves that know no struct of this header: wire (frames, marks), records (what is held), change (who has
 * acknowledged). Rules are those of docs/services/jobs.md.
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
    JOBS_TAKING = 16,      /* records whose signatures are being checked at one time */
    JOBS_WANTS = 64,       /* records to fetch */
    JOBS_CHANGES = 8,      /* puts under way */
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
    cw_packet *packet; /* that the bytes are in, and that we own; or NULL */
    const uint8_t *bytes;
    size_t size;
    cw_server from;   /* has the record, so that it is not sent there; or CW_SERVER_NONE */
    cw_server origin; /* gets the acknowledgement, when ticket is not 0 */
    uint64_t ticket;
    bool fetched;         /* the bytes are in jobs_fetch.room */
    struct jobs_put *put; /* the command that put it here, or NULL */
    int verdict;          /* what jobs_host.verify() returned */
};

struct jobs_want {
    struct jobs_mark mark;
    cw_server from, origin;
    uint64_t ticket;
};

struct jobs_fetch {
    struct jobs_want want[JOBS_WANTS]; /* the first is being fetched when busy */
    unsigned wants;
    bool busy;
    cw_server overflow; /* has more than there was room for in want; or CW_SERVER_NONE */
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
    struct records_blob *keeping; /* being stored: our hold on it */
    cw_job keeping_job;
    int keeping_result;
    cw_timer *round;
    cw_link turn; /* that the last hello of a round left by */
    struct jobs_put *puts;
    unsigned put_count;
    struct jobs_asking *askings;
    unsigned asking_count;
    uint8_t *stage; /* bytes that the next put begins with (`more`) */
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
/* As jobs_packet(), and sends it to a server. A frame that cannot be sent is dropped: somebody will ask again. */
void jobs_send(struct jobs *j, cw_server to, struct jobs_frame *frame);
/*
 * The neighbour over the link. CW_SERVER_NONE: the link is not up, or a link of a lower number leads to the same
 * neighbour.
 */
cw_server jobs_neighbour(const struct jobs *j, cw_link link);
/* Sends a server the record, or an offer of one that does not fit a packet. */
void jobs_give(struct jobs *j, cw_server to, const struct records_item *item, cw_server origin, uint64_t ticket);
/* The same to all neighbours but `except`. */
void jobs_flood(struct jobs *j, const struct records_item *item, cw_server except, cw_server origin, uint64_t ticket);
/* Sends a digest of all that is held here. answer: this answers a hello, and no hello is to come in return. */
void jobs_hello(struct jobs *j, cw_server to, bool answer);

/* ---- take.c ------------------------------------------------------------------------------------------------------ */

/*
 * Takes in a record that came. Gives 1: its signature is being checked, and packet and put are take.c's now. Else both
 * are still the caller's: 0: the same record is held already; -ESTALE: a record that wins is held; -EINPROGRESS: the
 * same bytes are being checked; -EBADMSG; -ENOTSUP: there is no host; -EBUSY.
 */
CW_MUST_CHECK int jobs_take(struct jobs *j, const struct jobs_taking *what);
/* Takes in a record that was stored before a restart; jobs is a struct jobs. */
void jobs_take_kept(void *jobs, const uint8_t *signed_record, size_t size);
/* Acknowledges the item to origin: now, or when it was tried to store it (rule 5). */
void jobs_owe(struct jobs *j, struct records_item *item, cw_server origin, uint64_t ticket);
void jobs_take_close(struct jobs *j);

/* ---- gossip.c ---------------------------------------------------------------------------------------------------- */

void jobs_heard_hello(struct jobs *j, cw_server from, const struct jobs_frame *frame);
void jobs_heard_summary(struct jobs *j, cw_server from, const struct jobs_frame *frame);
void jobs_start_rounds(struct jobs *j);
void jobs_link_up(struct jobs *j, cw_link link);

/* ---- fetch.c ----------------------------------------------------------------------------------------------------- */

void jobs_want(struct jobs *j, const struct jobs_want *want);
/* The record that was fetched has been judged: goes on with the next. */
void jobs_fetch_judged(struct jobs *j);
/* Answers a FETCH. Takes the packet. */
void jobs_give_part(struct jobs *j, uint32_t call, cw_packet *p, const struct jobs_frame *frame);

/* ---- put.c ------------------------------------------------------------------------------------------------------- */

int jobs_command_put(struct jobs *j, cw_request *r, int argc, const char *const *argv);
/* The result of jobs_take() for a put: 0: the record is held, or -errno. The put may have ended when this returns. */
void jobs_put_taken(struct jobs *j, struct jobs_put *c, int rc);
uint64_t jobs_put_ticket(const struct jobs_put *c);
/* True when the put may replace what is held here: it says nothing of what it was made from, or was made from that. */
bool jobs_put_fits(const struct jobs *j, const struct jobs_put *c);
void jobs_put_ack(struct jobs *j, cw_server from, uint64_t ticket, const struct jobs_mark *mark, unsigned word);
/* This server itself holds the record now, and has tried to store it: acknowledges it to all its puts of that job. */
void jobs_put_held(struct jobs *j, const struct jobs_mark *mark, unsigned word);
void jobs_put_doubt(struct jobs *j, cw_server s);
void jobs_put_close(struct jobs *j);

/* ---- stage.c ----------------------------------------------------------------------------------------------------- */

/*
 * Joins what was staged and the words of base64 in *bytes, of RECORDS_RECORD_MAX, to be freed in any case. Gives the
 * number of words read, or -errno: -EINVAL: a word is no base64; -EMSGSIZE; -ENOMEM.
 */
CW_MUST_CHECK int jobs_stage_join(struct jobs *j, int argc, const char *const *argv, uint8_t **bytes, size_t *size);
int jobs_command_more(struct jobs *j, cw_request *r, int argc, const char *const *argv);

/* ---- show.c ------------------------------------------------------------------------------------------------------ */

int jobs_command_list(struct jobs *j, cw_request *r);
int jobs_command_show(struct jobs *j, cw_request *r, int argc, const char *const *argv);
int jobs_command_status(struct jobs *j, cw_request *r);
/* The job of that number or name, `length` bytes of text. 0: no record of that name is held here. */
cw_job jobs_named(const struct jobs *j, const char *text, size_t length);

/* ---- ask.c ------------------------------------------------------------------------------------------------------- */

int jobs_command_explain(struct jobs *j, cw_request *r, int argc, const char *const *argv);
int jobs_command_audit(struct jobs *j, cw_request *r, int argc, const char *const *argv);
/* Answer an ASK or an AUDIT. Take the packet. */
void jobs_say(struct jobs *j, uint32_t call, cw_packet *p, const struct jobs_frame *frame);
void jobs_give_rows(struct jobs *j, uint32_t call, cw_packet *p, const struct jobs_frame *frame);
void jobs_ask_close(struct jobs *j);

#endif
