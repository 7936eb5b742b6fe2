/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/about.h"
#include "base/check.h"
#include "wire/field.h"

#include <string.h>

static bool is_good(const struct about *about)
{
    return field_is_text(about->version, ABOUT_TEXT_BYTES) && field_is_text(about->build, ABOUT_TEXT_BYTES);
}

static void fill(char to[static ABOUT_TEXT_BYTES], const char *text)
{
    memset(to, 0, ABOUT_TEXT_BYTES);
    for (unsigned i = 0; text != NULL && i < ABOUT_TEXT_BYTES && text[i] > ' ' && text[i] <= '~'; i++) {
        to[i] = text[i];
    }
}

void about_fill(struct about *about, const char *version, const char *build)
{
    fill(about->version, version);
    fill(about->build, build);
}

enum wire_reason about_decode(const uint8_t bytes[static ABOUT_BYTES], struct about *out)
{
    struct about about;
    memcpy(about.version, bytes, ABOUT_TEXT_BYTES);
    memcpy(about.build, bytes + ABOUT_TEXT_BYTES, ABOUT_TEXT_BYTES);
    if (!is_good(&about)) {
        return WIRE_BAD_VALUE;
    }
    *out = about;
    return WIRE_OK;
}

void about_encode(const struct about *about, uint8_t bytes[static ABOUT_BYTES])
{
    CHECK(is_good(about));
    memcpy(bytes, about->version, ABOUT_TEXT_BYTES);
    memcpy(bytes + ABOUT_TEXT_BYTES, about->build, ABOUT_TEXT_BYTES);
}
