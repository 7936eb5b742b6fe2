/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ask/called.h"

#include "ctl/ask/call.h"

#include <errno.h>
#include <string.h>

static const cw_span patience = CW_MS(300);

struct search {
    const struct find_wish *wish;
    struct find_result *out;
    bool found;
};

static bool is_called(const struct rows *rows, const char *name)
{
    const struct message *m = rows->count == 1 ? rows->row[0] : NULL;
    return m != NULL &&
           (strcmp(message_get_text(m, "name", ""), name) == 0 || strcmp(message_get_text(m, "server", ""), name) == 0);
}

static void look(void *context, const char *socket)
{
    struct search *s = context;
    struct find_wish wish = *s->wish;
    struct find_result at;
    struct rows rows = {NULL, 0, 0};
    struct client *client;
    char why[CLIENT_WHY];
    wish.node = socket;
    if (s->found || find_socket(&wish, &at, why) < 0 || client_open(&client, at.path, why) < 0) {
        return;
    }
    struct request_draft *request = request_draft_open("status", NULL);
    if (client_ask(client, request, patience, rows_add, &rows, why) >= 0 && is_called(&rows, s->wish->node)) {
        s->found = true;
        *s->out = at;
    }
    request_draft_close(request);
    rows_clear(&rows);
    client_close(client);
}

int called_find(const struct find_wish *wish, struct find_result *out)
{
    struct search s = {.wish = wish, .out = out};
    (void)find_each(wish, look, &s);
    return s.found ? 0 : -ENOENT;
}
