/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_node.c - one server by itself: status, counters, drops.
 */
#include "ctl/commands.h"

#include "commandline/units.h"

#include <stdlib.h>
#include <string.h>

/* "8 of 8"; nothing before the server has its place. */
static void set_in_view(struct message *row)
{
    char reachable[UNITS_TEXT], servers[UNITS_TEXT], text[2 * UNITS_TEXT + 8];
    if (message_has(row, "reachable") && message_has(row, "servers")) {
        units_count(message_get_integer(row, "reachable", 0), reachable);
        units_count(message_get_integer(row, "servers", 0), servers);
        snprintf(text, sizeof text, "%s of %s", reachable, servers);
        message_text(row, "in_view", text);
    }
}

void show_status(const struct call *call, const struct rows *rows)
{
    static const struct table_column columns[] = {
        {"server", "server", TABLE_TEXT},
        {"state", "state", TABLE_STATE},
        {"name", "name", TABLE_TEXT},
        {"torus", "torus", TABLE_TEXT},
        {"cluster", "cluster", TABLE_TEXT},
        {"in_view", "servers in view", TABLE_TEXT},
        {"majority", "majority", TABLE_TEXT},
        {"links_up", "links up", TABLE_TEXT},
        {"links_missing", "links missing", TABLE_TEXT},
        {"made", "packets made", TABLE_COUNT},
        {"delivered", "delivered here", TABLE_COUNT},
        {"forwarded", "sent on", TABLE_COUNT},
        {"dropped", "dropped here", TABLE_COUNT},
        {"inside", "inside now", TABLE_COUNT},
        {"services", "services", TABLE_COUNT},
        {"mtu", "mtu", TABLE_COUNT},
        {"memory_bytes", "memory", TABLE_BYTES},
        {"node_memory_bytes", "of that, the node", TABLE_BYTES},
        {"uptime_ns", "running for", TABLE_SPAN},
        {"priority", "priority", TABLE_TEXT},
        {"priority_note", "priority lacks", TABLE_TEXT},
        {"stalls", "times kept waiting", TABLE_COUNT},
        {"stall_longest_ns", "for at most", TABLE_SPAN},
        {"stall_last_ns", "last time, ago", TABLE_SPAN},
        {"holds", "times held by a service", TABLE_COUNT},
        {"hold_service", "longest by", TABLE_TEXT},
        {"hold_upcall", "in its", TABLE_TEXT},
        {"hold_longest_ns", "for", TABLE_SPAN},
        {"hold_last_ns", "last hold, ago", TABLE_SPAN},
        {"incarnation", "incarnation", TABLE_TEXT},
        {"pid", "process", TABLE_TEXT},
        {"version", "version", TABLE_TEXT},
        {NULL, NULL, TABLE_TEXT},
    };
    static const struct table_column many[] = {
        {"server", "SERVER", TABLE_TEXT},
        {"state", "STATE", TABLE_STATE},
        {"reachable", "IN VIEW", TABLE_COUNT},
        {"links_up", "LINKS UP", TABLE_TEXT},
        {"made", "MADE", TABLE_SHORT},
        {"delivered", "DELIVERED", TABLE_SHORT},
        {"forwarded", "SENT ON", TABLE_SHORT},
        {"dropped", "DROPPED", TABLE_SHORT},
        {"inside", "INSIDE", TABLE_SHORT},
        {"node_memory_bytes", "NODE MEMORY", TABLE_BYTES},
        {NULL, NULL, TABLE_TEXT},
    };
    if (rows->count == 1) {
        set_in_view(rows->row[0]);
        table_print_record(rows->row[0], columns, call->style, call->out);
    } else {
        table_print(rows->row, rows->count, many, call->style, call->out);
    }
}

/* Rows of more than one server. */
static bool are_several(const struct rows *rows)
{
    for (size_t i = 1; i < rows->count; i++) {
        if (strcmp(message_get_text(rows->row[i], "server", ""), message_get_text(rows->row[0], "server", "")) != 0) {
            return true;
        }
    }
    return false;
}

void show_counters(const struct call *call, const struct rows *rows)
{
    static const struct table_column columns[] = {
        {"server", "SERVER", TABLE_TEXT}, {"group", "OF", TABLE_TEXT}, {"counter", "COUNTER", TABLE_TEXT},
        {"value", "VALUE", TABLE_COUNT},  {NULL, NULL, TABLE_TEXT},
    };
    struct message **some = calloc(rows->count + 1, sizeof(struct message *));
    size_t count = 0;
    for (size_t i = 0; some != NULL && i < rows->count; i++) {
        if (message_get_integer(rows->row[i], "value", 0) != 0) {
            some[count++] = rows->row[i];
        }
    }
    if (some != NULL) {
        table_print(some, count, columns + !are_several(rows), call->style, call->out);
    }
    free(some);
}

void show_drops(const struct call *call, const struct rows *rows)
{
    if (rows->count == 0) {
        fprintf(call->out, "nothing was dropped\n");
        return;
    }
    const struct table_column *columns = call->command->columns;
    table_print(rows->row, rows->count, columns + !are_several(rows), call->style, call->out);
}

/* ---- links ------------------------------------------------------------------------------------------------------- */

static const char kernel[] = "kernel", why_not[] = "no_relay";

/* Why there is no relay is a sentence: it has no room in a table, and is the same for most links. */
static void shorten_relay(struct message *row)
{
    char why[200];
    snprintf(why, sizeof why, "%s", message_get_text(row, "relay", ""));
    if (why[0] != '\0' && strcmp(why, kernel) != 0) {
        message_text(row, why_not, why);
        message_text(row, "relay", "no");
    }
}

static bool is_told(const struct rows *rows, size_t below, const char *why)
{
    for (size_t i = 0; i < below; i++) {
        if (strcmp(message_get_text(rows->row[i], why_not, ""), why) == 0) {
            return true;
        }
    }
    return false;
}

/* A link that is not up needs no word: its state says so. */
void show_links(const struct call *call, const struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        shorten_relay(rows->row[i]);
    }
    table_print(rows->row, rows->count, call->command->columns, call->style, call->out);
    for (size_t i = 0; i < rows->count; i++) {
        const char *why = message_get_text(rows->row[i], why_not, "");
        if (why[0] != '\0' && message_get_flag(rows->row[i], "up") && !is_told(rows, i, why)) {
            fprintf(call->out, "\nno relay: %s\n", why);
        }
    }
}
