/* SPDX-License-Identifier: Apache-2.0 */
#include "store_standin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct standin_question {
    struct standin_question *next;
    cw_store_request request;
    cw_store_list list;
    bool is_list;
    cw_store_done done;
    cw_store_list_done list_done;
    void *arg;
    uint8_t *name, *value, *after;
};

static void *keep(const void *bytes, size_t length)
{
    void *kept = malloc(length + 1);
    if (kept == NULL) {
        abort();
    }
    if (length > 0) {
        memcpy(kept, bytes, length);
    }
    return kept;
}

static void drop(struct standin_question *q)
{
    free(q->name);
    free(q->value);
    free(q->after);
    free(q);
}

void standin_open(struct store_standin *s, uint64_t seed)
{
    *s = (struct store_standin){.prng = prng_stream(seed, 0, 4711)};
}

void standin_close(struct store_standin *s)
{
    for (struct standin_register *r; (r = s->first) != NULL;) {
        s->first = r->next;
        free(r->name);
        free(r->value);
        free(r);
    }
    for (unsigned i = 0; i < 2; i++) {
        struct standin_question **of = i == 0 ? &s->waiting : &s->late;
        for (struct standin_question *q; (q = *of) != NULL;) {
            *of = q->next;
            drop(q);
        }
    }
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static int compare(const struct standin_register *r, cw_job job, const void *name, size_t length)
{
    if (r->job != job) {
        return r->job < job ? -1 : 1;
    }
    int order = memcmp(r->name, name, r->name_length < length ? r->name_length : length);
    return order != 0 ? order : (r->name_length > length) - (r->name_length < length);
}

struct standin_register *standin_find(struct store_standin *s, cw_job job, const void *name, size_t length)
{
    for (struct standin_register *r = s->first; r != NULL; r = r->next) {
        if (compare(r, job, name, length) == 0) {
            return r;
        }
    }
    return NULL;
}

static struct standin_register *make(struct store_standin *s, cw_job job, const void *name, size_t length)
{
    struct standin_register **at = &s->first;
    while (*at != NULL && compare(*at, job, name, length) < 0) {
        at = &(*at)->next;
    }
    if (*at == NULL || compare(*at, job, name, length) != 0) {
        struct standin_register *r = calloc(1, sizeof *r);
        if (r == NULL) {
            abort();
        }
        *r = (struct standin_register){.next = *at, .job = job, .name = keep(name, length), .name_length = length};
        *at = r;
    }
    return *at;
}

unsigned standin_count(const struct store_standin *s, const char *prefix)
{
    unsigned count = 0;
    for (const struct standin_register *r = s->first; r != NULL; r = r->next) {
        count += r->there && r->name_length >= strlen(prefix) && memcmp(r->name, prefix, strlen(prefix)) == 0;
    }
    return count;
}

/* Does it, and says what came of it. */
static cw_store_result act(struct store_standin *s, const cw_store_request *q)
{
    struct standin_register *r = standin_find(s, q->job, q->name, q->name_length);
    bool there = r != NULL && r->there;
    cw_store_result out = {.size = sizeof out, .status = CW_STORE_OK};
    if (q->op == CW_STORE_GET || q->op == CW_STORE_HEAD) {
        if (!there) {
            out.status = CW_STORE_NOT_FOUND;
            return out;
        }
        out.version = r->version;
        out.flags = r->flags;
        out.value = q->op == CW_STORE_GET ? r->value : NULL;
        out.value_length = r->value_length;
        return out;
    }
    if (q->conditional && q->version != (there ? r->version : 0)) {
        out.status = CW_STORE_CONFLICT;
        out.version = there ? r->version : 0;
        return out;
    }
    if (q->op == CW_STORE_DELETE && !there) {
        out.status = CW_STORE_NOT_FOUND;
        return out;
    }
    r = make(s, q->job, q->name, q->name_length);
    free(r->value);
    r->value = q->op == CW_STORE_PUT ? keep(q->value, q->value_length) : NULL;
    r->value_length = q->op == CW_STORE_PUT ? q->value_length : 0;
    r->there = q->op == CW_STORE_PUT;
    r->flags = q->flags;
    out.version = r->version = ++s->version;
    return out;
}

static void act_list(struct store_standin *s, const struct standin_question *q)
{
    static cw_store_entry entry[CW_STORE_LIST_MAX];
    cw_store_page page = {.size = sizeof page, .status = CW_STORE_OK, .entry = entry};
    const cw_store_list *l = &q->list;
    for (const struct standin_register *r = s->first; r != NULL; r = r->next) {
        if (r->job != l->job || !r->there || r->name_length < l->prefix_length ||
            (l->prefix_length > 0 && memcmp(r->name, l->prefix, l->prefix_length) != 0) ||
            (l->after_length > 0 && compare(r, l->job, l->after, l->after_length) <= 0)) {
            continue;
        }
        if (page.count == l->limit) {
            page.more = true;
            break;
        }
        entry[page.count++] = (cw_store_entry){r->name, r->name_length, r->version, r->flags, r->value_length};
    }
    q->list_done(q->arg, &page);
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

static bool chance(struct store_standin *s, unsigned permille)
{
    return permille > 0 && prng_chance(&s->prng, permille, 1000);
}

static int add(struct store_standin *s, struct standin_question *q)
{
    if (chance(s, s->refused)) {
        drop(q);
        return -ENOBUFS;
    }
    q->next = s->waiting;
    s->waiting = q;
    s->waits++;
    s->asked++;
    return 0;
}

static struct standin_question *new_question(void)
{
    struct standin_question *q = calloc(1, sizeof *q);
    if (q == NULL) {
        abort();
    }
    return q;
}

static int run(cw_svc *store, const cw_store_request *request, cw_store_done done, void *arg)
{
    struct store_standin *s = (struct store_standin *)(void *)store;
    if (request->name_length < 1 || request->name_length > CW_STORE_NAME_MAX ||
        request->value_length > CW_STORE_VALUE_MAX) {
        return -EINVAL;
    }
    struct standin_question *q = new_question();
    q->request = *request;
    q->done = done;
    q->arg = arg;
    q->request.name = q->name = keep(request->name, request->name_length);
    q->request.value = q->value = keep(request->value, request->value_length);
    return add(s, q);
}

static int list(cw_svc *store, const cw_store_list *request, cw_store_list_done done, void *arg)
{
    struct store_standin *s = (struct store_standin *)(void *)store;
    if (request->limit > CW_STORE_LIST_MAX || request->prefix_length > CW_STORE_NAME_MAX ||
        request->after_length > CW_STORE_NAME_MAX ||
        (request->after_length > 0 && (request->after_length < request->prefix_length ||
                                       memcmp(request->after, request->prefix, request->prefix_length) != 0))) {
        return -EINVAL;
    }
    struct standin_question *q = new_question();
    q->is_list = true;
    q->list = *request;
    q->list.limit = request->limit > 0 ? request->limit : CW_STORE_LIST_MAX;
    q->list_done = done;
    q->arg = arg;
    q->list.prefix = q->name = keep(request->prefix, request->prefix_length);
    q->list.after = q->after = keep(request->after, request->after_length);
    return add(s, q);
}

const cw_store_api standin_api = {.size = sizeof standin_api, .run = run, .list = list};

static struct standin_question *draw(struct store_standin *s, struct standin_question **from, unsigned count)
{
    for (uint64_t skip = prng_below(&s->prng, count); skip > 0; skip--) {
        from = &(*from)->next;
    }
    struct standin_question *q = *from;
    *from = q->next;
    return q;
}

static bool writes(const struct standin_question *q)
{
    return !q->is_list && (q->request.op == CW_STORE_PUT || q->request.op == CW_STORE_DELETE);
}

static void make_late(struct store_standin *s, struct standin_question *q)
{
    q->next = s->late;
    s->late = q;
}

static void answer(struct store_standin *s, struct standin_question *q)
{
    static const cw_store_status failures[] = {CW_STORE_NO_QUORUM, CW_STORE_NO_ANSWER, CW_STORE_BUSY, CW_STORE_NO_SPACE,
                                               CW_STORE_QUOTA};
    cw_store_result out = {.size = sizeof out};
    if (chance(s, s->failing)) {
        out.status = failures[prng_below(&s->prng, writes(q) ? 5 : 3)];
    } else if (writes(q) && chance(s, s->unknown)) {
        out.status = CW_STORE_UNKNOWN;
        if (prng_chance(&s->prng, 1, 2)) {
            (void)act(s, &q->request);
        } else {
            cw_store_done done = q->done;
            void *arg = q->arg;
            make_late(s, q);
            done(arg, &out);
            return;
        }
    } else if (q->is_list) {
        act_list(s, q);
        drop(q);
        return;
    } else {
        out = act(s, &q->request);
    }
    if (q->is_list) {
        const cw_store_page page = {.size = sizeof page, .status = out.status};
        q->list_done(q->arg, &page);
    } else {
        q->done(q->arg, &out);
    }
    drop(q);
}

bool standin_turn(struct store_standin *s)
{
    if (s->late != NULL && prng_chance(&s->prng, 1, 20)) {
        struct standin_question *q = draw(s, &s->late, 1);
        if (prng_chance(&s->prng, 1, 2)) {
            (void)act(s, &q->request);
        }
        drop(q);
        return true;
    }
    if (s->waits == 0) {
        return false;
    }
    struct standin_question *q = draw(s, &s->waiting, s->waits);
    s->waits--;
    answer(s, q);
    return true;
}

void standin_forget(struct store_standin *s)
{
    while (s->waits > 0) {
        struct standin_question *q = draw(s, &s->waiting, s->waits--);
        const cw_store_result out = {.size = sizeof out, .status = CW_STORE_NO_ANSWER};
        const cw_store_page page = {.size = sizeof page, .status = CW_STORE_NO_ANSWER};
        bool done = writes(q) && prng_chance(&s->prng, 1, 2);
        if (done) {
            (void)act(s, &q->request);
        }
        if (q->is_list) {
            q->list_done(q->arg, &page);
        } else {
            q->done(q->arg, &out);
        }
        if (writes(q) && !done && prng_chance(&s->prng, 1, 2)) {
            make_late(s, q);
        } else {
            drop(q);
        }
    }
}
