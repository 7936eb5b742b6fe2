/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_daemon.c - the daemon itself: its configuration; and what is said when there is nothing to show.
 */
#include "ctl/commands.h"

#include <inttypes.h>
#include <string.h>

void show_config(const struct call *call, const struct rows *rows)
{
    size_t width = 0;
    for (size_t i = 0; i < rows->count; i++) {
        size_t cells = table_width(message_get_text(rows->row[i], "key", ""));
        width = cells > width ? cells : width;
    }
    for (size_t i = 0; i < rows->count; i++) {
        fprintf(call->out, "%-*s  %s\n", (int)width, message_get_text(rows->row[i], "key", "?"),
                message_get_text(rows->row[i], "value", ""));
    }
}

void show_done(const struct call *call, const struct rows *rows)
{
    const struct arguments *a = call->arguments;
    const struct message *row = rows->count > 0 ? rows->row[0] : NULL;
    const char *name = call->command->name;
    if (row != NULL && message_has(row, "service")) {
        fprintf(call->out, "service %s runs, job %" PRId64 "\n", message_get_text(row, "service", "?"),
                message_get_integer(row, "job", 0));
    } else if (row != NULL && message_has(row, "already")) {
        fprintf(call->out, "it is so already\n");
    } else if (row != NULL && message_has(row, "level")) {
        fprintf(call->out, "%s\n", message_get_text(row, "level", "?"));
    } else if (row != NULL && message_has(row, "relay")) {
        fprintf(call->out, "relay %s\n", message_get_text(row, "relay", "?"));
    } else if (strcmp(name, "services unload") == 0) {
        fprintf(call->out, "service %s has ended\n", a->word[2]);
    }
}
