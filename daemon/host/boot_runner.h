/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boot_runner.h - runs the bootstrap (boot/boot.h) on a server's links, beside its node or before there is one. Its
 * frames are told apart from the node's and leave before them. A place that it finds is put on stable storage, and the
 * node is opened there.
 *
 * Ports are as the configuration numbers them, links as the torus does. They differ once a server whose ports have no
 * labels has its place.
 */
#ifndef DAEMON_HOST_BOOT_RUNNER_H
#define DAEMON_HOST_BOOT_RUNNER_H

#include "daemon/host/internal.h"

/*
 * Maps ports to links by the place; place NULL: it is to be found. Without an id, and in a torus inside one process, no
 * bootstrap runs. 0 or -errno.
 */
CW_MUST_CHECK int boot_runner_open(struct host *h, const struct host_options *options, const struct boot_place *place);
void boot_runner_close(struct host *h);

/* True: the frame belongs to the bootstrap, which has read it. Borrows it. */
bool boot_runner_rx(struct pump_server *s, cw_link link, const uint8_t *bytes, uint32_t length, cw_time now);
void boot_runner_carrier(struct pump_server *s, cw_link link, bool up, cw_time now);
/* Does what is due. When the server has just got its place: stores it, and opens the node. */
void boot_runner_tick(struct pump_server *s, cw_time now);
/* The links by which the bootstrap has something to send. */
cw_links boot_runner_links(const struct pump_server *s);
/* Writes its next frame for a link, at most room bytes, and gives its length; 0: there is none. */
uint32_t boot_runner_pull(struct pump_server *s, cw_link link, uint8_t *bytes, uint32_t room, cw_time now);
cw_time boot_runner_wake(const struct pump_server *s);

#endif
