/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/job_record.h"

#include "base/check.h"

#include <string.h>

enum { FLAG_DESTROYED = 1, FLAG_ALL_PROCESSES = 1, FLAG_ALL_PORTS = 2 };

/* ---- Items ------------------------------------------------------------------------------------------------------- */

static struct job_range range_read(const uint8_t *p)
{
    return (struct job_range){get_be32(p), get_be32(p + 4), get_be32(p + 8)};
}

struct job_range job_record_range(const struct job_record *r, unsigned i)
{
    CHECK(i < r->ranges);
    return range_read(r->range_bytes + (size_t)i * JOB_RECORD_RANGE_BYTES);
}

struct job_port job_record_port(const struct job_record *r, unsigned i)
{
    CHECK(i < r->ports);
    const uint8_t *p = r->port_bytes + (size_t)i * JOB_RECORD_PORT_BYTES;
    struct job_port port = {.port = get_be16(p)};
    memcpy(port.name, p + 4, sizeof port.name);
    return port;
}

struct job_span job_grant_span(const struct job_grant *g, unsigned i)
{
    CHECK(i < g->spans);
    const uint8_t *p = g->span_bytes + (size_t)i * JOB_RECORD_SPAN_BYTES;
    return (struct job_span){get_be32(p), get_be32(p + 4)};
}

cw_port job_grant_port(const struct job_grant *g, unsigned i)
{
    CHECK(i < g->ports);
    return get_be16(g->port_bytes + 2 * (size_t)i);
}

/* Bytes of so many ports, with the zeros behind them. */
static size_t grant_port_bytes(unsigned ports)
{
    return ((size_t)ports * 2 + 3) / 4 * 4;
}

static struct job_grant grant_read(const uint8_t *p)
{
    struct job_grant g = {
        .job = get_be32(p),
        .all_processes = p[4] & FLAG_ALL_PROCESSES,
        .all_ports = p[4] & FLAG_ALL_PORTS,
        .spans = get_be16(p + 6),
        .ports = get_be16(p + 8),
        .span_bytes = p + JOB_RECORD_GRANT_BYTES,
    };
    g.port_bytes = g.span_bytes + (size_t)g.spans * JOB_RECORD_SPAN_BYTES;
    return g;
}

struct job_grant job_record_next_grant(const uint8_t **at)
{
    struct job_grant g = grant_read(*at);
    *at = g.port_bytes + grant_port_bytes(g.ports);
    return g;
}

/* ---- Judging ----------------------------------------------------------------------------------------------------- */

static bool name_letter(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
}

static bool name_good(const uint8_t *name)
{
    unsigned length = 0;
    while (length < JOB_RECORD_NAME_BYTES && name_letter(name[length])) {
        length++;
    }
    bool good = length > 0 && length < JOB_RECORD_NAME_BYTES;
    for (unsigned i = length; good && i < JOB_RECORD_NAME_BYTES; i++) {
        good = name[i] == 0;
    }
    return good;
}

static enum wire_reason ranges_judge(const uint8_t *p, unsigned count)
{
    struct job_range before = {0};
    for (unsigned i = 0; i < count; i++, p += JOB_RECORD_RANGE_BYTES) {
        struct job_range r = range_read(p);
        if (r.count == 0 || (uint64_t)r.first + r.count - 1 > JOB_RECORD_PROCESS_MAX || r.server == CW_SERVER_NONE ||
            r.count - 1 >= CW_SERVER_NONE - r.server) {
            return WIRE_BAD_VALUE;
        }
        uint64_t free = (uint64_t)before.first + before.count;
        bool one = r.first == free && r.server == (uint64_t)before.server + before.count;
        if (i > 0 && (r.first < free || one)) {
            return WIRE_BAD_ORDER;
        }
        before = r;
    }
    return WIRE_OK;
}

static enum wire_reason ports_judge(const uint8_t *ports, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *p = ports + (size_t)i * JOB_RECORD_PORT_BYTES;
        if (get_be16(p + 2) != 0) {
            return WIRE_RESERVED;
        }
        if (!name_good(p + 4)) {
            return WIRE_BAD_VALUE;
        }
        if (i > 0 && get_be16(p) <= get_be16(p - JOB_RECORD_PORT_BYTES)) {
            return WIRE_BAD_ORDER;
        }
        for (const uint8_t *other = ports; other < p; other += JOB_RECORD_PORT_BYTES) {
            if (memcmp(other + 4, p + 4, JOB_RECORD_NAME_BYTES) == 0) {
                return WIRE_BAD_VALUE; /* two ports of one name */
            }
        }
    }
    return WIRE_OK;
}

