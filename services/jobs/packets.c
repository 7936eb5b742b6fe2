/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packets.c - packets that carry one frame (wire.h), made and sent to a server or to all neighbours: what every other
 * file of the service stands on.
 */
#include "services/jobs/jobs_internal.h"

#include "services/reply/servers.h"

cw_packet *jobs_packet(struct jobs *j, struct jobs_frame *frame, size_t rest, uint8_t **at)
{
    size_t size = jobs_frame_size(frame->kind);
    cw_packet *p = cw_packet_new(j->svc, size + rest);
    if (p != NULL) {
        uint8_t *bytes = cw_packet_data(p, NULL);
        frame->cluster = j->cluster;
        jobs_encode(frame, bytes);
        if (at != NULL) {
            *at = bytes + size;
        }
    }
    return p;
}

cw_to jobs_to(const struct jobs *j, cw_server server)
{
    return to_server(j->svc, JOBS_JOB, JOBS_PORT, server);
}

void jobs_send(struct jobs *j, cw_server to, struct jobs_frame *frame)
{
    cw_packet *p = jobs_packet(j, frame, 0, NULL);
    if (p != NULL) {
        cw_to where = jobs_to(j, to);
        cw_send_or_drop(j->svc, p, &where, NULL);
    }
}

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

cw_server jobs_neighbour(const struct jobs *j, cw_link link)
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
        cw_server to = jobs_neighbour(j, link);
        if (to != CW_SERVER_NONE && to != except) {
            jobs_give(j, to, item, origin, ticket);
        }
    }
}

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
