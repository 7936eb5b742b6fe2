/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_events.c - what has happened, in order, of one server or of all; and what happens, as it happens.
 */
#include "ctl/commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SERVERS_MOST = 4096, NAME = 16 };
static const cw_span pause = CW_SEC(1); /* how often all servers are asked again */

/* The last event of a server that was shown. */
struct shown {
    char server[NAME];
    int64_t at_us;
};

/* Everything that has been shown, while all servers are followed. */
struct history {
    struct shown *last;
    size_t count;
};

static int64_t at_of(const struct message *row)
{
    return message_get_integer(row, "at_us", 0);
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

static void show_event(const struct call *call, const struct message *row)
{
    char time[40];
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
    fprintf(call->out, "%s%s%s  %-9s  %-9s  %s\n", table_faint(call->style), time, table_plain(call->style),
            message_get_text(row, "server", "-"), message_get_text(row, "kind", "?"),
            message_get_text(row, "text", ""));
}

/* ---- As it happens ----------------------------------------------------------------------------------------------- */

static void show_now(void *context, struct message *row)
{
    const struct call *call = context;
    show_event(call, row);
    fflush(call->out);
    message_close(row);
}

/* ---- All servers ------------------------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    int64_t x = at_of(*(struct message *const *)a), y = at_of(*(struct message *const *)b);
    return (x > y) - (x < y);
}

static struct shown *last_of(struct history *h, const char *server)
{
    for (size_t i = 0; i < h->count; i++) {
        if (strcmp(h->last[i].server, server) == 0) {
            return &h->last[i];
        }
    }
    struct shown *more = h->count < SERVERS_MOST ? realloc(h->last, (h->count + 1) * sizeof *more) : NULL;
    if (more == NULL) {
        return NULL;
    }
    h->last = more;
    more[h->count] = (struct shown){.at_us = 0};
    snprintf(more[h->count].server, NAME, "%s", server);
    return &more[h->count++];
}

/*
 * Shows what was not shown before, in order of time. An event of a daemon that has no place yet bears no server.
 */
static void show_new(const struct call *call, const struct rows *rows, struct history *h)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct message *row = rows->row[i];
        const char *server = message_get_text(row, "server", "-");
        struct shown *last = message_has(row, "at_us") ? last_of(h, server) : NULL;
        if (message_has(row, "asked") || (last != NULL && at_of(row) <= last->at_us)) {
            continue;
        }
        show_event(call, row);
        if (last != NULL) {
            last->at_us = at_of(row);
        }
    }
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

static int ask_once(const struct call *call, struct history *h)
{
    struct rows rows = {NULL, 0, 0};
    struct request_draft *request = request_draft_open("events", call->server);
    int code = EXIT_FINE;
    if (call_given(call, "all") != NULL) {
        request_draft_flag(request, "all");
    }
    request_draft_integer(request, "after_us", oldest(h));
    int rc = call_ask(call, request, call_patience(call), rows_add, &rows, &code);
    request_draft_close(request);
    if (rc >= 0 && rows.count > 0) {
        qsort(rows.row, rows.count, sizeof *rows.row, by_time);
        show_new(call, &rows, h);
    }
    rows_clear(&rows);
    return rc < 0 ? code : EXIT_FINE;
}

int run_events(struct call *call)
{
    struct history history = {NULL, 0};
    bool stay = call_given(call, "follow") != NULL, all = call_given(call, "all") != NULL;
    int code = EXIT_FINE;
    /* q must end it, and --timeout when the daemon does not answer, so that no request may wait for ever. */
    bool ask = (call->keys != NULL && call->keys->on) || call->arguments->timeout.ns > 0;
    if (stay && !all && !ask) {
        struct request_draft *request = call_request(call, "events");
        int rc = call_ask(call, request, (cw_span){0}, show_now, call, &code);
        request_draft_close(request);
        return rc < 0 ? code : EXIT_FINE;
    }
    do {
        code = ask_once(call, &history);
        if (stay && code == EXIT_FINE) {
            call_rest(call, pause);
        }
    } while (stay && code == EXIT_FINE && !*call->stop);
    free(history.last);
    return code;
}
