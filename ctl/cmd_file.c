/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_file.c - file send: opens the file here, with the rights of whoever asks, gives it open to the daemon, and shows
 * how far it is on the way and how it ended.
 */
#include "ctl/commands.h"

#include "base/utf8.h"
#include "ctl/ask/progress.h"
#include "ctl/ask/remedy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROGRESS_MS = 500, LINE = 480, COLUMNS = 80, FIRST_FILE = 2 /* of the words */ };

struct sending {
    struct call *call;
    bool show, terminal; /* progress is shown, on a terminal as lines that are written over */
    struct table_style style;
    unsigned lines;   /* of them that are on the terminal now */
    struct rows rows; /* the rows of the end */
    int64_t id, bytes;
};

/* ---- On the way -------------------------------------------------------------------------------------------------- */

static unsigned columns_of(FILE *out)
{
    struct winsize size;
    bool known = ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? size.ws_col : COLUMNS;
}

/* Goes back to the first of the lines that are on the terminal, and wipes them. */
static void wipe_lines(struct sending *s)
{
    for (; s->lines > 0; s->lines--) {
        fprintf(s->call->errors, s->lines > 1 ? "\r\033[K\033[A" : "\r\033[K");
    }
}

static void tell_line(struct sending *s, const char *text)
{
    FILE *out = s->call->errors;
    if (s->terminal) {
        fprintf(out, s->lines > 0 ? "\n%s" : "%s", text);
        s->lines++;
    } else {
        fprintf(out, "%s\n", text);
    }
    fflush(out);
}

static void show_row(struct sending *s, struct message *row)
{
    char line[PROGRESS_LINE];
    if (!message_has(row, "what")) {
        s->bytes = message_get_integer(row, "bytes", 0);
        wipe_lines(s);
    } else {
        message_integer(row, "bytes", s->bytes); /* a member's row says how much of it is there */
    }
    if (s->terminal) {
        progress_bar(row, columns_of(s->call->errors) - 1, s->style, line);
    } else {
        progress_line(row, line);
    }
    tell_line(s, line);
}

