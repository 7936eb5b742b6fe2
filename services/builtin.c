/* SPDX-License-Identifier: Apache-2.0 */
#include "services/builtin.h"

#include "services/bench/bench.h"
#include "services/ping/ping.h"
#include "services/trace/trace.h"
#include "services/transport/transport.h"

#include <string.h>

static const cw_service *const services[] = {
    &ping_service,
    &bench_service,
    &trace_service,
    &transport_service,
};
enum { SERVICES = sizeof services / sizeof *services };

const cw_service *const *builtin_services(size_t *count)
{
    *count = SERVICES;
    return services;
}

const cw_service *builtin_service(const char *name)
{
    for (size_t i = 0; i < SERVICES; i++) {
        if (strcmp(services[i]->name, name) == 0) {
            return services[i];
        }
    }
    return NULL;
}