static enum wire_reason spans_judge(const struct job_grant *g)
{
    uint64_t free = 0;
    for (unsigned i = 0; i < g->spans; i++) {
        struct job_span s = job_grant_span(g, i);
        if (s.last < s.first) {
            return WIRE_BAD_VALUE;
        }
        if (i > 0 && s.first <= free) {
            return WIRE_BAD_ORDER; /* overlaps, or goes on without a gap */
        }
        free = (uint64_t)s.last + 1;
    }
    return WIRE_OK;
}

/* Reads one whole grant from r and judges it, apart from its neighbours. */
static enum wire_reason grant_take(struct reader *r, struct job_grant *out)
{
    const uint8_t *head = reader_take(r, JOB_RECORD_GRANT_BYTES);
    if (head == NULL) {
        return WIRE_TRUNCATED;
    }
    if (head[5] != 0 || get_be16(head + 10) != 0 || (head[4] & ~(FLAG_ALL_PROCESSES | FLAG_ALL_PORTS)) != 0) {
        return WIRE_RESERVED;
    }
    struct job_grant g = grant_read(head);
    if (g.job == 0 || g.all_processes != (g.spans == 0) || g.all_ports != (g.ports == 0) ||
        g.spans > JOB_RECORD_GRANT_SPANS_MAX || g.ports > JOB_RECORD_GRANT_PORTS_MAX) {
        return WIRE_BAD_VALUE;
    }
    if (reader_take(r, g.spans * (size_t)JOB_RECORD_SPAN_BYTES + grant_port_bytes(g.ports)) == NULL) {
        return WIRE_TRUNCATED;
    }
    if (g.ports % 2 != 0 && get_be16(g.port_bytes + 2 * (size_t)g.ports) != 0) {
        return WIRE_RESERVED;
    }
    for (unsigned i = 1; i < g.ports; i++) {
        if (job_grant_port(&g, i) <= job_grant_port(&g, i - 1)) {
            return WIRE_BAD_ORDER;
        }
    }
    *out = g;
    return spans_judge(&g);
}

/* The ports that the grants for one remote job have named so far: a set, and the list by which it is emptied. */
struct port_set {
    uint64_t word[65536 / 64];
};

/* Adds the grant's ports. False: one of them was in the set. */
static bool ports_add(struct port_set *set, const struct job_grant *g)
{
    for (unsigned i = 0; i < g->ports; i++) {
        cw_port port = job_grant_port(g, i);
        uint64_t bit = UINT64_C(1) << port % 64;
        if (set->word[port / 64] & bit) {
            return false;
        }
        set->word[port / 64] |= bit;
    }
    return true;
}

static void ports_remove(struct port_set *set, const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        struct job_grant g = job_record_next_grant(&at);
        for (unsigned i = 0; i < g.ports; i++) {
            set->word[job_grant_port(&g, i) / 64] = 0;
        }
    }
}

/* Where a grant stands among those for the same remote job: all ports first, else by its first port. */
static unsigned grant_rank(const struct job_grant *g)
{
    return g->all_ports ? 0 : 1u + job_grant_port(g, 0);
}

static enum wire_reason grants_judge(struct reader *r, unsigned count)
{
    struct port_set named = {{0}};
    const uint8_t *first_of_job = r->at;
    struct job_grant before = {0};
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *at = r->at;
        struct job_grant g;
        enum wire_reason reason = grant_take(r, &g);
        if (reason != WIRE_OK) {
            return reason;
        }
        if (i > 0 && (g.job < before.job || (g.job == before.job && grant_rank(&g) <= grant_rank(&before)))) {
            return WIRE_BAD_ORDER;
        }
        if (g.job != before.job) {
            ports_remove(&named, first_of_job, at);
            first_of_job = at;
        }
        if (!ports_add(&named, &g)) {
            return WIRE_BAD_VALUE;
        }
        before = g;
    }
    return reader_done(r) ? WIRE_OK : WIRE_BAD_LENGTH;
}

static enum wire_reason head_read(const uint8_t *p, struct job_record *out)
{
    if (p[0] != JOB_RECORD_FORMAT) {
        return WIRE_BAD_VERSION;
    }
    if ((p[1] & ~FLAG_DESTROYED) != 0 || get_be16(p + 2) != 0 || get_be16(p + 30) != 0) {
        return WIRE_RESERVED;
    }
    *out = (struct job_record){
        .destroyed = p[1] & FLAG_DESTROYED,
        .job = get_be32(p + 4),
        .version = get_be64(p + 8),
        .generation = get_be64(p + 16),
        .ranges = get_be16(p + 24),
        .ports = get_be16(p + 26),
        .grants = get_be16(p + 28),
    };
    memcpy(out->name, p + 32, sizeof out->name);
    if (out->job == 0 || out->version == 0 || out->generation == 0 || !name_good(p + 32)) {
        return WIRE_BAD_VALUE;
    }
    bool too_many =
        out->ranges > JOB_RECORD_RANGES_MAX || out->ports > JOB_RECORD_PORTS_MAX || out->grants > JOB_RECORD_GRANTS_MAX;
    bool ghost = out->destroyed && (out->ranges | out->ports | out->grants) != 0;
    return too_many || ghost ? WIRE_BAD_COUNT : WIRE_OK;
}

