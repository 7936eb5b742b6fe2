/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kv_history.h - what was asked of the cache and what came of it, and whether that is linearizable.
 *
 * A key is a register of unique values. A WRITE makes one; when it names the one `before` it (CAS, APPEND, INCR, a
 * DELETE that found it), it took exactly that one's place. A DELETE leaves nothing. A READ saw a value. Values may be
 * lost at any time, so a READ that finds nothing says nothing (kvcache.md, "What is promised"), and a WRITE or DELETE
 * that names no value before it may come after any. A DELETE also stands for a write that was told that there is
 * nothing: no value is seen afterwards that was there before.
 *
 * How it is decided. All that concerns one value, its WRITE and its READs, is a cluster. What took its place follows it
 * at once: with those that name one another clusters form chains, each of which must stand in the order as one block,
 * in an order of its own that is known. Within a block: nothing ends before what stands ahead of it begins. Among
 * blocks A and B: not both must A be before B (something of A ended before something of B began) and B before A. That
 * suffices, for real time is an interval order: in a circle of blocks take the one with the latest beginning, m; its
 * predecessors' ends are before beginnings that are not later than that, so each of the circle must be before m, and so
 * must the one that m itself must be before. For clusters of one value these are the zones of Gibbons and Korach
 * (Testing shared memories, SIAM J. Comput. 26(4), 1997, theorem 4.1). With f the first end and s the last beginning of
 * a block, blocks with f < s are forward zones [f, s], others backward zones [s, f]; two blocks contradict one another
 * if and only if two forward zones overlap or a backward zone lies inside a forward one.
 *
 * A WRITE or DELETE without an answer ends never. What it made counts if somebody saw it; else it is left out.
 */
#ifndef SIM_KV_HISTORY_H
#define SIM_KV_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kv_event_kind { KV_EVENT_NONE, KV_EVENT_WRITE, KV_EVENT_READ, KV_EVENT_DELETE };

#define KV_NO_END INT64_MAX
/* Values have numbers below this. */
#define KV_VALUE_LIMIT (UINT64_C(1) << 62)

struct kv_event {
    enum kv_event_kind kind; /* NONE: left out */
    uint32_t key;
    uint64_t value;      /* WRITE: it made, for the first time; READ: it saw, 0: known by its cas only */
    uint64_t cas;        /* of value; 0: not told */
    uint64_t before;     /* WRITE, DELETE: whose place it took; 0: not known, or known by before_cas */
    uint64_t before_cas; /* 0: not known */
    int64_t begun, ended;
    unsigned server;
};

/*
 * Sorts and changes the events. True: linearizable; else *why says of which key and values. What is known by a cas
 * alone, of which nobody was told the value, says nothing: it may be that of any WRITE without an answer.
 */
bool kv_history_check(struct kv_event *events, size_t count, char *why, size_t room);

#endif
