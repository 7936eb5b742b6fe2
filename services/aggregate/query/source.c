/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/source.h"

#include "base/histogram.h"
#include "keyspace/torus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MOST = 4096, NAME_ROOM = SUMMARY_NAME_MOST + 1 };

/* ---- One source -------------------------------------------------------------------------------------------------- */

/* The one that is looked for, and what became of it. */
struct seek {
    const struct sources *s;
    enum summary_kind kind;
    const char *name;
    size_t length;
    int rc; /* -ENOENT until it is found */
};

/* "GROUP.NAME". False: that is no name of a source. */
static bool full_name(const char *group, const char *name, char out[static NAME_ROOM])
{
    int n = snprintf(out, NAME_ROOM, "%s.%s", group, name);
    return n > 0 && n < NAME_ROOM && summary_name_valid(out, (size_t)n);
}

static bool is_meant(const struct seek *k, const char *group, const char *name)
{
    char text[NAME_ROOM];
    return k->rc == -ENOENT && full_name(group, name, text) && strlen(text) == k->length &&
           memcmp(text, k->name, k->length) == 0;
}

static int of_counter(const struct sources *s, enum summary_kind kind, uint64_t value)
{
    union part_summary *out = s->room;
    char text[TORUS_TEXT];
    size_t length = torus_format(s->self, text);
    memset(out, 0, sizeof *out);
    switch (kind) {
    case SUMMARY_NUMBER:
        out->number.of = SUMMARY_OF_COUNTER;
        summary_number_add(&out->number, value, 1, s->at);
        return 0;
    case SUMMARY_HISTOGRAM:
        out->histogram.of = SUMMARY_OF_COUNTER;
        summary_histogram_add(&out->histogram, value, 1);
        return 0;
    case SUMMARY_TOP:
        out->top.of = SUMMARY_OF_COUNTER;
        out->top.lines = value;
        out->top.used = value > 0;
        out->top.item[0] = summary_item_of(tally_hash(text, length), text, length, value);
        return 0;
    case SUMMARY_DISTINCT:
    case SUMMARY_NAMES:
        break;
    }
    return -EOPNOTSUPP;
}

/* A time that stands for those of bucket i: its bound, which is a bound of our buckets, too. */
static summary_value time_of(unsigned i)
{
    return i < HISTOGRAM_BUCKETS - 1 ? histogram_bound(i) : (summary_value)histogram_bound(HISTOGRAM_BUCKETS - 2) + 1;
}

static int of_times(const struct sources *s, enum summary_kind kind, const struct histogram *h)
{
    union part_summary *out = s->room;
    memset(out, 0, sizeof *out);
    if (kind != SUMMARY_NUMBER && kind != SUMMARY_HISTOGRAM) {
        return -EOPNOTSUPP;
    }
    out->number.of = SUMMARY_OF_TIMES;
    if (kind == SUMMARY_HISTOGRAM) {
        out->histogram.of = SUMMARY_OF_TIMES;
    }
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (h->bucket[i] > 0 && kind == SUMMARY_HISTOGRAM) {
            summary_histogram_add(&out->histogram, time_of(i), h->bucket[i]);
        } else if (h->bucket[i] > 0) {
            summary_number_add(&out->number, time_of(i), h->bucket[i], s->at);
        }
    }
    if (kind == SUMMARY_NUMBER) {
        out->number.sum = h->sum_ns;
    }
    return 0;
}

static void see_counter(void *context, const char *group, const char *name, uint64_t value)
{
    struct seek *k = context;
    if (is_meant(k, group, name)) {
        k->rc = of_counter(k->s, k->kind, value);
    }
}

static void see_times(void *context, const char *group, const char *name, const struct histogram *h)
{
    struct seek *k = context;
    if (is_meant(k, group, name)) {
        k->rc = of_times(k->s, k->kind, h);
    }
}

