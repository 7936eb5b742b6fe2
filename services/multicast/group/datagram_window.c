/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/group/datagram_window.h"

#include "base/check.h"
#include "services/multicast/group/mutant.h"

#include <string.h>

static bool bit(const uint64_t *words, uint64_t number)
{
    uint64_t at = number % DATAGRAM_WINDOW;
    return words[at / 64] >> at % 64 & 1;
}

static void set(uint64_t *words, uint64_t number, bool on)
{
    uint64_t at = number % DATAGRAM_WINDOW, one = UINT64_C(1) << at % 64;
    words[at / 64] = on ? words[at / 64] | one : words[at / 64] & ~one;
}

enum datagram_seen datagram_window_look(const struct datagram_window *w, uint64_t life, uint64_t number)
{
    if (life == 0 || number == 0 || life == w->over) {
        return DATAGRAM_TOO_OLD;
    }
    if ((life != w->life && !GROUP_MUTANT(NO_LIFE)) || number > w->newest || GROUP_MUTANT(NO_WINDOW)) {
        return DATAGRAM_FRESH;
    }
    if (w->newest - number >= DATAGRAM_WINDOW) {
        return DATAGRAM_TOO_OLD;
    }
    if (!bit(w->seen, number)) {
        return DATAGRAM_FRESH;
    }
    return bit(w->refused, number) ? DATAGRAM_REFUSED : DATAGRAM_TAKEN;
}

void datagram_window_mark(struct datagram_window *w, uint64_t life, uint64_t number, bool taken)
{
    if (life != w->life && !(GROUP_MUTANT(NO_LIFE) && w->life != 0)) {
        *w = (struct datagram_window){.life = life, .over = w->life};
    }
    if (number > w->newest) {
        uint64_t from = number - w->newest >= DATAGRAM_WINDOW ? number - DATAGRAM_WINDOW + 1 : w->newest + 1;
        for (uint64_t n = from; n <= number; n++) {
            set(w->seen, n, false);
        }
        w->newest = number;
    }
    CHECK_RULE(w->newest >= number && w->newest - number < DATAGRAM_WINDOW,
               "groups G6: a number that is recorded lies in the window", "a source's window");
    set(w->seen, number, true);
    set(w->refused, number, !taken);
}
