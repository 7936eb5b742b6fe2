/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/tallies.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool tallies_name_valid(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t length = strlen(name);
    return length >= 1 && length <= TALLIES_NAME && strspn(name, letters) == length;
}

void tallies_open(struct tallies *t, cw_server at)
{
    memset(t, 0, sizeof *t);
    t->at = at;
}

static void drop(struct tallies_feed *f)
{
    tally_close(f->tally);
    *f = (struct tallies_feed){.tally = NULL};
}

void tallies_close(struct tallies *t)
{
    for (unsigned i = 0; i < TALLIES_MOST; i++) {
        drop(&t->feed[i]);
    }
}

/* Its place; TALLIES_MOST: there is none of that name. */
static unsigned find(const struct tallies *t, const char *name, size_t length)
{
    unsigned i = 0;
    while (i < TALLIES_MOST &&
           (length == 0 || strlen(t->feed[i].name) != length || memcmp(t->feed[i].name, name, length) != 0)) {
        i++;
    }
    return i;
}

static int make(struct tallies *t, const char *name, struct tallies_feed **out)
{
    for (unsigned i = 0; i < TALLIES_MOST; i++) {
        struct tallies_feed *f = &t->feed[i];
        if (f->name[0] == '\0') {
            f->tally = tally_open(t->at);
            if (f->tally == NULL) {
                return -ENOMEM;
            }
            snprintf(f->name, sizeof f->name, "%s", name);
            f->until = (cw_time){0};
            *out = f;
            return 0;
        }
    }
    return -ENOSPC;
}

int tallies_take(struct tallies *t, const char *name, const char *bytes, size_t length, cw_time until)
{
    unsigned i = find(t, name, strlen(name));
    struct tallies_feed *f = i < TALLIES_MOST ? &t->feed[i] : NULL;
    int rc = f == NULL ? make(t, name, &f) : 0;
    if (rc < 0) {
        return rc;
    }
    f->until = cw_time_max(f->until, until);
    for (size_t at = 0; at < length;) {
        const char *end = memchr(bytes + at, '\n', length - at);
        size_t line = end != NULL ? (size_t)(end - bytes) - at : length - at;
        tally_line(f->tally, bytes + at, line);
        at += line + 1;
    }
    return 0;
}

void tallies_sweep(struct tallies *t, cw_time now)
{
    for (unsigned i = 0; i < TALLIES_MOST; i++) {
        if (t->feed[i].name[0] != '\0' && cw_time_due(t->feed[i].until, now)) {
            drop(&t->feed[i]);
        }
    }
}

const struct tally *tallies_find(const struct tallies *t, const char *name, size_t length)
{
    unsigned i = find(t, name, length);
    return i < TALLIES_MOST ? t->feed[i].tally : NULL;
}

cw_time tallies_wake(const struct tallies *t)
{
    cw_time wake = CW_NEVER;
    for (unsigned i = 0; i < TALLIES_MOST; i++) {
        wake = t->feed[i].name[0] != '\0' ? cw_time_min(wake, t->feed[i].until) : wake;
    }
    return wake;
}
