/* SPDX-License-Identifier: Apache-2.0 */
#include "services/jobs/wire.h"

#include "base/bytes.h"
#include "base/digest.h"
#include "nmu/job_record.h"

/* What stands before the rest, by kind; and one item of the rest, 0: there is none. */
static const struct shape {
    uint8_t size, item;
} shapes[JOBS_KINDS] = {
    [JOBS_RECORD] = {JOBS_RECORD_AT, 1},
    [JOBS_OFFER] = {JOBS_RECORD_AT + JOBS_MARK_BYTES, 0},
    [JOBS_ACK] = {JOBS_RECORD_AT + JOBS_MARK_BYTES, 0},
    [JOBS_HELLO] = {24, 0},
    [JOBS_SUMMARY] = {JOBS_SUMMARY_AT, JOBS_MARK_BYTES},
    [JOBS_FETCH] = {48, 0},
    [JOBS_PART] = {JOBS_PART_AT, 1},
    [JOBS_ASK] = {32, 0},
    [JOBS_SAID] = {40, 0},
    [JOBS_AUDIT] = {16, 0},
    [JOBS_ROWS] = {JOBS_ROWS_AT, JOBS_ROW_BYTES},
};

size_t jobs_frame_size(unsigned kind)
{
    return kind < JOBS_KINDS ? shapes[kind].size : 0;
}

/* ---- Marks and rows ---------------------------------------------------------------------------------------------- */

int jobs_mark_compare(const struct jobs_mark *a, const struct jobs_mark *b, bool *fork)
{
    bool same = a->generation == b->generation && a->destroyed == b->destroyed && a->version == b->version;
    if (fork != NULL) {
        *fork = same && a->digest != b->digest;
    }
    if (a->generation != b->generation) {
        return a->generation < b->generation ? -1 : 1;
    }
    if (a->destroyed != b->destroyed) {
        return a->destroyed ? 1 : -1;
    }
    if (a->version != b->version) {
        return a->version < b->version ? -1 : 1;
    }
    return a->digest == b->digest ? 0 : a->digest < b->digest ? -1 : 1;
}

bool jobs_mark_of(const uint8_t *record, size_t size, struct jobs_mark *out)
{
    struct job_record r;
    if (job_record_decode(record, size, &r) != WIRE_OK) {
        return false;
    }
    *out = (struct jobs_mark){r.job, r.destroyed, r.generation, r.version, digest_of(record, size)};
    return true;
}

static bool get_mark(const uint8_t *p, struct jobs_mark *m)
{
    uint32_t flags = get_be32(p + 4);
    *m = (struct jobs_mark){
        .job = get_be32(p),
        .destroyed = flags == 1,
        .generation = get_be64(p + 8),
        .version = get_be64(p + 16),
        .digest = get_be64(p + 24),
    };
    return flags <= 1 && m->job != 0 && m->generation != 0 && m->version != 0;
}

void jobs_mark_put(const struct jobs_mark *mark, uint8_t *rest, size_t i)
{
    uint8_t *p = rest + i * JOBS_MARK_BYTES;
    put_be32(p, mark->job);
    put_be32(p + 4, mark->destroyed);
    put_be64(p + 8, mark->generation);
    put_be64(p + 16, mark->version);
    put_be64(p + 24, mark->digest);
}

struct jobs_mark jobs_mark_at(const struct jobs_frame *frame, size_t i)
{
    struct jobs_mark mark;
    (void)get_mark(frame->rest + i * JOBS_MARK_BYTES, &mark);
    return mark;
}

static bool get_row(const uint8_t *p, struct denied_row *r)
{
    *r = (struct denied_row){
        .source_job = get_be32(p),
        .source_process = get_be32(p + 4),
        .job = get_be32(p + 8),
        .process = get_be32(p + 12),
        .port = get_be16(p + 16),
        .key = p[18] == 1,
        .cause = p[19],
        .times = get_be64(p + 24),
    };
    return p[18] <= 1 && r->cause < NMU_CAUSES && get_be32(p + 20) == 0 && r->times != 0;
}

