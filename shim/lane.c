/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/lane.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

int lane_receive(struct shim *s, struct lane_turns *turns, lane_receive_fn *receive, struct shim_frame *frames,
                 unsigned count)
{
    unsigned first = turns->control_next ? FRAME_CONTROL : FRAME_DATA, given = 0;
    bool look = turns->control_next || !s->attentive || s->urgent || turns->unlooked >= SHIM_BATCH;
    for (unsigned i = 0; i < LANES && given < count; i++) {
        unsigned lane = i ^ first;
        if (lane == FRAME_CONTROL) {
            if (!look && given > 0) {
                break;
            }
            s->urgent = false;
            turns->unlooked = 0;
        }
        int got = receive(s, (enum frame_lane)lane, frames + given, count - given);
        if (got < 0) {
            return given > 0 ? (int)given : got;
        }
        given += (unsigned)got;
        turns->unlooked += lane == FRAME_DATA ? (unsigned)got : 0;
    }
    turns->control_next = given == count;
    return (int)given;
}

int lane_drop_others(int fd)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, PACKET_OTHERHOST, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) < 0 ? -errno : 0;
}
