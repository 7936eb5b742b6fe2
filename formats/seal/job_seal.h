/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_seal.h - signs a job record. The signed bytes are: JOB_SEAL_PREFIX with its NUL, the cluster's number in network
 * order, and the record. So a signature is good for one cluster only, and for nothing else that operators may come to
 * sign with the same key.
 */
#ifndef SEAL_JOB_SEAL_H
#define SEAL_JOB_SEAL_H

#include "seal/seal.h"

#define JOB_SEAL_PREFIX "cubeway job 1"

/* -ENOMEM. */
CW_MUST_CHECK int job_seal_sign(const struct seal_key *key, uint32_t cluster, const uint8_t *record, size_t size,
                                uint8_t signature[static SEAL_SIGNATURE_BYTES]);
/* 0; -EBADMSG: it was signed with another key, for another cluster, or over other bytes; -ENOMEM. From any thread. */
CW_MUST_CHECK int job_seal_verify(const struct seal_public *key, uint32_t cluster, const uint8_t *record, size_t size,
                                  const uint8_t signature[static SEAL_SIGNATURE_BYTES]);

#endif