static void take_row(void *context, struct message *row)
{
    struct sending *s = context;
    s->id = message_get_integer(row, "id", s->id);
    bool slow = strcmp(message_get_text(row, "what", ""), "slow") == 0; /* a member that the others wait for */
    if (!slow && (message_has(row, "what") || !message_has(row, "state"))) {
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
    const struct message *sum = s->rows.count > 0 ? s->rows.row[0] : NULL;
    if (sum != NULL && message_has(sum, "what")) {
        progress_end(s->rows.row, s->rows.count, s->call->out);
    } else if (sum != NULL) {
        char text[REMEDY_TEXT];
        fprintf(s->call->out, "it is on its way, id %" PRId64 ": %s\n", s->id,
                remedy_in_sentence(s->call->client, s->call->server, "cwctl file status", text));
    }
}

/* rc: the daemon's. */
static int code_of(const struct sending *s, int rc)
{
    const struct message *sum = s->rows.count > 0 ? s->rows.row[0] : NULL;
    if (rc == 0 || sum == NULL) {
        return rc == 0 ? EXIT_FINE : EXIT_NO;
    }
    bool any = message_get_integer(sum, "complete", 0) > message_get_integer(sum, "contested", 0);
    return any || message_has(sum, "contested_by") ? EXIT_INCOMPLETE : EXIT_NO;
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

/* False: there was none. */
static bool add_words(struct request_draft *request, const char *text)
{
    bool any = false;
    char *words = strdup(text), *rest = words;
    for (char *word; words != NULL && (word = strtok_r(rest, " ", &rest)) != NULL; any = true) {
        request_draft_word(request, word);
    }
    free(words);
    return any;
}

/* The words before the first --to are files, one at least; those behind it are members: --to A B says A and B. */
static int end_of_files(const struct call *call)
{
    const struct arguments *a = call->arguments;
    for (int i = 0; i < a->options; i++) {
        if (strcmp(a->given[i].option->name, "to") == 0) {
            return a->given[i].after > FIRST_FILE ? a->given[i].after : FIRST_FILE + 1;
        }
    }
    return a->words;
}

/* Adds every --to, each of one or several words, and the words behind the first. False: no --to. */
static bool add_members(const struct call *call, struct request_draft *request)
{
    const struct arguments *a = call->arguments;
    bool any = false;
    for (int i = 0; i < a->options; i++) {
        if (strcmp(a->given[i].option->name, "to") == 0) {
            any |= add_words(request, a->given[i].text);
        }
    }
    for (int i = end_of_files(call); any && i < a->words; i++) {
        (void)add_words(request, a->word[i]);
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
    wipe_lines(s);
    if (rc < 0) {
        if (rc == -EPIPE) {
            fprintf(call->errors, "cwctl: the sending ended with its daemon; sent again, only what is missing goes\n");
        } else if (client_failed(call->client) && (code == EXIT_FINE || s->id > 0)) {
            call_complain(call,
                          "nobody waits for it now, and it goes on; \"cwctl file status\" shows how far it is, and "
                          "the ID for \"cwctl file stop ID\"");
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

static int send_one(struct call *call, const char *file)
{
    const char *term = getenv("TERM");
    bool obeys = term == NULL || strcmp(term, "dumb") != 0; /* it wipes lines when it is told to */
    struct sending s = {.call = call, .terminal = isatty(STDERR_FILENO) != 0 && obeys};
    s.style = table_style_for(call->errors);
    s.show = call_given(call, "progress") != NULL || (isatty(STDERR_FILENO) && !call->arguments->json);
    struct request_draft *request = call_request(call, "file-send");
    request_draft_text(request, "name", name_of(call, file));
    bool wait = call_given(call, "no-wait") == NULL;
    if (wait) {
        request_draft_integer(request, "progress", PROGRESS_MS); /* also because a silent daemon would count as dead */
    } else {
        request_draft_flag(request, "no_wait");
    }
    if (s.show && wait && !call->arguments->json) {
        const char *name = name_of(call, file); /* a sending that ends before its first report is seen to begin */
        char line[LINE], shown[LINE / 8];
        (void)utf8_show(name, strlen(name), shown, sizeof shown);
        snprintf(line, sizeof line, "%s: begins", shown);
        tell_line(&s, line);
    }
    int code = add_members(call, request)
                   ? ask(&s, request, file)
                   : refuse(call, EXIT_USAGE, file, "to whom? --to all, --to x,y,z (again and again), or --to GROUP");
    rows_clear(&s.rows);
    request_draft_close(request);
    return code;
}

/* 0, or the exit code after a line on errors. */
static int check_files(const struct call *call, int end)
{
    if (end > FIRST_FILE + 1 && call_given(call, "as") != NULL) {
        return refuse(call, EXIT_USAGE, call_given(call, "as")->text,
                      "--as gives one file another name, and here are several: send that one alone; a server or group "
                      "to send to stands behind --to");
    }
    int wrong = 0;
    for (int i = FIRST_FILE; i < end && wrong == 0; i++) {
        wrong = check_name(call, name_of(call, call->arguments->word[i]));
    }
    return wrong;
}

/* One after the other: each goes to all its receivers at the same time. */
int run_file_send(struct call *call)
{
    int end = end_of_files(call), code = check_files(call, end);
    if (code != 0) {
        return code;
    }
    for (int i = FIRST_FILE; i < end && !*call->stop; i++) {
        int one = send_one(call, call->arguments->word[i]);
        if (one != EXIT_FINE && one != EXIT_NO && one != EXIT_INCOMPLETE) {
            return one; /* the others would fare alike */
        }
        code = i == FIRST_FILE || one == code ? one : EXIT_INCOMPLETE;
    }
    return code;
}

/* ---- status ------------------------------------------------------------------------------------------------------ */

/* What has ended is done, as far as the daemon is concerned; people ask whether all members have it. */
static void name_state(struct message *row)
{
    if (strcmp(message_get_text(row, "state", ""), "done") == 0 && message_get_integer(row, "failed", 0) > 0) {
        message_text(row, "state", message_get_integer(row, "complete", 0) > 0 ? "in part" : "failed");
    }
}

int run_file_status(struct call *call)
{
    struct rows rows = {NULL, 0, 0};
    struct request_draft *request = call_request(call, "file-status");
    int code = EXIT_FINE;
    int rc = call_ask(call, request, call_patience(call), rows_add, &rows, &code);
    rows_type(&rows, "", "trees links");
    for (size_t i = 0; rc >= 0 && call->arguments->json && i < rows.count; i++) {
        message_print(rows.row[i], call->out);
    }
    for (size_t i = 0; !call->arguments->json && i < rows.count; i++) {
        name_state(rows.row[i]);
    }
    if (rc >= 0 && !call->arguments->json && rows.count > 0) {
        table_print(rows.row, rows.count, call->command->columns, call->style, call->out);
    } else if (rc >= 0 && !call->arguments->json) {
        fprintf(call->out, "no file is on its way from this server or to it, and none was in the last 10 minutes\n");
    }
    rows_clear(&rows);
    request_draft_close(request);
    return code;
}
