/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gossip.c - from neighbour to neighbour (jobs rule 3). A new record is flooded: each server that takes it in gives it
 * to all neighbours but the one it came from (jobs_flood()). Hellos bring what a flood lost, and what was put while
 * servers were apart: a server says hello on a link that comes up, and to one neighbour in turn every two seconds. A
 * hello is 24 bytes with a digest of all that is held. Neighbours whose digests differ tell each other what they hold,
 * and each fetches what it lacks.
 */
#include "services/jobs/jobs_internal.h"

/* ---- Who lacks what ---------------------------------------------------------------------------------------------- */

/* Sends the marks of all that is held, in as many packets as needed. Their ranges of jobs follow without a gap. */
static void tell_all(struct jobs *j, cw_server to)
{
    size_t room = cw_mtu(j->svc) - jobs_frame_size(JOBS_SUMMARY);
    uint32_t each = (uint32_t)(room / JOBS_MARK_BYTES), i = 0;
    cw_job first = 1;
    do {
        uint32_t n = j->records.count - i < each ? j->records.count - i : each;
        bool last = i + n == j->records.count;
        struct jobs_frame frame = {
            .kind = JOBS_SUMMARY,
            .first = first,
            .last = last ? UINT32_MAX : j->records.item[i + n - 1].mark.job,
            .count = n,
        };
        uint8_t *at;
        cw_packet *p = jobs_packet(j, &frame, (size_t)n * JOBS_MARK_BYTES, &at);
        if (p == NULL) {
            return;
        }
        for (uint32_t k = 0; k < n; k++) {
            jobs_mark_put(&j->records.item[i + k].mark, at, k);
        }
        cw_to where = jobs_to(j, to);
        cw_send_or_drop(j->svc, p, &where, NULL);
        first = last ? 0 : frame.last + 1;
        i += n;
    } while (i < j->records.count);
}

void jobs_heard_hello(struct jobs *j, cw_server from, const struct jobs_frame *frame)
{
    if (frame->count == j->records.count && frame->sum == j->records.sum.value) {
        return;
    }
    tell_all(j, from);
    if (!frame->flag) {
        jobs_hello(j, from, true);
    }
}

void jobs_heard_summary(struct jobs *j, cw_server from, const struct jobs_frame *frame)
{
    for (size_t i = 0; i < frame->count; i++) {
        const struct jobs_want want = {.mark = jobs_mark_at(frame, i), .from = from, .origin = CW_SERVER_NONE};
        jobs_want(j, &want);
    }
}

/* ---- Rounds ------------------------------------------------------------------------------------------------------ */

static void next_round(cw_svc *s, void *state, void *arg)
{
    (void)arg;
    struct jobs *j = state;
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        j->turn = (cw_link)((j->turn + 1u) % CW_LINK_COUNT);
        cw_server to = jobs_neighbour(j, j->turn);
        if (to != CW_SERVER_NONE) {
            jobs_hello(j, to, false);
            break;
        }
    }
    /* At a random time: servers that started together would otherwise say hello together for ever. */
    int64_t ms = JOBS_ROUND_MS / 2 + (int64_t)cw_random_below(s, JOBS_ROUND_MS);
    j->round = cw_timer_start(s, CW_MS(ms), next_round, NULL);
}

void jobs_start_rounds(struct jobs *j)
{
    if (j->host == NULL) { /* no record could be checked */
        return;
    }
    j->round = cw_timer_start(j->svc, CW_MS((int64_t)cw_random_below(j->svc, JOBS_ROUND_MS)), next_round, NULL);
}

void jobs_link_up(struct jobs *j, cw_link link)
{
    cw_server to = jobs_neighbour(j, link);
    if (to != CW_SERVER_NONE && j->host != NULL) {
        jobs_hello(j, to, false);
    }
}
