/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_watch.c - the whole torus on a terminal, drawn again and again: servers, what cables carry, whose a key is, what
 * happens. Keys select a server, follow a key, go back in time; in a lab of cwlab they kill, restore, cut and mend.
 *
 * Elsewhere than on a terminal: one picture (or one stream of JSON objects), after one interval.
 */
#define _DEFAULT_SOURCE /* TIOCGWINSZ */
#include "ctl/ask/lab.h"
#include "ctl/watch/paint.h"
#include "ctl/watch_look.h"

#include "base/check.h"
#include "base/quantity.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOKS = 600, /* so many looks can be gone back to */
    AROUND = 5,  /* lines that are not the torus: title, legend, server, note, keys */
    TYPED = 64,
};

/* What is being typed into the line at the bottom. */
enum prompt { PROMPT_NONE, PROMPT_KEY, PROMPT_CUT, PROMPT_MEND };

struct watch {
    struct call *call;
    cw_dims dims;
    char self[TORUS_TEXT]; /* the server whose daemon is asked */
    struct scene *look[LOOKS];
    unsigned newest, kept; /* look[newest] is the last one; so many are there */
    unsigned back;         /* the look that is shown: so many before the newest */
    bool stands;           /* no new looks are taken */
    cw_server selected;
    unsigned plane;
    char key[TYPED]; /* the key that is followed; "": none */
    char *mark;      /* by server, of that key */
    cw_links *way;
    char note[WATCH_NOTE];
    struct watch_events events;
    enum prompt prompt;
    char typed[TYPED];
    uint64_t full; /* --full; 0: the busiest cable */
};

static const struct scene *shown(const struct watch *w)
{
    return w->look[(w->newest + LOOKS - w->back) % LOOKS];
}

/* ---- Looking ----------------------------------------------------------------------------------------------------- */

static void forget_key(struct watch *w)
{
    cw_server servers = shown(w)->torus.servers;
    w->key[0] = '\0';
    memset(w->mark, 0, servers);
    memset(w->way, 0, servers * sizeof *w->way);
}

static int follow_key(struct watch *w)
{
    if (w->key[0] == '\0') {
        return EXIT_FINE;
    }
    return watch_ask_key(w->call, &shown(w)->torus, w->key, w->mark, w->way, w->note);
}

/* Takes one more look. The exit code, as of watch_look(). */
static int look(struct watch *w)
{
    struct scene *scene;
    unsigned at = w->kept > 0 ? (w->newest + 1) % LOOKS : 0;
    int code = watch_look(w->call, w->dims, w->kept > 0 ? w->look[w->newest] : NULL, &scene);
    if (code != EXIT_FINE) {
        return code;
    }
    scene_free(w->look[at]);
    w->look[at] = scene;
    w->newest = at;
    w->kept += w->kept < LOOKS;
    return EXIT_FINE;
}

/* ---- Drawing ----------------------------------------------------------------------------------------------------- */

static bool speaks_utf8(void)
{
    const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] != '\0') {
            return strstr(value, "UTF-8") != NULL || strstr(value, "utf8") != NULL;
        }
    }
    return false;
}

static struct paint_view view_of(const struct watch *w)
{
    struct winsize size = {0};
    struct paint_view v = {.columns = 80,
                           .lines = 24 - AROUND,
                           .plane = w->plane,
                           .selected = w->selected,
                           .mark = w->mark,
                           .way = w->way,
                           .full = w->full,
                           .colour = w->call->style.colour,
                           .ascii = !speaks_utf8()};
    if (ioctl(fileno(w->call->out), TIOCGWINSZ, &size) == 0 && size.ws_col >= 20 && size.ws_row >= 12) {
        v.columns = size.ws_col;
        v.lines = size.ws_row - AROUND;
    } else if (w->call->keys == NULL || !w->call->keys->on) {
        v.lines = 1000; /* a file has room for all planes */
    }
    return v;
}

static void paint_title(const struct watch *w, const struct scene *s, const struct paint_view *v, FILE *out)
{
    char dims[QUANTITY_TEXT], time[16];
    struct tm parts;
    time_t seconds = (time_t)(s->at_us / 1000000);
    quantity_dims_format(w->dims, dims);
    localtime_r(&seconds, &parts);
    strftime(time, sizeof time, "%T", &parts);
    fprintf(out, "%s%s%s  %s", v->colour ? "\033[1m" : "", dims, v->colour ? "\033[0m" : "", time);
    for (unsigned i = 0; i < SCENE_STATES; i++) {
        unsigned count = scene_count(s, (enum scene_state)i);
        if (count > 0) {
            fprintf(out, "  %u %s", count, scene_state_name((enum scene_state)i));
        }
    }
    unsigned planes = paint_planes(s, v);
    if (planes < w->dims.z) {
        fprintf(out, "  planes %u to %u of %u", w->plane, w->plane + planes - 1, (unsigned)w->dims.z);
    }
    if (w->back > 0) {
        fprintf(out, "  (%u looks back)", w->back);
    } else if (w->stands) {
        fputs("  (standing still)", out);
    }
    fputc('\n', out);
}

