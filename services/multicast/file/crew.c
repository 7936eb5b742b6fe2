/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/file/crew.h"

#include <stddef.h>

static void run(void *arg)
{
    struct file_work *w = arg;
    w->work(w);
}

static void ended(cw_svc *s, void *state, void *arg)
{
    struct file_work *w = arg;
    struct file_crew *c = w->crew;
    (void)s;
    (void)state;
    c->running--;
    w->done(w);
    file_crew_push(c);
}

void file_crew_push(struct file_crew *c)
{
    while (c->first != NULL && c->running < FILE_CREW_AT_ONCE) {
        struct file_work *w = c->first, *next = w->next; /* once it runs it is not looked at */
        c->running++;
        if (cw_offload(c->s, run, ended, w, w->cost) < 0) {
            c->running--;
            return; /* too much is under way, or the service ends */
        }
        c->first = next;
        c->last = next != NULL ? c->last : NULL;
    }
}

void file_crew_give(struct file_crew *c, struct file_work *w)
{
    w->crew = c;
    w->next = NULL;
    if (c->first == NULL) {
        c->first = w;
    } else {
        c->last->next = w;
    }
    c->last = w;
    file_crew_push(c);
}
