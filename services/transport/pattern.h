/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.h - the bytes of a message that is sent to be measured. The place of a byte says what it is, so that the far
 * end can tell wrong ones. Pure functions.
 */
#ifndef SERVICES_TRANSPORT_PATTERN_H
#define SERVICES_TRANSPORT_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* Writes the bytes of the message from place `offset` on. */
void pattern_fill(uint64_t offset, uint8_t *out, size_t length);
/* How many bytes, from place `offset` on, are not what they should be. */
uint64_t pattern_wrong(uint64_t offset, const uint8_t *bytes, size_t length);

#endif
