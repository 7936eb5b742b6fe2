/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_key.c - a key explained: its home, who comes after whom, the way there.
 */
#include "ctl/commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_part(const struct message *row, const char *part)
{
    return strcmp(message_get_text(row, "part", ""), part) == 0;
}

/*
 * The server before the root in the key's order that is away, and perhaps alive: until timers.hold is over nobody
 * delivers the key, and from then on the root does. NULL: there is none. One behind the root is of no importance.
 */
static const char *feared_before_root(const struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct message *row = rows->row[i];
        if (!is_part(row, "order")) {
            continue;
        }
        if (strcmp(message_get_text(row, "role", ""), "root") == 0) {
            return NULL;
        }
        if (strcmp(message_get_text(row, "state", ""), "feared") == 0) {
            return message_get_text(row, "server", "?");
        }
    }
    return NULL;
}

static void show_head(const struct call *call, const struct message *row, const char *feared)
{
    char by[TABLE_CELL];
    const char *root = message_get_text(row, "root", "?"), *then = message_get_text(row, "root_then", NULL);
    int64_t hops = message_get_integer(row, "hops", 0);
    message_show(row, "by", by, sizeof by);
    fprintf(call->out, "key    %s\n", message_get_text(row, "key", "?"));
    fprintf(call->out, "home   %s, at place %s of its keys; order %" PRId64 " of 48\n",
            message_get_text(row, "home", "?"), message_get_text(row, "place", "?"),
            message_get_integer(row, "order", 0));
    fprintf(call->out, "root   %s%s%s", table_bold(call->style), root, table_plain(call->style));
    if (hops > 0) {
        fprintf(call->out, ", %" PRId64 " link%s from here, by %s%s\n", hops, hops == 1 ? "" : "s", by,
                feared != NULL ? "; from the end of timers.hold on" : "");
    } else {
        fprintf(call->out, ", here; %s\n",
                message_get_flag(row, "may_deliver") ? "it may deliver now"
                                                     : "it may not deliver yet: others may still own it");
    }
    if (then != NULL) {
        fprintf(call->out, "then   %s%s%s, if those servers died\n", table_bold(call->style), then,
                table_plain(call->style));
    }
}

static void show_order(const struct call *call, const struct rows *rows)
{
    static const struct table_column columns[] = {
        {"place", "PLACE", TABLE_COUNT}, {"server", "SERVER", TABLE_TEXT}, {"state", "STATE", TABLE_STATE},
        {"role", "IS", TABLE_STATE},     {NULL, NULL, TABLE_TEXT},
    };
    struct message **order = calloc(rows->count + 1, sizeof(struct message *));
    const char *feared = feared_before_root(rows), *root = "?";
    size_t count = 0;
    for (size_t i = 0; order != NULL && i < rows->count; i++) {
        if (is_part(rows->row[i], "order")) {
            order[count++] = rows->row[i];
        }
        if (is_part(rows->row[i], "key")) {
            root = message_get_text(rows->row[i], "root", "?");
        }
    }
    if (order != NULL && count > 0) {
        fputc('\n', call->out);
        table_print(order, count, columns, call->style, call->out);
        if (feared != NULL) {
            fprintf(call->out,
                    "feared: %s is away, and perhaps alive, so that this key waits until timers.hold is over; from "
                    "then on %s delivers it\n",
                    feared, root);
        }
    }
    free(order);
}

/* "0,0,0 -[+x]-> 1,0,0 -[+y]-> 1,1,0" */
static void show_path(const struct call *call, const struct rows *rows, const char *leg, const char *title)
{
    bool begun = false;
    for (size_t i = 0; i < rows->count; i++) {
        const struct message *row = rows->row[i];
        if (!is_part(row, "path") || strcmp(message_get_text(row, "leg", ""), leg) != 0) {
            continue;
        }
        const char *out = message_get_text(row, "out", "self");
        if (!begun) {
            fprintf(call->out, "\n%s  ", title);
        }
        begun = true;
        fputs(message_get_text(row, "server", "?"), call->out);
        if (strcmp(out, "self") != 0) {
            fprintf(call->out, " %s-[%s]->%s ", table_faint(call->style), out, table_plain(call->style));
        }
    }
    if (begun) {
        fputc('\n', call->out);
    }
}

void show_key(const struct call *call, const struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (is_part(rows->row[i], "key")) {
            show_head(call, rows->row[i], feared_before_root(rows));
        }
    }
    show_order(call, rows);
    show_path(call, rows, "now", "path");
    show_path(call, rows, "then", "then");
}
