/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unanswered.h - why a request got no answer in time, when the daemon still answers others: a service has taken a
 * command and has not ended it.
 */
#ifndef CTL_ASK_UNANSWERED_H
#define CTL_ASK_UNANSWERED_H

#include "ctl/ask/client.h"

/*
 * After client_ask() gave -ETIME for a request to that server (NULL: none was named): asks the daemon, over the same
 * connection, what its services have in hand. When it answers, why says which service has not answered which command,
 * or that no service is the cause; when it does not, why stays what client_ask() has said.
 */
void unanswered_explain(struct client *c, const char *server, cw_span waited, char why[static CLIENT_WHY]);

#endif
