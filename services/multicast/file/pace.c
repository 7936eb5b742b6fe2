/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/file/pace.h"

/* The rate is that of at least this time, and of at most twice this time. */
static const cw_span window = CW_SEC(5);
/* Notes come twice a second; a newest one that is older than this shows that nothing comes. */
static const cw_span stale = CW_SEC(2);
/* What came in less time than this says nothing: a resumed file begins with a piece or two, and not in the middle. */
static const cw_span least = CW_MS(1000);

void file_pace_note(struct file_pace *p, uint64_t there, cw_time now)
{
    const struct file_pace_note note = {.at = now, .there = there};
    if (!p->begun || there < p->newest.there) {
        *p = (struct file_pace){.begun = true, .newest = note, .mark = {note, note}};
        return;
    }
    if (there == p->mark[0].there && p->mark[0].at.ns == p->mark[1].at.ns) {
        p->mark[0] = p->mark[1] = note; /* nothing has come yet: its pace begins later */
    }
    p->newest = note;
    if (cw_time_since(now, p->mark[1].at).ns >= window.ns) {
        p->mark[0] = p->mark[1];
        p->mark[1] = note;
    }
}

int64_t file_pace_mean(uint64_t bytes, cw_span span)
{
    unsigned __int128 bits = (unsigned __int128)bytes * 8 * CW_NS_PER_SEC;
    unsigned __int128 rate = span.ns > 0 ? bits / (uint64_t)span.ns : 0;
    return rate < INT64_MAX ? (int64_t)rate : INT64_MAX;
}

int64_t file_pace_rate(const struct file_pace *p, cw_time now)
{
    bool silent = cw_time_since(now, p->newest.at).ns > stale.ns;
    cw_span span = cw_time_since(silent ? now : p->newest.at, p->mark[0].at);
    /* What came in a span that is over long ago says nothing of now. */
    bool over = cw_time_since(now, p->newest.at).ns > 2 * window.ns;
    return p->begun && !over && span.ns >= least.ns ? file_pace_mean(p->newest.there - p->mark[0].there, span) : 0;
}

cw_span file_pace_left(const struct file_pace *p, uint64_t bytes, cw_time now)
{
    int64_t rate = file_pace_rate(p, now);
    if (p->begun && p->newest.there >= bytes) {
        return CW_NS(0);
    }
    if (rate == 0) {
        return CW_NS(-1);
    }
    unsigned __int128 ns = (unsigned __int128)(bytes - p->newest.there) * 8 * CW_NS_PER_SEC / (uint64_t)rate;
    return CW_NS(ns < INT64_MAX ? (int64_t)ns : INT64_MAX);
}
