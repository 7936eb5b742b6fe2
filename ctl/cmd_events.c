/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_events.c - what has happened, in order, of one server or of all; and what happens, as it happens.
 */
#include "commandline/inorder.h"
#include "ctl/commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SERVERS_MOST = 4096, NAME = 16 };
static const cw_span pause = CW_SEC(1); /* how often all servers are asked again */
/* By how much the clocks of servers may differ before lines come late: for so long lines wait longer. */
static const cw_span unlike = CW_MS(100);
static const cw_span patience = CW_SEC(3); /* how long a line waits at most, for servers whose clocks are behind */

/* The last event of a server that was heard of. */
struct heard {
    char server[NAME];
    int64_t at_us;
};

/* What has been heard, while events are followed. */
struct history {
    struct heard *last;
    size_t count;
    struct inorder *waiting; /* events that were not shown yet: struct message, owned */
    bool began;              /* the past was shown */
};

static int64_t at_of(const struct message *row)
{
    return message_get_integer(row, "at_us", 0);
}

static int64_t time_of_day_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static cw_time instant(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (cw_time){now.tv_sec * CW_NS_PER_SEC + now.tv_nsec};
}

/* "2026-11-22 20:01:02.123" */
static void show_time(int64_t at_us, char out[static 40])
{
    time_t seconds = (time_t)(at_us / 1000000);
    struct tm parts;
    char day[32];
    localtime_r(&seconds, &parts);
    strftime(day, sizeof day, "%F %T", &parts);
    snprintf(out, 40, "%s.%03d", day, (int)(at_us % 1000000 / 1000));
}

/* late: events of later times have been shown already. */
static void show_event(const struct call *call, struct message *row, bool late)
{
    char time[40];
    if (late) {
        message_flag(row, "late", true);
    }
    if (call->arguments->json) {
        message_print(row, call->out);
        return;
    }
    if (message_has(row, "missed")) {
        fprintf(call->out, "(%" PRId64 " events were missed: they came faster than they were read)\n",
                message_get_integer(row, "missed", 0));
        return;
    }
    if (message_get_integer(row, "unanswered", 0) != 0) {
        fprintf(call->out, "(%s did not answer)\n", message_get_text(row, "server", "?"));
        return;
    }
    show_time(at_of(row), time);
    fprintf(call->out, "%s%s%s  %-9s  %-9s  %s%s\n", table_faint(call->style), time, table_plain(call->style),
            message_get_text(row, "server", "-"), message_get_text(row, "kind", "?"), message_get_text(row, "text", ""),
            late ? " (late)" : "");
}

/* ---- As it happens ----------------------------------------------------------------------------------------------- */

static void show_now(void *context, struct message *row)
{
    const struct call *call = context;
    show_event(call, row, false);
    fflush(call->out);
    message_close(row);
}

/* ---- All servers ------------------------------------------------------------------------------------------------- */

static struct heard *last_of(struct history *h, const char *server)
{
    for (size_t i = 0; i < h->count; i++) {
        if (strcmp(h->last[i].server, server) == 0) {
            return &h->last[i];
        }
    }
    struct heard *more = h->count < SERVERS_MOST ? realloc(h->last, (h->count + 1) * sizeof *more) : NULL;
    if (more == NULL) {
        return NULL;
    }
    h->last = more;
    more[h->count] = (struct heard){.at_us = 0};
    snprintf(more[h->count].server, NAME, "%s", server);
    return &more[h->count++];
}

static void show_waiting(void *context, void *line, bool late)
{
    const struct call *call = context;
    show_event(call, line, late);
    message_close(line);
}

static void drop(void *line)
{
    message_close(line);
}

/*
 * Takes what was not heard before, and shows what servers did not say. An event of a daemon that has no place yet bears
 * no server.
 */
