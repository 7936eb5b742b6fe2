/* SPDX-License-Identifier: Apache-2.0 */
/* files_flaps.h - how much a source of files sends again when links flap, servers stall and disks are slow. */
#ifndef SIM_FILES_FLAPS_H
#define SIM_FILES_FLAPS_H

/* Runs all scenes; what is not as docs/services/multicast.md promises goes to fw_must(). */
void files_flaps(void);

#endif
