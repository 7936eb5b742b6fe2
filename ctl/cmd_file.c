/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_file.c - file send: opens the file here, with the rights of whoever asks, gives it open to the daemon, and shows
 * how far it is on the way and how it ended.
 */
#include "ctl/commands.h"

#include "base/utf8.h"
#include "ctl/units.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PROGRESS_MS = 500, LINE = 480 };

struct sending {
    struct call *call;
    bool show, terminal; /* progress is shown, on a terminal as one line that is written over */
    bool shown;          /* such a line is on the terminal now */
    struct rows rows;    /* the rows of the end */
    int64_t id;
    int64_t first_ns, first_bytes; /* of the slowest server, when it was told first */
};

/* ---- On the way -------------------------------------------------------------------------------------------------- */

static void tell_line(struct sending *s, const char *text)
{
    FILE *out = s->call->errors;
    fprintf(out, s->terminal ? "\r%s\033[K" : "%s\n", text);
    fflush(out);
    s->shown = s->terminal;
}

static void end_line(struct sending *s)
{
    if (s->shown) {
        fprintf(s->call->errors, "\r\033[K");
        s->shown = false;
    }
}

static int percent_of(int64_t part, int64_t whole)
{
    return whole > 0 ? (int)((double)part * 100 / (double)whole) : 100;
}

/* Writes how long it will take until the slowest server has all, at the rate so far; "" when that is not known. */
static void estimate(struct sending *s, const struct message *row, char out[static UNITS_TEXT + 8])
{
    int64_t now = message_get_integer(row, "took_ns", 0), has = message_get_integer(row, "slowest_bytes", -1);
    int64_t left = message_get_integer(row, "bytes", 0) - has;
    out[0] = '\0';
    if (has < 0) {
        return;
    }
    if (s->first_ns == 0) {
        s->first_ns = now;
        s->first_bytes = has;
    }
    if (has > s->first_bytes && left > 0) {
        char span[UNITS_TEXT];
        units_span((int64_t)((double)left * (double)(now - s->first_ns) / (double)(has - s->first_bytes)), span);
        snprintf(out, UNITS_TEXT + 8, ", %s left", span);
    }
}

static void show_row(struct sending *s, const struct message *row)
{
    char line[LINE], total[UNITS_TEXT], rate[UNITS_TEXT], left[UNITS_TEXT + 8], behind[96] = "", failed[48] = "";
    const char *name = message_get_text(row, "name", "?"), *slowest = message_get_text(row, "slowest", NULL);
    int64_t bytes = message_get_integer(row, "bytes", 0);
    units_bytes((uint64_t)bytes, total);
    if (message_has(row, "digested_bytes")) {
        snprintf(line, sizeof line, "%.60s: %s, digest %d %%", name, total,
                 percent_of(message_get_integer(row, "digested_bytes", 0), bytes));
        tell_line(s, line);
        return;
    }
    units_rate((uint64_t)message_get_integer(row, "bits_per_s", 0), rate);
    estimate(s, row, left);
    if (slowest != NULL) {
        snprintf(behind, sizeof behind, ", slowest %s %d %%", slowest,
                 percent_of(message_get_integer(row, "slowest_bytes", 0), bytes));
    }
    if (message_get_integer(row, "failed", 0) > 0) {
        snprintf(failed, sizeof failed, ", %" PRId64 " failed", message_get_integer(row, "failed", 0));
    }
    snprintf(line, sizeof line, "%.60s: %d %% of %s, %" PRId64 " of %" PRId64 " have it%s%s, %s%s", name,
             percent_of(message_get_integer(row, "there_bytes", 0), bytes), total,
             message_get_integer(row, "complete", 0), message_get_integer(row, "members", 0), failed, behind, rate,
             left);
    tell_line(s, line);
}

