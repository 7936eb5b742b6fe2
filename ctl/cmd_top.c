/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_top.c - live rates: everything is counted already, so two readings of the counters and the time between them
 * suffice.
 */
#include "ctl/commands.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct look {
    struct rows servers, links;
    int64_t at_ns;
};

static int take_look(const struct call *call, struct look *look, int *code)
{
    struct timespec now;
    struct request_draft *status = request_draft_open("status", call->server);
    struct request_draft *links = request_draft_open("links", call->server);
    *look = (struct look){.at_ns = 0};
    int rc = call_ask(call, status, call_patience(call), rows_add, &look->servers, code);
    clock_gettime(CLOCK_MONOTONIC, &now);
    look->at_ns = (int64_t)now.tv_sec * CW_NS_PER_SEC + now.tv_nsec;
    if (rc >= 0) {
        rc = call_ask(call, links, call_patience(call), rows_add, &look->links, code);
    }
    request_draft_close(links);
    request_draft_close(status);
    return rc;
}

static void drop_look(struct look *look)
{
    rows_clear(&look->servers);
    rows_clear(&look->links);
}

static bool is_same(const struct message *a, const struct message *b)
{
    return strcmp(message_get_text(a, "server", ""), message_get_text(b, "server", "")) == 0 &&
           strcmp(message_get_text(a, "link", ""), message_get_text(b, "link", "")) == 0;
}

/*
 * Finds the same server or link in the earlier reading: rows come in the same order, unless the daemon has started
 * anew.
 */
static const struct message *before(const struct rows *earlier, size_t i, const struct message *row)
{
    if (i < earlier->count && is_same(earlier->row[i], row)) {
        return earlier->row[i];
    }
    return row;
}

struct rate {
    const char *field, *name;
    int64_t factor;
};

/* Makes rows of rates: "server", "link" and "state" as they are, each other field a second, by its new name. */
static void make_rates(const struct rows *now, const struct rows *earlier, int64_t span_ns, const struct rate *rates,
                       struct rows *out)
{
    static const char *const kept[] = {"server", "link", "neighbour", "state"};
    for (size_t i = 0; i < now->count; i++) {
        const struct message *row = now->row[i], *old = before(earlier, i, row);
        struct message *made = message_open();
        for (unsigned k = 0; k < sizeof kept / sizeof *kept; k++) {
            if (message_has(row, kept[k])) {
                message_text(made, kept[k], message_get_text(row, kept[k], ""));
            }
        }
        for (const struct rate *r = rates; r->field != NULL; r++) {
            int64_t new = message_get_integer(row, r->field, -1);
            int64_t grown = new - message_get_integer(old, r->field, new);
            if (new >= 0 && r->factor == 0) {
                message_integer(made, r->name, new); /* a level, not a rate */
            } else if (new >= 0) {
                double a_second = (double)grown * 1e9 / (double)(span_ns > 0 ? span_ns : 1);
                message_integer(made, r->name, (int64_t)(a_second * (double)r->factor + 0.5));
            }
        }
        rows_add(out, made);
    }
}

static void print_rates(const struct call *call, const struct rows *servers, const struct rows *links)
{
    static const struct table_column server_columns[] = {
        {"server", "SERVER", TABLE_TEXT},
        {"state", "STATE", TABLE_STATE},
        {"made_per_s", "MADE/S", TABLE_SHORT},
        {"delivered_per_s", "DELIVERED/S", TABLE_SHORT},
        {"forwarded_per_s", "SENT ON/S", TABLE_SHORT},
        {"dropped_per_s", "DROPPED/S", TABLE_SHORT},
        {"inside", "INSIDE", TABLE_SHORT},
        {NULL, NULL, TABLE_TEXT},
    };
    static const struct table_column link_columns[] = {
        {"link", "LINK", TABLE_TEXT},         {"neighbour", "NEIGHBOUR", TABLE_TEXT},
        {"state", "STATE", TABLE_STATE},      {"tx_frames_per_s", "FRAMES OUT/S", TABLE_SHORT},
        {"tx_bits_per_s", "OUT", TABLE_RATE}, {"rx_frames_per_s", "FRAMES IN/S", TABLE_SHORT},
        {"rx_bits_per_s", "IN", TABLE_RATE},  {NULL, NULL, TABLE_TEXT},
    };
    if (call->arguments->json) {
        for (size_t i = 0; i < servers->count + links->count; i++) {
            message_print(i < servers->count ? servers->row[i] : links->row[i - servers->count], call->out);
        }
        return;
    }
    call_wipe(call);
    table_print(servers->row, servers->count, server_columns, call->style, call->out);
    if (servers->count == 1) {
        fputc('\n', call->out);
        table_print(links->row, links->count, link_columns, call->style, call->out);
    }
}

int run_top(struct call *call)
{
    static const struct rate server_rates[] = {
        {"made", "made_per_s", 1},
        {"delivered", "delivered_per_s", 1},
        {"forwarded", "forwarded_per_s", 1},
        {"dropped", "dropped_per_s", 1},
        {"inside", "inside", 0},
        {NULL, NULL, 0},
    };
    static const struct rate link_rates[] = {
        {"tx_frames", "tx_frames_per_s", 1},
        {"tx_bytes", "tx_bits_per_s", 8},
        {"rx_frames", "rx_frames_per_s", 1},
        {"rx_bytes", "rx_bits_per_s", 8},
        {NULL, NULL, 0},
    };
    struct look first, second = {.at_ns = 0};
    struct rows servers = {NULL, 0, 0}, links = {NULL, 0, 0};
    int code = EXIT_FINE;
    int rc = take_look(call, &first, &code);
    if (rc >= 0) {
        call_rest(call, call->arguments->every);
        rc = take_look(call, &second, &code);
    }
    if (rc >= 0) {
        make_rates(&second.servers, &first.servers, second.at_ns - first.at_ns, server_rates, &servers);
        make_rates(&second.links, &first.links, second.at_ns - first.at_ns, link_rates, &links);
        print_rates(call, &servers, &links);
    }
    rows_clear(&servers);
    rows_clear(&links);
    drop_look(&first);
    drop_look(&second);
    return code;
}
