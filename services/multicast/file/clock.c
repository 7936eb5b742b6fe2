/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.c - the clock of files: it runs while a file is on its way from here or to here, or work waits for the crew.
 */
#include "services/multicast/file/internal.h"

void files_wake(struct files *f)
{
    bool busy = f->slots != NULL || f->sends != NULL || f->env.crew.first != NULL;
    if (busy && f->timer == NULL) {
        f->timer = cw_timer_start(f->s, FILES_BEAT, f->tick, f);
    }
}
