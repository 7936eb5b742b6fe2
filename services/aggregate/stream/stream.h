/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - the sorted engine on one server: records of a key and a value, from a file of each contributor, sorted and
 * combined on their way to one server, which writes them to a file. The service `aggregate` hands its upcalls on.
 *
 *     open        stream_open(&st, s, dense)            event       stream_event(st, ev)
 *     on_packet   stream_packet(st, p, rx)              on_writable stream_writable(st)
 *     close       stream_close(st)
 *
 * Options of the service: `data`, the folder of the files; `spool`, the folder for sorted records that have no room in
 * memory, and `spool_limit`, the most bytes there; `memory`, the most bytes of records and results in memory;
 * `job_memory` and `job_spool`, the most of both for the runs of one job.
 */
#ifndef SERVICES_AGGREGATE_STREAM_STREAM_H
#define SERVICES_AGGREGATE_STREAM_STREAM_H

#include "cubeway/aggregate.h"

struct stream;
struct dense;

/*
 * Borrows s until stream_close(), and dense, which takes results to all; NULL: there is none. -EINVAL: an option is
 * wrong, and the log says what is right; -E2BIG: the torus has more servers than a message has room for; -ENOMEM, or
 * what transport_open() says.
 */
CW_MUST_CHECK int stream_open(struct stream **out, cw_svc *s, struct dense *dense);
/* Ends everything. NULL is allowed. */
void stream_close(struct stream *st);

cw_verdict stream_packet(struct stream *st, cw_packet *p, const cw_rx *rx);
void stream_event(struct stream *st, const cw_event *ev);
void stream_writable(struct stream *st);

/* The command `run`: on_command()'s result. number: of the order, which no other order at this server has. */
int stream_command(struct stream *st, cw_request *r, int argc, const char *const *argv, uint32_t number);
/* The command `feed ..`, by which a program hands in the input of a run. on_command()'s result. */
int stream_feed(struct stream *st, cw_request *r, int argc, const char *const *argv);
/* The command `take NUMBER`: the next piece of a result that goes to the caller. on_command()'s result. */
int stream_take(struct stream *st, cw_request *r, uint32_t number);
/* Ends a run that was ordered here. -ENOENT: there is none of this number. */
int stream_cancel(struct stream *st, uint32_t number);
/*
 * As cw_aggregate_api's run(), cancel() and feed(), of one owner, a service of that job; number as of
 * stream_command(). stream_disown() ends
 * all that is an owner's, with -ECANCELED, and reports that from inside.
 */
CW_MUST_CHECK int stream_run(struct stream *st, const void *owner, cw_job job, const cw_run *run, cw_run_done_fn done,
                             void *arg, uint32_t number);
CW_MUST_CHECK int stream_end(struct stream *st, const void *owner, uint32_t number);
CW_MUST_CHECK int stream_give(struct stream *st, const void *owner, cw_job job, const char *name, const void *bytes,
                              size_t length, bool last, cw_fed_fn fed, void *arg);
void stream_disown(struct stream *st, const void *owner);
/* A row for each run that this server has to do with; *first says whether a row was begun before. */
void stream_status(const struct stream *st, cw_request *r, bool *first);

/* What operators and tests see. */
struct stream_overview {
    unsigned tasks, junctions, collectors, feeds;
    uint64_t memory;            /* bytes of windows and results */
    uint64_t moved, kept, read; /* sorted_bytes, sorted_kept_bytes and sorted_read_bytes */
};
void stream_look(const struct stream *st, struct stream_overview *out);

#endif
