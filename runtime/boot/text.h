/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - the pieces of a fault's sentence (base/text.h): servers, ports, places. */
#ifndef BOOT_TEXT_H
#define BOOT_TEXT_H

#include "base/text.h"
#include "boot/fault.h"

void text_put_hex(struct text *t, uint64_t number); /* 16 digits */
void text_put_coord(struct text *t, cw_coord c);    /* 1,0,2 */
void text_put_dims(struct text *t, cw_dims dims);   /* 3x3x3 */
/* "+x", or "port 4" where the direction is not known. */
void text_put_port(struct text *t, unsigned port, unsigned direction);
/* "rack2-7 (0123456789abcdef) at 1,0,2"; "nobody" without an id and a position. */
void text_put_who(struct text *t, const struct boot_who *who);

#endif
