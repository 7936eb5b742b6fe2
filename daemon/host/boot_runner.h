/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boot_runner.h - the bootstrap (boot/boot.h) on a server's links, beside its node or before there is one: its frames are told from the node's and
 * go out before them; a place it finds is stored and the node opened there.
 *
 * Ports are as the configuration numbers them, links as the torus does; they differ once a server with unlabelled ports has its place.
 */
#ifndef DAEMON_HOST_BOOT_RUNNER_H
#define DAEMON_HOST_BOOT_RUNNER_H

#include "daemon/host/internal.h"

/* Ports become links by the place, NULL: it is to be found. Without an id, and inside one process, nothing is sought. 0 or -errno. */
CW_MUST_CHECK int boot_runner_open(struct host *h, const struct host_options *options, const struct boot_place *place);
void boot_runner_close(struct host *h);

/* True when the frame was the bootstrap's. Borrows it. */
bool boot_runner_rx(struct pump_server *s, cw_link link, const uint8_t *bytes, uint32_t length, cw_time now);
void boot_runner_carrier(struct pump_server *s, cw_link link, bool up, cw_time now);
/* What is due; then, if the server has just got a place: stored, and its node opened. */
void boot_runner_tick(struct pump_server *s, cw_time now);
/* Links it has something to send by. */
cw_links boot_runner_links(const struct pump_server *s);
/* Its next frame of a link, at most room bytes; its length, 0: none. */
uint32_t boot_runner_pull(struct pump_server *s, cw_link link, uint8_t *bytes, uint32_t room, cw_time now);
cw_time boot_runner_wake(const struct pump_server *s);

#endif
