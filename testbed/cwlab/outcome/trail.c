/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/cwlab/outcome/trail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int trail_add(struct trail *t, const struct trail_event *event)
{
    if (t->count == t->room) {
        size_t room = t->room == 0 ? 4096 : 2 * t->room;
        struct trail_event *more = realloc(t->event, room * sizeof *more);
        if (more == NULL) {
            return -ENOMEM;
        }
        t->event = more;
        t->room = room;
    }
    t->event[t->count++] = *event;
    return 0;
}

void trail_free(struct trail *t)
{
    free(t->event);
    *t = (struct trail){.event = NULL};
}

static int64_t instant(const struct witness_record *r)
{
    bool ends = r->kind == WITNESS_OPENED || r->kind == WITNESS_CLOSED || r->kind == WITNESS_LINK_DOWN;
    return ends ? r->turn_ns : r->written_ns;
}

static int load_one(struct trail *t, const struct lab *lab, cw_server s)
{
    char name[TORUS_TEXT], path[LAB_PATH];
    torus_format(torus_coord(&lab->torus, s), name);
    FILE *f = fopen(lab_data(lab, name, ".trail", path), "re");
    if (f == NULL) {
        return errno == ENOENT ? 0 : -errno;
    }
    int rc = 0;
    for (struct witness_record r; rc == 0 && fread(&r, sizeof r, 1, f) == 1;) {
        if (r.written_ns != 0 && r.kind > 0 && r.kind < WITNESS_KINDS) {
            rc = trail_add(t, &(struct trail_event){instant(&r), s, r});
        }
    }
    fclose(f);
    return rc;
}

/*
 * Reads lines such as "123456 kill 0,1,2" and "... leave ...", which were written before the signal was sent. A daemon
 * that died by itself counts as dead from when its keeper saw that: perhaps late, but never too early.
 */
static int load_journal(struct trail *t, const struct lab *lab)
{
    char path[LAB_PATH], line[200], what[16], name[16];
    long long at;
    FILE *f = fopen(lab_data(lab, "journal", "", path), "re");
    int rc = 0;
    while (f != NULL && rc == 0 && fgets(line, sizeof line, f) != NULL) {
        cw_coord c;
        bool whole = sscanf(line, "%lld %15s %15s", &at, what, name) == 3;
        bool kill = whole && strcmp(what, "kill") == 0;
        if ((kill || (whole && strcmp(what, "leave") == 0)) && torus_parse(&lab->torus, name, strlen(name), &c) == 0) {
            struct trail_event e = {.at = at, .server = torus_id(&lab->torus, c)};
            e.record.kind = kill ? TRAIL_KILLED : TRAIL_LEAVES;
            rc = trail_add(t, &e);
        }
    }
    if (f != NULL) {
        fclose(f);
    }
    return rc;
}

static int by_time(const void *left, const void *right)
{
    const struct trail_event *a = left, *b = right;
    if (a->at != b->at) {
        return a->at < b->at ? -1 : 1;
    }
    return a < b ? -1 : a > b; /* glibc's qsort merges: stable while it finds memory */
}

void trail_sort(struct trail *t)
{
    if (t->count > 0) {
        qsort(t->event, t->count, sizeof *t->event, by_time);
    }
}

int trail_load(struct trail *t, const struct lab *lab)
{
    *t = (struct trail){.event = NULL};
    int rc = load_journal(t, lab);
    for (cw_server s = 0; s < lab->torus.servers && rc == 0; s++) {
        rc = load_one(t, lab, s);
    }
    if (rc < 0) {
        trail_free(t);
        return rc;
    }
    trail_sort(t);
    return 0;
}
