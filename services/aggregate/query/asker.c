/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/internal.h"
#include "services/aggregate/query/mutant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void asker_free(struct asker *a)
{
    if (a->post != NULL) {
        post_free(a->post);
    }
    free(a);
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static bool nobody_has_it(const struct asker *a)
{
    const struct post *p = a->post;
    return memcmp(p->answered, p->without, sizeof p->answered) == 0 && !query_is_empty(a->q, p->answered);
}

static int begin(struct asker *a, enum summary_kind summary);

static void finish(struct asker *a)
{
    if (a->seeks) {
        telling_unknown(a);
    } else if (a->wish.op != WISH_LIST && nobody_has_it(a) && (a->post->flags & LETTER_UNFIT) != 0) {
        telling_unfit(a);
    } else if (a->wish.op != WISH_LIST && nobody_has_it(a)) {
        a->seeks = true;
        post_free(a->post);
        a->post = NULL;
        a->direct = false;
        memset(a->awaits, 0, sizeof a->awaits);
        if (begin(a, SUMMARY_NAMES) == 0) {
            return;
        }
        telling_unknown(a);
    } else {
        telling_answer(a);
    }
    asker_free(a);
}

/* Query rule 13: the answer comes within the time that was given, whoever is silent. */
static void time_over(cw_svc *s, void *state, void *arg)
{
    struct asker *a = arg;
    (void)s;
    (void)state;
    a->post->timer = NULL;
    finish(a);
}

/* ---- Those that the tree did not bring --------------------------------------------------------------------------- */

void asker_heard(struct asker *a, cw_server server)
{
    struct query *q = a->q;
    if (!a->direct) {
        return;
    }
    query_take(a->awaits, server);
    for (size_t i = 0; i < query_words(q); i++) {
        a->awaits[i] &= ~a->post->answered[i]; /* a late part of the tree has brought it */
    }
    if (query_is_empty(q, a->awaits)) {
        finish(a);
    }
}

static void ask_directly(struct asker *a)
{
    struct query *q = a->q;
    struct post *p = a->post;
    struct query_letter ask = p->ask;
    ask.round = LETTER_DIRECT;
    for (cw_server s = 0; s < q->torus.servers; s++) {
        bool missing = query_has(p->ask.members, s) && !query_has(p->answered, s);
        if (missing && s != q->self && cw_reachable(q->s, torus_coord(&q->torus, s)) && query_send(q, &ask, s) == 0) {
            query_put(a->awaits, s);
        }
    }
}

void asker_tree_over(struct asker *a)
{
    struct query *q = a->q;
    struct post *p = a->post;
    cw_timer_stop(q->s, p->timer);
    p->timer = NULL;
    a->direct = true;
    ask_directly(a);
    cw_span left = cw_time_since(cw_time_add(a->begun, a->wish.within), cw_now(q->s));
    bool waits = !query_is_empty(q, a->awaits) && left.ns > 0;
    if (waits && !QUERY_MUTANT(NO_DEADLINE)) {
        p->timer = cw_timer_start(q->s, left, time_over, a);
        waits = p->timer != NULL;
    }
    if (!waits) {
        finish(a);
    }
}

/* ---- The beginning ----------------------------------------------------------------------------------------------- */

/* The question, or the one for all names. 0: it will end; otherwise nothing is under way. */
static int begin(struct asker *a, enum summary_kind summary)
{
    struct query *q = a->q;
    struct query_letter ask = {.kind = LETTER_ASK, .summary = summary, .by = a->wish.by, .round = LETTER_TREE};
    ask.name = (struct letter_name){q->self, q->life, ++q->numbers};
    ask.servers = q->torus.servers;
    ask.within_us = (uint32_t)(a->wish.within.ns / 2 / CW_US(1).ns); /* the other half is for those that it misses */
    ask.source = a->wish.source;
    ask.source_length = strlen(a->wish.source);
    if (summary == SUMMARY_NAMES) {
        ask.by = LETTER_BY_NONE;
        ask.source_length = 0;
    }
    memcpy(ask.members, a->wish.on, sizeof ask.members);
    for (cw_server s = 0; s < q->torus.servers; s++) {
        if (s != q->self && !cw_reachable(q->s, torus_coord(&q->torus, s))) {
            query_put(ask.dead, s);
        }
    }
    a->begun = cw_now(q->s);
    int rc = post_begin(q, &ask, q->self, a, &a->post);
    if (rc == 0 && a->post->waits == 0) {
        asker_tree_over(a);
    }
    return rc;
}

int asker_begin(struct query *q, cw_request *r, const struct wish *w)
{
    struct asker *a = calloc(1, sizeof *a);
    if (a == NULL) {
        return -ENOMEM;
    }
    a->q = q;
    a->request = r;
    a->wish = *w;
    query_count(q, QUERY_ASKED, 1);
    int rc = begin(a, wish_summary(w->op));
    if (rc < 0) {
        free(a);
        return rc;
    }
    return 1;
}
