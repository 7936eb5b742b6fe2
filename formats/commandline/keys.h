/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.h - the keys of a terminal while a program shows something again and again: q ends it, as in less(1) and top(1).
 *
 * While keys are read, the terminal does not echo them, and gives each at once. Ctrl-C keeps its meaning.
 */
#ifndef COMMANDLINE_KEYS_H
#define COMMANDLINE_KEYS_H

#include "cubeway/time.h"

#include <stdbool.h>
#include <termios.h>

struct keys {
    bool on; /* standard input is a terminal, and its keys are ours */
    struct termios before;
};

/*
 * Begins to read keys, if standard input is a terminal and this process is in its foreground; otherwise keys_wait()
 * only waits. The terminal must get back its settings by keys_end().
 */
void keys_begin(struct keys *k);
/* Keys that are no character. */
enum { KEYS_NONE = 0, KEYS_END = -1, KEYS_UP = 0x100, KEYS_DOWN, KEYS_LEFT, KEYS_RIGHT, KEYS_ESCAPE, KEYS_RUBOUT };
/*
 * Waits so long, or until a signal comes, and gives the key that was pressed: its byte, or one of the above. KEYS_NONE:
 * none was. KEYS_END: standard input has ended.
 */
int keys_read(struct keys *k, cw_span span);
/* Waits so long, or until a signal comes. True: q was pressed, or standard input has ended. */
bool keys_wait(struct keys *k, cw_span span);
void keys_end(struct keys *k);

#endif
