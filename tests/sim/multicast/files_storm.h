/* SPDX-License-Identifier: Apache-2.0 */
/* files_storm.h - how much a source of files sends again when servers go out of sight all the time. */
#ifndef SIM_FILES_STORM_H
#define SIM_FILES_STORM_H

/* Runs all storms; what is not as docs/services/multicast.md promises goes to fw_must(). */
void files_storm(void);

#endif
