/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.h - a message that is computed, not read: the bytes follow from 8 bytes of its id, so that a member can tell
 * whether they are right. For trying and measuring the multicast without a file.
 */
#ifndef SERVICES_MULTICAST_CAST_PATTERN_H
#define SERVICES_MULTICAST_CAST_PATTERN_H

#include "services/multicast/cast/store.h"

/* Writes the bytes from an offset on, which must be a multiple of 8. */
void cast_pattern(uint64_t tag, uint64_t offset, uint8_t *out, size_t length);
/* The bytes are those of the pattern. */
bool cast_pattern_is(uint64_t tag, uint64_t offset, const uint8_t *bytes, size_t length);

/* Makes the source of a message with that id. -ENOMEM. */
CW_MUST_CHECK int cast_pattern_source(const uint8_t id[CAST_ID_BYTES], struct cast_source *out);
/* A cast_accept_fn: the sink compares, and ends with -EBADMSG when a byte is wrong. context is not used. */
int cast_pattern_accept(void *context, const struct cast_offer *offer, struct cast_sink *out);

#endif
