/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_view.c - the cluster as a server sees it: the cables.
 */
#include "ctl/commands.h"

#include <stdlib.h>
#include <string.h>

/* "-x of 1,0,0", or nothing. */
static void set_end(struct json_row *row, const char *field, const char *port, const char *server)
{
    char text[80];
    if (json_row_has(row, server)) {
        snprintf(text, sizeof text, "%s of %s", json_row_text(row, port, "?"), json_row_text(row, server, "?"));
        json_row_set_text(row, field, text);
    }
}

void show_wiring(const struct call *call, const struct rows *rows)
{
    static const struct table_column columns[] = {
        {"server", "SERVER", TABLE_TEXT},  {"link", "PORT", TABLE_TEXT},    {"plan", "SHOULD GO TO", TABLE_TEXT},
        {"heard", "IS HEARD", TABLE_TEXT}, {"state", "STATE", TABLE_STATE}, {"ok", "RIGHT", TABLE_FLAG},
        {NULL, NULL, TABLE_TEXT},
    };
    size_t right = 0;
    for (size_t i = 0; i < rows->count; i++) {
        set_end(rows->row[i], "plan", "port", "leads_to");
        set_end(rows->row[i], "heard", "seen_port", "seen");
        right += json_row_flag(rows->row[i], "ok");
    }
    table_print(rows->row, rows->count, columns, call->style, call->out);
    fprintf(call->out, "\n%zu of %zu are right\n", right, rows->count);
    for (size_t i = 0; i < rows->count; i++) {
        const char *fault = json_row_text(rows->row[i], "fault", NULL);
        if (fault != NULL) {
            fprintf(call->out, "%s of %s: %s\n", json_row_text(rows->row[i], "link", "?"),
                    json_row_text(rows->row[i], "server", "?"), fault);
        }
    }
}