static int of_feed(const struct sources *s, enum summary_kind kind, const struct tally *t)
{
    union part_summary *out = s->room;
    switch (kind) {
    case SUMMARY_NUMBER:
        out->number = *tally_number(t);
        return 0;
    case SUMMARY_HISTOGRAM:
        out->histogram = *tally_histogram(t);
        return 0;
    case SUMMARY_DISTINCT:
        out->distinct = *tally_distinct(t);
        return 0;
    case SUMMARY_TOP:
        tally_top(t, &out->top);
        return 0;
    case SUMMARY_NAMES:
        break;
    }
    return -EOPNOTSUPP;
}

int64_t source_summary(const struct sources *s, enum summary_kind kind, const char *name, size_t length, uint8_t *out,
                       size_t room)
{
    const struct tally *feed = tallies_find(s->feeds, name, length);
    struct seek seek = {s, kind, name, length, -ENOENT};
    const struct figures_visit visit = {&seek, see_counter, see_times};
    if (feed != NULL) {
        seek.rc = of_feed(s, kind, feed);
    } else if (s->host != NULL && memchr(name, '.', length) != NULL) {
        s->host->each(s->host->context, s->self, &visit);
    }
    if (seek.rc < 0) {
        return seek.rc;
    }
    return room < PART_SUMMARY_MOST ? -EMSGSIZE : (int64_t)part_encode(kind, s->room, out);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

struct listing {
    unsigned count;
    struct {
        char text[NAME_ROOM];
        uint8_t of;
    } name[NAMES_MOST];
};

static void note(struct listing *l, const char *text, uint8_t of)
{
    if (l->count < NAMES_MOST) {
        snprintf(l->name[l->count].text, NAME_ROOM, "%s", text);
        l->name[l->count++].of = of;
    }
}

static void note_counter(void *context, const char *group, const char *name, uint64_t value)
{
    char text[NAME_ROOM];
    (void)value;
    if (full_name(group, name, text)) {
        note(context, text, SUMMARY_OF_COUNTER);
    }
}

static void note_times(void *context, const char *group, const char *name, const struct histogram *h)
{
    char text[NAME_ROOM];
    (void)h;
    if (full_name(group, name, text)) {
        note(context, text, SUMMARY_OF_TIMES);
    }
}

static struct summary_name entry(const struct listing *l, unsigned i)
{
    return (struct summary_name){l->name[i].of, (uint8_t)strlen(l->name[i].text), 1, l->name[i].text};
}

static int by_name(const void *a, const void *b)
{
    const char *x = a, *y = b; /* the texts come first */
    int order = strcmp(x, y);
    return order != 0 ? order : (uint8_t)x[NAME_ROOM] - (uint8_t)y[NAME_ROOM];
}

int64_t source_names(const struct sources *s, uint8_t *out, size_t room)
{
    struct listing *l = malloc(sizeof *l);
    const struct figures_visit visit = {l, note_counter, note_times};
    size_t used = 0;
    if (l == NULL) {
        return -ENOMEM;
    }
    l->count = 0;
    if (s->host != NULL) {
        s->host->each(s->host->context, s->self, &visit);
    }
    for (unsigned i = 0; i < TALLIES_MOST; i++) {
        if (s->feeds->feed[i].name[0] != '\0') {
            note(l, s->feeds->feed[i].name, SUMMARY_OF_FEED);
        }
    }
    qsort(l->name, l->count, sizeof *l->name, by_name);
    for (unsigned i = 0; i < l->count; i++) {
        struct summary_name n = entry(l, i), before = i > 0 ? entry(l, i - 1) : n;
        if (i > 0 && summary_name_order(&before, &n) == 0) {
            continue;
        }
        size_t put = summary_name_put(&n, out + used, room - used);
        if (put == 0) {
            free(l);
            return -EMSGSIZE;
        }
        used += put;
    }
    free(l);
    return (int64_t)used;
}
