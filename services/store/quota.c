/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/quota.h"

#include "base/words.h"
#include "services/reply/refuse.h"
#include "services/store/txn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 64, MIB_MOST = 1 << 20 };
#define NAMES_MOST UINT64_C(1000000000000)

/* One "JOB=MIB[/NAMES]" of so many bytes. */
static bool read_one(const char *text, size_t length, struct store_used *out)
{
    char word[WORD];
    uint64_t job = 0, mib, names = 0;
    if (length >= sizeof word) {
        return false;
    }
    memcpy(word, text, length);
    word[length] = '\0';
    char *is = strchr(word, '='), *slash = strchr(word, '/');
    if (is == NULL || (slash != NULL && slash < is)) {
        return false;
    }
    *is = '\0';
    if (slash != NULL) {
        *slash = '\0';
    }
    if ((strcmp(word, "*") != 0 && words_number(word, 1, UINT32_MAX, &job) < 0) ||
        words_number(is + 1, 0, MIB_MOST, &mib) < 0 ||
        (slash != NULL && words_number(slash + 1, 1, NAMES_MOST, &names) < 0)) {
        return false;
    }
    *out = (struct store_used){(cw_job)job, mib > 0 ? mib << 20 : UINT64_MAX, names > 0 ? names : UINT64_MAX};
    return true;
}

static bool is_named(const struct store *s, cw_job job)
{
    for (unsigned i = 0; i < s->quotas; i++) {
        if (s->quota[i].job == job) {
            return true;
        }
    }
    return false;
}

int store_quota_read(struct store *s, const char *text)
{
    static const char expected[] = "JOB=MIB or JOB=MIB/NAMES with commas between, each job once, JOB * for all others";
    for (const char *at = text; at != NULL && *at != '\0';) {
        struct store_used one;
        at += strspn(at, " ");
        size_t length = strcspn(at, ", ");
        if (!read_one(at, length, &one) || is_named(s, one.job)) {
            return refuse_setting(s->svc, "quotas", text, expected);
        }
        struct store_used *more = realloc(s->quota, (s->quotas + 1) * sizeof *more);
        if (more == NULL) {
            return -ENOMEM;
        }
        s->quota = more;
        s->quota[s->quotas++] = one;
        at += length;
        at += strspn(at, " ");
        if (*at != '\0' && *at++ != ',') {
            return refuse_setting(s->svc, "quotas", text, expected);
        }
    }
    return 0;
}

void store_quota_close(struct store *s)
{
    free(s->quota);
    s->quota = NULL;
    s->quotas = 0;
}

struct store_used store_quota_of(const struct store *s, cw_job job)
{
    struct store_used most = {job, UINT64_MAX, UINT64_MAX};
    for (unsigned i = 0; i < s->quotas; i++) {
        if (s->quota[i].job == job) {
            return s->quota[i];
        }
        most = s->quota[i].job == 0 ? s->quota[i] : most;
    }
    most.job = job;
    return most;
}

/* What the transactions that this server carries out will add for the job; what they will take away is not counted. */
static struct store_used reserved(const struct store *s, cw_job job)
{
    struct store_used sum = {.job = job};
    for (unsigned i = 0; i < s->shards; i++) {
        const struct store_lead *lead = s->shard[i]->lead;
        const struct store_table *t = &s->shard[i]->acceptor.table;
        for (struct list_node *n = lead != NULL ? list_first(&lead->groups) : NULL; n != NULL;
             n = list_next(&lead->groups, n)) {
            const struct store_intent *in = &container_of(n, struct store_group, node)->intent;
            for (unsigned k = 0; in->tag.job == job && k < in->bundle.steps; k++) {
                const struct store_step *step = &in->bundle.step[k];
                const struct store_register *r = store_table_find(t, &step->name);
                bool is_there = r != NULL && !r->deleted;
                uint64_t before = is_there ? (uint64_t)r->name_length + r->value_length : 0;
                uint64_t after = step->name.length + step->value_length;
                if (step->op == CW_STORE_PUT && store_intent_lacks(t, in, k)) {
                    sum.bytes += after > before ? after - before : 0;
                    sum.names += !is_there;
                }
            }
        }
    }
    return sum;
}

/* What the job holds here, and will when what is under way is done. */
static struct store_used used_by(const struct store *s, cw_job job)
{
    struct store_used used = store_tally_of(&s->tally, job), more = reserved(s, job);
    used.bytes += more.bytes;
    used.names += more.names;
    return used;
}

bool store_quota_allows(const struct store *s, const struct store_register *have, const struct store_order *o)
{
    if (s->quotas == 0 || o->op != CW_STORE_PUT) {
        return true;
    }
    const struct store_used most = store_quota_of(s, o->name.job), used = used_by(s, o->name.job);
    bool is_new = have == NULL || have->deleted;
    uint64_t before = is_new ? 0 : (uint64_t)have->name_length + have->value_length;
    uint64_t after = o->name.length + o->value_length;
    return (after <= before || used.bytes - before + after <= most.bytes) && (!is_new || used.names < most.names);
}

bool store_quota_allows_all(const struct store *s, const struct store_table *t, const struct store_bundle *b)
{
    const cw_job job = b->step[0].name.job;
    const struct store_used most = store_quota_of(s, job), used = s->quotas > 0 ? used_by(s, job) : most;
    uint64_t bytes = used.bytes, names = used.names;
    for (unsigned i = 0; s->quotas > 0 && i < b->steps; i++) {
        const struct store_step *step = &b->step[i];
        const struct store_register *r = store_table_find(t, &step->name);
        bool is_there = r != NULL && !r->deleted, puts = step->op == CW_STORE_PUT;
        if (store_step_writes(step)) {
            bytes += puts ? step->name.length + step->value_length : 0;
            bytes -= is_there ? (uint64_t)r->name_length + r->value_length : 0;
            names += puts;
            names -= is_there;
        }
    }
    return (bytes <= used.bytes || bytes <= most.bytes) && (names <= used.names || names <= most.names);
}
