/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantity.h - numbers with units, as people write them in files and on the command line: "80ms", "2.5gbit", "0.3%".
 *
 * Exact: a decimal that is no whole number of the base unit is refused and not rounded ("1.5ns", "0.00001%"). The text
 * is length bytes, all of which must belong to the number; it need not end in a NUL. Functions are pure, and give 0, or
 * -EINVAL (the text has not this form) or -ERANGE (the number is too large); *out is then untouched.
 */
#ifndef BASE_QUANTITY_H
#define BASE_QUANTITY_H

#include "cubeway/time.h"
#include "cubeway/types.h"

/* A whole number. k, M, G or T may follow; the number before it may have a fraction: "1.5k". */
CW_MUST_CHECK int quantity_count(const char *text, size_t length, uint64_t *out);
/* A span in ns, us, ms, s, min or h. The unit may be left out only when the number is 0. */
CW_MUST_CHECK int quantity_span(const char *text, size_t length, cw_span *out);
/* Bits per second in bit, kbit, mbit or gbit, which are powers of ten, as tc writes them. */
CW_MUST_CHECK int quantity_rate(const char *text, size_t length, uint64_t *out);
/* Parts per million: "5%" or "50000ppm". To refuse more than 100 % is the caller's business. */
CW_MUST_CHECK int quantity_ppm(const char *text, size_t length, uint32_t *out);
/* "3x4x5", each 1..CW_DIM_MAX. */
CW_MUST_CHECK int quantity_dims(const char *text, size_t length, cw_dims *out);
/* A decimal number, in millionths: "0.3" is 300,000. A % behind it divides by 100; a minus may stand before it. */
CW_MUST_CHECK int quantity_millionths(const char *text, size_t length, int64_t *out);
/* A link: "+x", "-x" .. "-z". */
CW_MUST_CHECK int quantity_link(const char *text, size_t length, cw_link *out);

/* The other way: text, ended by a NUL, that the functions above read as the same value. They give its length. */
enum { QUANTITY_TEXT = 32 };
int quantity_span_format(cw_span span, char out[static QUANTITY_TEXT]);
/* For people only, in whole seconds: "3s ago", "just now". */
int quantity_ago_format(cw_span span, char out[static QUANTITY_TEXT]);
int quantity_rate_format(uint64_t bits_per_second, char out[static QUANTITY_TEXT]);
int quantity_ppm_format(uint32_t ppm, char out[static QUANTITY_TEXT]);
/* For people only, rounded: "2.1 %", "13 %" from 10 % on; "0 %" for nothing at all. */
int quantity_share_format(uint32_t ppm, char out[static QUANTITY_TEXT]);
int quantity_dims_format(cw_dims dims, char out[static QUANTITY_TEXT]);
int quantity_millionths_format(int64_t millionths, char out[static QUANTITY_TEXT]);
/* The name of a link, "+x" .. "-z"; "self" for any other number. A static string. */
const char *quantity_link_name(cw_link link);

#endif
