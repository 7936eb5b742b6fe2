/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_service.c - services and what they are asked: ping, trace, and commands of their own.
 */
#include "ctl/commands.h"

#include "base/nearest.h"
#include "commandline/units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- A service's own command ------------------------------------------------------------------------------------- */

static enum table_kind kind_of(const char *field)
{
    size_t length = strlen(field);
    if (length > 3 && strcmp(field + length - 3, "_ns") == 0) {
        return TABLE_SPAN;
    }
    return strstr(field, "bytes") != NULL ? TABLE_BYTES : TABLE_COUNT;
}

unsigned show_service_columns(const struct rows *rows, struct table_column *columns, unsigned n, const char *but)
{
    for (size_t i = 0; i < rows->count; i++) {
        const char *field;
        for (size_t f = 0; (field = message_name(rows->row[i], f)) != NULL && n < TABLE_COLUMNS_MAX; f++) {
            unsigned c = 0;
            while (c < n && strcmp(columns[c].field, field) != 0) {
                c++;
            }
            bool number = message_get_integer(rows->row[i], field, INT64_MIN) != INT64_MIN;
            if (message_get_object(rows->row[i], field, 0) != NULL) {
                continue; /* a list of objects fits no cell */
            }
            if (c == n && (but == NULL || strcmp(field, but) != 0)) {
                bool name = strcmp(field, "job") == 0; /* its number is a name, and is written without commas */
                columns[n++] = (struct table_column){field, field, number && !name ? kind_of(field) : TABLE_TEXT};
            }
        }
    }
    return n;
}

const char *show_title(const char *field, char out[static SHOW_TITLE])
{
    size_t length = strlen(field);
    length -= length > 3 && strcmp(field + length - 3, "_ns") == 0 ? 3 : 0;
    snprintf(out, SHOW_TITLE, "%.*s", (int)(length < SHOW_TITLE ? length : SHOW_TITLE - 1), field);
    for (char *c = out; *c != '\0'; c++) {
        *c = *c == '_' ? ' ' : (char)toupper((unsigned char)*c);
    }
    return out;
}

void show_service(const struct call *call, const struct rows *rows)
{
    struct table_column columns[TABLE_COLUMNS_MAX + 1];
    char title[TABLE_COLUMNS_MAX][SHOW_TITLE];
    unsigned n = show_service_columns(rows, columns, 0, NULL);
    columns[n] = (struct table_column){NULL, NULL, TABLE_TEXT};
    if (rows->count == 0) {
        call_say_done(call);
    } else if (rows->count == 1) {
        table_print_record(rows->row[0], columns, call->style, call->out);
    } else {
        for (unsigned i = 0; i < n; i++) {
            columns[i].title = show_title(columns[i].field, title[i]);
        }
        table_print(rows->row, rows->count, columns, call->style, call->out);
    }
}

/* Of the words that were asked about, how many a command begins with: none, if only one of them differs. */
static int words_alike(const struct arguments *a, const char *command)
{
    int i = 2;
    for (; i < a->words && *command != '\0'; i++) {
        size_t length = strcspn(command, " ");
        if (strlen(a->word[i]) != length || memcmp(a->word[i], command, length) != 0) {
            return 0;
        }
        command += length + (command[length] == ' ');
    }
    return i - 2;
}

/* Drops the rows of commands that were not asked about. Of a word that is none, and of no word, all stay. */
static void select_commands(const struct arguments *a, struct rows *rows)
{
    int best = 0;
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        int alike = words_alike(a, message_get_text(rows->row[i], "command", ""));
        best = alike > best ? alike : best;
    }
    for (size_t i = 0; i < rows->count; i++) {
        if (words_alike(a, message_get_text(rows->row[i], "command", "")) == best) {
            struct message *row = rows->row[i];
            rows->row[i] = rows->row[kept];
            rows->row[kept++] = row;
        }
    }
    for (; rows->count > kept; rows->count--) {
        message_close(rows->row[rows->count - 1]);
    }
}

