/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/inquiry_host.h"

#include "daemon/host/events.h"
#include "daemon/host/internal.h"
#include "daemon/host/picture.h"

/* Rows from the one with number `from` on, counted from 0, go to the writer until it is full. */
struct page {
    struct rows_writer *out;
    uint64_t at, from, next; /* next: the first row that did not fit; 0: there is none */
};

static bool wanted(const struct page *p)
{
    return p->at >= p->from && p->next == 0;
}

static void page_integer(void *context, const char *name, int64_t value)
{
    struct page *p = context;
    if (wanted(p)) {
        rows_integer(p->out, name, value);
    }
}

static void page_text(void *context, const char *name, const char *text)
{
    struct page *p = context;
    if (wanted(p)) {
        rows_text(p->out, name, text);
    }
}

/* A row that does not even fit alone is left out. */
static void page_row(void *context)
{
    struct page *p = context;
    bool first = p->out->used == 0;
    if (wanted(p) && !rows_end(p->out) && !first) {
        p->next = p->at;
    }
    p->at++;
}

/*
 * The place of an event is its instant, so `from` is the instant behind which the asker wants to hear: for the next
 * page, that of the last event of this one.
 */
static uint64_t write_events(struct host *h, uint64_t from, struct rows_writer *out)
{
    struct page page = {.out = out};
    const struct rows_reader reader = {&page, page_integer, page_text, page_row};
    const struct event *event;
    char whose[TORUS_TEXT];
    uint64_t after = from;
    while ((event = events_next(host_events(h), after)) != NULL) {
        events_tell(event, host_events_of(h, whose), &reader);
        if (page.next != 0) {
            return after;
        }
        after = event->at_us;
    }
    return 0;
}

static uint64_t write_rows(void *context, cw_coord self, unsigned topic, uint64_t from, struct rows_writer *out)
{
    struct host *h = context;
    struct host_server *s = host_find(h, self);
    struct page page = {.out = out, .from = from};
    const struct rows_reader reader = {&page, page_integer, page_text, page_row};
    if (s == NULL || s->node == NULL) {
        return 0;
    }
    if (topic == INQUIRY_EVENTS) {
        return write_events(h, from, out);
    }
    if (topic == INQUIRY_PICTURE) {
        picture_tell(s, host_now(h), &reader);
    }
    if (topic == INQUIRY_DOCTOR && h->doctor != NULL) {
        (void)h->doctor(s, &reader);
    }
    return page.next;
}

void host_set_doctor(struct host *h, host_doctor_fn *look)
{
    h->doctor = look;
}

void inquiry_host_open(struct inquiry_host *out, struct host *h)
{
    *out = (struct inquiry_host){.size = sizeof *out, .context = h, .rows = write_rows};
}
