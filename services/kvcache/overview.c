/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overview.c - what operators ask of the cache of all servers at once: their numbers, the keys that are hottest
 * anywhere, a flush.
 */
#include "services/kvcache/overview.h"

#include "base/bytes.h"
#include "services/kvcache/common.h"
#include "services/kvcache/flush.h"
#include "services/kvcache/report.h"
#include "services/kvcache/survey.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MERGED_MOST = 4096, HOLDERS_SHOWN = 16, COORD_TEXT = 24 };

/* A command being answered. */
struct overview {
    struct kvcache *k;
    cw_request *r;
    bool sync, ended; /* begun and not returned yet; ended before that */
    bool rows;        /* there was one */
    unsigned most;    /* hot keys to show */
    size_t merged;
    struct merged_key *key;
};

/* A key, over all servers. */
struct merged_key {
    cw_job job;
    size_t length;
    uint8_t key[KV_KEY_MAX];
    uint64_t rate, error, root_rate;
    cw_server root; /* CW_SERVER_NONE: none says that it is */
    unsigned holders;
    cw_server holder[HOLDERS_SHOWN];
};

static int begin(struct overview *o, int rc)
{
    o->sync = false;
    bool ended = o->ended;
    if (rc < 0 || ended) {
        free(o->key);
        free(o);
    }
    return rc < 0 ? -ENOMEM : ended ? 0 : 1;
}

static void end(struct overview *o)
{
    o->ended = true;
    if (!o->sync) {
        cw_request_done(o->r, 0);
        free(o->key);
        free(o);
    }
}

static struct overview *overview_new(struct kvcache *k, cw_request *r)
{
    struct overview *o = calloc(1, sizeof *o);
    if (o != NULL) {
        *o = (struct overview){.k = k, .r = r, .sync = true};
    }
    return o;
}

static void next_row(struct overview *o)
{
    if (o->rows) {
        cw_request_row(o->r);
    }
    o->rows = true;
}

/* ---- stats all --------------------------------------------------------------------------------------------------- */

static void report_stats_row(void *arg, cw_server s, const uint8_t *bytes, size_t length)
{
    struct overview *o = arg;
    next_row(o);
    tell_server_id(o->k->svc, o->r, "server", s);
    if (bytes == NULL) {
        cw_request_text(o->r, "state", "no answer");
    } else {
        report_fields(o->r, bytes, length);
    }
}

static void stats_ended(void *arg)
{
    end(arg);
}

int overview_stats(struct kvcache *k, cw_request *r)
{
    struct overview *o = overview_new(k, r);
    return o == NULL ? -ENOMEM : begin(o, survey_begin(k, KV_ASK_STATS, report_stats_row, stats_ended, o));
}

/* ---- hot --------------------------------------------------------------------------------------------------------- */

static struct merged_key *merged_of(struct overview *o, const struct report_hot_row *row)
{
    for (size_t i = 0; i < o->merged; i++) {
        struct merged_key *m = &o->key[i];
        if (m->job == row->job && m->length == row->key_length && memcmp(m->key, row->key, row->key_length) == 0) {
            return m;
        }
    }
    if (o->merged == MERGED_MOST) {
        return NULL;
    }
    struct merged_key *m = &o->key[o->merged++];
    *m = (struct merged_key){.job = row->job, .length = row->key_length, .root = CW_SERVER_NONE};
    memcpy(m->key, row->key, row->key_length);
    return m;
}

static void merge_hot(void *arg, cw_server s, const uint8_t *bytes, size_t length)
{
    struct overview *o = arg;
    struct report_hot_row row;
    size_t size;
    for (; bytes != NULL && (size = report_hot_next(bytes, length, &row)) > 0; bytes += size, length -= size) {
        struct merged_key *m = merged_of(o, &row);
        if (m == NULL) {
            return;
        }
        m->rate += row.rate;
        m->error += row.error;
        if (row.root) {
            m->root = s;
            m->root_rate = row.rate;
            m->holders = row.holder_count;
            for (unsigned i = 0; i < row.holder_count; i++) {
                m->holder[i] = get_be32(row.holders + (size_t)4 * i);
            }
        }
    }
}

static int by_rate(const void *a, const void *b)
{
    const struct merged_key *x = a, *y = b;
    if (x->rate != y->rate) {
        return x->rate < y->rate ? 1 : -1;
    }
    return memcmp(x->key, y->key, x->length < y->length ? x->length : y->length);
}

static void report_key(struct overview *o, const struct merged_key *m)
{
    cw_key id = kv_mem_id(o->k, m->job, m->key, m->length);
    char text[4 * KV_KEY_MAX + 1], copies[HOLDERS_SHOWN * COORD_TEXT] = "";
    cw_coord root;
    kv_text(m->key, m->length, text, sizeof text);
    next_row(o);
    cw_request_text(o->r, "key", text);
    cw_request_int(o->r, "job", m->job);
    cw_request_int(o->r, "per_second", (int64_t)((m->rate + 500) / 1000));
    cw_request_int(o->r, "at_root_per_second", (int64_t)((m->root_rate + 500) / 1000));
    cw_request_int(o->r, "error_per_second", (int64_t)((m->error + 500) / 1000));
    if (m->root != CW_SERVER_NONE) {
        tell_server_id(o->k->svc, o->r, "root", m->root);
    } else if (cw_servers_for_key(o->k->svc, &id, 1, &root) == 1) {
        /* The root is asked for the key too rarely to report it. */
        tell_server(o->r, "root", root);
    }
    for (unsigned i = 0; i < m->holders; i++) {
        size_t used = strlen(copies);
        cw_coord c = cw_server_coord(o->k->svc, m->holder[i]);
        snprintf(copies + used, sizeof copies - used, "%s%u,%u,%u", i > 0 ? " " : "", c.x, c.y, c.z);
    }
    cw_request_text(o->r, "copies", copies);
}

static void hot_ended(void *arg)
{
    struct overview *o = arg;
    qsort(o->key, o->merged, sizeof *o->key, by_rate);
    for (size_t i = 0; i < o->merged && i < o->most; i++) {
        report_key(o, &o->key[i]);
    }
    end(o);
}

int overview_hot(struct kvcache *k, cw_request *r, unsigned most)
{
    struct overview *o = overview_new(k, r);
    if (o == NULL) {
        return -ENOMEM;
    }
    o->most = most;
    o->key = malloc(MERGED_MOST * sizeof *o->key);
    int rc = o->key != NULL ? survey_begin(k, KV_ASK_HOT, merge_hot, hot_ended, o) : -ENOMEM;
    return begin(o, rc);
}

/* ---- flush ------------------------------------------------------------------------------------------------------- */

static void flushed(void *arg, const struct flush_result *result)
{
    struct overview *o = arg;
    bool all = result->status == KV_OK;
    cw_request_text(o->r, "status",
                    all                   ? kv_status_text(KV_OK)
                    : result->missing > 0 ? "not all servers have answered"
                                          : kv_status_text(result->status));
    cw_request_int(o->r, "servers", result->answered);
    cw_request_int(o->r, "missing", result->missing);
    if (result->first != CW_SERVER_NONE) {
        tell_server_id(o->k->svc, o->r, "first_missing", result->first);
    }
    end(o);
}

int overview_flush(struct kvcache *k, cw_request *r, cw_job job)
{
    struct overview *o = overview_new(k, r);
    if (o == NULL) {
        return -ENOMEM;
    }
    int rc = flush_begin(k, job, flushed, o);
    int answer = begin(o, rc);
    return rc < 0 ? rc : answer;
}
