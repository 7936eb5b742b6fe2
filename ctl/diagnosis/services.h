/* SPDX-License-Identifier: Apache-2.0 */
/*
 * services.h - do all servers run the services that most of them run, in one build and with the same options?
 * Keys go to any server: one that lacks a service drops what is sent to it there, and nobody else notices.
 */
#ifndef CTL_DIAGNOSIS_SERVICES_H
#define CTL_DIAGNOSIS_SERVICES_H

#include "ctl/ask/call.h"

/*
 * Adds a finding for each server that differs. Reads the rows "about" of servers, and the rows "service" of each of
 * their modules; a service that half of the servers or fewer run may be meant to run on these.
 */
void diagnose_services(struct rows *rows);
/* Adds a note where the servers asked are of several versions, as they are while a cluster is upgraded. */
void diagnose_versions(struct rows *rows);

#endif
