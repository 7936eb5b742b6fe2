/* SPDX-License-Identifier: Apache-2.0 */
/* task_parts.h - the struct of a contributor's input, which task.c and source.c know. */
#ifndef SERVICES_AGGREGATE_STREAM_TASK_PARTS_H
#define SERVICES_AGGREGATE_STREAM_TASK_PARTS_H

#include "base/digest.h"
#include "services/aggregate/sorted/mapper.h"
#include "services/aggregate/sorted/spool.h"
#include "services/aggregate/stream/internal.h"

struct task {
    struct list_node link; /* the first member */
    struct stream *st;
    struct run_name run;
    struct account *account;
    struct wish wish;
    cw_server of;    /* whose input it is: this server's, or that of one it stands in for */
    uint64_t wanted; /* the digest that the input must have; 0: any */
    struct digest digest;
    struct transport_reply_to reply;
    bool ready;           /* the input is sorted, and the lead was told */
    bool away;            /* work has it: it is not freed before that has ended */
    bool dropped;         /* it is freed when the last work has ended */
    bool ended;           /* for the work: the input has */
    bool fed;             /* the input is no file: programs of this server feed it */
    bool orphan;          /* and that one is gone */
    bool last;            /* for the work: its piece is the last one */
    struct intake *feed;  /* NULL: nobody feeds it yet, or any more */
    const uint8_t *bytes; /* its piece, for the work */
    size_t bytes_length;
    cw_time began;
    unsigned sources;
    int status; /* of the work */
    cw_time asked;
    struct spool_file *file;
    uint64_t length, offset;
    uint8_t *piece;
    struct mapper mapper;
    struct combine combine;
    void *memory;
    uint64_t memory_bytes;
    struct batch batch;
    struct shelf shelf;
    uint64_t records;
    struct summary_distinct *keys; /* NULL: nobody wants to know */
    cw_timer *next;
};

#endif
