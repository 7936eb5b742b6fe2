/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.h - the bytes of a message that is sent to be measured: their place says what they are, so that the far end
 * can tell wrong ones. Pure.
 */
#ifndef SERVICES_TRANSPORT_PATTERN_H
#define SERVICES_TRANSPORT_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* The bytes from that place of the message on. */
void pattern_fill(uint64_t offset, uint8_t *out, size_t length);
/* How many of them are not what they should be. */
uint64_t pattern_wrong(uint64_t offset, const uint8_t *bytes, size_t length);

#endif
