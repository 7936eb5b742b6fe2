/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence.h - does every entry that the check of this packet is going to read bear its seal? (NMU 6.2)
 *
 * Walks the tables as nmu_check() does, before it. So an index is used only when the entry that holds it bears its
 * seal, and the check, which knows nothing of seals, never sees what somebody else wrote.
 */
#ifndef NMU_EVIDENCE_H
#define NMU_EVIDENCE_H

#include "nmu/seals.h"

CW_MUST_CHECK bool evidence_holds(struct seals *s, const struct nmu_tables *t, uint32_t speaker,
                                  const struct nmu_to *to);

#endif
