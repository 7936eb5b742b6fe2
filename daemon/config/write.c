/* SPDX-License-Identifier: Apache-2.0 */
/* write.c - the other way: a configuration as keys and values, and as a file. */
#include "daemon/config/internal.h"

#include "base/digest.h"
#include "keyspace/torus.h"

#include <stdio.h>
#include <string.h>

/* Where sections and values go: a list of keys with dots, or a file with braces. */
struct writer {
    void (*begin)(struct writer *w, const char *key, const char *name);
    void (*end)(struct writer *w);
    void (*value)(struct writer *w, const char *key, const char *value, bool text);
};

static void write_keys(struct writer *w, const struct setting *table, const void *base)
{
    char value[SETTING_VALUE];
    for (const struct setting *s = table; s->name != NULL; s++) {
        if (setting_write(s, base, value)) {
            w->value(w, s->name, value, setting_is_text(s));
        }
    }
}

static void write_fault(struct writer *w, const struct config_fault *fault)
{
    static const struct config_fault none;
    if (memcmp(fault, &none, sizeof none) != 0) {
        w->begin(w, "fault", NULL);
        write_keys(w, config_fault_keys, fault);
        w->end(w);
    }
}

static void write_torus(struct writer *w, const struct daemon_config *c)
{
    char text[TORUS_TEXT];
    torus_format(c->self, text);
    w->begin(w, "torus", NULL);
    write_keys(w, config_torus_keys, c);
    w->value(w, "coordinate", c->place == CONFIG_AUTO ? "auto" : c->place == CONFIG_WHOLE ? "all" : text, true);
    w->end(w);
}

static void write_links(struct writer *w, const struct daemon_config *c)
{
    w->begin(w, "links", NULL);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (c->link[link].shim != CONFIG_NO_SHIM || c->link[link].none_said) {
            w->begin(w, config_link_name(c, link), NULL);
            write_keys(w, config_link_keys, &c->link[link]);
            write_fault(w, &c->link[link].fault);
            w->end(w);
        }
    }
    write_fault(w, &c->fault);
    w->end(w);
}

static void write_each_option(struct writer *w, const struct config_service *s)
{
    for (unsigned i = 0; i < s->options; i++) {
        w->value(w, s->option[i].name, s->option[i].value, true);
    }
}

static void write_all(struct writer *w, const struct daemon_config *c)
{
    write_keys(w, config_sections[0].settings, c);
    write_torus(w, c);
    for (const struct config_section *s = config_sections + 1; s->settings != NULL; s++) {
        w->begin(w, s->key, NULL);
        write_keys(w, s->settings, c);
        w->end(w);
    }
    write_links(w, c);
    for (unsigned i = 0; i < c->service_count; i++) {
        const struct config_service *s = &c->service[i];
        w->begin(w, s->network ? "network" : "service", s->name);
        write_keys(w, s->network ? config_network_keys : config_service_keys, s);
        if (s->network) {
            write_each_option(w, s); /* of a network they stand among its keys */
        } else if (s->options > 0) {
            w->begin(w, "options", NULL);
            write_each_option(w, s);
            w->end(w);
        }
        w->end(w);
    }
}

/* ---- As a list --------------------------------------------------------------------------------------------------- */

enum { PATH_BYTES = 256 };

struct lister {
    struct writer face; /* first */
    void (*visit)(void *context, const char *key, const char *value);
    void *context;
    char path[PATH_BYTES]; /* "links.+x." */
};

static void list_begin(struct writer *w, const char *key, const char *name)
{
    struct lister *l = (struct lister *)(void *)w;
    size_t used = strlen(l->path);
    snprintf(l->path + used, PATH_BYTES - used, "%s.%s%s", key, name != NULL ? name : "", name != NULL ? "." : "");
}

static void list_end(struct writer *w)
{
    struct lister *l = (struct lister *)(void *)w;
    size_t used = strlen(l->path);
    if (used > 0) {
        l->path[used - 1] = '\0';
    }
    char *dot = strrchr(l->path, '.');
    bool service = strncmp(l->path, "service.", 8) == 0; /* its name may hold dots; only its options are nested */
    if (dot == NULL || (service && strcmp(dot, ".options") != 0)) {
        l->path[0] = '\0';
    } else {
        dot[1] = '\0';
    }
}

static void list_value(struct writer *w, const char *key, const char *value, bool text)
{
    (void)text;
    struct lister *l = (struct lister *)(void *)w;
    char whole[PATH_BYTES + 64];
    snprintf(whole, sizeof whole, "%s%s", l->path, key);
    l->visit(l->context, whole, value);
}

void config_visit(const struct daemon_config *config, void (*visit)(void *context, const char *key, const char *value),
                  void *context)
{
    struct lister l = {.face = {list_begin, list_end, list_value}, .visit = visit, .context = context};
    write_all(&l.face, config);
}

/* ---- As a file --------------------------------------------------------------------------------------------------- */

struct filer {
    struct writer face; /* first */
    FILE *out;
    int depth;
};

static void put_text(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            putc('\\', out);
        }
        putc(*text, out);
    }
    putc('"', out);
}

static void file_begin(struct writer *w, const char *key, const char *name)
{
    struct filer *f = (struct filer *)(void *)w;
    bool quoted = key[0] == '+' || key[0] == '-';
    fprintf(f->out, quoted ? "%*s\"%s\" " : "%*s%s ", f->depth * 4, "", key);
    if (name != NULL) {
        put_text(f->out, name);
        putc(' ', f->out);
    }
    fputs("{\n", f->out);
    f->depth++;
}

static void file_end(struct writer *w)
{
    struct filer *f = (struct filer *)(void *)w;
    f->depth--;
    fprintf(f->out, "%*s}\n", f->depth * 4, "");
}

static void file_value(struct writer *w, const char *key, const char *value, bool text)
{
    struct filer *f = (struct filer *)(void *)w;
    fprintf(f->out, "%*s%s = ", f->depth * 4, "", key);
    if (text) {
        put_text(f->out, value);
    } else {
        fputs(value, f->out);
    }
    fputs(";\n", f->out);
}

void config_write(const struct daemon_config *config, FILE *out)
{
    struct filer f = {.face = {file_begin, file_end, file_value}, .out = out};
    write_all(&f.face, config);
}

/* ---- As a number ------------------------------------------------------------------------------------------------- */

uint32_t config_hash(const struct daemon_config *c, cw_dims dims, uint32_t mtu)
{
    const struct ls_timers *t = &c->timers;
    const cw_span spans[] = {t->hello, t->dead, t->hold, t->flood_bound, t->retry, t->pending_limit};
    struct digest d;
    digest_init(&d);
    digest_u64(&d, (uint64_t)dims.x << 32 | (uint64_t)dims.y << 16 | dims.z);
    digest_u64(&d, mtu);
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        digest_u64(&d, (uint64_t)spans[i].ns);
    }
    return (uint32_t)digest_value(&d);
}
