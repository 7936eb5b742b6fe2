/* SPDX-License-Identifier: Apache-2.0 */
/* Modules that the loader must refuse, each for its FAULT (FAULT_IS_x too, for the preprocessor); NONE is good. */
#include "cubeway/service.h"

enum {
    NONE,
    NO_ENTRY,
    NO_TABLE,
    API,
    SHORT,
    LONG_IN_USE,
    LONG_UNUSED,
    NAME,
    BUILTIN_NAME,
    BUILTIN_JOB,
    NO_PACKET,
    UNDEFINED
};

static cw_verdict packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s, (void)state, (void)p, (void)rx;
    return CW_DROP;
}

struct later_service {
    cw_service now;
    const void *option;
};

static const struct later_service table = {
    .now =
        {
            .size = FAULT == SHORT                                 ? sizeof(cw_service) - 16
                    : FAULT == LONG_IN_USE || FAULT == LONG_UNUSED ? sizeof(struct later_service)
                                                                   : sizeof(cw_service),
            .api = FAULT == API ? CW_API_VERSION + 1 : CW_API_VERSION,
            .name = FAULT == NAME           ? "not a name"
                    : FAULT == BUILTIN_NAME ? "ping"
                                            : "fault",
            .version = "1",
            .job = FAULT == BUILTIN_JOB ? 1023 : 1024,
            .on_packet = FAULT == NO_PACKET ? NULL : packet,
        },
    .option = FAULT == LONG_IN_USE ? &table : NULL,
};

#ifdef FAULT_IS_NO_ENTRY
#define cw_service_entry an_entry_of_another_name
const cw_service *an_entry_of_another_name(void);
#endif

#ifdef FAULT_IS_UNDEFINED
void a_function_that_no_host_has(void);
#endif

const cw_service *cw_service_entry(void)
{
#ifdef FAULT_IS_UNDEFINED
    a_function_that_no_host_has();
#endif
    return FAULT == NO_TABLE ? NULL : &table.now;
}
