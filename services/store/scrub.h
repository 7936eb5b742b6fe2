/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scrub.h - what is on the disk is read again and verified, so that rot is found while there are other copies. Slowly
 * by itself: all in fourteen days, and at most 1 MB a second; or at once, when an operator asks. What is damaged is
 * written again, since all that a member holds is in its memory too. Where there is no register there is no timer.
 */
#ifndef SERVICES_STORE_SCRUB_H
#define SERVICES_STORE_SCRUB_H

#include "services/store/internal.h"

/* Something is on the disk: begins to read, unless it does already. */
void store_scrub_wake(struct store *s);
/* Reads all from here on without the long breaks, once. False: no disk is open. */
bool store_scrub_now(struct store *s);

#endif
