/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share_sleep.c - what is seen between two steps of the other side: the view under its seqlock, and both handshakes of
 * rest.h. For those each side's stores wait in a buffer, first in first out, until that side's next fence, as they may
 * in a processor; and the other side runs, all of it, between any two steps. A load is thus seen before a store that
 * stands before it in the program, which is all that may happen on a machine with total store order.
 */
#include "share/view.h"
#include "share_kit.h"
#include "share_scenes.h"
#include "share_watch.h"

#include <errno.h>
#include <string.h>

/* ---- View ---- */

struct show {
    struct share_kit *k;
    struct dice *d;
    struct share_view_writer writer;
    uint64_t epoch; /* of the last view that is out, or is being written */
    unsigned tries;
};

static void view_of(uint64_t epoch, struct share_view *v)
{
    struct dice d = {epoch};
    v->flags = (uint32_t)epoch & 1;
    v->epoch = epoch;
    v->lease_until = (cw_time){(int64_t)(epoch * 1000)};
    for (unsigned i = 0; i < SHARE_VIEW_WORDS; i++) {
        v->committed[i] = dice_word(&d);
        v->optimistic[i] = dice_word(&d);
    }
}

static bool same_view(const struct share_view *a, const struct share_view *b)
{
    return a->flags == b->flags && a->epoch == b->epoch && a->lease_until.ns == b->lease_until.ns &&
           memcmp(a->committed, b->committed, sizeof a->committed) == 0 &&
           memcmp(a->optimistic, b->optimistic, sizeof a->optimistic) == 0;
}

static void publish(struct show *s)
{
    struct share_view v;
    view_of(++s->epoch, &v);
    share_view_publish(&s->writer, &v);
}

static void read_view(struct show *s)
{
    struct share_view got, want;
    int rc = share_view_read(&s->k->process_com, &got);
    if (rc == -EAGAIN) {
        share_ledger->torn++;
        return;
    }
    share_ledger->views++;
    view_of(got.epoch, &want);
    if (rc != 0 || got.epoch + 2 < s->epoch || !same_view(&got, &want)) {
        WRONG("view", "of no instant (%d)", rc);
    }
}

static void write_between(void *arg, const void *at, size_t bytes)
{
    struct show *s = arg;
    (void)at;
    (void)bytes;
    if (s->tries > 0 && dice_below(s->d, 40) == 0) {
        s->tries--;
        publish(s);
    }
}

static bool read_between(void *arg, void *at, uint64_t value, size_t bytes)
{
    struct show *s = arg;
    (void)at;
    (void)value;
    (void)bytes;
    if (dice_below(s->d, 30) == 0) {
        read_view(s);
    }
    return false;
}

void share_scene_view(struct dice *d)
{
    static struct share_kit k;
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    struct show s = {.k = &k, .d = d};
    share_view_writer_open(&s.writer, &k.daemon_com);
    s.writer.number = dice_below(d, 2) ? 0 : UINT32_MAX - 5; /* even, and about to wrap */
    publish(&s);
    for (unsigned i = 0; i < 20 && share_is_well(); i++) {
        share_watch = (struct share_watch){.load = write_between, .arg = &s};
        s.tries = dice_below(d, 3);
        read_view(&s);
        share_watch = (struct share_watch){.store = read_between, .arg = &s};
        publish(&s);
        memset(&share_watch, 0, sizeof share_watch);
        read_view(&s);
    }
    (void)share_kit_close(&k);
}

/* ---- Handshakes ---- */

enum { PROCESS, DAEMON, BUFFER = 64 };

struct bed {
    struct share_kit k;
    struct dice *d;
    unsigned side;  /* who runs */
    unsigned point; /* the step of the first side before which the other runs */
    unsigned step;
    bool nested;
    bool commands; /* which handshake */
    struct {
        void *at;
        uint64_t value;
        size_t bytes;
    } kept[2][BUFFER];
    unsigned keeps[2];
    /* what came of it */
    bool process_sleeps, daemon_sleeps, woken, rung, process_done, daemon_done;
};

static void flush(struct bed *b, unsigned side)
{
    for (unsigned i = 0; i < b->keeps[side]; i++) {
        share_watch_do(b->kept[side][i].at, b->kept[side][i].value, b->kept[side][i].bytes);
    }
    b->keeps[side] = 0;
}

