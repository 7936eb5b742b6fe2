/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/modules.h"

#include "base/words.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MOST = 31, HEX = 2 * MODULES_DIGEST };

static const char prefix[] = "module:";

/* A word in its parts. */
struct parts {
    char name[NAME_MOST + 1];
    char argument[24]; /* as it was written; "": none */
    uint64_t number;
    const char *digest; /* HEX digits; NULL: none are given */
};

static bool is_of_module(const char *word)
{
    return strncmp(word, prefix, sizeof prefix - 1) == 0;
}

static int copy_part(char *out, size_t room, const char *from, size_t length)
{
    if (length == 0 || length >= room) {
        return -EINVAL;
    }
    memcpy(out, from, length);
    out[length] = '\0';
    return 0;
}

static int take_apart(const char *word, struct parts *p)
{
    *p = (struct parts){.number = 0};
    word += sizeof prefix - 1;
    const char *at = strchr(word, '@'), *end = at != NULL ? at : word + strlen(word);
    size_t length = strcspn(word, ":@");
    int rc = copy_part(p->name, sizeof p->name, word, length);
    if (rc == 0 && word[length] == ':') {
        const char *number = word + length + 1;
        rc = copy_part(p->argument, sizeof p->argument, number, (size_t)(end - number));
        rc = rc < 0 ? rc : words_number(p->argument, 1, INT64_MAX, &p->number);
    }
    if (rc == 0 && at != NULL) {
        p->digest = at + 1;
        rc = strlen(p->digest) == HEX ? 0 : -EINVAL;
    }
    return rc < 0 ? -EINVAL : 0;
}

static const char *name_of(const struct module *m, enum modules_what what)
{
    if (what == MODULES_COMBINER) {
        return m->combiner != NULL ? m->combiner->name : NULL;
    }
    return m->mapper != NULL ? m->mapper->name : NULL;
}

static const struct module *find(const struct modules *m, enum modules_what what, const char *name)
{
    for (unsigned i = 0; i < m->count; i++) {
        const char *one = name_of(&m->module[i], what);
        if (one != NULL && strcmp(one, name) == 0) {
            return &m->module[i];
        }
    }
    return NULL;
}

static void spell(const struct module *m, char out[static HEX + 1])
{
    for (int i = 0; i < MODULES_DIGEST; i++) {
        snprintf(out + (size_t)2 * i, 3, "%02x", m->digest[i]);
    }
}

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

static bool name_is_good(const char *name)
{
    size_t length = name == NULL ? 0 : strnlen(name, NAME_MOST + 1);
    return length >= 1 && length <= NAME_MOST &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == length;
}

/* Why a module's mapper is none; NULL: it is one. */
static const char *mapper_fault(const cw_mapper *table)
{
    if (table->size < sizeof *table || table->api != CW_MAPPER_API) {
        return "the table of its mapper is of another version";
    }
    return !name_is_good(table->name) ? "the name of its mapper is not 1 to 31 letters, digits and '-'"
           : table->map == NULL       ? "its mapper has no function map"
                                      : NULL;
}

static const char *fault(const struct modules *m, const struct module_file *f)
{
    const char *why = f->why;
    if (why == NULL && f->combiner == NULL && f->mapper == NULL) {
        return "it exports neither cw_combine_entry nor cw_mapper_entry, or they give no table";
    }
    if (why == NULL && f->combiner != NULL) {
        (void)!combine_check(f->combiner, &why);
    }
    if (why == NULL && f->mapper != NULL) {
        why = mapper_fault(f->mapper);
    }
    if (why == NULL && ((f->combiner != NULL && find(m, MODULES_COMBINER, f->combiner->name) != NULL) ||
                        (f->mapper != NULL && find(m, MODULES_MAPPER, f->mapper->name) != NULL))) {
        why = "another file has a function of that name";
    }
    return why == NULL && m->count == MODULES_MOST ? "there are 64 others already" : why;
}

