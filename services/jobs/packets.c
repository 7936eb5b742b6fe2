/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packets.c - packets that carry one frame (wire.h), made and sent: what every other file of the service stands on.
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
