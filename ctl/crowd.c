/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/crowd.h"

#include "ctl/ask/lab.h"
#include "ctl/ask/remedy.h"

#include "base/check.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_BYTES = 16 * 1024, NAMES_SHOWN = 3 };

/* What a process wrote. */
struct text {
    int fd; /* -1: it was closed */
    char *bytes;
    size_t used, room;
};

struct member {
    const struct find_one *one;
    pid_t pid; /* 0: it was not started yet; -1: it has ended */
    struct text out, errors;
    int code;
};

/* ---- One process for each daemon --------------------------------------------------------------------------------- */

_Noreturn static void ask_one(const struct call *call, const struct find_one *one, cw_span start_patience, int out,
                              int errors)
{
    char why[CLIENT_WHY];
    struct arguments arguments = *call->arguments;
    struct call own = *call;
    arguments.json = true;
    arguments.watch = false;
    own.arguments = &arguments;
    own.style = (struct table_style){.colour = false};
    own.out = fdopen(out, "w");
    own.errors = fdopen(errors, "w");
    own.server = arguments.server != NULL ? arguments.server : one->at.server;
    if (own.out == NULL || own.errors == NULL) {
        _exit(EXIT_NO);
    }
    int rc = lab_client_open(&own.client, one->at.path, start_patience, why), code;
    if (rc < 0) {
        fprintf(own.errors, "cwctl: %s\n", why);
        code = rc == -ETIME ? EXIT_TIMEOUT : EXIT_NOBODY;
    } else {
        client_stop_on(own.client, call->stop);
        code = call_run(&own);
    }
    fflush(own.out);
    fflush(own.errors);
    _exit(code);
}

static void start(const struct call *call, struct member *m, cw_span start_patience)
{
    int out[2], errors[2];
    if (pipe(out) < 0) {
        m->pid = -1;
        m->code = EXIT_NO;
        return;
    }
    CHECK(pipe(errors) == 0);
    m->pid = fork();
    if (m->pid == 0) {
        close(out[0]);
        close(errors[0]);
        ask_one(call, m->one, start_patience, out[1], errors[1]);
    }
    close(out[1]);
    close(errors[1]);
    m->out.fd = out[0];
    m->errors.fd = errors[0];
}

/* Reads what is there. */
static void take(struct text *t)
{
    if (t->room - t->used < READ_BYTES) {
        t->room = 2 * t->room + READ_BYTES + 1;
        t->bytes = realloc(t->bytes, t->room);
        CHECK(t->bytes != NULL);
    }
    ssize_t got = read(t->fd, t->bytes + t->used, t->room - t->used - 1);
    if (got > 0) {
        t->used += (size_t)got;
    } else if (got == 0 || errno != EINTR) {
        close(t->fd);
        t->fd = -1;
    }
    t->bytes[t->used] = '\0';
}

static void end(struct member *m)
{
    int status = 0;
    if (m->pid > 0) {
        while (waitpid(m->pid, &status, 0) < 0 && errno == EINTR) {
        }
        m->code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_NO;
    } else {
        m->code = EXIT_NO; /* it could not be started */
    }
    m->pid = -1;
}

/* Starts processes while there may be more, and reads from all until each has ended. */
static void ask_all(const struct call *call, struct member *member, size_t count, cw_span start_patience)
{
    size_t next = 0, busy = 0;
    while (next < count || busy > 0) {
        struct pollfd waits[2 * CROWD_AT_ONCE];
        struct text *of[2 * CROWD_AT_ONCE];
        unsigned n = 0;
        for (; next < count && busy < CROWD_AT_ONCE; next++, busy++) {
            start(call, &member[next], start_patience);
        }
        for (size_t i = 0; i < next; i++) {
            struct text *const both[] = {&member[i].out, &member[i].errors};
            for (unsigned k = 0; k < 2 && member[i].pid != -1; k++) {
                if (both[k]->fd >= 0) {
                    of[n] = both[k];
                    waits[n++] = (struct pollfd){.fd = both[k]->fd, .events = POLLIN};
                }
            }
        }
        if (n > 0 && poll(waits, n, -1) < 0) {
            continue; /* a signal: the processes have it, too */
        }
        for (unsigned i = 0; i < n; i++) {
            if (waits[i].revents != 0) {
                take(of[i]);
            }
        }
        for (size_t i = 0; i < next; i++) {
            if (member[i].pid != -1 && member[i].out.fd < 0 && member[i].errors.fd < 0) {
                end(&member[i]);
                busy--;
            }
        }
    }
}

