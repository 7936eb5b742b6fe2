/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/nap.h"

static unsigned judge(const struct nap *n, unsigned frames, cw_time begun)
{
    bool late = cw_time_since(begun, n->ended).ns > NAP_GAP * n->span.ns;
    unsigned before = late ? 0 : n->stream;
    if (n->napped && frames == 0) {
        return 0; /* in vain: the stream has ended */
    }
    if (frames >= NAP_MANY) {
        return before < NAP_MOST ? before + 1 : before;
    }
    return frames < NAP_FEW && before > 0 ? before - 1 : before;
}

void nap_turn(struct nap *n, unsigned frames, cw_time begun, cw_time ended)
{
    n->stream = judge(n, frames, begun);
    n->ended = ended;
    n->napped = false;
}
