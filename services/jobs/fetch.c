/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.c - records from a server that has them, one after the other and part by part, into room that was made when the
 * service opened. Only what was asked for is put there, and nothing of it counts before the signature of the whole was
 * checked (jobs rules 1 and 6).
 */
#include "services/jobs/jobs_internal.h"

#include <errno.h>

enum { TIMEOUT_MS = 200, RETRIES = 2 };

static void fetch_next(struct jobs *j);

static bool is_news(const struct jobs *j, const struct jobs_mark *mark)
{
    bool fork;
    return mark->job != JOBS_JOB && records_judge(&j->records, mark, &fork) == RECORDS_NEWER;
}

/* Removes the first want, whatever came of it, and goes on. */
static void drop_first(struct jobs *j)
{
    struct jobs_fetch *f = &j->fetch;
    f->busy = false;
    f->wants--;
    memmove(&f->want[0], &f->want[1], f->wants * sizeof f->want[0]);
    fetch_next(j);
}

static int fetch_part(struct jobs *j);

static void part_came(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    (void)s;
    (void)arg;
    (void)rx;
    struct jobs *j = state;
    struct jobs_fetch *f = &j->fetch;
    struct jobs_frame frame;
    size_t size = 0;
    const uint8_t *bytes = status == 0 && reply != NULL ? cw_packet_data(reply, &size) : NULL;
    if (status == -ECANCELED) { /* the service closes */
        return;
    }
    bool good =
        bytes != NULL && jobs_decode(bytes, size, j->cluster, &frame) == JOBS_GOOD && frame.kind == JOBS_PART &&
        frame.mark.job == f->want[0].mark.job && frame.offset == f->got && frame.total <= RECORDS_RECORD_MAX &&
        (f->got == 0 || (frame.total == f->total && jobs_mark_compare(&frame.mark, &f->want[0].mark, NULL) == 0));
    if (!good || !is_news(j, &frame.mark)) {
        drop_first(j);
        return;
    }
    f->want[0].mark = frame.mark; /* the record may have changed since it was offered */
    f->total = frame.total;
    memcpy(f->room + f->got, frame.rest, frame.rest_size);
    f->got += (uint32_t)frame.rest_size;
    if (f->got < f->total) {
        if (fetch_part(j) < 0) {
            drop_first(j);
        }
        return;
    }
    const struct jobs_taking taking = {
        .bytes = f->room,
        .size = f->total,
        .from = f->want[0].from,
        .origin = f->want[0].origin,
        .ticket = f->want[0].ticket,
        .fetched = true,
    };
    if (jobs_take(j, &taking) != 1) {
        drop_first(j);
    }
}

static int fetch_part(struct jobs *j)
{
    struct jobs_fetch *f = &j->fetch;
    struct jobs_frame frame = {.kind = JOBS_FETCH, .offset = f->got, .mark = f->want[0].mark};
    cw_packet *p = jobs_packet(j, &frame, 0, NULL);
    if (p == NULL) {
        return -ENOMEM;
    }
    cw_to to = jobs_to(j, f->want[0].from);
    const cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(TIMEOUT_MS), .retries = RETRIES};
    int64_t call = cw_call(j->svc, p, &to, &options, part_came, NULL);
    if (call < 0) {
        cw_packet_free(j->svc, p);
        return (int)call;
    }
    return 0;
}

/* Begins to fetch the first record that is still news. */
static void fetch_next(struct jobs *j)
{
    struct jobs_fetch *f = &j->fetch;
    while (f->wants > 0 && !f->busy) {
        f->got = f->total = 0;
        if (is_news(j, &f->want[0].mark) && fetch_part(j) == 0) {
            f->busy = true;
            return;
        }
        if (!is_news(j, &f->want[0].mark)) { /* it came in another way: its origin gets the acknowledgement */
            struct records_item *item = records_find(&j->records, f->want[0].mark.job);
            if (item != NULL) {
                jobs_owe(j, item, f->want[0].origin, f->want[0].ticket);
            }
        }
        f->wants--;
        memmove(&f->want[0], &f->want[1], f->wants * sizeof f->want[0]);
    }
    if (f->wants == 0 && f->overflow != CW_SERVER_NONE) {
        cw_server more = f->overflow;
        f->overflow = CW_SERVER_NONE;
        jobs_hello(j, more, true);
    }
}

void jobs_fetch_judged(struct jobs *j)
{
    drop_first(j);
}

void jobs_want(struct jobs *j, const struct jobs_want *want)
{
    struct jobs_fetch *f = &j->fetch;
    if (j->host == NULL) {
        return;
    }
    if (!is_news(j, &want->mark)) {
        struct records_item *item = records_find(&j->records, want->mark.job);
        if (item != NULL) {
            jobs_owe(j, item, want->origin, want->ticket);
        }
        return;
    }
    for (unsigned i = 0; i < f->wants; i++) {
        struct jobs_want *w = &f->want[i];
        if (w->mark.job != want->mark.job) {
            continue;
        }
        if (jobs_mark_compare(&w->mark, &want->mark, NULL) >= 0 || (i == 0 && f->busy)) {
            if (w->ticket == 0) {
                w->origin = want->origin;
                w->ticket = want->ticket;
            }
            return; /* the fetch under way ends first; who has a later record will offer it again */
        }
        *w = *want;
        return;
    }
    if (f->wants == JOBS_WANTS) {
        f->overflow = want->from;
        return;
    }
    f->want[f->wants++] = *want;
    fetch_next(j);
}

void jobs_give_part(struct jobs *j, uint32_t call, cw_packet *p, const struct jobs_frame *frame)
{
    const struct records_item *item = records_find(&j->records, frame->mark.job);
    uint32_t offset = frame->offset;
    bool other = item != NULL && jobs_mark_compare(&item->mark, &frame->mark, NULL) != 0;
    cw_packet_free(j->svc, p);
    if (item == NULL || offset >= item->blob->size || (other && offset != 0)) {
        cw_reply(j->svc, call, -ESTALE, NULL);
        return;
    }
    size_t room = cw_mtu(j->svc) - jobs_frame_size(JOBS_PART) - 32; /* bytes that an answer takes before its payload */
    size_t left = item->blob->size - offset, size = left < room ? left : room;
    struct jobs_frame part = {
        .kind = JOBS_PART,
        .offset = offset,
        .total = (uint32_t)item->blob->size,
        .mark = item->mark,
    };
    uint8_t *at;
    cw_packet *answer = jobs_packet(j, &part, size, &at);
    if (answer != NULL) {
        memcpy(at, item->blob->bytes + offset, size);
        cw_reply(j->svc, call, 0, answer);
    }
}
