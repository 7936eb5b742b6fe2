/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapper.h - from bytes, in pieces of any length, to keys and values.
 *
 *     words        runs of letters, digits and bytes from 0x80 on (so UTF-8 stays whole); ASCII letters become small.
 *                  Value "1".
 *     lines        whole lines, without their newline. Value "1". Empty lines are left out.
 *     kv           lines "key TAB value"; the value may hold more TABs.
 *     field N      field N, from 1 on, of each line; fields are what stands between spaces and TABs. Value "1". Lines
 *                  that have no such field are left out, and counted.
 *     field N SEP  the same, for a byte SEP between fields; a field that is empty is left out, too.
 *     module       what a function of a module makes of each line (cubeway/combine.h).
 *     records      a length of four bytes in network order, and a block of records (record.h) of that length; again.
 *
 * Bytes are bytes: nothing asks whether they are UTF-8. A last line without newline counts.
 *
 * Pure; holds at most one line or block.
 */
#ifndef SERVICES_AGGREGATE_SORTED_MAPPER_H
#define SERVICES_AGGREGATE_SORTED_MAPPER_H

#include "services/aggregate/sorted/record.h"

enum mapper_kind {
    MAPPER_WORDS = 1, /* the values are on the wire */
    MAPPER_LINES = 2,
    MAPPER_KV = 3,
    MAPPER_FIELD = 4,
    MAPPER_RECORDS = 5,
    MAPPER_MODULE = 6,
};

enum {
    MAPPER_LINE_MOST = RECORD_BLOCK, /* bytes of a line, without its newline */
    MAPPER_FIELD_MOST = 1000000,
};

struct mapper_kind_of {
    enum mapper_kind kind;
    uint32_t field;          /* of MAPPER_FIELD: 1..MAPPER_FIELD_MOST */
    int16_t separator;       /* of MAPPER_FIELD: a byte; -1: spaces and TABs */
    const cw_mapper *module; /* of MAPPER_MODULE; borrowed */
    uint64_t argument;       /* of that */
};

/*
 * Takes a record; key and value are borrowed for the call, and of lengths that record_write() takes. 0; or -errno: it
 * has taken nothing.
 */
typedef int (*mapper_sink_fn)(void *context, cw_bytes key, cw_bytes value);

struct mapper {
    struct mapper_kind_of of;
    mapper_sink_fn sink;
    void *context;
    uint64_t line;     /* the line, or block of records, that is being read: from 1 on */
    const char *fault; /* what is wrong with it: "has no TAB"; NULL: nothing, as far as the mapper knows */
    uint64_t skipped;  /* lines left out because they have no such field */
    uint32_t held;     /* bytes in line_bytes */
    bool whole;        /* a block of records is whole */
    uint32_t taken;    /* records of the block in line_bytes, or of the line, that the sink has taken */
    uint32_t wanted;   /* bytes of that block; 0: its length is being read */
    uint8_t line_bytes[MAPPER_LINE_MOST];
};

/*
 * Reads "words", "lines", "kv", "field:3", "field:3:,", "field:3:tab", "records". 0; -ENOENT: there is no such mapper;
 * -EINVAL: its number or separator makes no sense. *out is then untouched.
 */
CW_MUST_CHECK int mapper_read(const char *word, struct mapper_kind_of *out);

void mapper_open(struct mapper *m, struct mapper_kind_of of, mapper_sink_fn sink, void *context);
/*
 * Maps the next bytes. *used: how many of them; all, when it gives 0. Otherwise -errno: of the mapper's own, which is
 * for ever and says m->fault: -EMSGSIZE, -EINVAL, -EBADMSG; or what the sink has given, and m->fault is NULL: then
 * bytes from *used on are given again, even when there are none, as soon as the sink takes records again.
 */
CW_MUST_CHECK int mapper_feed(struct mapper *m, const uint8_t *bytes, size_t length, size_t *used);
/* The input has ended: maps what is left. Gives what mapper_feed() gives; the sink's errors may be tried again. */
CW_MUST_CHECK int mapper_end(struct mapper *m);

#endif
