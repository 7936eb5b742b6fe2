/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seek.h - the bootstrap (boot/boot.h) on a server's links, beside its node or before there is one: its frames are told from the node's and
 * go out before them; a place it finds is stored and the node opened there.
 *
 * Ports are as the configuration numbers them, links as the torus does; they differ once a server with unlabelled ports has its place.
 */
#ifndef DAEMON_HOST_SEEK_H
#define DAEMON_HOST_SEEK_H

#include "daemon/host/internal.h"

/* Ports become links by the place, NULL: it is to be found. Without an id, and inside one process, nothing is sought. 0 or -errno. */
CW_MUST_CHECK int seek_open(struct host *h, const struct host_options *options, const struct boot_place *place);
void seek_close(struct host *h);

/* True when the frame was the bootstrap's. Borrows it. */
bool seek_rx(struct pump_server *s, cw_link link, const uint8_t *bytes, uint32_t length, cw_time now);
void seek_carrier(struct pump_server *s, cw_link link, bool up, cw_time now);
/* What is due; then, if the server has just got a place: stored, and its node opened. */
void seek_tick(struct pump_server *s, cw_time now);
/* Links it has something to send by. */
cw_links seek_links(const struct pump_server *s);
/* Its next frame of a link, at most room bytes; its length, 0: none. */
uint32_t seek_pull(struct pump_server *s, cw_link link, uint8_t *bytes, uint32_t room, cw_time now);
cw_time seek_wake(const struct pump_server *s);

#endif
