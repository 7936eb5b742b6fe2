/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/group/to.h"

#include "services/multicast/cast/head.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct waiting {
    struct waiting *next;
    struct group_to *t;
    cw_request *r;
    group_to_fn run;
    void *context;
    int argc;
    const char **argv; /* into words */
    char *words;
};

struct group_to {
    cw_svc *s;
    struct membership *membership;
    struct waiting *first;
    const char *name; /* of the command that is run */
    const uint8_t *set;
};

int group_to_open(struct group_to **out, cw_svc *s, struct membership *membership)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        return -ENOMEM;
    }
    **out = (struct group_to){.s = s, .membership = membership};
    return 0;
}

static void free_waiting(struct waiting *w)
{
    free(w->argv);
    free(w->words);
    free(w);
}

void group_to_close(struct group_to *t)
{
    while (t != NULL && t->first != NULL) {
        struct waiting *w = t->first;
        t->first = w->next;
        membership_cancel(t->membership, w);
        free_waiting(w);
    }
    free(t);
}

bool group_to_named(int argc, const char *const *argv)
{
    return argc >= 2 && strcmp(argv[argc - 2], "to") == 0 && group_plain_name(argv[argc - 1]);
}

/* A copy of the words: they are the caller's only until it returns. */
static int copy_words(struct waiting *w, int argc, const char *const *argv)
{
    size_t bytes = 0;
    for (int i = 0; i < argc; i++) {
        bytes += strlen(argv[i]) + 1;
    }
    w->argc = argc;
    w->argv = calloc((size_t)argc + 1, sizeof *w->argv);
    w->words = malloc(bytes);
    if (w->argv == NULL || w->words == NULL) {
        return -ENOMEM;
    }
    char *at = w->words;
    for (int i = 0; i < argc; i++) {
        size_t n = strlen(argv[i]) + 1;
        w->argv[i] = memcpy(at, argv[i], n);
        at += n;
    }
    return 0;
}

static void known(void *arg, int status, const uint8_t *set, unsigned count)
{
    struct waiting *w = arg;
    struct group_to *t = w->t;
    struct waiting **at = &t->first;
    while (*at != w) {
        at = &(*at)->next;
    }
    *at = w->next;
    const char *name = w->argv[w->argc - 1];
    char text[200];
    if (status == 0 && count > 0) {
        t->name = name;
        t->set = set;
        status = w->run(w->context, w->r, w->argc, w->argv);
        t->name = NULL;
        t->set = NULL;
    } else {
        snprintf(text, sizeof text,
                 status == -ETIMEDOUT ? "the root of the group '%.64s' has not answered within 5 s"
                                      : "nobody is a member of a group '%.64s'; servers are written X,Y,Z",
                 name);
        cw_request_text(w->r, "error", text);
        status = status == 0 ? -ENOENT : status;
    }
    if (status <= 0) {
        cw_request_done(w->r, status);
    }
    free_waiting(w);
}

int group_to_ask(struct group_to *t, cw_request *r, int argc, const char *const *argv, group_to_fn run, void *context)
{
    struct group_name name;
    struct waiting *w = calloc(1, sizeof *w);
    int rc = w != NULL ? copy_words(w, argc, argv) : -ENOMEM;
    rc = rc == 0 ? group_name_make(&name, MULTICAST_JOB, argv[argc - 1], strlen(argv[argc - 1])) : rc;
    if (rc == 0) {
        w->t = t;
        w->r = r;
        w->run = run;
        w->context = context;
        rc = membership_ask(t->membership, &name, known, w);
    }
    if (rc < 0) {
        if (w != NULL) {
            free_waiting(w);
        }
        return rc;
    }
    w->next = t->first;
    t->first = w;
    return 1;
}

const uint8_t *group_to_set(const struct group_to *t, const char *name)
{
    return t->name != NULL && strcmp(t->name, name) == 0 ? t->set : NULL;
}
