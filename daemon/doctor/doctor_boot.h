/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_boot.h - what the bootstrap has found: faults of cables that keep a server from its place, or that only it can
 * tell. For doctor.c alone, with which it shares struct doctor; doctor_search() of doctor.h is here, too.
 */
#ifndef DAEMON_DOCTOR_DOCTOR_BOOT_H
#define DAEMON_DOCTOR_DOCTOR_BOOT_H

#include "boot/boot.h"
#include "daemon/doctor/doctor_cables.h"

/* The row about the server itself. */
void doctor_about(struct host *h, const struct rows_reader *out, const char *self);
/* A server that has its place: what the hellos have not told already. Call after all that looks at links. */
void doctor_bootstrap(struct doctor *d, const struct boot *b);

#endif
