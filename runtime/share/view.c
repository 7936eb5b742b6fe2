/* SPDX-License-Identifier: Apache-2.0 */
#include "share/view.h"
#include "share/mutant.h"

#include <errno.h>

enum {
    FLAGS_AT = SHARE_COM_VIEW + 4,
    EPOCH_AT = SHARE_COM_VIEW + 8,
    LEASE_AT = SHARE_COM_VIEW + 16,
    OPTIMISTIC_AT = SHARE_COM_VIEWS + 8 * SHARE_VIEW_WORDS,
};

void share_view_writer_open(struct share_view_writer *w, const struct share_out *com)
{
    *w = (struct share_view_writer){.com = *com};
}

void share_view_publish(struct share_view_writer *w, const struct share_view *v)
{
    share_store_32(&w->com, SHARE_COM_VIEW, ++w->number);
    share_fence_stores();
    share_store_32(&w->com, FLAGS_AT, v->flags);
    share_store_64(&w->com, EPOCH_AT, v->epoch);
    share_store_64(&w->com, LEASE_AT, (uint64_t)v->lease_until.ns);
    share_store_words(&w->com, SHARE_COM_VIEWS, v->committed, SHARE_VIEW_WORDS);
    share_store_words(&w->com, OPTIMISTIC_AT, v->optimistic, SHARE_VIEW_WORDS);
    share_store_32_release(&w->com, SHARE_COM_VIEW, ++w->number);
}

/* One try: false when the number was odd, or another one afterwards. */
static bool read_once(const struct share_in *com, struct share_view *out)
{
    uint32_t before = share_load_32_acquire(com, SHARE_COM_VIEW);
    if (before % 2 != 0 && !SHARE_MUTANT(NO_SEQLOCK)) {
        return false;
    }
    out->flags = share_load_32(com, FLAGS_AT);
    out->epoch = share_load_64(com, EPOCH_AT);
    out->lease_until.ns = (int64_t)share_load_64(com, LEASE_AT);
    share_load_words(com, SHARE_COM_VIEWS, out->committed, SHARE_VIEW_WORDS);
    share_load_words(com, OPTIMISTIC_AT, out->optimistic, SHARE_VIEW_WORDS);
    share_fence_loads();
    return share_load_32(com, SHARE_COM_VIEW) == before || SHARE_MUTANT(NO_SEQLOCK);
}

int share_view_read(const struct share_in *com, struct share_view *out)
{
    struct share_view v;
    for (int i = 0; i < SHARE_VIEW_TRIES; i++) {
        if (read_once(com, &v)) {
            *out = v;
            return 0;
        }
    }
    return -EAGAIN;
}

uint64_t share_view_epoch(const struct share_in *com)
{
    return share_load_64_acquire(com, EPOCH_AT);
}
