/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/group/table.h"

#include "base/check.h"
#include "services/multicast/group/mutant.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int group_name_make(struct group_name *out, cw_job job, const char *text, size_t length)
{
    if (text == NULL || length < 1 || length > GROUP_NAME_MOST) {
        return -EINVAL;
    }
    job = GROUP_MUTANT(ONE_JOB) ? 1 : job;
    *out = (struct group_name){.job = job, .length = (uint8_t)length};
    memcpy(out->text, text, length);
    return 0;
}

int group_name_compare(const struct group_name *a, const struct group_name *b)
{
    if (a->job != b->job) {
        return a->job < b->job ? -1 : 1;
    }
    int rc = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
    return rc != 0 ? rc : (int)a->length - (int)b->length;
}

static void free_group(struct group *g)
{
    free(g->entry);
    free(g);
}

void group_table_free(struct group_table *t)
{
    for (unsigned i = 0; i < t->count; i++) {
        free_group(t->group[i]);
    }
    free(t->group);
    t->group = NULL;
    t->count = t->room = t->entries = 0;
}

/* Where it is, or would be. */
static unsigned place(const struct group_table *t, const struct group_name *name)
{
    unsigned low = 0, high = t->count;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (group_name_compare(&t->group[middle]->name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static struct group *find(const struct group_table *t, const struct group_name *name)
{
    unsigned at = place(t, name);
    return at < t->count && group_name_compare(&t->group[at]->name, name) == 0 ? t->group[at] : NULL;
}

const struct group *group_table_find(const struct group_table *t, const struct group_name *name)
{
    return find(t, name);
}

static int add_group(struct group_table *t, const struct group_name *name, struct group **out)
{
    if (t->count == t->groups_most) {
        return -ENOSPC;
    }
    if (t->count == t->room) {
        unsigned room = t->room == 0 ? 16 : 2 * t->room;
        struct group **grown = realloc(t->group, room * sizeof *grown); /* NOLINT(bugprone-sizeof-expression) */
        if (grown == NULL) {
            return -ENOMEM;
        }
        t->group = grown;
        t->room = room;
    }
    struct group *g = calloc(1, sizeof *g);
    if (g == NULL) {
        return -ENOMEM;
    }
    g->name = *name;
    unsigned at = place(t, name);
    memmove(t->group + at + 1, t->group + at, (t->count - at) * sizeof *t->group);
    t->group[at] = g;
    t->count++;
    *out = g;
    return 0;
}

static int add_entry(struct group_table *t, struct group *g, unsigned at, const struct group_entry *e)
{
    if (t->entries == t->entries_most) {
        return -ENOSPC;
    }
    if (g->count == g->room) {
        unsigned room = g->room == 0 ? 8 : 2 * g->room;
        struct group_entry *grown = realloc(g->entry, room * sizeof *grown);
        if (grown == NULL) {
            return -ENOMEM;
        }
        g->entry = grown;
        g->room = room;
    }
    memmove(g->entry + at + 1, g->entry + at, (g->count - at) * sizeof *g->entry);
    g->entry[at] = *e;
    g->count++;
    t->entries++;
    return 0;
}

static void drop_group(struct group_table *t, unsigned at)
{
    free_group(t->group[at]);
    t->count--;
    memmove(t->group + at, t->group + at + 1, (t->count - at) * sizeof *t->group);
}

int group_table_update(struct group_table *t, const struct group_name *name, const struct group_entry *e)
{
    struct group *g = find(t, name);
    if (g == NULL) {
        int rc = add_group(t, name, &g);
        if (rc < 0) {
            return rc;
        }
    }
    unsigned at = 0;
    while (at < g->count && g->entry[at].server < e->server) {
        at++;
    }
    if (at == g->count || g->entry[at].server != e->server) {
        int rc = add_entry(t, g, at, e);
        if (g->count == 0) {
            drop_group(t, place(t, name));
        }
        return rc;
    }
    struct group_entry *old = &g->entry[at];
    if (old->life == e->life && (int32_t)(e->serial - old->serial) < 0 && !GROUP_MUTANT(ANY_SERIAL)) {
        return -ESTALE;
    }
    *old = *e;
    return 0;
}

void group_table_expire(struct group_table *t, cw_time now)
{
    for (unsigned i = t->count; i-- > 0;) {
        struct group *g = t->group[i];
        unsigned kept = 0;
        for (unsigned k = 0; k < g->count; k++) {
            if (!cw_time_due(g->entry[k].until, now)) {
                g->entry[kept++] = g->entry[k];
            }
        }
        t->entries -= g->count - kept;
        g->count = kept;
        if (kept == 0) {
            drop_group(t, i);
        }
    }
}

bool group_exists(const struct group *g, cw_time now)
{
    for (unsigned i = 0; i < g->count; i++) {
        if (g->entry[i].flags != 0 && !cw_time_due(g->entry[i].until, now)) {
            return true;
        }
    }
    return false;
}

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

/* Names are bytes of any kind, and not ended by 0. */
static const char *name_it(char text[static GROUP_NAME_MOST + 8], const struct group *g)
{
    snprintf(text, GROUP_NAME_MOST + 8, "group %.*s", (int)g->name.length, g->name.text);
    return text;
}
#define NAME(g) name_it((char[GROUP_NAME_MOST + 8]){0}, g)

bool group_table_audit(const struct group_table *t)
{
    unsigned entries = 0;
    for (unsigned i = 0; i < t->count; i++) {
        const struct group *g = t->group[i];
        entries += g->count;
        CHECK_RULE(g->count > 0, "groups G1: no group is kept without an entry", NAME(g));
        CHECK_RULE(i == 0 || group_name_compare(&t->group[i - 1]->name, &g->name) < 0, "groups G1: groups ascend",
                   NAME(g));
        for (unsigned k = 1; k < g->count; k++) {
            CHECK_RULE(g->entry[k].server > g->entry[k - 1].server, "groups G1: a server has one entry in a group",
                       NAME(g));
        }
    }
    CHECK_RULE(entries == t->entries && entries <= t->entries_most && t->count <= t->groups_most,
               "groups G1: the entries of a root's table are counted right", "this server's table");
    return true;
}
