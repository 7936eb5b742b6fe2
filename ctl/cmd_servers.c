/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_servers.c - every server as one of them sees it; and of those that are away, whether their neighbours hear them.
 */
#include "ctl/commands.h"
#include "ctl/diagnosis/near.h"

#include <string.h>

static bool is_away(const struct message *row)
{
    static const char *const states[] = {"left", "down", "feared"};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        if (strcmp(message_get_text(row, "state", ""), states[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* The view knows only that they are away. Their neighbours are asked when there are any. */
static void ask_neighbours(const struct call *call, struct rows *rows)
{
    struct rows findings = {NULL, 0, 0};
    bool asked = false;
    for (size_t i = 0; i < rows->count; i++) {
        struct message *row = rows->row[i];
        if (!is_away(row)) {
            continue;
        }
        if (!asked && doctor_of_all(call, &findings) < 0) {
            break;
        }
        asked = true;
        if (diagnose_refused(&findings, message_get_text(row, "server", "")) != NULL) {
            message_text(row, "state", "refused");
        }
    }
    rows_clear(&findings);
}

int run_servers(struct call *call)
{
    struct rows rows = {NULL, 0, 0};
    struct request_draft *request = call_request(call, "servers");
    int code = EXIT_FINE;
    int rc = call_ask(call, request, call_patience(call), rows_add, &rows, &code);
    request_draft_close(request);
    if (rc >= 0) {
        ask_neighbours(call, &rows);
    }
    for (size_t i = 0; call->arguments->json && i < rows.count; i++) {
        message_print(rows.row[i], call->out);
    }
    if (!call->arguments->json && (rc >= 0 || rows.count > 0)) {
        table_print(rows.row, rows.count, call->command->columns, call->style, call->out);
    }
    rows_clear(&rows);
    return rc < 0 ? code : rc > 0 ? EXIT_NO : EXIT_FINE;
}
