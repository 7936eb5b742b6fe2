/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/relay.h"

#include "base/check.h"

_Static_assert((int)RELAY_REASONS <= (int)RELAY_REASON_SLOTS, "each reason has a count");
_Static_assert((int)CW_LINK_COUNT <= (int)RELAY_LINKS, "each link has a slot");

const char *relay_reason_name(enum relay_reason reason)
{
    static const char *const names[RELAY_REASONS] = {
        [RELAY_PASSED] = "passed",   [RELAY_SHORT] = "short", [RELAY_OTHER] = "other", [RELAY_SHAPE] = "shape",
        [RELAY_KIND] = "kind",       [RELAY_HOPS] = "hops",   [RELAY_LEASE] = "lease", [RELAY_LINK] = "link",
        [RELAY_SESSION] = "session", [RELAY_GATE] = "gate",   [RELAY_JOB] = "job",     [RELAY_HERE] = "here",
        [RELAY_ROUTE] = "route",     [RELAY_FULL] = "full",   [RELAY_TORN] = "torn",
    };
    CHECK(reason < RELAY_REASONS);
    return names[reason];
}
