/* SPDX-License-Identifier: Apache-2.0 */
/* setting_kinds.h - a table with settings of every kind, for the tests that read them and of those that write them. */
#ifndef UNIT_BASE_SETTING_KINDS_H
#define UNIT_BASE_SETTING_KINDS_H

#include "cubeway/time.h"
#include "setting/setting.h"
#include "suite.h"

#include <string.h>

struct all {
    char text[8];
    uint32_t count, hex, mode, ppm;
    uint8_t byte;
    uint16_t port;
    uint64_t large, seed, rate, bytes, digits;
    cw_span span, plain;
    int64_t ratio;
    struct setting_range range;
    bool truth;
    int word;
    cw_dims dims;
};

static const char *const colours[] = {"red", "green", "blue", NULL};
#define OF(what, field) .name = #field, .kind = what, SETTING_FIELD(struct all, field)
static const struct setting settings[] = {
    {OF(SETTING_TEXT, text), .least = 1},
    {OF(SETTING_COUNT, count), .least = 2, .most = 2000},
    {OF(SETTING_COUNT, byte), .most = SETTING_ANY},
    {OF(SETTING_COUNT, port), .least = 1, .most = SETTING_ANY},
    {OF(SETTING_COUNT, large), .most = SETTING_ANY},
    {OF(SETTING_COUNT, digits), .most = SETTING_ANY, .plain = true},
    {OF(SETTING_COUNT, bytes), .least = 1, .most = 64, .unit = 1 << 20, .of = "MiB"},
    {OF(SETTING_HEX, hex), .least = 0x600, .most = 0xffff},
    {OF(SETTING_MODE, mode), .most = SETTING_ANY},
    {OF(SETTING_PPM, ppm), .most = 1000000},
    {OF(SETTING_RATIO, ratio)},
    {OF(SETTING_RANGE, range)},
    {OF(SETTING_SEED, seed), .most = SETTING_ANY},
    {OF(SETTING_RATE, rate), .least = 1000, .most = UINT64_C(10000000000)},
    {OF(SETTING_SPAN, span), .least = 1000, .most = 1000000000},
    {OF(SETTING_SPAN, plain), .most = SETTING_ANY},
    {OF(SETTING_BOOL, truth)},
    {OF(SETTING_WORD, word), .words = colours},
    {OF(SETTING_DIMS, dims)},
    {.name = NULL},
};

static inline const struct setting *of(const char *name)
{
    const struct setting *s = setting_find(settings, name, strlen(name));
    ck_assert_msg(s != NULL, "%s", name);
    return s;
}

#endif