static bool found(void *arg, const struct module_file *f)
{
    struct modules *m = arg;
    char line[MODULES_WHY], digest[HEX + 1];
    const char *why = fault(m, f);
    if (why != NULL) {
        snprintf(line, sizeof line, "module %.60s is left out: %s", f->file, why);
    } else {
        struct module *one = &m->module[m->count++];
        *one = (struct module){.combiner = f->combiner, .mapper = f->mapper};
        memcpy(one->digest, f->digest, sizeof one->digest);
        spell(one, digest);
        snprintf(line, sizeof line, "module %.60s is loaded: %s", f->file, digest);
    }
    m->tell(m->tell_arg, line);
    return why == NULL;
}

int modules_open(struct modules *m, const struct modules_host *host, const char *folder,
                 void (*tell)(void *arg, const char *line), void *arg)
{
    *m = (struct modules){.host = host, .tell = tell, .tell_arg = arg};
    if (folder[0] == '\0') {
        return 0;
    }
    return host == NULL ? -EOPNOTSUPP : host->load(host->context, folder, found, m, &m->files);
}

void modules_close(struct modules *m)
{
    if (m->files != NULL) {
        m->host->unload(m->host->context, m->files);
        m->files = NULL;
        m->count = 0;
    }
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

/* The module that the word names; a digest that it has must be the module's. */
static int look_up(const struct modules *m, enum modules_what what, const struct parts *p, const struct module **out)
{
    char digest[HEX + 1];
    *out = find(m, what, p->name);
    if (*out == NULL) {
        return -ELIBACC;
    }
    spell(*out, digest);
    return p->digest == NULL || strcmp(p->digest, digest) == 0 ? 0 : -ELIBBAD;
}

int modules_agree(const struct modules *m, enum modules_what what, const char *word,
                  char out[static MODULES_WORD_MOST + 1])
{
    struct parts p;
    const struct module *one;
    char digest[HEX + 1];
    if (!is_of_module(word)) {
        return copy_part(out, MODULES_WORD_MOST + 1, word, strlen(word));
    }
    int rc = take_apart(word, &p);
    rc = rc < 0 ? rc : look_up(m, what, &p, &one);
    if (rc < 0) {
        return rc;
    }
    spell(one, digest);
    snprintf(out, MODULES_WORD_MOST + 1, "%s%s%s%s@%s", prefix, p.name, p.argument[0] != '\0' ? ":" : "", p.argument,
             digest);
    return 0;
}

/* The module of a word that has been agreed on: one with a digest. */
static int resolve(const struct modules *m, enum modules_what what, const char *word, struct parts *p,
                   const struct module **out)
{
    int rc = take_apart(word, p);
    rc = rc == 0 && p->digest == NULL ? -EINVAL : rc;
    return rc < 0 ? rc : look_up(m, what, p, out);
}

int modules_combine(const struct modules *m, const char *word, struct combine *out)
{
    struct parts p;
    const struct module *one;
    if (!is_of_module(word)) {
        return combine_read(word, out);
    }
    int rc = resolve(m, MODULES_COMBINER, word, &p, &one);
    if (rc == 0) {
        *out = (struct combine){one->combiner, p.number};
    }
    return rc;
}

int modules_mapper(const struct modules *m, const char *word, struct mapper_kind_of *out)
{
    struct parts p;
    const struct module *one;
    if (!is_of_module(word)) {
        return mapper_read(word, out);
    }
    int rc = resolve(m, MODULES_MAPPER, word, &p, &one);
    if (rc == 0) {
        *out = (struct mapper_kind_of){.kind = MAPPER_MODULE, .module = one->mapper, .argument = p.number};
    }
    return rc;
}

void modules_names(const struct modules *m, enum modules_what what, char *out, size_t room)
{
    size_t used = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < m->count; i++) {
        const char *name = name_of(&m->module[i], what);
        if (name != NULL && used + strlen(name) + sizeof prefix + 2 < room) {
            used += (size_t)snprintf(out + used, room - used, "%s%s%s", used > 0 ? ", " : "", prefix, name);
        }
    }
}
