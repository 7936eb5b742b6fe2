/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_groups.h - whether the events of several names fit one order, in which all events of a transaction stand at one
 * instant. What must stand before what is known from the versions (a state before whoever met it, and who met it before
 * the next state) and from real time (what had ended before something began); one order exists exactly when none of
 * that goes in a circle.
 */
#ifndef SIM_STORE_GROUPS_H
#define SIM_STORE_GROUPS_H

#include "store_history.h"

/* Events as store_history_check() has left them; nodes: all are below it. True: they fit; else *why says which do not.
 */
bool store_groups_check(const struct store_event *events, size_t count, size_t nodes, char *why, size_t room);

#endif
