/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/text.h"

#include <string.h>

void text_put_hex(struct text *t, uint64_t number)
{
    char digits[16];
    for (size_t i = 0; i < sizeof digits; i++) {
        digits[i] = "0123456789abcdef"[number >> (60 - 4 * i) & 0xf];
    }
    text_put_bytes(t, digits, sizeof digits);
}

static void put_three(struct text *t, unsigned a, unsigned b, unsigned c, const char *between)
{
    text_put_number(t, a);
    text_put(t, between);
    text_put_number(t, b);
    text_put(t, between);
    text_put_number(t, c);
}

void text_put_coord(struct text *t, cw_coord c)
{
    put_three(t, c.x, c.y, c.z, ",");
}

void text_put_dims(struct text *t, cw_dims dims)
{
    put_three(t, dims.x, dims.y, dims.z, "x");
}

void text_put_port(struct text *t, unsigned port, unsigned direction)
{
    static const char names[CW_LINK_COUNT][3] = {"+x", "-x", "+y", "-y", "+z", "-z"};
    if (direction < CW_LINK_COUNT) {
        text_put(t, names[direction]);
    } else {
        text_put(t, "port ");
        text_put_number(t, (int64_t)port + 1);
    }
}

void text_put_who(struct text *t, const struct boot_who *who)
{
    size_t length = strnlen(who->name, sizeof who->name);
    if (who->id == 0) {
        text_put(t, who->placed ? "the server" : "nobody");
    } else if (length > 0) {
        text_put_bytes(t, who->name, length);
        text_put(t, " (");
        text_put_hex(t, who->id);
        text_put(t, ")");
    } else {
        text_put_hex(t, who->id);
    }
    if (who->placed) {
        text_put(t, " at ");
        text_put_coord(t, who->at);
    }
}
