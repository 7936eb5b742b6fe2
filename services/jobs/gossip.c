/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gossip.c - from neighbour to neighbour (jobs rule 3). A new record is flooded: each server that takes it in gives it
 * to all neighbours but the one it came from. Hellos bring what a flood lost, and what was put while servers were
 * apart: a server says hello on a link that comes up, and to one neighbour in turn every two seconds. A hello is 24
 * bytes with a digest of all that is held. Neighbours whose digests differ tell each other what they hold, and each
 * fetches what it lacks.
 */
#include "services/jobs/jobs_internal.h"

/* ---- Records ----------------------------------------------------------------------------------------------------- */

void jobs_give(struct jobs *j, cw_server to, const struct records_item *item, cw_server origin, uint64_t ticket)
{
    struct jobs_frame frame = {.kind = JOBS_RECORD, .origin = origin, .ticket = ticket, .mark = item->mark};
    size_t size = item->blob->size;
    if (jobs_frame_size(JOBS_RECORD) + size > cw_mtu(j->svc)) {
        frame.kind = JOBS_OFFER;
        size = 0;
    }
    uint8_t *at;
    cw_packet *p = jobs_packet(j, &frame, size, &at);
    if (p != NULL) {
        cw_to where = jobs_to(j, to);
        memcpy(at, item->blob->bytes, size);
        cw_send_or_drop(j->svc, p, &where, NULL);
    }
}

/*
 * The neighbour over the link. CW_SERVER_NONE: the link is not up, or a link of a lower number leads to the same
 * neighbour.
 */
static cw_server neighbour(const struct jobs *j, cw_link link)
{
    cw_server found = CW_SERVER_NONE;
    for (cw_link l = 0; l <= link; l++) {
        cw_link_info info = {.size = sizeof info};
        if (cw_link_get(j->svc, l, &info) < 0 || !info.up) {
            continue;
        }
        cw_server there = cw_server_id(j->svc, info.neighbour);
        if (l == link) {
            return there == found || there == j->self ? CW_SERVER_NONE : there;
        }
        cw_link_info last = {.size = sizeof last};
        if (cw_link_get(j->svc, link, &last) == 0 && cw_server_id(j->svc, last.neighbour) == there) {
            found = there;
        }
    }
    return CW_SERVER_NONE;
}

void jobs_flood(struct jobs *j, const struct records_item *item, cw_server except, cw_server origin, uint64_t ticket)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        cw_server to = neighbour(j, link);
        if (to != CW_SERVER_NONE && to != except) {
            jobs_give(j, to, item, origin, ticket);
        }
    }
}

/* ---- Who lacks what ---------------------------------------------------------------------------------------------- */

void jobs_hello(struct jobs *j, cw_server to, bool answer)
{
    struct jobs_frame frame = {
        .kind = JOBS_HELLO,
        .flag = answer,
        .count = j->records.count,
        .sum = j->records.sum.value,
    };
    jobs_send(j, to, &frame);
}

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
        cw_server to = neighbour(j, j->turn);
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
    cw_server to = neighbour(j, link);
    if (to != CW_SERVER_NONE && j->host != NULL) {
        jobs_hello(j, to, false);
    }
}
