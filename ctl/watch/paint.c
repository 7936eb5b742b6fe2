/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/watch/paint.h"

#include "base/check.h"
#include "base/quantity.h"
#include "commandline/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- A canvas: characters in rows, each with a style ------------------------------------------------------------- */

enum style {
    STYLE_PLAIN,
    STYLE_FAINT,
    STYLE_GOOD,
    STYLE_BAD,
    STYLE_ODD,
    STYLE_SOME,
    STYLE_MUCH,
    STYLE_FULL,
    STYLE_WAY
};

static const char *const escapes[] = {
    [STYLE_PLAIN] = "\033[0m",    [STYLE_FAINT] = "\033[0;2m",   [STYLE_GOOD] = "\033[0;32m",
    [STYLE_BAD] = "\033[0;1;31m", [STYLE_ODD] = "\033[0;33m",    [STYLE_SOME] = "\033[0;34m",
    [STYLE_MUCH] = "\033[0;36m",  [STYLE_FULL] = "\033[0;1;33m", [STYLE_WAY] = "\033[0;1;35m",
};

struct glyph {
    char text[5]; /* one character in UTF-8 */
    uint8_t style;
};

struct canvas {
    unsigned columns, lines;
    struct glyph *glyph;
};

static void put(struct canvas *c, unsigned column, unsigned line, const char *text, enum style style)
{
    if (column < c->columns && line < c->lines) {
        struct glyph *g = &c->glyph[line * c->columns + column];
        snprintf(g->text, sizeof g->text, "%s", text);
        g->style = (uint8_t)style;
    }
}

/* The line without the spaces at its end. */
static void print_line(const struct canvas *c, unsigned line, bool colour, FILE *out)
{
    const struct glyph *g = &c->glyph[line * c->columns];
    unsigned end = c->columns;
    enum style style = STYLE_PLAIN;
    while (end > 0 && (g[end - 1].text[0] == '\0' || strcmp(g[end - 1].text, " ") == 0)) {
        end--;
    }
    for (unsigned i = 0; i < end; i++) {
        if (colour && g[i].style != style) {
            style = g[i].style;
            fputs(escapes[style], out);
        }
        fputs(g[i].text[0] != '\0' ? g[i].text : " ", out);
    }
    fputs(style != STYLE_PLAIN ? escapes[STYLE_PLAIN] : "", out);
    fputc('\n', out);
}

/* ---- Characters -------------------------------------------------------------------------------------------------- */

enum load { LOAD_IDLE, LOAD_SOME, LOAD_MUCH, LOAD_FULL, LOADS };
enum { SHARE_SOME = 4, SHARE_MUCH = 250, SHARE_FULL = 600 }; /* from here on, in thousandths of a full cable */

static const struct {
    const char *across[2], *down[2], *deep; /* in x, in y: else, and in ASCII; in z */
    enum style style;
} cable_of[LOADS] = {
    [LOAD_IDLE] = {{"┈", "."}, {"┊", ":"}, ".", STYLE_FAINT},
    [LOAD_SOME] = {{"─", "-"}, {"│", "|"}, "-", STYLE_SOME},
    [LOAD_MUCH] = {{"═", "="}, {"║", "H"}, "=", STYLE_MUCH},
    [LOAD_FULL] = {{"━", "#"}, {"┃", "#"}, "#", STYLE_FULL},
};

static const struct {
    const char *text[2]; /* else, and in ASCII */
    enum style style;
} server_of[SCENE_STATES] = {
    [SCENE_DOWN] = {{"X", "X"}, STYLE_BAD},    [SCENE_SERVING] = {{"●", "o"}, STYLE_GOOD},
    [SCENE_JOINING] = {{"+", "+"}, STYLE_ODD}, [SCENE_FENCED] = {{"!", "!"}, STYLE_BAD},
    [SCENE_LEAVING] = {{">", ">"}, STYLE_ODD}, [SCENE_LEFT] = {{"-", "-"}, STYLE_FAINT},
    [SCENE_FEARED] = {{"?", "?"}, STYLE_BAD},  [SCENE_SILENT] = {{"z", "z"}, STYLE_ODD},
};

/* A packet's way: in the middle of the cable by which it left. */
static const char *const arrows[CW_LINK_COUNT] = {">", "<", "v", "^", "\\", "/"};

/* Where only hellos cross the cables, none is busy: less than this is never a full one. */
static const uint64_t full_least = 1000 * 1000;

static uint64_t full_rate(const struct scene *s, const struct paint_view *v)
{
    uint64_t busiest = scene_busiest(s);
    if (v->full > 0) {
        return v->full;
    }
    return busiest > full_least ? busiest : full_least;
}

