/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order_town.h - the service `aggregate` on every server of a fake_net of 3x3x1, with files in memory: for unit tests
 * of what operators ask for.
 */
#ifndef KIT_ORDER_TOWN_H
#define KIT_ORDER_TOWN_H

#include "fake_net.h"
#include "services/aggregate/order/internal.h"

enum { ORDER_TOWN = 9, ORDER_FILE = 8192, ORDER_PIECE = 1000 };

/* The one file of each server, "v", and the one that was stored there. */
struct order_file {
    int error;       /* of reading and writing, when it is < 0 */
    int store_error; /* of writing alone */
    size_t length;
    uint8_t bytes[ORDER_FILE];
    unsigned pieces; /* that were written there, of all files */
    char stored[64];
    size_t stored_length;
    uint8_t stored_bytes[ORDER_FILE];
};
extern struct order_file order_files[ORDER_TOWN];

/* Opens the service everywhere. options ("name=value", ended by NULL, beside `data`) may be NULL. */
struct fake_net *order_town_open(const char *const *options);
/* Closes it, and holds that nothing was left. */
void order_town_close(struct fake_net *net);
/* Runs the command at the server until it is answered. */
const struct fake_result *order_town_ask(struct fake_net *net, cw_server s, const char *line);
/* Server s has a file of `elements` words: element i is (s + 1) * 1000 + i. */
void order_town_fill(cw_server s, unsigned elements);
/* The server is out of everybody's view from now on. */
void order_town_lose(struct fake_net *net, cw_server s);

#endif
