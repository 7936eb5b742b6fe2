/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_town.h - the service `aggregate` on every server of a fake_net of 3x3x1, each of which counts something: for
 * unit tests of questions. Server s has t.a = (s + 1) * 1000, t.odd = s where s is odd, and ten times in t.took, from
 * s ms up to s + 9 ms.
 */
#ifndef KIT_QUERY_TOWN_H
#define KIT_QUERY_TOWN_H

#include "fake_net.h"
#include "services/aggregate/query/internal.h"

enum { QUERY_TOWN = 9 };

struct fake_net *query_town_open(void);
/* Closes it, and holds that nothing was left. */
void query_town_close(struct fake_net *net);
/* The engine of a server. */
struct query *query_town_of(struct fake_net *net, cw_server s);
/* Runs the command at the server until it is answered. */
const struct fake_result *query_town_ask(struct fake_net *net, cw_server s, const char *line);
/* Server s is fed these lines, each of which ends in a newline. */
void query_town_feed(struct fake_net *net, cw_server s, const char *name, const char *lines);
/* The server is out of everybody's view from now on. */
void query_town_lose(struct fake_net *net, cw_server s);
/* It is in view, and answers nothing. */
void query_town_hush(struct fake_net *net, cw_server s);
/* The rows whose field `what` is this. */
unsigned query_town_rows(const struct fake_result *r, const char *what);

#endif