static enum load load_of(uint64_t bits_per_s, uint64_t full)
{
    double share = full > 0 ? 1000.0 * (double)bits_per_s / (double)full : 0;
    if (share < SHARE_SOME) {
        return LOAD_IDLE;
    }
    if (share < SHARE_MUCH) {
        return LOAD_SOME;
    }
    return share < SHARE_FULL ? LOAD_MUCH : LOAD_FULL;
}

/* ---- Where things are -------------------------------------------------------------------------------------------- */

static const unsigned gap = 2, margin = 1, cell_wide = 4, cell_narrow = 2, title_lines = 1;

struct layout {
    unsigned cell, row;     /* columns of a cell; lines of it: 2, or 1 where cables in y are left out */
    unsigned width, height; /* of a plane, with its title */
    unsigned across, down;  /* so many planes beside one another, and such rows below one another */
};

static struct layout lay_out(const struct scene *s, const struct paint_view *v)
{
    cw_dims dims = torus_dims(&s->torus);
    struct layout l = {.cell = cell_wide, .row = 2};
    if (margin + cell_wide * dims.x > v->columns) {
        l.cell = cell_narrow;
    }
    if (title_lines + 2U * dims.y > v->lines) {
        l.row = 1;
    }
    l.width = margin + l.cell * dims.x;
    l.height = title_lines + l.row * dims.y;
    l.across = (v->columns + gap) / (l.width + gap);
    l.down = v->lines / l.height;
    l.across = l.across > 0 ? l.across : 1;
    l.down = l.down > 0 ? l.down : 1;
    l.across = l.across < dims.z ? l.across : dims.z;
    unsigned rows = (dims.z + l.across - 1) / l.across;
    l.down = l.down < rows ? l.down : rows;
    return l;
}

unsigned paint_planes(const struct scene *s, const struct paint_view *v)
{
    struct layout l = lay_out(s, v);
    unsigned most = l.across * l.down, z = torus_dims(&s->torus).z;
    return most < z ? most : z;
}

/* ---- Drawing ----------------------------------------------------------------------------------------------------- */

struct brush {
    const struct scene *s;
    const struct paint_view *v;
    struct layout layout;
    struct canvas *canvas;
    uint64_t full;
};

/* True: a packet left the server by that link, in the look that is shown. */
static bool on_way(const struct brush *b, cw_server server, cw_link link)
{
    return b->v->way != NULL && (b->v->way[server] & (1U << link)) != 0;
}

/* The arrow of a packet that took the cable, one way or the other; NULL: none did. */
static const char *arrow_of(const struct brush *b, cw_server server, cw_link link)
{
    if (on_way(b, server, link)) {
        return arrows[link];
    }
    cw_link back = cw_link_opposite(link);
    return on_way(b, torus_neighbour(&b->s->torus, server, link), back) ? arrows[back] : NULL;
}

/* How a cable looks: its character, and its style. */
struct look {
    const char *text;
    enum style style;
};

static struct look look_of(const struct brush *b, cw_server server, cw_link link)
{
    if (!scene_cable_up(b->s, server, link)) {
        return (struct look){"x", STYLE_BAD};
    }
    enum load load = load_of(scene_cable(b->s, server, link), b->full);
    const char *text = cable_of[load].deep;
    if (link == CW_LINK_XP) {
        text = cable_of[load].across[b->v->ascii];
    } else if (link == CW_LINK_YP) {
        text = cable_of[load].down[b->v->ascii];
    }
    return (struct look){text, cable_of[load].style};
}

static void draw_across(const struct brush *b, cw_server server, unsigned column, unsigned line)
{
    unsigned length = b->layout.cell - 1;
    const char *arrow = arrow_of(b, server, CW_LINK_XP);
    struct look look = look_of(b, server, CW_LINK_XP);
    bool broken = strcmp(look.text, "x") == 0;
    for (unsigned i = 0; i < length; i++) {
        bool middle = i == length / 2;
        if (middle && arrow != NULL) {
            put(b->canvas, column + 1 + i, line, arrow, STYLE_WAY);
        } else if (middle || !broken) {
            put(b->canvas, column + 1 + i, line, look.text, look.style);
        }
    }
}

static void draw_short(const struct brush *b, cw_server server, cw_link link, unsigned column, unsigned line)
{
    const char *arrow = arrow_of(b, server, link);
    struct look look = look_of(b, server, link);
    put(b->canvas, column, line, arrow != NULL ? arrow : look.text, arrow != NULL ? STYLE_WAY : look.style);
}

static void draw_server(const struct brush *b, cw_server server, unsigned column, unsigned line)
{
    const struct scene_server *it = &b->s->server[server];
    const char mark[2] = {b->v->mark != NULL ? b->v->mark[server] : '\0', '\0'};
    if (mark[0] != '\0') {
        put(b->canvas, column, line, mark, it->state == SCENE_SERVING ? STYLE_WAY : STYLE_BAD);
    } else {
        put(b->canvas, column, line, server_of[it->state].text[b->v->ascii], server_of[it->state].style);
    }
    if (server == b->v->selected) {
        put(b->canvas, column - 1, line, "[", STYLE_PLAIN);
        put(b->canvas, column + 1, line, "]", STYLE_PLAIN);
    }
}