void jobs_row_put(const struct denied_row *row, uint8_t *rest, size_t i)
{
    uint8_t *p = rest + i * JOBS_ROW_BYTES;
    put_be32(p, row->source_job);
    put_be32(p + 4, row->source_process);
    put_be32(p + 8, row->job);
    put_be32(p + 12, row->process);
    put_be16(p + 16, row->port);
    p[18] = row->key;
    p[19] = row->cause;
    put_be32(p + 20, 0);
    put_be64(p + 24, row->times);
}

struct denied_row jobs_row_at(const struct jobs_frame *frame, size_t i)
{
    struct denied_row row;
    (void)get_row(frame->rest + i * JOBS_ROW_BYTES, &row);
    return row;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static bool read_ticket(const uint8_t *p, struct jobs_frame *f)
{
    f->origin = get_be32(p + 8);
    f->ticket = get_be64(p + 16);
    return get_be32(p + 12) == 0;
}

static bool read_summary(const uint8_t *p, struct jobs_frame *f)
{
    f->first = get_be32(p + 8);
    f->last = get_be32(p + 12);
    f->count = get_be16(p + 16);
    if (f->first > f->last || get_be16(p + 18) != 0 || get_be32(p + 20) != 0 ||
        f->rest_size != (size_t)f->count * JOBS_MARK_BYTES) {
        return false;
    }
    cw_job before = 0;
    for (size_t i = 0; i < f->count; i++) {
        struct jobs_mark mark;
        bool good = get_mark(f->rest + i * JOBS_MARK_BYTES, &mark);
        if (!good || mark.job <= before || mark.job < f->first || mark.job > f->last) {
            return false;
        }
        before = mark.job;
    }
    return true;
}

static bool read_rows(const uint8_t *p, struct jobs_frame *f)
{
    f->from = get_be32(p + 8);
    f->count = get_be16(p + 12);
    f->all = get_be64(p + 16);
    f->overflow = get_be64(p + 24);
    if (get_be16(p + 14) != 0 || f->rest_size != (size_t)f->count * JOBS_ROW_BYTES) {
        return false;
    }
    for (size_t i = 0; i < f->count; i++) {
        struct denied_row row;
        if (!get_row(f->rest + i * JOBS_ROW_BYTES, &row)) {
            return false;
        }
    }
    return true;
}

static bool read_ask(const uint8_t *p, struct jobs_frame *f)
{
    uint16_t flags = get_be16(p + 26);
    f->flag = flags == 1;
    f->row = (struct denied_row){
        .source_job = get_be32(p + 8),
        .source_process = get_be32(p + 12),
        .job = get_be32(p + 16),
        .process = get_be32(p + 20),
        .port = get_be16(p + 24),
        .key = f->flag,
    };
    return flags <= 1 && get_be32(p + 28) == 0;
}

static bool read_said(const uint8_t *p, struct jobs_frame *f)
{
    uint32_t cause = get_be32(p + 8);
    f->row = (struct denied_row){.cause = (uint8_t)cause, .times = get_be64(p + 24)};
    f->server = get_be32(p + 16);
    f->version = get_be64(p + 32);
    return cause < NMU_CAUSES && get_be32(p + 12) == 0 && get_be32(p + 20) == 0;
}

static bool read_part(const uint8_t *p, struct jobs_frame *f)
{
    f->offset = get_be32(p + 8);
    f->total = get_be32(p + 12);
    return get_mark(p + 16, &f->mark) && f->rest_size > 0 && f->offset <= f->total &&
           f->rest_size <= f->total - f->offset;
}

static bool read_kind(const uint8_t *p, struct jobs_frame *f)
{
    uint32_t word = get_be32(p + 8);
    switch (f->kind) {
    case JOBS_RECORD:
        return read_ticket(p, f) && f->rest_size > JOBS_SIGNATURE_BYTES;
    case JOBS_OFFER:
        return read_ticket(p, f) && get_mark(p + JOBS_RECORD_AT, &f->mark);
    case JOBS_ACK:
        f->flag = (word & 1) != 0;
        f->closed = (word & 2) != 0;
        f->ticket = get_be64(p + 16);
        return word <= 3 && get_be32(p + 12) == 0 && get_mark(p + JOBS_RECORD_AT, &f->mark);
    case JOBS_HELLO:
        f->flag = word == 1;
        f->count = get_be32(p + 12);
        f->sum = get_be64(p + 16);
        return word <= 1;
    case JOBS_SUMMARY:
        return read_summary(p, f);
    case JOBS_FETCH:
        f->offset = word;
        return get_be32(p + 12) == 0 && get_mark(p + 16, &f->mark);
    case JOBS_PART:
        return read_part(p, f);
    case JOBS_ASK:
        return read_ask(p, f);
    case JOBS_SAID:
        return read_said(p, f);
    case JOBS_AUDIT:
        f->from = word;
        return get_be32(p + 12) == 0;
    default: /* ROWS */
        return read_rows(p, f);
    }
}

enum jobs_fault jobs_decode(const uint8_t *bytes, size_t size, uint32_t cluster, struct jobs_frame *out)
{
    if (size < JOBS_HEAD_BYTES || bytes[0] != JOBS_FORMAT || bytes[1] == 0 || bytes[1] >= JOBS_KINDS ||
        get_be16(bytes + 2) != 0) {
        return JOBS_MALFORMED;
    }
    if (get_be32(bytes + 4) != cluster) {
        return JOBS_FOREIGN;
    }
    const struct shape *shape = &shapes[bytes[1]];
    if (size < shape->size || (shape->item == 0 && size != shape->size)) {
        return JOBS_MALFORMED;
    }
    struct jobs_frame f = {
        .kind = bytes[1],
        .cluster = cluster,
        .rest = bytes + shape->size,
        .rest_size = size - shape->size,
    };
    if (!read_kind(bytes, &f)) {
        return JOBS_MALFORMED;
    }
    *out = f;
    return JOBS_GOOD;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void write_ask(const struct jobs_frame *f, uint8_t *p)
{
    put_be32(p + 8, f->row.source_job);
    put_be32(p + 12, f->row.source_process);
    put_be32(p + 16, f->row.job);
    put_be32(p + 20, f->row.process);
    put_be16(p + 24, f->row.port);
    put_be16(p + 26, f->flag);
}

void jobs_encode(const struct jobs_frame *f, uint8_t *p)
{
    memset(p, 0, shapes[f->kind].size);
    p[0] = JOBS_FORMAT;
    p[1] = f->kind;
    put_be32(p + 4, f->cluster);
    switch (f->kind) {
    case JOBS_OFFER:
    case JOBS_RECORD:
        put_be32(p + 8, f->origin);
        put_be64(p + 16, f->ticket);
        if (f->kind == JOBS_OFFER) {
            jobs_mark_put(&f->mark, p + JOBS_RECORD_AT, 0);
        }
        break;
    case JOBS_ACK:
        put_be32(p + 8, (uint32_t)f->flag | (uint32_t)f->closed << 1);
        put_be64(p + 16, f->ticket);
        jobs_mark_put(&f->mark, p + JOBS_RECORD_AT, 0);
        break;
    case JOBS_HELLO:
        put_be32(p + 8, f->flag);
        put_be32(p + 12, f->count);
        put_be64(p + 16, f->sum);
        break;
    case JOBS_SUMMARY:
        put_be32(p + 8, f->first);
        put_be32(p + 12, f->last);
        put_be16(p + 16, (uint16_t)f->count);
        break;
    case JOBS_PART:
    case JOBS_FETCH:
        put_be32(p + 8, f->offset);
        put_be32(p + 12, f->kind == JOBS_PART ? f->total : 0);
        jobs_mark_put(&f->mark, p + 16, 0);
        break;
    case JOBS_ASK:
        write_ask(f, p);
        break;
    case JOBS_SAID:
        put_be32(p + 8, f->row.cause);
        put_be32(p + 16, f->server);
        put_be64(p + 24, f->row.times);
        put_be64(p + 32, f->version);
        break;
    case JOBS_AUDIT:
        put_be32(p + 8, f->from);
        break;
    default: /* ROWS */
        put_be32(p + 8, f->from);
        put_be16(p + 12, (uint16_t)f->count);
        put_be64(p + 16, f->all);
        put_be64(p + 24, f->overflow);
        break;
    }
}