static void paint_keys(const struct watch *w, FILE *out)
{
    static const char *const asks[] = {[PROMPT_KEY] = "key",
                                       [PROMPT_CUT] = "cut which cable (+x -x +y -y +z -z)",
                                       [PROMPT_MEND] = "mend which cable (+x -x +y -y +z -z)"};
    if (w->prompt != PROMPT_NONE) {
        fprintf(out, "%s: %s_", asks[w->prompt], w->typed);
        return;
    }
    fprintf(out, "q ends  arrows < > select  t follow a key  space stand  [ ] back, forth%s",
            client_lab(w->call->client) != NULL ? "  k kill r restore c cut m mend" : "");
}

static void paint(const struct watch *w, const struct paint_view *v, FILE *out)
{
    const struct scene *s = shown(w);
    paint_title(w, s, v, out);
    paint_scene(s, v, out);
    paint_legend(s, v, out);
}

/* Writes the text line by line, so that nothing of the screen before is left. */
static void show_screen(const struct watch *w)
{
    char *text = NULL;
    size_t length = 0;
    struct paint_view v = view_of(w);
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) {
        return;
    }
    unsigned room = v.lines;
    v.lines = v.lines > WATCH_EVENTS + 6 ? v.lines - w->events.count : v.lines;
    paint(w, &v, out);
    if (w->selected < shown(w)->torus.servers) {
        paint_server(shown(w), &v, w->selected, out);
    }
    for (unsigned i = 0; i < w->events.count && v.lines < room; i++) {
        fprintf(out, "%.*s\n", (int)v.columns, w->events.line[i]);
    }
    fprintf(out, "%.*s\n", (int)v.columns, w->note);
    paint_keys(w, out);
    fclose(out);
    fputs("\033[H", w->call->out);
    for (const char *at = text; *at != '\0';) {
        size_t line = strcspn(at, "\n");
        fprintf(w->call->out, "%.*s\033[K%s", (int)line, at, at[line] == '\n' ? "\r\n" : "");
        at += line + (at[line] == '\n');
    }
    fputs("\033[J", w->call->out);
    fflush(w->call->out);
    free(text);
}

static void print_json(const struct watch *w)
{
    const struct scene *s = shown(w);
    for (cw_server i = 0; i < s->torus.servers; i++) {
        const struct scene_server *it = &s->server[i];
        char name[TORUS_TEXT];
        torus_format(torus_coord(&s->torus, i), name);
        struct message *row = message_open();
        message_integer(row, "at_us", s->at_us);
        message_text(row, "server", name);
        message_text(row, "state", scene_state_name(it->state));
        if (it->told) {
            message_integer(row, "inside", (int64_t)it->inside);
            message_integer(row, "delivered_per_s", (int64_t)it->delivered_per_s);
            message_integer(row, "dropped_per_s", (int64_t)it->dropped_per_s);
        }
        message_print(row, w->call->out);
        message_close(row);
        for (cw_link link = 0; it->told && link < CW_LINK_COUNT; link++) {
            if (it->link[link].exists) {
                row = message_open();
                message_integer(row, "at_us", s->at_us);
                message_text(row, "server", name);
                message_text(row, "link", quantity_link_name(link));
                message_flag(row, "up", it->link[link].up);
                message_integer(row, "bits_per_s", (int64_t)it->link[link].bits_per_s);
                message_print(row, w->call->out);
                message_close(row);
            }
        }
    }
    fflush(w->call->out);
}

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

/* Moves what is selected, around the torus, and shows its plane. */
static void move(struct watch *w, int x, int y, int z)
{
    const struct torus *t = &shown(w)->torus;
    cw_coord c = {0, 0, 0};
    if (w->selected < t->servers) {
        c = torus_coord(t, w->selected);
        c.x = (uint8_t)((c.x + (unsigned)x + w->dims.x) % w->dims.x);
        c.y = (uint8_t)((c.y + (unsigned)y + w->dims.y) % w->dims.y);
        c.z = (uint8_t)((c.z + (unsigned)z + w->dims.z) % w->dims.z);
    }
    w->selected = torus_id(t, c);
    struct paint_view v = view_of(w);
    unsigned planes = paint_planes(shown(w), &v);
    if (c.z < w->plane) {
        w->plane = c.z;
    } else if (c.z >= w->plane + planes) {
        w->plane = c.z - planes + 1;
    }
}