static void draw_cables(const struct brush *b, cw_server server, unsigned column, unsigned line)
{
    const struct scene_link *link = b->s->server[server].link;
    if (link[CW_LINK_XP].exists) {
        draw_across(b, server, column, line);
    }
    if (b->layout.row > 1 && link[CW_LINK_YP].exists) {
        draw_short(b, server, CW_LINK_YP, column, line + 1);
    }
    if (b->layout.row > 1 && link[CW_LINK_ZP].exists) {
        draw_short(b, server, CW_LINK_ZP, column + 1, line + 1);
    }
}

/* Cables first: the brackets of the server that is selected stand over them. */
static void draw_plane(const struct brush *b, unsigned z, unsigned column)
{
    cw_dims dims = torus_dims(&b->s->torus);
    char title[16];
    snprintf(title, sizeof title, "z=%u", z);
    for (unsigned i = 0; title[i] != '\0'; i++) {
        const char one[2] = {title[i], '\0'};
        put(b->canvas, column + i, 0, one, STYLE_FAINT);
    }
    for (int cables = 1; cables >= 0; cables--) {
        for (unsigned at = 0; at < dims.x * dims.y; at++) {
            unsigned x = at % dims.x, y = at / dims.x;
            cw_server server = torus_id(&b->s->torus, (cw_coord){(uint8_t)x, (uint8_t)y, (uint8_t)z});
            unsigned c = column + margin + x * b->layout.cell, l = title_lines + y * b->layout.row;
            if (cables) {
                draw_cables(b, server, c, l);
            } else {
                draw_server(b, server, c, l);
            }
        }
    }
}

void paint_scene(const struct scene *s, const struct paint_view *v, FILE *out)
{
    struct layout l = lay_out(s, v);
    struct canvas canvas = {.columns = v->columns, .lines = l.height};
    struct brush brush = {s, v, l, &canvas, full_rate(s, v)};
    unsigned z = v->plane, end = torus_dims(&s->torus).z;
    canvas.glyph = calloc((size_t)canvas.columns * canvas.lines, sizeof *canvas.glyph);
    CHECK(canvas.glyph != NULL);
    for (unsigned row = 0; row < l.down && z < end; row++) {
        memset(canvas.glyph, 0, (size_t)canvas.columns * canvas.lines * sizeof *canvas.glyph);
        for (unsigned i = 0; i < l.across && z < end; i++, z++) {
            draw_plane(&brush, z, i * (l.width + gap));
        }
        for (unsigned line = 0; line < canvas.lines; line++) {
            print_line(&canvas, line, v->colour, out);
        }
    }
    free(canvas.glyph);
}

/* ---- Lines of text ----------------------------------------------------------------------------------------------- */

void paint_legend(const struct scene *s, const struct paint_view *v, FILE *out)
{
    char rate[UNITS_TEXT];
    bool busiest = v->full == 0 && scene_busiest(s) > full_least;
    units_rate(full_rate(s, v), rate);
    fprintf(out, "cables: %s idle  %s some  %s from 25 %%  %s from 60 %% of %s%s  x down\n",
            cable_of[LOAD_IDLE].across[v->ascii], cable_of[LOAD_SOME].across[v->ascii],
            cable_of[LOAD_MUCH].across[v->ascii], cable_of[LOAD_FULL].across[v->ascii], rate,
            busiest ? " (the busiest)" : "");
}

void paint_server(const struct scene *s, const struct paint_view *v, cw_server server, FILE *out)
{
    const struct scene_server *it = &s->server[server];
    char name[TORUS_TEXT], rate[UNITS_TEXT], line[512];
    int n;
    torus_format(torus_coord(&s->torus, server), name);
    if (!it->told) {
        n = snprintf(line, sizeof line, "%s: %s", name, scene_state_name(it->state));
    } else {
        n = snprintf(line, sizeof line,
                     "%s: %s, delivers %" PRIu64 "/s, drops %" PRIu64 "/s, %" PRIu64 " inside; sends", name,
                     scene_state_name(it->state), it->delivered_per_s, it->dropped_per_s, it->inside);
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            if (it->link[link].exists) {
                units_rate(it->link[link].bits_per_s, rate);
                n += snprintf(line + n, sizeof line - (size_t)n, " %s %s", quantity_link_name(link),
                              it->link[link].up ? rate : "(down)");
            }
        }
    }
    fprintf(out, "%.*s\n", (int)v->columns, line);
}
