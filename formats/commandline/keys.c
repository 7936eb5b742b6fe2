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

bool keys_wait(struct keys *k, cw_span span)
{
    struct pollfd in = {.fd = k->on ? STDIN_FILENO : -1, .events = POLLIN};
    struct timespec most = {span.ns / CW_NS_PER_SEC, span.ns % CW_NS_PER_SEC};
    char key;
    if (ppoll(&in, 1, &most, NULL) <= 0 || in.revents == 0) {
        return false;
    }
    ssize_t got = read(STDIN_FILENO, &key, 1);
    return got == 0 || (got == 1 && (key == 'q' || key == 'Q'));
}

void keys_end(struct keys *k)
{
    if (k->on) {
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &k->before);
        k->on = false;
    }
}