static void take_new(const struct call *call, const struct rows *rows, struct history *h)
{
    cw_time now = instant();
    for (size_t i = 0; i < rows->count; i++) {
        struct message *row = rows->row[i];
        struct heard *last = message_has(row, "at_us") ? last_of(h, message_get_text(row, "server", "-")) : NULL;
        if (message_has(row, "asked") || message_has(row, "away") || (last != NULL && at_of(row) <= last->at_us)) {
            continue;
        }
        if (last == NULL) {
            show_event(call, row, false);
            continue;
        }
        inorder_add(h->waiting, at_of(row), now, message_share(row));
        last->at_us = at_of(row);
    }
}

/* Shows what is in order up to that time; of the past no more than --last. */
static void show_until(const struct call *call, struct history *h, int64_t until_us)
{
    const struct arguments_given *most = call_given(call, "last");
    if (!h->began && most != NULL) {
        inorder_keep(h->waiting, (size_t)most->number, drop);
    }
    h->began = true;
    inorder_give(h->waiting, until_us, cw_time_add(instant(), (cw_span){-patience.ns}), show_waiting,
                 (void *)(uintptr_t)call);
    fflush(call->out);
}

/* The oldest of the last events: what is asked for lies behind it. Clocks of servers differ. */
static int64_t oldest(const struct history *h)
{
    int64_t at = h->count > 0 ? h->last[0].at_us : 0;
    for (size_t i = 1; i < h->count; i++) {
        at = h->last[i].at_us < at ? h->last[i].at_us : at;
    }
    return at;
}

static int64_t newest(const struct history *h)
{
    int64_t at = 0;
    for (size_t i = 0; i < h->count; i++) {
        at = h->last[i].at_us > at ? h->last[i].at_us : at;
    }
    return at;
}

/*
 * Asks once, and takes what is new; hold: more is to come, of several servers. Every server that answers was asked
 * after this began, so it tells all that had happened until then: what is younger waits for the next time. A server
 * that does not answer is waited for as long as the daemon waits (services/inquiry); what it tells later is late.
 */
static int ask_once(const struct call *call, struct history *h, bool hold)
{
    struct rows rows = {NULL, 0, 0};
    struct request_draft *request = request_draft_open("events", call->server);
    int code = EXIT_FINE;
    int64_t began_us = time_of_day_us();
    if (call_given(call, "all") != NULL) {
        request_draft_flag(request, "all");
    }
    request_draft_integer(request, "after_us", oldest(h));
    int rc = call_ask(call, request, call_patience(call), rows_add, &rows, &code);
    request_draft_close(request);
    if (rc >= 0) {
        take_new(call, &rows, h);
        show_until(call, h, hold ? began_us - cw_span_us(unlike) : INT64_MAX);
    }
    rows_clear(&rows);
    return rc < 0 ? code : EXIT_FINE;
}

/* The events of this daemon as they happen, behind those that were shown. */
static int follow(const struct call *call, const struct history *h)
{
    int code = EXIT_FINE;
    struct request_draft *request = call_request(call, "events");
    if (h->count > 0) {
        request_draft_integer(request, "after_us", newest(h));
    }
    int rc = call_ask(call, request, (cw_span){0}, show_now, (void *)(uintptr_t)call, &code);
    request_draft_close(request);
    return rc < 0 ? code : EXIT_FINE;
}

static int tell(const struct call *call, struct history *h)
{
    bool stay = call_given(call, "follow") != NULL, all = call_given(call, "all") != NULL;
    int code = EXIT_FINE;
    /* q must end it, and --timeout when the daemon does not answer, so that no request may wait for ever. */
    bool ask = (call->keys != NULL && call->keys->on) || call->arguments->timeout.ns > 0;
    if (stay && !all && !ask) {
        code = call_given(call, "last") != NULL ? ask_once(call, h, false) : EXIT_FINE;
        return code == EXIT_FINE ? follow(call, h) : code;
    }
    do {
        code = ask_once(call, h, stay && all); /* one daemon tells its events in their order */
        if (stay && code == EXIT_FINE) {
            call_rest(call, pause);
        }
    } while (stay && code == EXIT_FINE && !*call->stop);
    show_until(call, h, INT64_MAX);
    return code;
}

int run_events(struct call *call)
{
    struct history history = {.waiting = inorder_open()};
    int code = tell(call, &history);
    inorder_close(history.waiting, drop);
    free(history.last);
    return code;
}
