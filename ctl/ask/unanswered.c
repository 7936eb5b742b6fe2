/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ask/unanswered.h"

#include "ctl/ask/call.h"

#include <stdio.h>

/* A thread that is free answers at once, also on a busy machine. */
static const cw_span patience = CW_MS(500);
/* So much later than the request's end the ages are told, at most. */
static const cw_span lag = CW_SEC(1);

/*
 * The command that waits for the longest, of those that came when the request was sent or later: older ones are other
 * people's. NULL: no service has one in hand for as long as the request waited.
 */
static const struct message *oldest(const struct rows *rows, cw_span waited)
{
    const struct message *found = NULL;
    int64_t most = waited.ns / 2; /* the request came to the service a while after it was sent */
    for (size_t i = 0; i < rows->count; i++) {
        int64_t age = message_get_integer(rows->row[i], "command_age_ns", 0);
        if (age > most && age <= waited.ns + lag.ns) {
            most = age;
            found = rows->row[i];
        }
    }
    return found;
}

void unanswered_explain(struct client *c, const char *server, cw_span waited, char why[static CLIENT_WHY])
{
    char ignored[CLIENT_WHY];
    struct rows rows = {NULL, 0, 0};
    struct request_draft *r = request_draft_open("services", server);
    int rc = client_ask(c, r, patience, rows_add, &rows, ignored);
    request_draft_close(r);
    const struct message *row = rc >= 0 ? oldest(&rows, waited) : NULL;
    if (row != NULL) {
        snprintf(why, CLIENT_WHY,
                 "%s: no answer in time: service %s has had the command '%s' in hand for %.1f s and has not ended it, "
                 "which cw_request_done() does; --timeout waits longer",
                 client_path(c), message_get_text(row, "service", "?"), message_get_text(row, "command", ""),
                 (double)message_get_integer(row, "command_age_ns", 0) / 1e9);
    } else if (rc >= 0) {
        snprintf(why, CLIENT_WHY,
                 "%s: no answer in time: nothing came for %.1f s, though the daemon answers other questions now, and "
                 "no service has a command in hand for so long; --timeout waits longer",
                 client_path(c), (double)waited.ns / 1e9);
    }
    rows_clear(&rows);
}