/* ---- One answer of all ------------------------------------------------------------------------------------------- */

/* A command that has nothing to show says so; of all servers together tell_done() does. */
static bool is_done(const char *line, size_t length)
{
    static const char done[] = "{\"done\":true}";
    return length == sizeof done - 1 && memcmp(line, done, length) == 0;
}

/*
 * Each line of a process is a row. It gets the server that was asked, as "asked", and as "server" unless it tells of a
 * server itself. True: no row tells of another server than the one that was asked.
 */
static bool gather(const struct member *member, size_t count, struct rows *rows)
{
    bool own = true;
    for (size_t i = 0; i < count; i++) {
        const char *at = member[i].out.bytes, *name = member[i].one->name;
        for (const char *line_end; at != NULL && (line_end = strchr(at, '\n')) != NULL; at = line_end + 1) {
            size_t length = (size_t)(line_end - at);
            struct message *row = is_done(at, length) ? NULL : message_parse(at, length, NULL, 0);
            if (row == NULL) {
                continue;
            }
            const char *server = message_get_text(row, "server", NULL);
            own = own && (server == NULL || strcmp(server, name) == 0);
            if (!message_has(row, "server")) {
                message_text(row, "server", name);
            }
            message_text(row, "asked", name);
            rows_add(rows, row);
        }
    }
    return own;
}

static void show_table(const struct call *call, const struct rows *rows, bool own)
{
    char title[TABLE_COLUMNS_MAX][SHOW_TITLE];
    struct table_column columns[TABLE_COLUMNS_MAX + 1];
    unsigned n = 0;
    columns[n++] = (struct table_column){"asked", own ? "SERVER" : "ASKED", TABLE_TEXT};
    for (const struct table_column *c = call->command->columns; c != NULL && c->field != NULL; c++) {
        if (n < TABLE_COLUMNS_MAX && !(own && strcmp(c->field, "server") == 0)) {
            columns[n++] = *c;
        }
    }
    if (call->command->columns == NULL) {
        n = show_service_columns(rows, columns, n, own ? "server" : NULL);
        for (unsigned i = 1; i < n; i++) {
            columns[i].title = show_title(columns[i].field, title[i]);
        }
    }
    columns[n] = (struct table_column){NULL, NULL, TABLE_TEXT};
    table_print(rows->row, rows->count, columns, call->style, call->out);
}

static void show(const struct call *call, const struct rows *rows, bool own)
{
    void (*const whole)(const struct call *, const struct rows *) = call->command->show;
    if (call->arguments->json) {
        for (size_t i = 0; i < rows->count; i++) {
            message_print(rows->row[i], call->out);
        }
    } else if (whole == show_counters || whole == show_drops || whole == show_wiring || whole == show_links ||
               (whole == show_status && rows->count > 1)) {
        whole(call, rows); /* these have a column for the server */
    } else {
        show_table(call, rows, own);
    }
    fflush(call->out);
}

/* ---- What was refused -------------------------------------------------------------------------------------------- */

static const char *complaint_of(const struct member *m)
{
    static const char prefix[] = "cwctl: ";
    const char *text = m->errors.bytes != NULL ? m->errors.bytes : "";
    return strncmp(text, prefix, sizeof prefix - 1) == 0 ? text + sizeof prefix - 1 : text;
}

