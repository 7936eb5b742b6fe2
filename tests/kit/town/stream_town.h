/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_town.h - the engine for sorted records on every server of a fake_net of 3x3x1, with files in memory: for unit
 * tests. The commands run, feed, take, cancel, status of its service are the engine's.
 */
#ifndef KIT_STREAM_TOWN_H
#define KIT_STREAM_TOWN_H

#include "fake_net.h"
#include "services/aggregate/stream/internal.h"
#include "stream_disk.h"

enum { STREAM_TOWN = 9, STREAM_TOWN_WIDE = 36 };

extern struct stream_disk stream_disks[STREAM_TOWN_WIDE];
/* Who has another module, or none, from the next stream_town_open() on, with the option modules; at first nobody. */
extern struct stream_town_modules {
    cw_server other, none;
} stream_town_modules;

/* Opens the engine everywhere. options ("name=value", ended by NULL) may be NULL: data and spool are set. */
struct fake_net *stream_town_open(const char *const *options);
/* The same, of STREAM_TOWN_WIDE servers: 6x6x1, more than collect at the same time. stream_town_fill() is for nine. */
struct fake_net *stream_town_open_wide(void);
/* Closes it, and holds that nothing was left. */
void stream_town_close(struct fake_net *net);
struct stream *stream_town_at(struct fake_net *net, cw_server s);
/* Server s has a text, in file "in". */
void stream_town_put(cw_server s, const char *text);
/* A text of `lines` lines "s<server>k<i> TAB i" of each server, and "all TAB 1": in file "in". */
void stream_town_fill(unsigned lines);
/* Begins a command at the server; r is answered while time passes. */
void stream_town_begin(struct fake_net *net, cw_server s, const char *line, struct fake_result *r);
/* Runs the command until it is answered. */
const struct fake_result *stream_town_ask(struct fake_net *net, cw_server s, const char *line);
/* The file "out" of server s as a text; "-": there is none. Good until the next call. */
const char *stream_town_result(cw_server s);
/* The server is out of everybody's view from now on, and its packets are lost. */
void stream_town_lose(struct fake_net *net, cw_server s);
/* Is the result of stream_town_fill(lines) of these servers, by `run map=kv`, in the file of server s? */
bool stream_town_right(cw_server s, unsigned lines, uint32_t counted);

#endif
