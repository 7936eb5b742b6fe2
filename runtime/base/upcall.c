/* SPDX-License-Identifier: Apache-2.0 */
#include "base/upcall.h"

#include <stdlib.h>

const char *upcall_name(enum upcall upcall)
{
    static const char *const names[UPCALLS] = {
        [UPCALL_OPEN] = "open",
        [UPCALL_CLOSE] = "close",
        [UPCALL_PACKET] = "on_packet",
        [UPCALL_EVENT] = "on_event",
        [UPCALL_COMMAND] = "on_command",
        [UPCALL_WRITABLE] = "on_writable",
        [UPCALL_NEXT_PACKET] = "next_packet",
        [UPCALL_PEEK_PACKET] = "peek_packet",
        [UPCALL_TIMER] = "timer",
        [UPCALL_REPLY] = "reply",
        [UPCALL_OFFLOAD] = "offload",
        [UPCALL_VISIT] = "visit",
    };
    return (unsigned)upcall < UPCALLS ? names[upcall] : "?";
}

void upcall_times_note(struct upcall_times *t, enum upcall upcall, int64_t ns)
{
    if (t->of[upcall] == NULL) {
        t->of[upcall] = calloc(1, sizeof *t->of[upcall]);
    }
    if (t->of[upcall] != NULL) {
        histogram_note(t->of[upcall], ns);
    }
}

uint64_t upcall_times_bytes(const struct upcall_times *t)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < UPCALLS; i++) {
        bytes += t->of[i] != NULL ? sizeof *t->of[i] : 0;
    }
    return bytes;
}

void upcall_times_close(struct upcall_times *t)
{
    for (unsigned i = 0; i < UPCALLS; i++) {
        free(t->of[i]);
    }
    *t = (struct upcall_times){.of = {NULL}};
}