static void take_row(void *context, struct message *row)
{
    struct sending *s = context;
    s->id = message_get_integer(row, "id", s->id);
    if (message_has(row, "what") || !message_has(row, "state")) {
        rows_add(&s->rows, row);
        return;
    }
    bool json = s->call->arguments->json;
    if (s->show && json) {
        message_print(row, s->call->out);
        fflush(s->call->out);
    } else if (s->show) {
        show_row(s, row);
    }
    message_close(row);
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static void show_end(const struct sending *s)
{
    FILE *out = s->call->out;
    const struct message *sum = s->rows.count > 0 ? s->rows.row[0] : NULL;
    char total[UNITS_TEXT], took[UNITS_TEXT], rate[UNITS_TEXT], sent[UNITS_TEXT];
    if (sum == NULL || !message_has(sum, "what")) {
        if (sum != NULL) {
            fprintf(out, "it is on its way, id %" PRId64 ": cwctl file status\n", s->id);
        }
        return;
    }
    int64_t members = message_get_integer(sum, "members", 0), complete = message_get_integer(sum, "complete", 0);
    units_bytes((uint64_t)message_get_integer(sum, "bytes", 0), total);
    units_bytes((uint64_t)message_get_integer(sum, "sent_bytes", 0), sent);
    units_span(message_get_integer(sum, "took_ns", 0), took);
    units_rate((uint64_t)message_get_integer(sum, "least_bits_per_s", 0), rate);
    fprintf(out, "%s, %s: %" PRId64 " of %" PRId64 " server%s %s it after %s", message_get_text(sum, "name", "?"),
            total, complete, members, members == 1 ? "" : "s", complete == 1 ? "has" : "have", took);
    if (complete > 0) {
        fprintf(out, ", the slowest at %s", rate);
    }
    fprintf(out, "; %s sent\n", sent);
    const char *rival = message_get_text(sum, "contested_by", NULL);
    if (rival != NULL) {
        fprintf(out,
                "  %s sent another file of this name meanwhile: some servers may have that one; send the right one "
                "again\n",
                rival);
    }
    for (size_t i = 1; i < s->rows.count; i++) {
        const struct message *row = s->rows.row[i];
        if (strcmp(message_get_text(row, "state", ""), "failed") == 0) {
            fprintf(out, "  %s has not: %s\n", message_get_text(row, "server", "?"),
                    message_get_text(row, "reason", "?"));
        }
    }
}

/* rc: the daemon's. */
static int code_of(const struct sending *s, int rc)
{
    const struct message *sum = s->rows.count > 0 ? s->rows.row[0] : NULL;
    if (rc == 0 || sum == NULL) {
        return rc == 0 ? EXIT_FINE : EXIT_NO;
    }
    return message_get_integer(sum, "complete", 0) > 0 ? EXIT_INCOMPLETE : EXIT_NO;
}

/* ---- Beginning --------------------------------------------------------------------------------------------------- */

static int refuse(const struct call *call, int code, const char *file, const char *why)
{
    char shown[LINE];
    (void)utf8_show(file, strlen(file), shown, sizeof shown);
    fprintf(call->errors, "cwctl: %s: %s\n", shown, why);
    return code;
}

/*
 * A regular file that is empty by its length and has content all the same: the kernel makes that of /proc when it is
 * read.
 */
static bool is_made_when_read(int fd, const struct stat *st)
{
    char byte;
    return st->st_size == 0 && pread(fd, &byte, 1, 0) > 0;
}

/* Gives the descriptor of the file, or -1 after a line on errors. Does not wait for a pipe. */
static int open_file(const struct call *call, const char *file)
{
    struct stat st;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &st) < 0) {
        (void)refuse(call, EXIT_NO, file, strerror(errno));
    } else if (S_ISDIR(st.st_mode)) {
        (void)refuse(call, EXIT_NO, file, "it is a folder: pack it into one file first (tar)");
    } else if (!S_ISREG(st.st_mode)) {
        (void)refuse(call, EXIT_NO, file, "it is no regular file: its length is not known before its end");
    } else if (is_made_when_read(fd, &st)) {
        (void)refuse(call, EXIT_NO, file,
                     "it has content, though its length is said to be 0, as files of /proc have: copy it, and send the "
                     "copy");
    } else {
        return fd;
    }
    if (fd >= 0) {
        close(fd);
    }
    return -1;
}

