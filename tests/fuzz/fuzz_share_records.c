/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_share_records.c - bytes as records: first in a lane that a hostile process wrote, then in an inbox. The first
 * two bytes say how much of it is to be there (the tail, times 64, and for a lane which endpoints it may reach), the
 * others stand in the ring.
 */
#include "share/lane.h"
#include "share_kit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static _Alignas(SHARE_LINE) unsigned char area[2][SHARE_LANE_AREA];

static void hold(bool good)
{
    if (!good) {
        abort();
    }
}

static void try_lane(const uint8_t *bytes, size_t size, uint32_t tail, uint64_t endpoints)
{
    enum { MOST = 500 };
    unsigned char to[MOST + 1];
    struct share_lane lane;
    struct share_lane_message m;
    size_t room = size < SHARE_LANE_RING ? size : SHARE_LANE_RING;
    memset(area[1] + SHARE_LANE_RECORDS, 0, 8192);
    memcpy(area[1] + SHARE_LANE_RECORDS, bytes, room);
    memcpy(area[1] + SHARE_LANE_TAIL, &tail, sizeof tail);
    struct share_out ours = share_out_of(area[0], SHARE_LANE_AREA);
    struct share_in theirs = share_in_of(area[1], SHARE_LANE_AREA);
    share_lane_open(&lane, &ours, &theirs, 0);
    int rc = 1;
    for (unsigned i = 0; rc == 1; i++) {
        to[MOST] = 0x5a;
        rc = share_lane_take(&lane, endpoints, &m, to, MOST);
        hold(to[MOST] == 0x5a && i <= SHARE_LANE_RING / SHARE_RECORD_BYTES);
        hold(rc != 1 || (m.length <= MOST && m.endpoint < 64 && endpoints >> m.endpoint & 1));
        hold(lane.head % SHARE_RECORD_BYTES == 0 && lane.head <= tail);
    }
    hold(rc == 0 || rc == -EPROTO || rc == -EMSGSIZE);
}

static void try_inbox(const uint8_t *bytes, size_t size, uint64_t tail)
{
    static struct share_kit k;
    struct share_message m;
    if (k.sub == NULL) {
        share_kit_open(&k, SHARE_COMMANDS_LEAST, SHARE_INBOX_LEAST, 0);
    }
    share_kit_again(&k, 0);
    memcpy(k.com + share_inbox_at(&k.g), bytes, size < k.g.inbox_bytes ? size : k.g.inbox_bytes);
    memcpy(k.com + SHARE_COM_INBOX_TAIL, &tail, sizeof tail);
    int rc = 1;
    for (unsigned i = 0; rc == 1; i++) {
        rc = share_inbox_next(&k.reader, &m);
        hold(i <= k.g.inbox_bytes / SHARE_RECORD_BYTES);
        if (rc == 1 && m.bytes != NULL) {
            const unsigned char *begin = k.com + share_inbox_at(&k.g), *at = m.bytes;
            hold(at >= begin && at + m.head.length <= begin + k.g.inbox_bytes);
        }
        if (rc == 1 && i % 2 == 0) {
            hold(share_inbox_release(&k.reader, m.release) && !share_inbox_release(&k.reader, m.release));
        }
        hold(k.reader.head <= k.reader.next && k.reader.next <= tail + k.g.inbox_bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    uint32_t tail = data[0] * (uint32_t)SHARE_RECORD_BYTES;
    try_lane(data + 2, size - 2, tail, UINT64_C(0x0101010101010101) * data[1]);
    try_inbox(data + 2, size - 2, tail);
    return 0;
}