/* "0,0,0, 0,0,1 and 5 more: sentence", once for all who say the same. */
static void complain(const struct call *call, const struct member *member, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = complaint_of(&member[i]);
        bool first = text[0] != '\0';
        for (size_t k = 0; k < i && first; k++) {
            first = strcmp(complaint_of(&member[k]), text) != 0;
        }
        size_t same = 0;
        for (size_t k = i; k < count && first; k++) {
            if (strcmp(complaint_of(&member[k]), text) == 0 && same++ < NAMES_SHOWN) {
                fprintf(call->errors, "%s%s", same > 1 ? ", " : "cwctl: ", member[k].one->name);
            }
        }
        if (same > NAMES_SHOWN) {
            fprintf(call->errors, " and %zu more", same - NAMES_SHOWN);
        }
        if (first) {
            char said[REMEDY_TEXT], option[REMEDY_TEXT / 4];
            const char *lab = call->arguments->lab;
            bool fits = lab != NULL && strlen(text) < REMEDY_TEXT / 2;
            snprintf(option, sizeof option, "--name %.100s ", lab != NULL ? lab : "");
            text = fits ? remedy_for(option, member[i].one->name, text, said) : text; /* any of them will do */
            fprintf(call->errors, ": %s%s", text, text[strlen(text) - 1] == '\n' ? "" : "\n");
        }
    }
}

static int sum_up(const struct member *member, size_t count)
{
    int code = EXIT_FINE;
    for (size_t i = 0; i < count; i++) {
        if (member[i].code != EXIT_FINE) {
            code = code == EXIT_FINE || code == member[i].code ? member[i].code : EXIT_NO;
        }
    }
    return code;
}

static void forget(struct member *member, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(member[i].out.bytes);
        free(member[i].errors.bytes);
    }
    free(member);
}

static struct member *gather_members(const struct find_crowd *crowd)
{
    struct member *member = calloc(crowd->count, sizeof *member);
    CHECK(member != NULL);
    for (size_t i = 0; i < crowd->count; i++) {
        member[i].one = &crowd->one[i];
        member[i].out.fd = member[i].errors.fd = -1;
    }
    return member;
}

/* All are well, and none has said a row. */
static void say_empty(const struct call *call, size_t count)
{
    static const struct rows none = {NULL, 0, 0};
    if (call->command->show == show_drops) {
        show_drops(call, &none);
    } else if (call->command->columns != NULL) {
        fprintf(call->out, "nothing to show on %zu server%s\n", count, count == 1 ? "" : "s");
    } else {
        fprintf(call->out, "done on %zu server%s\n", count, count == 1 ? "" : "s");
    }
}

/* The same as an object, of a command whose answer is no table: it is done. */
static void tell_done(const struct call *call, size_t count)
{
    if (call->command->columns == NULL) {
        struct message *m = message_open();
        message_flag(m, "done", true);
        message_integer(m, "servers", (int64_t)count);
        message_print(m, call->out);
        message_close(m);
    }
}

static int round_of(const struct call *call, const struct find_crowd *crowd, cw_span start_patience)
{
    struct rows rows = {NULL, 0, 0};
    struct member *member = gather_members(crowd);
    fflush(call->out);
    fflush(call->errors);
    ask_all(call, member, crowd->count, start_patience);
    bool own = gather(member, crowd->count, &rows);
    int code = sum_up(member, crowd->count);
    if (rows.count > 0) {
        show(call, &rows, own);
    } else if (code == EXIT_FINE && !call->arguments->json) {
        say_empty(call, crowd->count);
    } else if (code == EXIT_FINE) {
        tell_done(call, crowd->count);
    }
    complain(call, member, crowd->count);
    rows_clear(&rows);
    forget(member, crowd->count);
    return code;
}

/* ---- On all or on none ------------------------------------------------------------------------------------------- */

static const struct arguments_option *option_of(const char *name)
{
    const struct arguments_option *o = commands_options();
    while (strcmp(o->name, name) != 0) {
        o++;
    }
    return o;
}

/* The call with another command line. */
struct variant {
    struct call call;
    struct arguments arguments;
};

static void vary(struct variant *v, const struct call *call)
{
    v->call = *call;
    v->arguments = *call->arguments;
    v->call.arguments = &v->arguments;
}

