/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One service in several builds (BUILD), for the tests of what happens when one takes the place of another. Build 3
 * runs everywhere but on server 0,0,0, which refuses it at its start.
 */
#include "cubeway/service.h"

#include <errno.h>

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

static int builds_open(cw_svc *s, void *state)
{
    cw_coord c = cw_self(s);
    (void)state;
    if (BUILD == 3 && c.x == 0 && c.y == 0 && c.z == 0) {
        cw_log(s, CW_LOG_ERROR, "not here");
        return -EIO;
    }
    return 0;
}

static cw_verdict builds_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s, (void)state, (void)p, (void)rx;
    return CW_DROP;
}

static const cw_service table = {
    CW_SERVICE_INIT, .name = "builds",    .version = "0." TEXT(BUILD),
    .job = 4003,     .open = builds_open, .on_packet = builds_packet,
};

const cw_service *cw_service_entry(void)
{
    return &table;
}