/* "walk SERVER      sends a packet there" */
static void show_commands(const struct call *call, const struct rows *rows)
{
    enum { WIDTH = 26 };
    for (size_t i = 0; i < rows->count; i++) {
        const char *arguments = message_get_text(rows->row[i], "arguments", "");
        const char *words = message_get_text(rows->row[i], "command", "");
        int width = fprintf(call->out, "  %s%s%s", words, arguments[0] != '\0' ? " " : "", arguments);
        fprintf(call->out, "%s%*s%s\n", width > WIDTH ? "\n" : "", width > WIDTH ? WIDTH + 2 : WIDTH + 2 - width, "",
                message_get_text(rows->row[i], "help", ""));
    }
}

static int help_for(const struct call *call)
{
    struct rows rows = {NULL, 0, 0};
    struct request_draft *request = call_request(call, "service-help");
    int code = EXIT_FINE;
    request_draft_word(request, call->arguments->word[1]);
    int rc = call_ask(call, request, call_patience(call), rows_add, &rows, &code);
    select_commands(call->arguments, &rows);
    for (size_t i = 0; rc >= 0 && call->arguments->json && i < rows.count; i++) {
        message_print(rows.row[i], call->out);
    }
    if (rc >= 0 && !call->arguments->json) {
        fprintf(call->out, "usage: cwctl service %s COMMAND [words]\n\nCommands:\n", call->arguments->word[1]);
        show_commands(call, &rows);
    }
    rows_clear(&rows);
    request_draft_close(request);
    return code;
}

int run_service(struct call *call)
{
    const struct arguments *a = call->arguments;
    return a->help || a->words == 2 ? help_for(call) : call_plain(call);
}

/* "version 1.2 (build 0123456789ab)" */
static void show_version(const struct message *row, const char *version, const char *build, FILE *out)
{
    const char *id = message_get_text(row, build, "");
    fprintf(out, "version %s%s%s%s", message_get_text(row, version, "?"), id[0] != '\0' ? " (build " : "", id,
            id[0] != '\0' ? ")" : "");
}

static void show_loaded(const struct call *call, const struct rows *rows)
{
    const struct message *row = rows->count > 0 ? rows->row[0] : NULL;
    bool check = call_given(call, "check") != NULL;
    if (row == NULL || (!check && !message_has(row, "was_version"))) {
        show_done(call, rows);
        return;
    }
    fprintf(call->out, "service %s %s: ", message_get_text(row, "service", "?"), check ? "could be loaded" : "runs");
    show_version(row, "version", "build", call->out);
    if (!check) {
        fprintf(call->out, ", in the place of ");
        show_version(row, "was_version", "was_build", call->out);
    }
    fputc('\n', call->out);
}

/* Makes the path of a file absolute, for the daemon has another current folder. */
int run_load(struct call *call)
{
    struct rows rows = {NULL, 0, 0};
    const char *file = call->arguments->word[2];
    char *whole = call_given(call, "undo") != NULL ? strdup(file) : realpath(file, NULL);
    int code = EXIT_FINE;
    if (whole == NULL) {
        fprintf(call->errors, "cwctl: %s: no such file, or it may not be read\n", file);
        return EXIT_NO;
    }
    struct request_draft *request = call_request(call, call->command->request);
    request_draft_word(request, whole);
    if (call->takes_back) {
        request_draft_flag(request, "taken_back");
    }
    int rc = call_ask(call, request, call_patience(call), rows_add, &rows, &code);
    if (rc >= 0 && call->arguments->json && rows.count > 0) {
        message_print(rows.row[0], call->out);
    } else if (rc >= 0) {
        show_loaded(call, &rows);
    }
    rows_clear(&rows);
    request_draft_close(request);
    free(whole);
    return code;
}

/* ---- ping -------------------------------------------------------------------------------------------------------- */

