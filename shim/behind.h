/* SPDX-License-Identifier: Apache-2.0 */
/*
 * behind.h - what is lost behind us: frames that were given to a device and that the device, or the queue before it,
 * dropped. The relay drops nothing (docs/relay.md), and what a shim could not send it keeps: so what a server passes
 * on leaves by a link or is counted here. Linux only.
 */
#ifndef SHIM_BEHIND_H
#define SHIM_BEHIND_H

#include <stdint.h>

/*
 * Asks the kernel how many frames the interface with this index has dropped on their way out since it was made, by the
 * device and by its queueing disciplines, whoever sent them. 0; -ENODEV: there is no such interface; or another -errno.
 */
int behind_lost(uint32_t index, uint64_t *frames);

#endif
