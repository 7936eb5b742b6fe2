/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - what questions need of the program they run in: the counters and histograms of the node and its services.
 *
 * The program offers a struct figures_host to cw_find(), under FIGURES_HOST_NAME and version FIGURES_HOST_VERSION.
 * Without one this server has feeds alone.
 */
#ifndef SERVICES_AGGREGATE_QUERY_HOST_H
#define SERVICES_AGGREGATE_QUERY_HOST_H

#include "cubeway/types.h"

#define FIGURES_HOST_NAME "figures"
enum { FIGURES_HOST_VERSION = 1 };

struct histogram; /* base/histogram.h */

/* What each() calls. Names are borrowed for the call; a source is called GROUP.NAME. */
struct figures_visit {
    void *context;
    void (*counter)(void *context, const char *group, const char *name, uint64_t value);
    void (*times)(void *context, const char *group, const char *name, const struct histogram *h);
};

struct figures_host {
    size_t size; /* of this struct, as the host knows it */
    void *context;
    /* Calls visit for every counter and every histogram of server self, on the server's thread. */
    void (*each)(void *context, cw_coord self, const struct figures_visit *visit);
};

#endif
