/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* ppoll */
#include "commandline/keys.h"

#include <poll.h>
#include <unistd.h>

void keys_begin(struct keys *k)
{
    k->on = isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp() && tcgetattr(STDIN_FILENO, &k->before) == 0;
    if (k->on) {
        struct termios raw = k->before;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
        k->on = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    }
}

/* One byte, within that time. KEYS_NONE: none came; KEYS_END: none will. */
static int read_byte(const struct keys *k, cw_span span)
{
    struct pollfd in = {.fd = k->on ? STDIN_FILENO : -1, .events = POLLIN};
    struct timespec most = {span.ns / CW_NS_PER_SEC, span.ns % CW_NS_PER_SEC};
    unsigned char byte;
    if (ppoll(&in, 1, &most, NULL) <= 0 || in.revents == 0) {
        return KEYS_NONE;
    }
    ssize_t got = read(STDIN_FILENO, &byte, 1);
    return got == 1 ? byte : got == 0 ? KEYS_END : KEYS_NONE;
}

/* Behind an escape: an arrow comes as "[A" or "OA" at once, and nothing comes when the key itself was pressed. */
static int read_escape(const struct keys *k)
{
    static const cw_span at_once = CW_MS(20);
    int bracket = read_byte(k, at_once);
    int letter = bracket == '[' || bracket == 'O' ? read_byte(k, at_once) : KEYS_NONE;
    return letter >= 'A' && letter <= 'D' ? (int[]){KEYS_UP, KEYS_DOWN, KEYS_RIGHT, KEYS_LEFT}[letter - 'A']
                                          : KEYS_ESCAPE;
}

int keys_read(struct keys *k, cw_span span)
{
    enum { BYTE_BACKSPACE = 8, BYTE_ESCAPE = 27, BYTE_DELETE = 127 };
    int byte = read_byte(k, span);
    if (byte == BYTE_ESCAPE) {
        return read_escape(k);
    }
    return byte == BYTE_DELETE || byte == BYTE_BACKSPACE ? KEYS_RUBOUT : byte;
}

bool keys_wait(struct keys *k, cw_span span)
{
    int byte = read_byte(k, span);
    return byte == KEYS_END || byte == 'q' || byte == 'Q';
}

void keys_end(struct keys *k)
{
    if (k->on) {
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &k->before);
        k->on = false;
    }
}
