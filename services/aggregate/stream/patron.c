/* SPDX-License-Identifier: Apache-2.0 */
/* patron.c - runs that services of this server order: their words, the pieces of a result, and how they ended. */
#include "services/aggregate/stream/internal.h"
#include "services/aggregate/stream/lead.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Calls done(), once. */
static void tell(struct lead *l, int status, cw_server who)
{
    struct stream *st = l->st;
    cw_run_done_fn done = l->done;
    cw_coord *counted = status == 0 ? calloc(st->torus.servers, sizeof *counted) : NULL;
    struct cw_run_result result = {.size = sizeof result, .status = status, .counted = counted};
    for (cw_server s = 0; s < st->torus.servers && counted != NULL; s++) {
        if (trees_set_has(l->counted, s)) {
            counted[result.count++] = torus_coord(&st->torus, s);
        }
    }
    for (unsigned i = 0; i < l->parts; i++) {
        result.keys += l->part[i].keys;
    }
    result.limit = l->refusals > 0 ? l->refusal[0].limit : l->limit;
    if (status < 0 && who < st->torus.servers) {
        result.named = true;
        result.who = torus_coord(&st->torus, who);
    }
    l->done = NULL;
    l->take = NULL;
    l->owner = NULL;
    done(l->done_arg, &result);
    free(counted);
}

static void give(void *arg, int status, const uint8_t *text, size_t length, bool last)
{
    struct lead *l = arg;
    const struct collector *c = collector_of_lead(l->st, &l->run);
    l->moved = cw_now(l->st->s);
    l->part[0].keys = c != NULL ? result_keys(c->result) : 0;
    if (status == 0 && length > 0 && l->take != NULL) {
        l->take(l->done_arg, text, length);
    }
    l->limit = account_limit(l->st, status);
    if (status < 0 || last) {
        lead_fail(l, status, status < 0 ? l->st->self : CW_SERVER_NONE, false); /* and that is its end */
    } else if (c != NULL && result_give(c->result, give, l) < 0) {
        lead_fail(l, -EBUSY, l->st->self, false);
    }
}

void patron_conclude(struct lead *l)
{
    const struct collector *c = collector_of_lead(l->st, &l->run);
    if (l->state == LEAD_GIVES && !l->over) {
        if (c == NULL || result_give(c->result, give, l) < 0) {
            lead_fail(l, -ESTALE, l->st->self, false);
        }
        return;
    }
    int status = l->cancelled ? -ECANCELED : l->refusals > 0 ? l->refusal[0].status : l->status;
    tell(l, status, l->refusals > 0 ? l->refusal[0].server : l->who);
}

int stream_run(struct stream *st, const void *owner, cw_job job, const cw_run *run, cw_run_done_fn done, void *arg,
               uint32_t number)
{
    const char *words[1 + CW_RUN_WORDS] = {"run"};
    struct lead *l;
    if (run == NULL || run->size < sizeof *run || done == NULL || run->words > CW_RUN_WORDS || run->word == NULL) {
        return -EINVAL;
    }
    memcpy(words + 1, run->word, run->words * sizeof *words);
    int rc = wording_read(st, job, NULL, (int)run->words + 1, words, &l);
    if (rc < 0) {
        return rc;
    }
    if ((l->to == LEAD_TO_CALLER) != (run->take != NULL)) {
        lead_free(l);
        return -EINVAL;
    }
    l->owner = owner;
    l->take = run->take;
    l->done = done;
    l->done_arg = arg;
    l->number = number;
    lead_begin(st, l);
    return 0;
}

int stream_end(struct stream *st, const void *owner, uint32_t number)
{
    struct lead *l = lead_of_number(st, number);
    if (l == NULL || l->owner != owner || owner == NULL) {
        return -ENOENT;
    }
    lead_cancel(l);
    tell(l, -ECANCELED, CW_SERVER_NONE);
    return 0;
}

int stream_give(struct stream *st, const void *owner, cw_job job, const char *name, const void *bytes, size_t length,
                bool last, cw_fed_fn fed, void *arg)
{
    return intake_give(st, owner, job, name, bytes, length, last, fed, arg);
}

void stream_disown(struct stream *st, const void *owner)
{
    intake_disown(st, owner);
    for (struct list_node *n = list_first(&st->leads), *next; n != NULL; n = next) {
        struct lead *l = (struct lead *)(void *)n;
        next = list_next(&st->leads, n);
        if (l->owner == owner && owner != NULL) {
            lead_cancel(l);
            tell(l, -ECANCELED, CW_SERVER_NONE);
        }
    }
}
