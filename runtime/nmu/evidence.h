/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence.h - does everything that the check of this packet is going to read bear its seal? (NMU 6.2)
 *
 * Walks as nmu_check() does, which stays as it is: every entry it will look at is one that was looked at here, before.
 * So an index is used only when its entry holds, and the check never sees what somebody else wrote.
 */
#ifndef NMU_EVIDENCE_H
#define NMU_EVIDENCE_H

#include "nmu/seals.h"

CW_MUST_CHECK bool evidence_holds(struct seals *s, const struct nmu_tables *t, uint32_t speaker,
                                  const struct nmu_to *to);

#endif
