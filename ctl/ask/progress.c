/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ask/progress.h"

#include "base/utf8.h"
#include "commandline/units.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_CELLS = 60,  /* of a name on a line without a bar */
    LABEL_CELLS = 24, /* of what stands before a bar */
    BAR_LEAST = 10,   /* cells; where there is less room no bar is drawn */
    BAR_MOST = 40,
    NAMED_MOST = 4, /* servers that a sentence names; the others are counted */
};

static int64_t number(const struct message *row, const char *name)
{
    return message_get_integer(row, name, 0);
}

/* The verb of "N of M servers": "1 of 7 has", "0 of 1 has", "2 of 7 have". */
static const char *has(int64_t n, int64_t of)
{
    return n == 1 || of == 1 ? "has" : "have";
}

static int percent_of(int64_t part, int64_t whole)
{
    return whole > 0 ? (int)((double)part * 100 / (double)whole) : 100;
}

/* Appends to text, which holds at most PROGRESS_LINE bytes; what has no room is left out. */
__attribute__((format(printf, 2, 3))) static void add(char *text, const char *format, ...)
{
    size_t length = strlen(text);
    va_list list;
    va_start(list, format);
    vsnprintf(text + length, PROGRESS_LINE - length, format, list);
    va_end(list);
}

/* The bytes of the first characters of text that take at most so many cells. */
static int fit(const char *text, size_t cells)
{
    size_t bytes = 0, used = 0;
    for (; text[bytes] != '\0'; bytes++) {
        bool begins = ((unsigned char)text[bytes] & 0xc0) != 0x80;
        if (begins && used == cells) {
            break;
        }
        used += begins;
    }
    return (int)bytes;
}

/* ---- On the way -------------------------------------------------------------------------------------------------- */

/* The name of the file, as a terminal may see it. */
static const char *name_of(const struct message *row, char out[static PROGRESS_LINE])
{
    const char *name = message_get_text(row, "name", "?");
    (void)utf8_show(name, strlen(name), out, PROGRESS_LINE);
    return out;
}

/* What a row is about, how much of it is done, and what stands beside that. */
struct facts {
    const char *label;
    int percent;
    char name[PROGRESS_LINE], rest[PROGRESS_LINE];
};

static void add_rate(const struct message *row, char *text)
{
    char shown[UNITS_TEXT];
    if (number(row, "bits_per_s") > 0) {
        units_rate((uint64_t)number(row, "bits_per_s"), shown);
        add(text, ", %s", shown);
    }
    if (message_has(row, "left_ns")) {
        units_span(number(row, "left_ns"), shown);
        add(text, ", %s left", shown);
    }
}

static void read_sending(const struct message *row, struct facts *f)
{
    int64_t bytes = number(row, "bytes"), already = number(row, "had_already");
    const char *slowest = message_get_text(row, "slowest", NULL);
    f->percent = percent_of(number(row, "there_bytes"), bytes);
    int64_t complete = number(row, "complete"), members = number(row, "members");
    add(f->rest, ", %" PRId64 " of %" PRId64 " %s it", complete, members, has(complete, members));
    if (already > 0) {
        add(f->rest, ", %" PRId64 " had it already", already);
    }
    if (number(row, "failed") > 0) {
        add(f->rest, ", %" PRId64 " failed", number(row, "failed"));
    }
    if (slowest != NULL) {
        add(f->rest, ", slowest %s %d %%", slowest, percent_of(number(row, "slowest_bytes"), bytes));
    }
    add_rate(row, f->rest);
}

static void read_row(const struct message *row, struct facts *f)
{
    *f = (struct facts){.percent = 0};
    f->label = name_of(row, f->name);
    if (message_has(row, "what")) {
        f->label = message_get_text(row, "server", "?");
        f->percent = percent_of(number(row, "there_bytes"), number(row, "bytes"));
        add(f->rest, ", %s", message_get_text(row, "state", "?"));
        add_rate(row, f->rest);
    } else if (message_has(row, "digested_bytes")) {
        f->percent = percent_of(number(row, "digested_bytes"), number(row, "bytes"));
        add(f->rest, " digested");
    } else {
        read_sending(row, f);
    }
}

