/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/lane.h"

#include "wire/control.h"
#include "wire/frame.h"
#include "wire/packet.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

enum {
    AT_KIND = ETH_HLEN + FRAME_HEAD_BYTES, /* of the first packet, when the frame is not tagged */
    LEAST = AT_KIND + 2,                   /* with the type */
};

/* The two bytes that a control packet of some type begins with. */
#define CONTROL_OF(type) ((uint32_t)((WIRE_VERSION_NOW << 4 | PACKET_CONTROL) << 8 | (type)))

/* Where the program below ends for data; a jump says how many steps it leaves out. */
enum { DATA_END = 18, STEPS };
#define TO_DATA(here) ((uint8_t)(DATA_END - (here)-1))

int lane_filter(int fd, enum lane lane)
{
    const uint32_t whole = UINT32_MAX;
    struct sock_filter code[STEPS] = {
        [0] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
        [1] = BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, PACKET_OTHERHOST, 0, 1),
        [2] = BPF_STMT(BPF_RET | BPF_K, 0),
        [3] = BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
        [4] = BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, LEAST, 0, TO_DATA(4)),
        [5] = BPF_STMT(BPF_LD | BPF_B | BPF_ABS, ETH_HLEN + FRAME_AT_VERSION),
        [6] = BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, WIRE_VERSION_NOW << 4),
        [7] = BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, FRAME_TAGGED, TO_DATA(7), 0), /* another version or flag */
        [8] = BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, FRAME_TAG_BYTES / FRAME_TAGGED),
        [9] = BPF_STMT(BPF_MISC | BPF_TAX, 0), /* X: the tag's bytes before the first packet */
        [10] = BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
        [11] = BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, LEAST),
        [12] = BPF_JUMP(BPF_JMP | BPF_JGE | BPF_X, 0, 0, TO_DATA(12)),
        [13] = BPF_STMT(BPF_LD | BPF_H | BPF_IND, AT_KIND),
        [14] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CONTROL_OF(CONTROL_GOODBYE), TO_DATA(14), 0),
        [15] = BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, CONTROL_OF(CONTROL_HELLO), 0, TO_DATA(15)),
        [16] = BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, CONTROL_OF(CONTROL_CABLING_ACK), TO_DATA(16), 0),
        [17] = BPF_STMT(BPF_RET | BPF_K, lane == LANE_CONTROL ? whole : 0),
        [DATA_END] = BPF_STMT(BPF_RET | BPF_K, lane == LANE_DATA ? whole : 0),
    };
    struct sock_fprog program = {STEPS, code};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) < 0 ? -errno : 0;
}
