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
        size_t cells = table_width(json_row_text(rows->row[i], "key", ""));
        width = cells > width ? cells : width;
    }
    for (size_t i = 0; i < rows->count; i++) {
        fprintf(call->out, "%-*s  %s\n", (int)width, json_row_text(rows->row[i], "key", "?"),
                json_row_text(rows->row[i], "value", ""));
    }
}

void show_done(const struct call *call, const struct rows *rows)
{
    const struct arguments *a = call->arguments;
    const struct json_row *row = rows->count > 0 ? rows->row[0] : NULL;
    const char *name = call->command->name;
    if (row != NULL && json_row_has(row, "service")) {
        fprintf(call->out, "service %s runs, job %" PRId64 "\n", json_row_text(row, "service", "?"),
                json_row_integer(row, "job", 0));
    } else if (row != NULL && json_row_has(row, "level")) {
        fprintf(call->out, "%s\n", json_row_text(row, "level", "?"));
    } else if (strcmp(name, "leave") == 0) {
        fprintf(call->out, "it leaves the cluster and ends\n");
    } else if (strcmp(name, "services unload") == 0) {
        fprintf(call->out, "service %s has ended\n", a->word[2]);
    }
}
