/* SPDX-License-Identifier: Apache-2.0 */
/*
 * making.h - an operator makes a class of the store: this server asks all others (genesis.h). Repeated, it tells those
 * that did not hear it the first time.
 */
#ifndef SERVICES_STORE_MAKING_H
#define SERVICES_STORE_MAKING_H

#include "services/store/internal.h"

/*
 * An operator's order: a class of that name, in memory or on disks. As on_command(): 1, the request is answered later.
 */
int store_making_begin(struct store *s, cw_request *r, const char *name, bool disk, unsigned copies);
/* The service ends. */
void store_making_close(struct store *s);

#endif
