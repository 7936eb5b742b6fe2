/* SPDX-License-Identifier: Apache-2.0 */
/* flow_parts.h - the structs of a partition at one server, which flow.c and held.c know. */
#ifndef SERVICES_AGGREGATE_STREAM_FLOW_PARTS_H
#define SERVICES_AGGREGATE_STREAM_FLOW_PARTS_H

#include "services/aggregate/sorted/merge.h"
#include "services/aggregate/stream/internal.h"

struct slot {
    size_t size;
    bool here, last;
    uint8_t *longer; /* the block, when a record makes it longer than those of this run */
};

/* Blocks are numbered from 0 on. Block n is in slot n % window. */
struct input {
    cw_server child; /* CW_SERVER_NONE: the server's own task */
    uint32_t taken;  /* blocks that were merged and are gone */
    uint32_t told;   /* how many the child was told it may send */
    bool telling;    /* that is on its way: the next GRANT waits */
    bool lent;       /* the merge has block `taken` */
    bool ended;
    struct source *source;                /* of the own task */
    bool reading;                         /* and work for it is under way */
    struct slot slot[STREAM_WINDOW_MOST]; /* of a child */
    uint8_t *bytes;                       /* of the slots: window * each */
};

/* A block for the parent. */
struct out {
    struct flow *f;
    struct record_writer writer;
    uint32_t sequence;
    bool begun; /* the writer has the bytes */
    bool full;  /* it waits for the parent's room */
    bool away;  /* the transport has it */
    bool last;
    int64_t id;      /* of the transport's message */
    uint8_t *bytes;  /* `each` of the run */
    uint8_t *longer; /* STREAM_BLOCK, for a record that does not fit there; NULL: not needed so far */
};

struct flow {
    struct list_node link;  /* of the junction: the first member */
    struct list_node waits; /* of the stream, by link */
    struct list_node holds; /* of the stream: it has a block that is not full, and its merge waits */
    cw_time held;           /* since then */
    struct junction *j;
    cw_link tree;
    cw_link up; /* to the parent */
    uint32_t partition;
    unsigned window; /* blocks */
    unsigned inputs;
    struct input *input;
    struct merge *merge;
    struct merge_source *source; /* of the merge */
    uint8_t *after;              /* records behind this key; NULL: all */
    uint32_t after_length;
    bool merged; /* all is in the blocks */
    bool ending;
    bool pumping;
    uint32_t filled;  /* blocks that were filled */
    uint32_t sent;    /* blocks that were sent */
    uint32_t granted; /* how many the parent has room for, in all */
    struct out out[STREAM_WINDOW_MOST];
    uint8_t *bytes; /* of the blocks in out */
};

/*
 * Sends the block that is being filled as it is, when the merge waits, and there are records in it, and the parent has
 * room for it.
 */
void flow_flush(struct flow *f);

/* ---- held.c ------------------------------------------------------------------------------------------------------ */

/* The flow has such a block: flow_flush() is called STREAM_HOLD after the first time, unless held_end() is before. */
void held_begin(struct flow *f);
void held_end(struct flow *f);

#endif
