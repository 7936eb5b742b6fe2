/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/reason.h"

static const struct {
    const char *name;
    const char *text;
} words[WIRE_REASON_COUNT] = {
    [WIRE_OK] = {"ok", "the bytes are well formed"},
    [WIRE_TRUNCATED] = {"truncated", "fewer bytes than the header says or needs"},
    [WIRE_BAD_LENGTH] = {"bad-length", "a length field does not fit its kind"},
    [WIRE_BAD_VERSION] = {"bad-version", "another version of the wire format"},
    [WIRE_BAD_KIND] = {"bad-kind", "an unknown packet kind, control type, extension or item"},
    [WIRE_RESERVED] = {"reserved", "a reserved bit or padding byte is not zero"},
    [WIRE_BAD_VALUE] = {"bad-value", "a field is outside its range"},
    [WIRE_BAD_COUNT] = {"bad-count", "a count disagrees with the bytes that follow"},
    [WIRE_BAD_ORDER] = {"bad-order", "extensions out of order, repeated, or not those that the flags name"},
};

const char *wire_reason_name(enum wire_reason reason)
{
    return (unsigned)reason < WIRE_REASON_COUNT ? words[reason].name : "unknown";
}

const char *wire_reason_text(enum wire_reason reason)
{
    return (unsigned)reason < WIRE_REASON_COUNT ? words[reason].text : "unknown reason";
}
