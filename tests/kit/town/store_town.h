/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_town.h - the store on every server of a fake_net of 3x3x1: for unit tests, one question at a time, by words.
 */
#ifndef KIT_STORE_TOWN_H
#define KIT_STORE_TOWN_H

#include "fake_net.h"
#include "services/store/entry/store.h"
#include "services/store/internal.h"
#include "services/store/lead.h"

enum { STORE_TOWN = 9 };

/* Opens the town; copies 0: there is no store yet. */
struct fake_net *store_town_open(unsigned copies);
/* The same without a store, with options of every server ("name=value", ended by NULL; borrowed). */
struct fake_net *store_town_open_with(const char *const *options);
/* Called whenever a millisecond has passed in store_town_ask(); NULL: nobody wants to know. */
extern void (*store_town_turn)(struct fake_net *net);
/* Closes it, and holds that nothing was left. */
void store_town_close(struct fake_net *net);
struct store *store_town_of(struct fake_net *net, cw_server s);
/* Runs the command at the server until it is answered. */
const struct fake_result *store_town_ask(struct fake_net *net, cw_server s, const char *line);
/* Asks, and holds that the answer has this status; gives the version. */
int64_t store_town_must(struct fake_net *net, cw_server s, const char *line, cw_store_status status);
/* The members of the name's shard (job 10), by their places; gives their number. */
unsigned store_town_members(struct fake_net *net, const char *name, cw_server out[static STORE_COPIES_MOST]);
struct store_shard *store_town_shard(struct fake_net *net, cw_server s, const char *name);
struct store_register *store_town_register(struct fake_net *net, cw_server s, const char *name);
/* The server hears nothing from now on, or again. */
void store_town_hush(cw_server s, bool hushed);
/* From now on messages with these bytes, and without the others, are heard by nobody. Both are borrowed; NULL: none. */
void store_town_lose(const char *with, const char *without);
/* All members give this answer to whatever is asked; NULL: the truth again. Borrowed. */
void store_town_lie(const struct store_answer *answer);
/* A register of job 10, to be freed. */
struct store_register *store_town_make(const char *name, const char *value, struct store_tag tag);

#endif