static void add_flag(struct variant *v, const char *name)
{
    CHECK(v->arguments.options < ARGUMENTS_OPTIONS);
    v->arguments.given[v->arguments.options++] = (struct arguments_given){.option = option_of(name)};
}

/* The service's name, as the first daemon that has loaded it says. False: none has. */
static bool name_of(const struct member *member, size_t count, char *out, size_t room)
{
    struct rows rows = {NULL, 0, 0};
    (void)gather(member, count, &rows);
    bool found = false;
    for (size_t i = 0; i < rows.count && !found; i++) {
        const char *name = message_get_text(rows.row[i], "service", NULL);
        found = name != NULL;
        snprintf(out, room, "%s", found ? name : "");
    }
    rows_clear(&rows);
    return found;
}

static bool reloads(const struct call *call)
{
    return strcmp(call->command->name, "services reload") == 0;
}

static bool undoes(const struct call *call)
{
    return call_given(call, "undo") != NULL;
}

static void say_taken_back(const struct call *call, int code, size_t from, size_t count)
{
    if (code != EXIT_FINE) {
        fprintf(call->errors, "cwctl: it could not be taken back everywhere: \"services\" says where it runs\n");
    } else if (reloads(call)) {
        const char *did = undoes(call) ? "put it back" : "taken the new build";
        fprintf(call->errors, "cwctl: all %zu daemons run what they ran before: %zu had %s\n", count, from, did);
    } else if (from == 0) {
        fprintf(call->errors, "cwctl: no daemon keeps it, for none had loaded it\n");
    } else {
        fprintf(call->errors, "cwctl: no daemon keeps it: it was taken back from the %zu that had loaded it\n", from);
    }
}

/*
 * Takes it back from those that have done it: by "services unload"; by "services reload --undo", after which another
 * --undo has the same effect as before the reload; an --undo is taken back by another one.
 */
static void take_back(const struct call *call, const struct member *member, size_t count, cw_span start_patience)
{
    static const char *const unload[] = {"services", "unload"};
    struct find_crowd those = {calloc(count, sizeof *those.one), 0};
    struct variant v;
    char name[64];
    int used, code = EXIT_FINE;
    CHECK(those.one != NULL);
    vary(&v, call);
    for (size_t i = 0; i < count; i++) {
        if (member[i].code == EXIT_FINE) {
            those.one[those.count++] = *member[i].one;
        }
    }
    if (name_of(member, count, name, sizeof name)) {
        v.arguments.word[2] = name;
        v.arguments.options = 0;
        if (reloads(call)) {
            add_flag(&v, "undo");
            v.call.takes_back = !undoes(call);
        } else {
            v.arguments.word[1] = "unload";
            v.call.command = commands_find(unload, 2, &used);
        }
        struct member *back = gather_members(&those);
        ask_all(&v.call, back, those.count, start_patience);
        code = sum_up(back, those.count);
        complain(call, back, those.count);
        forget(back, those.count);
    }
    say_taken_back(call, code, those.count, count);
    free(those.one);
}

/*
 * Refuses an undo after which they would not all run the same build, because one of them was reloaded, or undone, by
 * itself.
 */
static int check_alike(const struct call *call, const struct member *member, size_t count)
{
    struct rows rows = {NULL, 0, 0};
    int code = EXIT_FINE;
    (void)gather(member, count, &rows);
    for (size_t i = 1; i < rows.count && code == EXIT_FINE; i++) {
        const struct message *a = rows.row[0], *b = rows.row[i];
        if (strcmp(message_get_text(a, "build", ""), message_get_text(b, "build", "")) != 0) {
            fprintf(call->errors,
                    "cwctl: they would not run the same then: %s version %s (build %.12s), and %s version %s (build "
                    "%.12s); services reload FILE puts one build on all\n",
                    message_get_text(a, "asked", "?"), message_get_text(a, "version", "?"),
                    message_get_text(a, "build", "?"), message_get_text(b, "asked", "?"),
                    message_get_text(b, "version", "?"), message_get_text(b, "build", "?"));
            code = EXIT_NO;
        }
    }
    rows_clear(&rows);
    return code;
}

