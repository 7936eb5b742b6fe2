/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A service that does on order what no service should, for the tests of what the daemon and the simulator say then.
 *
 *   crash          reads from address 16
 *   give-up        calls abort(3)
 *   hold MS        keeps the server's thread for so long, asleep
 *   free-twice     frees one packet twice
 *   write-late     writes to a packet that it has freed
 *   circle         starts a timer of no time, for ever
 *   loop           does not return, and never sleeps
 *   keep           takes the command, and never ends it
 */
#include "cubeway/service.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { JOB = 4001 };

static cw_verdict careless_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s, (void)state, (void)p, (void)rx;
    return CW_DROP;
}

__attribute__((noinline)) static int read_from(uintptr_t address)
{
    volatile uintptr_t at = address; /* or the compiler sees that nothing is there */
    return *(volatile int *)at;
}

static int hold(const char *ms)
{
    struct timespec left = {atoi(ms) / 1000, atoi(ms) % 1000 * CW_MS(1).ns};
    while (nanosleep(&left, &left) != 0) {
        /* a signal is not the end of it */
    }
    return 0;
}

static void circle(cw_svc *s, void *state, void *arg)
{
    (void)state;
    (void)!cw_timer_start(s, CW_NS(0), circle, arg);
}

static int careless_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    if (argc == 1 && strcmp(argv[0], "crash") == 0) {
        return read_from(16) > 0;
    }
    if (argc == 1 && strcmp(argv[0], "give-up") == 0) {
        abort();
    }
    if (argc == 2 && strcmp(argv[0], "hold") == 0) {
        return hold(argv[1]);
    }
    if (argc == 1 && strcmp(argv[0], "free-twice") == 0) {
        cw_packet *p = cw_packet_new(s, 8);
        cw_packet_free(s, p);
        cw_packet_free(s, p);
        return 0;
    }
    if (argc == 1 && strcmp(argv[0], "write-late") == 0) {
        cw_packet *p = cw_packet_new(s, 8);
        volatile uint8_t *data = cw_packet_data(p, NULL);
        cw_packet_free(s, p);
        data[5] = 1;
        return 0;
    }
    if (argc == 1 && strcmp(argv[0], "circle") == 0) {
        circle(s, state, NULL);
        return 0;
    }
    if (argc == 1 && strcmp(argv[0], "loop") == 0) {
        for (volatile bool ever = true; ever;) {
            /* as a list whose end is missing */
        }
    }
    if (argc == 1 && strcmp(argv[0], "keep") == 0) {
        return 1;
    }
    cw_request_text(r, "error", "commands are crash, give-up, hold MS, free-twice, write-late, circle, loop, keep");
    return -EINVAL;
}

static const cw_command commands[] = {
    {"crash", "", "read from address 16"},
    {"give-up", NULL, "call abort(3)"},
    {"hold", "MS", NULL},
    {"free-twice", "", "free a packet twice"},
    {"write-late", "", "write to a packet that is freed"},
    {"circle", "", "start a timer of no time, for ever"},
    {"loop", "", "do not return"},
    {"keep", "", "take the command and never end it"},
    {NULL, NULL, NULL},
};

static const cw_service careless = {
    CW_SERVICE_INIT,      .name = "careless",           .version = "1",
    .job = JOB,           .on_packet = careless_packet, .on_command = careless_command,
    .commands = commands,
};

const cw_service *cw_service_entry(void)
{
    return &careless;
}
