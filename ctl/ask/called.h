/* SPDX-License-Identifier: Apache-2.0 */
/*
 * called.h - a daemon by the name that it has itself, where no socket has that name (find.h): a service manager may
 * give the socket's file another one.
 */
#ifndef CTL_ASK_CALLED_H
#define CTL_ASK_CALLED_H

#include "ctl/ask/find.h"

/*
 * Asks each daemon whose socket is in the folders of the wish for its name, and for its server, until one is the wish's
 * node. 0 and *out, or -ENOENT. Who does not answer within 300 ms is not waited for.
 */
CW_MUST_CHECK int called_find(const struct find_wish *wish, struct find_result *out);

#endif