enum wire_reason job_record_decode(const uint8_t *bytes, size_t size, struct job_record *out)
{
    if (size > JOB_RECORD_BYTES_LIMIT) {
        return WIRE_BAD_LENGTH;
    }
    struct reader r = reader_of(bytes, size);
    const uint8_t *head = reader_take(&r, JOB_RECORD_HEAD_BYTES);
    if (head == NULL) {
        return WIRE_TRUNCATED;
    }
    struct job_record record;
    enum wire_reason reason = head_read(head, &record);
    if (reason != WIRE_OK) {
        return reason;
    }
    record.range_bytes = reader_take(&r, record.ranges * (size_t)JOB_RECORD_RANGE_BYTES);
    record.port_bytes = reader_take(&r, record.ports * (size_t)JOB_RECORD_PORT_BYTES);
    if (!reader_ok(&r)) {
        return WIRE_TRUNCATED;
    }
    record.grant_bytes = r.at;
    reason = ranges_judge(record.range_bytes, record.ranges);
    if (reason == WIRE_OK) {
        reason = ports_judge(record.port_bytes, record.ports);
    }
    if (reason == WIRE_OK) {
        reason = grants_judge(&r, record.grants);
    }
    if (reason == WIRE_OK) {
        *out = record;
    }
    return reason;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void name_write(struct writer *w, const char *name)
{
    size_t length = strnlen(name, JOB_RECORD_NAME_BYTES - 1);
    writer_copy(w, name, length);
    writer_zeros(w, JOB_RECORD_NAME_BYTES - length);
}

void job_record_begin(struct job_record_writer *w, uint8_t *room, size_t size, const struct job_record *head)
{
    *w = (struct job_record_writer){.out = writer_of(room, size)};
    writer_u8(&w->out, JOB_RECORD_FORMAT);
    writer_u8(&w->out, head->destroyed ? FLAG_DESTROYED : 0);
    writer_be16(&w->out, 0);
    writer_be32(&w->out, head->job);
    writer_be64(&w->out, head->version);
    writer_be64(&w->out, head->generation);
    writer_zeros(&w->out, 8); /* the counts, known at the end */
    name_write(&w->out, head->name);
}

void job_record_put_range(struct job_record_writer *w, const struct job_range *range)
{
    w->ranges++;
    writer_be32(&w->out, range->first);
    writer_be32(&w->out, range->count);
    writer_be32(&w->out, range->server);
}

void job_record_put_port(struct job_record_writer *w, cw_port port, const char *name)
{
    w->ports++;
    writer_be16(&w->out, port);
    writer_be16(&w->out, 0);
    name_write(&w->out, name);
}

void job_record_put_grant(struct job_record_writer *w, cw_job job, const struct job_span *spans, unsigned span_count,
                          const cw_port *ports, unsigned port_count)
{
    CHECK(span_count <= UINT16_MAX && port_count <= UINT16_MAX);
    span_count = spans != NULL ? span_count : 0;
    port_count = ports != NULL ? port_count : 0;
    w->grants++;
    writer_be32(&w->out, job);
    writer_u8(&w->out, (uint8_t)((spans == NULL ? FLAG_ALL_PROCESSES : 0) | (ports == NULL ? FLAG_ALL_PORTS : 0)));
    writer_u8(&w->out, 0);
    writer_be16(&w->out, (uint16_t)span_count);
    writer_be16(&w->out, (uint16_t)port_count);
    writer_be16(&w->out, 0);
    for (unsigned i = 0; i < span_count; i++) {
        writer_be32(&w->out, spans[i].first);
        writer_be32(&w->out, spans[i].last);
    }
    for (unsigned i = 0; i < port_count; i++) {
        writer_be16(&w->out, ports[i]);
    }
    writer_zeros(&w->out, grant_port_bytes(port_count) - 2 * (size_t)port_count);
}

enum wire_reason job_record_finish(struct job_record_writer *w, size_t *size)
{
    if (!writer_ok(&w->out)) {
        return WIRE_TRUNCATED;
    }
    uint8_t *counts = w->out.start + 24;
    put_be16(counts, w->ranges);
    put_be16(counts + 2, w->ports);
    put_be16(counts + 4, w->grants);
    *size = writer_size(&w->out);
    struct job_record record;
    return job_record_decode(w->out.start, *size, &record);
}