static void run_side(struct bed *b, unsigned side);

/* Before each step of the side that runs first: is it time for the other? */
static void step(struct bed *b)
{
    if (b->nested || b->step++ != b->point) {
        return;
    }
    b->nested = true;
    b->side = 1 - b->side;
    share_watch.inside = false;
    run_side(b, b->side);
    share_watch.inside = true;
    b->side = 1 - b->side;
}

static void bed_load(void *arg, const void *at, size_t bytes)
{
    (void)at;
    (void)bytes;
    step(arg);
}

static bool bed_store(void *arg, void *at, uint64_t value, size_t bytes)
{
    struct bed *b = arg;
    step(b);
    if (b->keeps[b->side] == BUFFER) {
        flush(b, b->side);
    }
    unsigned n = b->keeps[b->side]++;
    b->kept[b->side][n].at = at;
    b->kept[b->side][n].value = value;
    b->kept[b->side][n].bytes = bytes;
    if (dice_below(b->d, 4) == 0) {
        flush(b, b->side); /* it may be seen early, too */
    }
    return true;
}

static void bed_fence(void *arg)
{
    struct bed *b = arg;
    step(b);
    flush(b, b->side);
}

/* A process rests, and its daemon has an end, a message or both for it. */
static void run_news(struct bed *b, unsigned side)
{
    struct share_kit *k = &b->k;
    if (side == PROCESS) {
        struct share_completion c;
        struct share_message m;
        (void)!share_sleeper_rests(&k->process_sub, &k->process_com, SHARE_REST_FUTEX);
        b->process_sleeps = share_listener_next(&k->listener, &c) == 0 && share_inbox_next(&k->reader, &m) == 0;
        return;
    }
    if (share_teller_reserve(&k->teller) == 1) {
        share_teller_tell(&k->teller, &(struct share_completion){.kind = SHARE_END_DONE});
    }
    (void)share_teller_publish(&k->teller);
    b->woken = share_waker_published(&k->waker) == SHARE_REST_FUTEX;
}

/* A daemon rests, and a process has a command for it. */
static void run_commands(struct bed *b, unsigned side)
{
    struct share_kit *k = &b->k;
    if (side == DAEMON) {
        b->daemon_sleeps = !share_waker_rests(&k->waker, k->taker.tail);
        return;
    }
    if (share_putter_put(&k->putter, &(struct share_command){.op = SHARE_OP_WANT}, NULL, 0, NULL, 0) != 0) {
        WRONG("sleep", "no room for a command");
    }
    share_putter_publish(&k->putter);
    b->rung = share_sleeper_must_ring(&k->process_com);
}

static void run_side(struct bed *b, unsigned side)
{
    if (b->commands) {
        run_commands(b, side);
    } else {
        run_news(b, side);
    }
}

static void one_night(struct dice *d, bool commands, unsigned first, unsigned point)
{
    static struct bed b;
    memset(&b, 0, sizeof b);
    b.d = d;
    b.commands = commands;
    b.point = point;
    b.side = first;
    share_kit_open(&b.k, 16, SHARE_INBOX_LEAST, 0);
    if (commands) {
        share_waker_attends(&b.k.waker);
    }
    share_watch = (struct share_watch){.load = bed_load, .store = bed_store, .fence = bed_fence, .arg = &b};
    run_side(&b, first);
    if (!b.nested) { /* behind its last step */
        b.nested = true;
        b.side = 1 - first;
        run_side(&b, b.side);
    }
    memset(&share_watch, 0, sizeof share_watch);
    flush(&b, PROCESS);
    flush(&b, DAEMON);
    share_ledger->sleeps += b.process_sleeps || b.daemon_sleeps;
    share_ledger->wakes += b.woken || b.rung;
    if (commands ? b.daemon_sleeps && !b.rung : b.process_sleeps && !b.woken) {
        WRONG("sleep", "%s sleeps, and nobody woke it (point %u, %s first)", commands ? "the daemon" : "the process",
              point, first == PROCESS ? "the process" : "the daemon");
    }
    (void)share_kit_close(&b.k);
}

void share_scene_sleep(struct dice *d)
{
    for (unsigned point = 0; point < 24 && share_is_well(); point++) {
        for (unsigned which = 0; which < 4; which++) {
            one_night(d, which & 1, which >> 1, point);
        }
    }
}