/* What keys do to a server or to one of its cables, where a keeper does it and where one process has all servers. */
struct deed {
    const char *keeper, *then; /* the keeper's command, and its last word; NULL: none */
    const char *daemon;
    const char *done;
};
static const struct deed deeds[] = {
    {"fail", NULL, "fail", "was killed"},
    {"restore", NULL, "restore", "runs again"},
    {"link", "down", "cut", "was cut from its cable"},
    {"link", "up", "mend", "has its cable again:"},
};
enum { DEED_KILL, DEED_RESTORE, DEED_CUT, DEED_MEND };

static void pass_over(void *context, struct message *row)
{
    (void)context;
    message_close(row);
}

static int order_daemon(const struct watch *w, const struct deed *deed, const char *server, const char *link,
                        char why[static CLIENT_WHY])
{
    struct request_draft *request = request_draft_open(deed->daemon, server);
    if (link != NULL) {
        request_draft_word(request, link);
    }
    int rc = client_ask(w->call->client, request, call_patience(w->call), pass_over, NULL, why);
    request_draft_close(request);
    return rc;
}

/* Does it to the selected server; what came of it becomes the note. */
static void order(struct watch *w, unsigned which, const char *link)
{
    char why[CLIENT_WHY], name[TORUS_TEXT];
    const struct deed *deed = &deeds[which];
    const char *words[3] = {name, link, deed->then};
    const struct torus *t = &shown(w)->torus;
    if (w->selected >= t->servers) {
        snprintf(w->note, sizeof w->note, "select a server first, by the arrow keys");
        return;
    }
    torus_format(torus_coord(t, w->selected), name);
    if (which == DEED_KILL && strcmp(name, w->self) == 0) {
        snprintf(w->note, sizeof w->note, "%s is the server that you look through: start watch at another one", name);
        return;
    }
    bool together = strcmp(client_daemon(w->call->client), lab_of_one_process) == 0;
    int rc = together ? order_daemon(w, deed, name, link, why)
                      : lab_order(client_path(w->call->client), deed->keeper, link != NULL ? 3 : 1, words, why);
    if (rc < 0) {
        snprintf(w->note, sizeof w->note, "%.190s", why);
    } else {
        snprintf(w->note, sizeof w->note, "%s %s%s%s", name, deed->done, link != NULL ? " " : "",
                 link != NULL ? link : "");
    }
}

/* The line at the bottom was ended. */
static int take_typed(struct watch *w)
{
    enum prompt prompt = w->prompt;
    cw_link link;
    w->prompt = PROMPT_NONE;
    if (w->typed[0] == '\0') {
        return EXIT_FINE;
    }
    if (prompt == PROMPT_KEY) {
        snprintf(w->key, sizeof w->key, "%s", w->typed);
        return follow_key(w);
    }
    if (quantity_link(w->typed, strlen(w->typed), &link) < 0) {
        snprintf(w->note, sizeof w->note, "expected a cable: +x -x +y -y +z -z; found '%s'", w->typed);
        return EXIT_FINE;
    }
    order(w, prompt == PROMPT_CUT ? DEED_CUT : DEED_MEND, w->typed);
    return EXIT_FINE;
}

static int type(struct watch *w, int key)
{
    size_t length = strlen(w->typed);
    if (key == '\n' || key == '\r') {
        return take_typed(w);
    }
    if (key == KEYS_ESCAPE) {
        w->prompt = PROMPT_NONE;
    } else if (key == KEYS_RUBOUT && length > 0) {
        w->typed[length - 1] = '\0';
    } else if (key >= ' ' && key < KEYS_UP && length + 1 < sizeof w->typed) {
        w->typed[length] = (char)key;
        w->typed[length + 1] = '\0';
    }
    return EXIT_FINE;
}

static void ask_for(struct watch *w, enum prompt prompt)
{
    w->prompt = prompt;
    w->typed[0] = '\0';
}

/* Goes back in time, or forth. While an older look is shown, no new ones are taken, so that it stays where it is. */
static void step(struct watch *w, int looks)
{
    int back = (int)w->back + looks;
    w->back = back < 0 ? 0 : back >= (int)w->kept ? w->kept - 1 : (unsigned)back;
    w->stands = w->back > 0;
}

