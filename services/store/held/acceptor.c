/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/acceptor.h"

#include "services/store/held/mutant.h"

#include <stdlib.h>

void store_acceptor_open(struct store_acceptor *a, uint64_t class_id)
{
    a->promised = (struct store_ballot){0, 0};
    a->n_max = 0;
    store_table_open(&a->table, class_id);
}

void store_acceptor_close(struct store_acceptor *a)
{
    store_table_close(&a->table);
}

bool store_acceptor_prepare(struct store_acceptor *a, struct store_ballot b)
{
    if (store_ballot_compare(b, a->promised) < 0) {
        return false;
    }
    a->promised = b;
    return true;
}

bool store_acceptor_confirm(const struct store_acceptor *a, struct store_ballot b)
{
    return store_ballot_compare(a->promised, b) == 0;
}

int store_acceptor_adopt(struct store_acceptor *a, struct store_register *r)
{
    struct store_name name = store_register_name(r);
    const struct store_register *have = store_table_find(&a->table, &name);
    a->n_max = r->tag.n > a->n_max ? r->tag.n : a->n_max;
    if (have != NULL && store_tag_compare(have->tag, r->tag) >= 0) {
        free(r);
        return 1;
    }
    int rc = store_table_put(&a->table, r);
    if (rc < 0) {
        free(r);
    }
    return rc < 0 ? rc : 1;
}

int store_acceptor_accept(struct store_acceptor *a, struct store_ballot b, struct store_register *r)
{
    bool below = store_ballot_compare(b, a->promised) < 0;
    if (below && !STORE_MUTANT(ACCEPTS_BELOW)) {
        free(r);
        return 0;
    }
    if (!below) {
        a->promised = b;
    }
    return store_acceptor_adopt(a, r);
}