static const char *name_of(const struct call *call, const char *file)
{
    const struct arguments_given *as = call_given(call, "as");
    const char *slash = strrchr(file, '/');
    return as != NULL ? as->text : slash != NULL ? slash + 1 : file;
}

/* Adds every --to, each of one or several words. False: there is none. */
static bool add_members(const struct call *call, struct request_draft *request)
{
    const struct arguments *a = call->arguments;
    bool any = false;
    for (int i = 0; i < a->options; i++) {
        if (strcmp(a->given[i].option->name, "to") != 0) {
            continue;
        }
        char *words = strdup(a->given[i].text), *rest = words;
        for (char *word; words != NULL && (word = strtok_r(rest, " ", &rest)) != NULL; any = true) {
            request_draft_word(request, word);
        }
        free(words);
    }
    return any;
}

static int ask(struct sending *s, struct request_draft *request, const char *file)
{
    struct call *call = s->call;
    int code = EXIT_FINE, fd = open_file(call, file);
    if (fd < 0) {
        return EXIT_NO;
    }
    client_attach(call->client, fd);
    int rc = call_ask(call, request, call_patience(call), take_row, s, &code);
    close(fd);
    end_line(s);
    if (rc < 0) {
        if (rc == -EPIPE) {
            fprintf(call->errors, "cwctl: the sending ended with its daemon; sent again, only what is missing goes\n");
        } else if (client_failed(call->client) && (code == EXIT_FINE || s->id > 0)) {
            fprintf(call->errors, "cwctl: nobody waits for it now, and it goes on; \"cwctl file status\" shows how far "
                                  "it is, and the ID for \"cwctl file stop ID\"\n");
            code = code == EXIT_FINE ? EXIT_NO : code;
        }
        return code;
    }
    for (size_t i = 0; call->arguments->json && i < s->rows.count; i++) {
        message_print(s->rows.row[i], call->out);
    }
    if (!call->arguments->json) {
        show_end(s);
    }
    return code_of(s, rc);
}

/* 0, or the exit code after a line on errors: JSON holds no other text, and no terminal is to obey a name. */
static int check_name(const struct call *call, const char *name)
{
    switch (utf8_check(name, strlen(name))) {
    case UTF8_NONE:
        return refuse(call, EXIT_USAGE, name, "this name is not UTF-8: --as NAME gives it another");
    case UTF8_CONTROL:
        return refuse(call, EXIT_USAGE, name, "this name has a control character: --as NAME gives it another");
    case UTF8_PLAIN:
        break;
    }
    return 0;
}

int run_file_send(struct call *call)
{
    const char *file = call->arguments->word[2];
    int wrong = check_name(call, name_of(call, file));
    if (wrong != 0) {
        return wrong;
    }
    struct sending s = {.call = call, .terminal = isatty(STDERR_FILENO) != 0};
    s.show = call_given(call, "progress") != NULL || (s.terminal && !call->arguments->json);
    struct request_draft *request = call_request(call, "file-send");
    request_draft_text(request, "name", name_of(call, file));
    bool wait = call_given(call, "no-wait") == NULL;
    if (wait) {
        request_draft_integer(request, "progress", PROGRESS_MS); /* also because a silent daemon would count as dead */
    } else {
        request_draft_flag(request, "no_wait");
    }
    if (s.show && wait && !call->arguments->json) {
        char line[LINE]; /* a sending that ends before its first report is seen to begin */
        snprintf(line, sizeof line, "%.60s: begins", name_of(call, file));
        tell_line(&s, line);
    }
    int code = add_members(call, request)
                   ? ask(&s, request, file)
                   : refuse(call, EXIT_USAGE, file, "to whom? --to all, --to x,y,z (again and again), or --to GROUP");
    rows_clear(&s.rows);
    request_draft_close(request);
    return code;
}
