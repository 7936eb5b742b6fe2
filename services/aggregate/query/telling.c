/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nearest.h"
#include "base/quantity.h"
#include "base/utf8.h"
#include "services/aggregate/query/internal.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SENTENCE = 300, ITEM_TEXT = 4 * SUMMARY_ITEM_TEXT + 4, EIGHTH_PPM = 125000, MILLION = 1000000 };

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* A whole number that fits is a number, any other a text; times are called so: their field ends in _ns. */
static void tell_value(cw_request *r, const char *field, unsigned of, summary_value v)
{
    char name[32], text[SUMMARY_TEXT];
    bool whole = of != SUMMARY_OF_FEED || v % MILLION == 0;
    summary_value units = of == SUMMARY_OF_FEED ? v / MILLION : v;
    snprintf(name, sizeof name, of == SUMMARY_OF_TIMES ? "%s_ns" : "%s", field);
    if (whole && units >= INT64_MIN && units <= INT64_MAX) {
        cw_request_int(r, name, (int64_t)units);
        return;
    }
    summary_value_text(of, v, text);
    cw_request_text(r, name, text);
}

static void tell_count(cw_request *r, const char *field, uint64_t n)
{
    tell_value(r, field, SUMMARY_OF_COUNTER, n);
}

/* Values that the summary of one row has. A feed may have no numbers: then there is no value. */
static void tell_number(const struct asker *a, const struct summary_number *n)
{
    cw_request *r = a->request;
    const cw_svc *s = a->q->s;
    if (n->of == SUMMARY_OF_FEED && a->wish.op != WISH_COUNT && n->numbers < n->count) {
        tell_count(r, "no_numbers", n->count - n->numbers);
    }
    if (a->wish.op == WISH_COUNT) {
        tell_count(r, "value", n->count);
    } else if (a->wish.op == WISH_SUM) {
        tell_value(r, "value", n->of, n->sum);
    } else if (n->numbers > 0 && a->wish.op == WISH_MEAN) {
        unsigned of = n->of == SUMMARY_OF_COUNTER ? SUMMARY_OF_FEED : n->of; /* in millionths */
        tell_value(r, "value", of, summary_value_mean(n->of, n->sum, n->numbers));
    } else if (n->numbers > 0) {
        bool least = a->wish.op == WISH_MIN;
        tell_value(r, "value", n->of, least ? n->least : n->greatest);
        tell_server_id(s, r, "at", least ? n->least_at : n->greatest_at);
        if (n->of == SUMMARY_OF_TIMES) {
            cw_request_int(r, "error_ppm", 2 * EIGHTH_PPM); /* it is the bound of a bucket */
        }
    }
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static void begin_row(const struct asker *a, uint32_t group)
{
    static const char axes[] = {[LETTER_BY_X] = 'x', [LETTER_BY_Y] = 'y', [LETTER_BY_Z] = 'z'};
    char text[32];
    cw_request_row(a->request);
    cw_request_text(a->request, "what", "row");
    if (a->wish.by == LETTER_BY_SERVER) {
        tell_server_id(a->q->s, a->request, "group", group);
    } else if (a->wish.by != LETTER_BY_NONE) {
        snprintf(text, sizeof text, "%c=%u", axes[a->wish.by], group);
        cw_request_text(a->request, "group", text);
    }
}

static void tell_quantiles(const struct asker *a, uint32_t group, const struct summary_histogram *h)
{
    for (unsigned i = 0; i < a->wish.quantiles; i++) {
        char text[QUANTITY_TEXT];
        begin_row(a, group);
        quantity_millionths_format(a->wish.ppm[i], text);
        cw_request_text(a->request, "quantile", text);
        tell_count(a->request, "count", h->count);
        if (h->count > 0) {
            tell_value(a->request, "value", h->of, summary_histogram_quantile(h, a->wish.ppm[i]));
        }
    }
}

static void tell_buckets(const struct asker *a, uint32_t group, const struct summary_histogram *h)
{
    for (unsigned i = 0; i < SUMMARY_BUCKETS; i++) {
        summary_value low, high;
        if (h->bucket[i] == 0) {
            continue;
        }
        begin_row(a, group);
        summary_histogram_bounds(i, &low, &high);
        tell_value(a->request, "above", h->of, low);
        tell_value(a->request, "up_to", h->of, high);
        tell_count(a->request, "count", h->bucket[i]);
    }
}

static void tell_items(const struct asker *a, uint32_t group, const struct summary_top *t)
{
    for (unsigned i = 0; i < t->used && i < a->wish.top; i++) {
        const struct summary_item *item = &t->item[i];
        char text[ITEM_TEXT];
        begin_row(a, group);
        size_t length = utf8_show(item->text, item->length, text, ITEM_TEXT - 4);
        snprintf(text + length, ITEM_TEXT - length, "%s", item->cut ? "..." : "");
        cw_request_text(a->request, "item", text);
        tell_count(a->request, "count", item->count);
        tell_count(a->request, "error_most", item->error);
    }
}

static void tell_names(const struct asker *a, const struct part_entry *e)
{
    static const char *const kinds[] = {
        [SUMMARY_OF_COUNTER] = "counter", [SUMMARY_OF_TIMES] = "times", [SUMMARY_OF_FEED] = "feed"};
    struct summary_name n;
    for (size_t at = 0; summary_name_next(e->bytes, e->length, &at, &n) == 1;) {
        char text[SUMMARY_NAME_MOST + 1];
        snprintf(text, sizeof text, "%.*s", n.length, n.name);
        cw_request_row(a->request);
        cw_request_text(a->request, "what", "row");
        cw_request_text(a->request, "source", text);
        cw_request_text(a->request, "kind", kinds[n.of]);
        cw_request_int(a->request, "servers", n.servers);
    }
}

/* One group, decoded to work->a. The scalars of a question by nothing stand in the first row. */
static void tell_group(const struct asker *a, uint32_t group, const union part_summary *s)
{
    bool first = a->wish.by == LETTER_BY_NONE;
    switch (a->wish.op) {
    case WISH_COUNT:
    case WISH_SUM:
    case WISH_MEAN:
    case WISH_MIN:
    case WISH_MAX:
    case WISH_DISTINCT:
        if (!first) {
            begin_row(a, group);
        }
        if (a->wish.op == WISH_DISTINCT) {
            tell_count(a->request, "value", summary_distinct_count(&s->distinct));
            cw_request_int(a->request, "error_ppm", SUMMARY_DISTINCT_PPM);
        } else {
            tell_number(a, &s->number);
        }
        break;
    case WISH_TOP:
        if (first) {
            tell_count(a->request, "count", s->top.lines);
            tell_count(a->request, "others_most", s->top.floor);
        }
        tell_items(a, group, &s->top);
        break;
    case WISH_QUANTILE:
    case WISH_HISTOGRAM:
        if (first) {
            tell_count(a->request, "count", s->histogram.count);
            cw_request_int(a->request, "error_ppm", EIGHTH_PPM);
        }
        (a->wish.op == WISH_QUANTILE ? tell_quantiles : tell_buckets)(a, group, &s->histogram);
        break;
    case WISH_LIST:
        break;
    }
}

/* ---- Those who are missing --------------------------------------------------------------------------------------- */

static void tell_missing(const struct asker *a)
{
    const struct query *q = a->q;
    for (cw_server s = 0; s < q->torus.servers; s++) {
        if (!query_has(a->post->ask.members, s) || query_has(a->post->answered, s)) {
            continue;
        }
        bool there = cw_reachable(q->s, torus_coord(&q->torus, s));
        bool large = (a->post->flags & LETTER_LARGE) != 0;
        cw_request_row(a->request);
        cw_request_text(a->request, "what", "missing");
        tell_server_id(q->s, a->request, "server", s);
        cw_request_text(a->request, "reason",
                        !there  ? "it is not in view"
                        : large ? "it did not answer in time, or what it says is too large beside the others"
                                : "it did not answer in time");
    }
}

static void tell_head(const struct asker *a)
{
    const struct query *q = a->q;
    cw_request *r = a->request;
    unsigned answered = query_size(q, a->post->answered);
    cw_request_text(r, "what", "sum");
    cw_request_text(r, "operation", wish_name(a->wish.op));
    if (a->wish.op != WISH_LIST) {
        cw_request_text(r, "source", a->wish.source);
        cw_request_int(r, "with_source", answered - query_size(q, a->post->without));
    }
    cw_request_int(r, "answered", answered);
    cw_request_int(r, "asked", query_size(q, a->post->ask.members));
    cw_request_int(r, "took_ns", cw_time_since(cw_now(q->s), a->begun).ns);
    if ((a->post->flags & LETTER_MIXED) != 0) {
        cw_request_text(r, "note", "servers whose source of that name is of another kind are left out");
    }
}

void telling_answer(struct asker *a)
{
    struct query *q = a->q;
    struct part_entry e;
    const struct post *p = a->post;
    tell_head(a);
    for (size_t at = 0; part_next(p->part, p->part_length, &at, &e) == 1;) {
        if (a->wish.op == WISH_LIST) {
            tell_names(a, &e);
        } else if (part_decode(p->ask.summary, e.bytes, e.length, &q->work->a) == 0) {
            tell_group(a, e.group, &q->work->a);
        }
    }
    tell_missing(a);
    bool none = query_is_empty(q, p->answered);
    if (none) {
        cw_request_text(a->request, "error", "none of the servers that were asked has answered");
    }
    cw_request_done(a->request, none ? -ETIMEDOUT : 0);
}

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void refuse(const struct asker *a, const char *format, ...)
{
    char text[SENTENCE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cw_request_text(a->request, "error", text);
    cw_request_done(a->request, -EINVAL);
}

void telling_unfit(struct asker *a)
{
    if (a->wish.op == WISH_TOP) {
        refuse(a, "%s is of times: there is no top of it, but quantile and histogram", a->wish.source);
    } else {
        refuse(a, "%s is no feed: %s counts lines", a->wish.source, wish_name(a->wish.op));
    }
}

/* Names as texts with a NUL, one behind the other. */
struct known {
    size_t count;
    char (*name)[SUMMARY_NAME_MOST + 1];
};

static const char *nth(const void *context, size_t i)
{
    return ((const struct known *)context)->name[i];
}

static void gather(const struct post *p, struct known *known)
{
    struct part_entry e;
    struct summary_name n;
    size_t at = 0, room = 0;
    if (part_next(p->part, p->part_length, &at, &e) != 1) {
        return;
    }
    for (size_t in = 0; summary_name_next(e.bytes, e.length, &in, &n) == 1;) {
        room++;
    }
    known->name = calloc(room + 1, sizeof *known->name);
    for (size_t in = 0; known->name != NULL && summary_name_next(e.bytes, e.length, &in, &n) == 1; known->count++) {
        snprintf(known->name[known->count], sizeof *known->name, "%.*s", n.length, n.name);
    }
}

enum { NEAR = 3 };

/* Takes the name out of the known ones: it is the one behind their end then, and that is given. */
static const char *set_aside(struct known *known, const char *name)
{
    char chosen[SUMMARY_NAME_MOST + 1];
    size_t i = 0;
    while (known->name[i] != name) {
        i++;
    }
    known->count--;
    memcpy(chosen, name, sizeof chosen);
    memmove(known->name[i], known->name[known->count], sizeof chosen);
    return memcpy(known->name[known->count], chosen, sizeof chosen);
}

/* The next nearest name; or one that ends like it, for who has left out the group. NULL: none is near. */
static const char *nearest(const struct known *known, const char *source)
{
    const char *near = nearest_name(source, strlen(source), nth, known, known->count);
    for (size_t i = 0; i < known->count && near == NULL; i++) {
        const char *dot = strchr(known->name[i], '.');
        near = dot != NULL && strcmp(dot + 1, source) == 0 ? known->name[i] : NULL;
    }
    return near;
}

void telling_unknown(struct asker *a)
{
    struct known known = {.count = 0};
    const char *near[NEAR], *next;
    char meant[NEAR * (SUMMARY_NAME_MOST + 4)] = "";
    unsigned n = 0;
    if (a->post != NULL) {
        gather(a->post, &known);
    }
    while (n < NEAR && (next = nearest(&known, a->wish.source)) != NULL) {
        near[n++] = set_aside(&known, next);
    }
    for (size_t i = 0, used = 0; i < n; i++) {
        const char *between = i == 0 ? "" : i + 1 < n ? ", " : " or ";
        used += (size_t)snprintf(meant + used, sizeof meant - used, "%s%s", between, near[i]);
    }
    if (n > 0) {
        refuse(a, "no server that answered has a source %s; did you mean %s?", a->wish.source, meant);
    } else {
        refuse(a, "no server that answered has a source %s; `query list` names those that there are", a->wish.source);
    }
    free(known.name);
}