void progress_line(const struct message *row, char out[static PROGRESS_LINE])
{
    struct facts f;
    char total[UNITS_TEXT];
    read_row(row, &f);
    units_bytes((uint64_t)number(row, "bytes"), total);
    out[0] = '\0';
    if (message_has(row, "what")) {
        add(out, "  slow: %s: %d %%%s", f.label, f.percent, f.rest);
    } else {
        add(out, "%.*s: %d %% of %s%s", fit(f.label, NAME_CELLS), f.label, f.percent, total, f.rest);
    }
}

void progress_bar(const struct message *row, unsigned columns, struct table_style style, char out[static PROGRESS_LINE])
{
    struct facts f;
    char tail[PROGRESS_LINE], label[PROGRESS_LINE] = "", cells[BAR_MOST + 1];
    read_row(row, &f);
    snprintf(tail, sizeof tail, "%3d %%%.400s", f.percent, f.rest);
    add(label, "%s%.*s", message_has(row, "what") ? "  " : "", fit(f.label, LABEL_CELLS), f.label);
    size_t taken = table_width(label) + table_width(tail) + strlen(" [] ");
    size_t room = columns > taken ? columns - taken : 0;
    out[0] = '\0';
    if (room < BAR_LEAST) {
        add(label, " %.*s", PROGRESS_LINE / 2, tail);
        add(out, "%.*s", fit(label, columns), label);
        return;
    }
    room = room < BAR_MOST ? room : BAR_MOST;
    size_t full = room * (size_t)(f.percent < 100 ? f.percent : 100) / 100;
    memset(cells, ' ', room);
    memset(cells, '=', full);
    if (full > 0 && full < room) {
        cells[full - 1] = '>';
    }
    add(out, "%s [%s%.*s%s] %s", label, style.colour ? "\033[32m" : "", (int)room, cells, table_plain(style), tail);
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static int by_missed(const void *a, const void *b)
{
    int64_t one = number(*(struct message *const *)a, "missed_bytes");
    int64_t other = number(*(struct message *const *)b, "missed_bytes");
    return one < other ? 1 : -(one > other);
}

/* Appends "1,0,0, 2,0,2 and 5 others": the servers of the first `count` of these rows. */
static void add_servers(struct message *const *row, size_t count, char *out)
{
    size_t named = count <= NAMED_MOST ? count : NAMED_MOST;
    for (size_t i = 0; i < named; i++) {
        bool last = i > 0 && i + 1 == count;
        add(out, "%s%s", i == 0 ? "" : last ? " and " : ", ", message_get_text(row[i], "server", "?"));
    }
    if (count > named) {
        add(out, " and %zu other%s", count - named, count - named == 1 ? "" : "s");
    }
}

/* The rows of those members of which is_meant() is true, for the caller to free; NULL: no memory. */
static struct message **choose(struct message *const *row, size_t count, bool (*is_meant)(const struct message *member),
                               size_t *chosen)
{
    struct message **out = calloc(count + 1, sizeof *out);
    *chosen = 0;
    for (size_t i = 1; out != NULL && i < count; i++) {
        if (is_meant(row[i])) {
            out[(*chosen)++] = row[i];
        }
    }
    return out;
}

static bool has_missed(const struct message *member)
{
    return number(member, "missed_bytes") > 0;
}

static bool is_contested(const struct message *member)
{
    return message_has(member, "contested_by");
}

static bool is_complete(const struct message *member)
{
    return strcmp(message_get_text(member, "state", ""), "complete") == 0;
}

/* The members for whom most was sent again first; "" where nothing was. */
static void name_missers(struct message *const *row, size_t count, char *out)
{
    size_t missers;
    struct message **sorted = choose(row, count, has_missed, &missers);
    if (missers > 0) {
        qsort(sorted, missers, sizeof *sorted, by_missed);
        add_servers(sorted, missers, out);
    }
    free(sorted);
}

/* Why bytes were sent again: nothing, if none were. */
static void print_repeats(struct message *const *row, size_t count, FILE *out)
{
    static const char *const field[] = {"missed_bytes", "lost_bytes", "mended_bytes"};
    char missed[PROGRESS_LINE] = "that ", amount[UNITS_TEXT];
    name_missers(row, count, missed);
    add(missed, "%s had missed", strcmp(missed, "that ") == 0 ? "members" : "");
    const char *const why[] = {missed, "that were lost on cables", "by a second way, while one was mended"};
    bool any = false;
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
        if (number(row[0], field[i]) > 0) {
            units_bytes((uint64_t)number(row[0], field[i]), amount);
            fprintf(out, "%s%s %s", any ? "; " : "  sent again: ", amount, why[i]);
            any = true;
        }
    }
    fprintf(out, any ? "\n" : "");
}