struct pinging {
    const struct call *call;
    int64_t sent, lost, unreachable, miscounted;
};

static void span_of(const struct message *row, const char *field, char out[static UNITS_TEXT])
{
    units_span(message_get_integer(row, field, 0), out);
}

static void show_one(const struct call *call, const struct message *row)
{
    char rtt[UNITS_TEXT];
    const char *server = message_get_text(row, "server", NULL);
    fprintf(call->out, "%s%sseq %" PRId64 ": ", server != NULL ? server : "", server != NULL ? " " : "",
            message_get_integer(row, "seq", 0));
    if (message_has(row, "lost")) {
        fprintf(call->out, "lost\n");
        return;
    }
    span_of(row, "rtt_ns", rtt);
    int64_t there = message_get_integer(row, "hops_there", 0);
    fprintf(call->out, "%s, %" PRId64 " link%s there, %" PRId64 " back\n", rtt, there, there == 1 ? "" : "s",
            message_get_integer(row, "hops_back", 0));
}

/* "3", or "1 to 3". */
static void show_range(const struct call *call, const struct message *row, const char *least, const char *most)
{
    int64_t a = message_get_integer(row, least, 0), b = message_get_integer(row, most, 0);
    if (a == b) {
        fprintf(call->out, "%" PRId64, a);
    } else {
        fprintf(call->out, "%" PRId64 " to %" PRId64, a, b);
    }
}

static void show_sum(const struct call *call, const struct message *row)
{
    char least[UNITS_TEXT], mean[UNITS_TEXT], most[UNITS_TEXT];
    int64_t received = message_get_integer(row, "received", 0);
    const char *server = message_get_text(row, "server", NULL);
    bool many = strcmp(call->arguments->word[1], "all") == 0;
    if (server != NULL && !many) {
        fprintf(call->out, "%s: ", server);
    }
    fprintf(call->out, "%" PRId64 " sent, %" PRId64 " answered, %" PRId64 " lost\n",
            message_get_integer(row, "sent", 0), received, message_get_integer(row, "lost", 0));
    if (received > 0) {
        span_of(row, "rtt_min_ns", least);
        span_of(row, "rtt_mean_ns", mean);
        span_of(row, "rtt_max_ns", most);
        if (received == 1) {
            fprintf(call->out, "round trip %s; ", mean);
        } else {
            fprintf(call->out, "round trip %s at least, %s on average, %s at most; ", least, mean, most);
        }
        show_range(call, row, "hops_there_min", "hops_there_max");
        fprintf(call->out, " link%s there, ", message_get_integer(row, "hops_there_max", 0) == 1 ? "" : "s");
        show_range(call, row, "hops_back_min", "hops_back_max");
        fprintf(call->out, " back\n");
    }
    int64_t unreachable = message_get_integer(row, "unreachable", 0);
    if (unreachable > 0) {
        fprintf(call->out, "%" PRId64 " server%s cannot be reached, and %s not asked; \"cwctl servers\" says which\n",
                unreachable, unreachable == 1 ? "" : "s", unreachable == 1 ? "was" : "were");
    }
    if (message_get_integer(row, "miscounted", 0) > 0) {
        fprintf(call->out, "%" PRId64 " counted other links than the runtime: that is a fault of cubeway\n",
                message_get_integer(row, "miscounted", 0));
    }
}

static void take_ping(void *context, struct message *row)
{
    struct pinging *p = context;
    bool sum = message_has(row, "sent");
    if (sum) {
        p->sent = message_get_integer(row, "sent", 0);
        p->lost = message_get_integer(row, "lost", 0);
        p->unreachable = message_get_integer(row, "unreachable", 0);
        p->miscounted = message_get_integer(row, "miscounted", 0);
    }
    if (p->call->arguments->json) {
        message_print(row, p->call->out);
    } else if (sum && p->sent > 0) {
        show_sum(p->call, row);
    } else if (!sum) {
        show_one(p->call, row);
    }
    fflush(p->call->out);
    message_close(row);
}

