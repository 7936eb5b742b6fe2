/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intake.h - the feeds of a server that are the input of sorted runs (`from=feed:NAME`): a program hands in bytes,
 * piece after piece, and the contributor's task of a run takes them.
 *
 *     a program | cwctl aggregate feed NAME            the daemon                              the task of a run
 *        at=0 data=.. ----------------------------> the feed, one piece ---------------------> mapped, sorted
 *             <---- answered when it was taken, or after INTAKE_HOLD ----
 *        at=N end=1 ------------------------------> nothing follows ------------------------> PREPARED
 *             <---- answered when the run has all of it
 *
 * Guarantees (aggregate rule 30)
 *  - What a run takes of a feed is all that its program has handed in, each byte once, in its order: a piece says how
 *    many bytes were before it, and any other number is refused. A feed is of one program and one run, and of the
 *    same job as both: another job's feed of that name is another one.
 *  - A feed whose program has not been heard of for keep_ms, and has not said that it is at its end, is no input: the
 *    task fails with -EPIPE.
 *  - A feed holds one piece in memory. The program gets its answer, and so reads on, when that was taken.
 */
#ifndef SERVICES_AGGREGATE_STREAM_INTAKE_H
#define SERVICES_AGGREGATE_STREAM_INTAKE_H

#include "cubeway/aggregate.h"

#define INTAKE_PREFIX "feed:"
enum { INTAKES_MOST = 128, INTAKES_EACH = 64 /* of one job */ };
#define INTAKE_HOLD \
    CW_SEC(1) /* a request is answered after that at the latest: the program is asked whether it lives */

struct stream;
struct task;
struct intake;

/* The feed's name in the input of a run; NULL: the input is a file. */
const char *intake_name_of(const char *from);
/* The command `feed NAME keep_ms=N data=BASE64 feeder=N at=N [end=1]`: on_command()'s result. */
int intake_command(struct stream *st, cw_request *r, int argc, const char *const *argv);

/* As cw_aggregate_api's feed(). owner: whoever asks, of that job; intake_disown() ends all that is its own. */
CW_MUST_CHECK int intake_give(struct stream *st, const void *owner, cw_job job, const char *name, const void *bytes,
                              size_t length, bool last, cw_fed_fn fed, void *arg);
void intake_disown(struct stream *st, const void *owner);

/*
 * The job's feed of that name is the task's input from now on, until intake_leave(). 0: *out is set, to NULL when
 * nobody feeds it yet: then task_offer() will be called. -EALREADY: it is another task's.
 */
CW_MUST_CHECK int intake_take(struct stream *st, cw_job job, const char *name, struct task *t, struct intake **out);
/*
 * What is there to be mapped: true, and borrowed until intake_used(): *length may be 0 only when *last, nothing
 * follows. False: nothing.
 */
bool intake_piece(const struct intake *f, const uint8_t **bytes, size_t *length, bool *last);
/* The piece was mapped; if there is more to come, the program hears that. */
void intake_used(struct intake *f);
/* The task is done with it: 0, all was taken; or the task has failed with that. The program is told. */
void intake_leave(struct intake *f, int status);

void intake_tick(struct stream *st);
void intake_status(const struct stream *st, cw_request *r, bool *first);
void intake_close(struct stream *st);

#endif
