/* SPDX-License-Identifier: Apache-2.0 */
#include "cubeway/err.h"

static const struct {
    const char *name;
    const char *text;
} words[CW_DROP_COUNT] = {
    [CW_DROP_MALFORMED] = {"malformed", "the bytes are no packet"},
    [CW_DROP_STALE_LINK] = {"stale-link", "data over a link that is not up, or of a former adjacency"},
    [CW_DROP_GATE_OVERFLOW] = {"gate-overflow", "too many frames waited for lost control to be repeated"},
    [CW_DROP_HOP_LIMIT] = {"hop-limit", "the hop budget is used up"},
    [CW_DROP_NO_ROUTE] = {"no-route", "the server is not reachable, or not in the torus"},
    [CW_DROP_NO_SERVICE] = {"no-service", "the packet has arrived, and its job does not run here"},
    [CW_DROP_DENIED] = {"denied", "the sender has no privilege for this"},
    [CW_DROP_QUEUE_FULL] = {"queue-full", "the queue of the service was at its limit"},
    [CW_DROP_HOLD_OVERFLOW] = {"hold-overflow", "too much was held for keys whose root is changing"},
    [CW_DROP_HOLD_TIMEOUT] = {"hold-timeout", "held too long for a key whose root was changing"},
    [CW_DROP_SERVICE] = {"service", "the service dropped it"},
    [CW_DROP_REPLY_DEAD] = {"reply-dead", "an answer to a call that has ended"},
    [CW_DROP_NO_MEMORY] = {"no-memory", "no packet memory was left"},
    [CW_DROP_CLOSED] = {"closed", "inside when the server or the service went down"},
};

const char *cw_drop_name(cw_drop cause)
{
    return (unsigned)cause < CW_DROP_COUNT ? words[cause].name : "unknown";
}

const char *cw_drop_text(cw_drop cause)
{
    return (unsigned)cause < CW_DROP_COUNT ? words[cause].text : "unknown cause";
}
