/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - what setting.c, which reads values, tells setting_text.c, which writes them. */
#ifndef SETTING_INTERNAL_H
#define SETTING_INTERNAL_H

#include "setting/setting.h"

/* The largest number that the limits and the field let through. */
uint64_t setting_most(const struct setting *setting);
/* The number in the field of a kind that is one number, as people write it: counted in its unit. */
uint64_t setting_number(const struct setting *setting, const void *base);

#endif