static void print_rate(const struct message *sum, FILE *out)
{
    int64_t complete = number(sum, "complete"), already = number(sum, "had_already");
    char rate[UNITS_TEXT];
    units_rate((uint64_t)number(sum, "least_bits_per_s"), rate);
    if (already > 0 && already == complete) {
        fprintf(out, complete == 1 ? ", and had it already" : ", and all of them had it already");
    } else if (already > 0) {
        fprintf(out, "; %" PRId64 " had it already, the %s one got it at %s", already,
                complete - already == 1 ? "other" : "slowest other", rate);
    } else if (complete > 0 && number(sum, "bytes") > 0) {
        fprintf(out, complete == 1 ? ", at %s" : ", the slowest at %s", rate);
    }
}

/* Of the servers that had a part of the file before. Those that had all of it are told of elsewhere. */
static void print_before(struct message *const *row, size_t count, FILE *out)
{
    int64_t bytes = number(row[0], "bytes"), sum = 0, having = 0;
    const char *server = "it";
    char text[UNITS_TEXT];
    for (size_t i = 1; i < count; i++) {
        int64_t before = number(row[i], "before_bytes");
        if (is_complete(row[i]) && before > 0 && before < bytes) {
            server = message_get_text(row[i], "server", "it");
            sum += before;
            having++;
        }
    }
    if (having > 0) {
        units_bytes((uint64_t)(sum / having), text);
    }
    if (having == 1) {
        fprintf(out, "; %s had %s of it before", number(row[0], "members") == 1 ? "it" : server, text);
    } else if (having > 1) {
        fprintf(out, "; %" PRId64 " had %s of it before, on average", having, text);
    }
}

/* Servers to which two files of this name came at once: whichever ended last there stays. */
static void print_contested(struct message *const *row, size_t count, FILE *out)
{
    size_t servers;
    char names[PROGRESS_LINE] = "";
    struct message **contested = choose(row, count, is_contested, &servers);
    if (servers > 0) {
        add_servers(contested, servers, names);
    }
    free(contested);
    fprintf(out,
            "  %s sent another file of this name at the same time%s; on %s now stands whichever was whole last there, "
            "which may be another one on each: send the right one again\n",
            message_get_text(row[0], "contested_by", "?"),
            message_has(row[0], "contested_here") ? ", by another command than this one" : "",
            servers > 0 ? names : "some servers");
}

void progress_end(struct message *const *row, size_t count, FILE *out)
{
    const struct message *sum = row[0];
    char text[UNITS_TEXT], name[PROGRESS_LINE];
    int64_t members = number(sum, "members"), complete = number(sum, "complete");
    units_bytes((uint64_t)number(sum, "bytes"), text);
    fprintf(out, "%s, %s: %" PRId64 " of %" PRId64 " server%s %s it after ", name_of(sum, name), text, complete,
            members, members == 1 ? "" : "s", number(sum, "contested") > 0 ? "got" : has(complete, members));
    units_span(number(sum, "took_ns"), text);
    fprintf(out, "%s", text);
    print_rate(sum, out);
    units_bytes((uint64_t)number(sum, "sent_bytes"), text);
    fprintf(out, "; %s sent", text);
    print_before(row, count, out);
    fprintf(out, "\n");
    print_repeats(row, count, out);
    if (message_has(sum, "contested_by")) {
        print_contested(row, count, out);
    }
    for (size_t i = 1; i < count; i++) {
        if (strcmp(message_get_text(row[i], "state", ""), "failed") == 0) {
            fprintf(out, "  %s has not: %s\n", message_get_text(row[i], "server", "?"),
                    message_get_text(row[i], "reason", "?"));
        }
    }
}
