/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.h - the distributed operating system's side of job protection (NMU 4.5): signed job records, the same ones on
 * every server, taken in by each server's NMU.
 *
 * Guarantees, while those who hold the operator's key are honest (docs/services/jobs.md has the rules one by one):
 *  1. no record counts anywhere that the operator did not sign for this cluster, and on no server does a job ever go
 *     back to an earlier record (wire.h, marks);
 *  2. servers that can reach one another come to hold the same records, whatever was put where, lost, repeated or
 *     delivered late;
 *  3. a change is reported as complete only when nobody who can send does so by an older record (change.h);
 *  4. what strangers and faults can make a server hold is bounded, and no frame makes it allocate before the signature
 *     was checked.
 *
 * Commands: list; show JOB; put BASE64 [wait=] [timeout=] [rows=] [base=]; more OFFSET BASE64; status;
 * explain SOURCE:PROCESS JOB:PROCESS:PORT; audit. docs/services/jobs.md shows them.
 */
#ifndef SERVICES_JOBS_JOBS_H
#define SERVICES_JOBS_JOBS_H

#include "cubeway/service.h"

enum { JOBS_JOB = 4, JOBS_PORT = 0 };

extern const cw_service jobs_service;

#endif