/* All daemons say that they can. Otherwise what they say, and that nothing has happened. */
static int check_on_all(const struct call *call, const struct find_crowd *crowd, cw_span start_patience)
{
    struct variant v;
    vary(&v, call);
    add_flag(&v, "check");
    struct member *member = gather_members(crowd);
    ask_all(&v.call, member, crowd->count, start_patience);
    int code = sum_up(member, crowd->count);
    bool able = code == EXIT_FINE;
    code = able && undoes(call) ? check_alike(call, member, crowd->count) : code;
    if (code != EXIT_FINE) {
        if (!able) {
            complain(call, member, crowd->count);
        }
        if (crowd->count > 1) {
            fprintf(call->errors, "cwctl: nothing was %s on any of the %zu daemons%s\n",
                    undoes(call)    ? "put back"
                    : reloads(call) ? "reloaded"
                                    : "loaded",
                    crowd->count, reloads(call) ? ": all run what they ran" : "");
        }
    }
    forget(member, crowd->count);
    return code;
}

/* First all check it, then all do it; if one refuses, none keeps it. */
static int load_on_all(const struct call *call, const struct find_crowd *crowd, cw_span start_patience)
{
    struct rows rows = {NULL, 0, 0};
    int code = check_on_all(call, crowd, start_patience);
    if (code != EXIT_FINE) {
        return code;
    }
    struct member *member = gather_members(crowd);
    ask_all(call, member, crowd->count, start_patience);
    code = sum_up(member, crowd->count);
    if (code == EXIT_FINE) {
        bool own = gather(member, crowd->count, &rows);
        show(call, &rows, own);
    } else {
        complain(call, member, crowd->count);
        if (crowd->count > 1) {
            take_back(call, member, crowd->count, start_patience);
        }
    }
    rows_clear(&rows);
    forget(member, crowd->count);
    return code;
}

/* True for what a daemon does for all of its servers at once: it is asked once, however many of them are named. */
static bool is_of_daemon(const struct command *c)
{
    static const char *const names[] = {"services load", "services reload", "services unload", "services weight"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(c->name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Of the servers that live in one process the first, under the name of all. The caller frees out->one. */
static void one_of_each(const struct find_crowd *crowd, struct find_crowd *out)
{
    *out = (struct find_crowd){calloc(crowd->count, sizeof *out->one), 0};
    CHECK(out->one != NULL || crowd->count == 0);
    for (size_t i = 0; i < crowd->count; i++) {
        size_t k = 0;
        while (k < out->count && strcmp(out->one[k].at.path, crowd->one[i].at.path) != 0) {
            k++;
        }
        if (k == out->count) {
            out->one[out->count++] = crowd->one[i];
        } else {
            snprintf(out->one[k].name, sizeof out->one[k].name, "all");
        }
    }
}

static int ask_in_rounds(struct call *call, const struct find_crowd *crowd, cw_span start_patience)
{
    const struct arguments *a = call->arguments;
    int code = EXIT_FINE;
    for (uint64_t round = 0; !*call->stop && (round == 0 || a->watch) && (a->rounds == 0 || round < a->rounds);
         round++) {
        if (round > 0) {
            call_rest(call, a->every);
        }
        if (a->watch && !*call->stop) {
            call_wipe(call);
        }
        code = *call->stop ? code : round_of(call, crowd, start_patience);
    }
    return code;
}

int crowd_run(struct call *call, const struct find_crowd *crowd, cw_span start_patience)
{
    bool loads = call->command->run == run_load && call_given(call, "check") == NULL;
    struct find_crowd once;
    if (!is_of_daemon(call->command)) {
        return ask_in_rounds(call, crowd, start_patience);
    }
    one_of_each(crowd, &once);
    int code = loads ? load_on_all(call, &once, start_patience) : ask_in_rounds(call, &once, start_patience);
    free(once.one);
    return code;
}
