/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold.h - who has a lab's folder. Whoever makes a lab locks its folder (flock) before the keeper answers, and the
 * keeper inherits the lock: so a lab that comes up, or one that ends, is never taken for a dead one. The kernel lets
 * go of the lock with the last process that has it, and nothing of it stays in the file system.
 */
#ifndef TESTBED_HOLD_H
#define TESTBED_HOLD_H

#include "testbed/lab.h"

/*
 * Makes the folder of all labs, and waits until nobody else makes or clears one in it. To be held for moments only.
 * Gives a descriptor, whose close() lets go; -errno.
 */
CW_MUST_CHECK int hold_root(const struct lab *lab);
/* Locks the lab's folder, which was made with the root held, so that nobody has it for long. A descriptor; -errno. */
CW_MUST_CHECK int hold_take(const struct lab *lab);

enum hold_state {
    HOLD_UP,    /* its keeper answers */
    HOLD_COMES, /* somebody makes it, and its keeper does not answer yet */
    HOLD_ENDS,  /* its keeper has begun to end it */
    HOLD_DEAD,  /* nobody has it: what is there was left */
};
enum hold_state hold_state(const struct lab *lab);
/* The keeper says that it ends the lab from now on. */
void hold_say_end(const struct lab *lab);
/* Removes the folders of a dead lab. False: it is none, and nothing was done. */
bool hold_clear(const struct lab *lab);

#endif