/* What a key does, but in a lab only the last four. False: the key means nothing. */
static bool press(struct watch *w, int key)
{
    bool lab = client_lab(w->call->client) != NULL;
    switch (key) {
    case KEYS_LEFT:
        move(w, -1, 0, 0);
        return true;
    case KEYS_RIGHT:
        move(w, 1, 0, 0);
        return true;
    case KEYS_UP:
        move(w, 0, -1, 0);
        return true;
    case KEYS_DOWN:
        move(w, 0, 1, 0);
        return true;
    case '<':
        move(w, 0, 0, -1);
        return true;
    case '>':
        move(w, 0, 0, 1);
        return true;
    case '[':
        step(w, 1);
        return true;
    case ']':
        step(w, -1);
        return true;
    case ' ':
        w->stands = !w->stands;
        w->back = w->stands ? w->back : 0;
        return true;
    case 't':
        ask_for(w, PROMPT_KEY);
        return true;
    case KEYS_ESCAPE:
        forget_key(w);
        w->note[0] = '\0';
        w->selected = shown(w)->torus.servers;
        return true;
    default:
        break;
    }
    switch (lab ? key : KEYS_NONE) {
    case 'k':
        order(w, DEED_KILL, NULL);
        return true;
    case 'r':
        order(w, DEED_RESTORE, NULL);
        return true;
    case 'c':
        ask_for(w, PROMPT_CUT);
        return true;
    case 'm':
        ask_for(w, PROMPT_MEND);
        return true;
    default:
        return false;
    }
}

/* ---- The two ways ------------------------------------------------------------------------------------------------ */

static cw_time instant(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (cw_time){now.tv_sec * CW_NS_PER_SEC + now.tv_nsec};
}

static cw_span interval(const struct watch *w)
{
    const struct arguments_given *every = call_given(w->call, "every");
    return every != NULL ? CW_US(every->number) : CW_SEC(1);
}

/* Waits for the next look, and does what keys say meanwhile. *over: the end was asked for. */
static int wait_for_look(struct watch *w, bool *over)
{
    cw_time until = cw_time_add(instant(), interval(w));
    int code = EXIT_FINE;
    for (cw_span left = interval(w); code == EXIT_FINE && left.ns > 0; left = cw_time_since(until, instant())) {
        int key = keys_read(w->call->keys, left);
        if (*w->call->stop || key == KEYS_END || (w->prompt == PROMPT_NONE && (key == 'q' || key == 'Q'))) {
            *over = true;
            return EXIT_FINE;
        }
        if (key != KEYS_NONE && w->prompt != PROMPT_NONE) {
            code = type(w, key);
            show_screen(w);
        } else if (key != KEYS_NONE && press(w, key)) {
            show_screen(w);
        }
    }
    return code;
}

static int stay(struct watch *w)
{
    int code = EXIT_FINE;
    bool over = false;
    fputs("\033[?1049h\033[?25l\033[2J", w->call->out); /* another screen, no cursor */
    show_screen(w);
    while (code == EXIT_FINE && !over) {
        code = wait_for_look(w, &over);
        if (code == EXIT_FINE && !over && !w->stands) {
            code = look(w);
            code = code == EXIT_FINE ? follow_key(w) : code;
            code = code == EXIT_FINE ? watch_ask_events(w->call, &w->events) : code;
        }
        if (code == EXIT_FINE && !over) {
            show_screen(w);
        }
    }
    fputs("\033[?25h\033[?1049l", w->call->out);
    fflush(w->call->out);
    return code;
}

static int show_once(struct watch *w)
{
    call_rest(w->call, interval(w));
    int code = look(w);
    if (code == EXIT_FINE && w->call->arguments->json) {
        print_json(w);
    } else if (code == EXIT_FINE) {
        struct paint_view v = view_of(w);
        paint(w, &v, w->call->out);
    }
    return code;
}

int run_watch(struct call *call)
{
    struct watch w = {.call = call};
    const struct arguments_given *full = call_given(call, "full");
    if (full != NULL && (quantity_rate(full->text, strlen(full->text), &w.full) < 0 || w.full == 0)) {
        fprintf(call->errors, "cwctl: --full %s: expected a rate, as 1gbit or 20mbit\n", full->text);
        return EXIT_USAGE;
    }
    int code = watch_ask_torus(call, &w.dims, w.self);
    if (code == EXIT_FINE) {
        code = look(&w);
    }
    if (code == EXIT_FINE) {
        cw_server servers = shown(&w)->torus.servers;
        w.selected = servers;
        w.mark = calloc(servers, 1);
        w.way = calloc(servers, sizeof *w.way);
        CHECK(w.mark != NULL && w.way != NULL);
        bool terminal = call->keys != NULL && call->keys->on && isatty(fileno(call->out)) && !call->arguments->json;
        code = terminal ? stay(&w) : show_once(&w);
    }
    for (unsigned i = 0; i < LOOKS; i++) {
        scene_free(w.look[i]);
    }
    free(w.mark);
    free(w.way);
    return code;
}