static int64_t given(const struct arguments *a, const char *name, int64_t otherwise)
{
    for (int i = 0; i < a->options; i++) {
        if (strcmp(a->given[i].option->name, name) == 0) {
            otherwise = a->given[i].number;
        }
    }
    return otherwise;
}

/* Waits as long as all packets may take, one after the other, and then as long as for any answer. */
static cw_span patience_for(const struct call *call)
{
    const struct arguments *a = call->arguments;
    int64_t each = given(a, "lost-after", 1000000) + given(a, "interval", 0);
    int64_t count = strcmp(a->word[1], "all") == 0 ? 4096 : given(a, "count", 1);
    int64_t ns;
    if (a->timeout.ns > 0 || __builtin_mul_overflow(each, count, &ns) || __builtin_mul_overflow(ns, 1000, &ns)) {
        return a->timeout; /* zero means for ever */
    }
    return cw_span_add(call_patience(call), CW_NS(ns));
}

/* Is it one of the forms that the usage shows? Services take more, as "count=3", which is theirs to refuse. */
static bool check_aim(const struct call *call)
{
    static const char *const aims[] = {"key", "all", "far", NULL};
    const struct arguments *a = call->arguments;
    const char *word = a->word[1], *more = a->words > 2 ? a->word[2] : NULL;
    bool server = call_is_server(word), all = strcmp(word, "all") == 0;
    bool known = server || strcmp(word, "to") == 0; /* "to SERVER" is how the service has it */
    for (size_t i = 0; aims[i] != NULL; i++) {
        known = known || strcmp(word, aims[i]) == 0;
    }
    if (!known) {
        const char *near = nearest_word(word, aims);
        fprintf(call->errors, "cwctl: ping %.60s: expected SERVER, key KEY, all or far [N]%s%s%s\n", word,
                near != NULL ? "; did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
    } else if (strcmp(word, "key") == 0 && more == NULL) {
        fprintf(call->errors, "cwctl: ping key: of which KEY? usage: cwctl ping key KEY\n");
        known = false;
    } else if ((server || all) && more != NULL && strchr(more, '=') == NULL) {
        fprintf(call->errors, "cwctl: ping %s: what is '%.60s'? cwctl ping --help says what it takes\n", word, more);
        known = false;
    }
    return known;
}

int run_ping(struct call *call)
{
    const struct arguments *a = call->arguments;
    if (!check_aim(call)) {
        return EXIT_USAGE;
    }
    if (strcmp(a->word[1], "all") == 0 && given(a, "count", -1) >= 0) {
        fprintf(call->errors, "cwctl: --count is not for ping all: each server gets one packet\n");
        return EXIT_USAGE;
    }
    struct request_draft *request = call_request(call, "ping");
    struct pinging p = {.call = call};
    int code = EXIT_FINE, from = 1;
    char hops[64];
    if (call_is_server(a->word[1])) {
        request_draft_word(request, "to");
    } else if (a->words == 3 && strcmp(a->word[1], "far") == 0 && a->word[2][0] >= '0' && a->word[2][0] <= '9') {
        snprintf(hops, sizeof hops, "hops=%.50s", a->word[2]);
        request_draft_word(request, "far");
        request_draft_word(request, hops);
        from = 3;
    }
    for (int i = from; i < a->words; i++) {
        request_draft_word(request, a->word[i]);
    }
    int rc = call_ask(call, request, patience_for(call), take_ping, &p, &code);
    request_draft_close(request);
    if (rc >= 0 && p.sent == 0) {
        fprintf(call->errors, "cwctl: nobody else is in view; \"cwctl servers\" and \"cwctl links\" say why\n");
        return EXIT_NO;
    }
    return rc < 0 ? code : p.lost > 0 || p.unreachable > 0 || p.miscounted > 0 ? EXIT_NO : EXIT_FINE;
}

/* ---- trace ------------------------------------------------------------------------------------------------------- */

static const char *verdict_of(const struct message *row)
{
    bool made = strcmp(message_get_text(row, "in", ""), "self") == 0;
    bool taken = strcmp(message_get_text(row, "out", ""), "self") == 0;
    return taken ? "taken" : made ? "made" : "sent on";
}

static void show_trace(const struct call *call, const struct rows *rows)
{
    static const struct table_column columns[] = {
        {"leg", "WAY", TABLE_TEXT},      {"hop", "HOP", TABLE_COUNT},          {"server", "SERVER", TABLE_TEXT},
        {"in", "CAME BY", TABLE_TEXT},   {"verdict", "WAS", TABLE_TEXT},       {"out", "LEFT BY", TABLE_TEXT},
        {"wait_ns", "WAIT", TABLE_SPAN}, {"queued", "BEFORE IT", TABLE_COUNT}, {NULL, NULL, TABLE_TEXT},
    };
    size_t hops = 0;
    const struct message *last = rows->count > 0 ? rows->row[rows->count - 1] : NULL;
    for (; hops < rows->count && message_has(rows->row[hops], "leg"); hops++) {
        message_text(rows->row[hops], "verdict", verdict_of(rows->row[hops]));
    }
    if (last == NULL || !message_has(last, "rtt_ns") || message_get_integer(last, "hops_there", 0) > 0) {
        table_print(rows->row, hops, columns, call->style, call->out);
    }
    if (last != NULL && message_has(last, "rtt_ns")) {
        char rtt[UNITS_TEXT];
        units_span(message_get_integer(last, "rtt_ns", 0), rtt);
        int64_t there = message_get_integer(last, "hops_there", 0);
        const char *server = message_get_text(last, "server", "?");
        if (there == 0) {
            fprintf(call->out, "%s itself took it: the packet crossed no link\n", server);
            return;
        }
        fprintf(call->out, "\n%s took it; there and back in %s, over %" PRId64 " link%s there, %" PRId64 " back\n",
                server, rtt, there, there == 1 ? "" : "s", message_get_integer(last, "hops_back", 0));
        if (!message_get_flag(last, "complete")) {
            fprintf(call->out, "the way was longer than the reports that fit into the packet: some are missing\n");
        }
    }
}

/* Numbers with commas that are not three: a server that was mistyped, and a key only where that is said. */
static bool is_nearly_server(const char *word)
{
    return strchr(word, ',') != NULL && strspn(word, "0123456789,") == strlen(word) && !call_is_server(word);
}

int run_trace(struct call *call)
{
    const struct arguments *a = call->arguments;
    if (a->words == 2 && is_nearly_server(a->word[1])) {
        fprintf(
            call->errors,
            "cwctl: trace %.60s: a server is three numbers, as 0,1,2; trace key %.60s traces the key of that name\n",
            a->word[1], a->word[1]);
        return EXIT_USAGE;
    }
    struct request_draft *request = call_request(call, "trace");
    struct rows rows = {NULL, 0, 0};
    int code = EXIT_FINE;
    if (a->words == 2) {
        request_draft_word(request, call_is_server(a->word[1]) ? "to" : "key");
    }
    for (int i = 1; i < a->words; i++) {
        request_draft_word(request, a->word[i]);
    }
    cw_span patience = cw_span_add(call_patience(call), CW_US(given(a, "lost-after", 1000000)));
    int rc = call_ask(call, request, a->timeout.ns > 0 ? a->timeout : patience, rows_add, &rows, &code);
    rows_type(&rows, "complete", "");
    for (size_t i = 0; rc >= 0 && a->json && i < rows.count; i++) {
        message_print(rows.row[i], call->out);
    }
    if (rc >= 0 && !a->json) {
        show_trace(call, &rows);
    }
    rows_clear(&rows);
    request_draft_close(request);
    return code;
}
