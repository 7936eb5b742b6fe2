/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kv_history.h - what was asked of the cache and what came of it, and whether that is linearizable.
 *
 * Each key is a register: SETs write values that are unique, a DELETE writes "nothing", a hit reads. Misses say nothing (semantics 5.1) and
 * are left out, as is a DELETE without an answer. For such registers linearizability is decided exactly by the zones of Gibbons and Korach
 * (Testing shared memories, SIAM J. Comput. 26(4), 1997, theorem 4.1): all that concerns one value, its write and its reads, is a cluster; f is the
 * first end among them, s the last beginning. With f < s the value was there from f to s, a forward zone; else the cluster may sit at
 * any point of [s, f], a backward zone. The history is linearizable if and only if no read ends before its write begins, no two forward zones
 * overlap, and no backward zone lies inside a forward one. A write without an answer ends never; unread it is left out.
 */
#ifndef SIM_KV_HISTORY_H
#define SIM_KV_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kv_event_kind { KV_EVENT_SET = 1, KV_EVENT_DELETE, KV_EVENT_HIT };

enum { KV_HISTORY_MAX = 600000 };
#define KV_NO_END INT64_MAX

struct kv_event {
    enum kv_event_kind kind; /* 0: left out */
    uint32_t key;
    uint64_t value; /* unique among the SETs; of a DELETE: its own number, set by the check */
    int64_t begun, ended;
    unsigned server, source;
};

/* Sorts the events. True: linearizable; else *why says of which key and values. */
bool kv_history_check(struct kv_event *events, size_t count, char *why, size_t room);

#endif
