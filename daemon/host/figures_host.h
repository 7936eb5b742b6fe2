/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures_host.h - the counters and histograms of a server of this process, for the service aggregate
 * (services/aggregate/query/host.h): those of `cwctl counters`, and the histograms of the metrics.
 */
#ifndef DAEMON_HOST_FIGURES_HOST_H
#define DAEMON_HOST_FIGURES_HOST_H

#include "services/aggregate/query/host.h"

struct host;

/* Fills in what cw_find() gives to the service; h is borrowed as long as that is used. */
void figures_host_open(struct figures_host *out, struct host *h);

#endif
