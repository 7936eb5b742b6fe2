/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/thread.h"

#include <signal.h>

int thread_start(pthread_t *out, void *(*work)(void *context), void *context)
{
    static const int crashes[] = {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGSYS};
    sigset_t most, before;
    sigfillset(&most);
    for (unsigned i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        sigdelset(&most, crashes[i]);
    }
    pthread_sigmask(SIG_SETMASK, &most, &before);
    int rc = pthread_create(out, NULL, work, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -rc;
}
