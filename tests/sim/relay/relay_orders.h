/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay_orders.h - every order in which a judge and a publication may come: relay_step() is called before each access
 * to what both share, and there the other side runs, by chance.
 */
#ifndef SIM_RELAY_ORDERS_H
#define SIM_RELAY_ORDERS_H

#include "dice.h"

/*
 * Publishes `rounds` generations whose every word follows from the number of the generation, with links that fail and
 * come back, and jobs that go and come, and judges frames between, inside and around the publications. What is wrong
 * goes to wrong[], as seeds.h has it. Gives the number of frames that were relayed.
 */
unsigned relay_orders(struct dice *d, unsigned rounds, char *wrong);

#endif
