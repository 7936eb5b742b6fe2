/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/number.h"

#include "services/aggregate/dense/kernel.h"

#include <string.h>

static const struct {
    const char *name;
    uint8_t bytes;
    bool floating;
} types[NUMBER_TYPES + 1] = {
    [CW_NUMBER_FLOAT32] = {"float32", 4, true},   [CW_NUMBER_FLOAT64] = {"float64", 8, true},
    [CW_NUMBER_BFLOAT16] = {"bfloat16", 2, true}, [CW_NUMBER_FLOAT16] = {"float16", 2, true},
    [CW_NUMBER_INT8] = {"int8", 1, false},        [CW_NUMBER_INT16] = {"int16", 2, false},
    [CW_NUMBER_INT32] = {"int32", 4, false},      [CW_NUMBER_INT64] = {"int64", 8, false},
    [CW_NUMBER_UINT8] = {"uint8", 1, false},      [CW_NUMBER_UINT16] = {"uint16", 2, false},
    [CW_NUMBER_UINT32] = {"uint32", 4, false},    [CW_NUMBER_UINT64] = {"uint64", 8, false},
};

static const char *const combines[NUMBER_COMBINES + 1] = {
    [CW_COMBINE_SUM] = "sum",       [CW_COMBINE_PROD] = "prod",     [CW_COMBINE_MIN] = "min", [CW_COMBINE_MAX] = "max",
    [CW_COMBINE_MEAN] = "mean",     [CW_COMBINE_AND] = "and",       [CW_COMBINE_OR] = "or",   [CW_COMBINE_XOR] = "xor",
    [CW_COMBINE_MINLOC] = "minloc", [CW_COMBINE_MAXLOC] = "maxloc",
};

static bool known(cw_number type)
{
    return type >= 1 && (unsigned)type <= NUMBER_TYPES;
}

size_t number_bytes(cw_number type)
{
    return known(type) ? types[type].bytes : 0;
}

size_t number_element(cw_number type, cw_combine operation)
{
    if (!known(type)) {
        return 0;
    }
    size_t bytes = types[type].bytes;
    switch (operation) {
    case CW_COMBINE_SUM:
    case CW_COMBINE_PROD:
    case CW_COMBINE_MIN:
    case CW_COMBINE_MAX:
        return bytes;
    case CW_COMBINE_MEAN:
        return types[type].floating ? bytes : 0;
    case CW_COMBINE_AND:
    case CW_COMBINE_OR:
    case CW_COMBINE_XOR:
        return types[type].floating ? 0 : bytes;
    case CW_COMBINE_MINLOC:
    case CW_COMBINE_MAXLOC:
        return bytes >= 4 ? 2 * bytes : 0;
    }
    return 0;
}

number_combine_fn number_combine(cw_number type, cw_combine operation)
{
    if (number_element(type, operation) == 0) {
        return NULL;
    }
    switch (operation) {
    case CW_COMBINE_AND:
    case CW_COMBINE_OR:
    case CW_COMBINE_XOR:
        return kernel_bits(number_bytes(type), operation);
    case CW_COMBINE_MINLOC:
    case CW_COMBINE_MAXLOC:
        return kernel_place(type, operation);
    case CW_COMBINE_SUM:
    case CW_COMBINE_PROD:
    case CW_COMBINE_MIN:
    case CW_COMBINE_MAX:
    case CW_COMBINE_MEAN:
        break;
    }
    cw_combine base = operation == CW_COMBINE_MEAN ? CW_COMBINE_SUM : operation;
    bool half = type == CW_NUMBER_BFLOAT16 || type == CW_NUMBER_FLOAT16;
    bool wide = type == CW_NUMBER_FLOAT32 || type == CW_NUMBER_FLOAT64;
    if (half) {
        return kernel_half(type, base);
    }
    return wide ? kernel_float(type, base) : kernel_integer(type, base);
}

void number_divide(cw_number type, void *v, size_t n, uint32_t by)
{
    switch (type) {
    case CW_NUMBER_FLOAT32:
        for (size_t i = 0; i < n; i++) {
            ((float *)v)[i] = (float)((double)((float *)v)[i] / by);
        }
        break;
    case CW_NUMBER_FLOAT64:
        for (size_t i = 0; i < n; i++) {
            ((double *)v)[i] /= by;
        }
        break;
    case CW_NUMBER_BFLOAT16:
    case CW_NUMBER_FLOAT16:
        kernel_half_divide(type, v, n, by);
        break;
    default:
        break;
    }
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

const char *number_name(cw_number type)
{
    return known(type) ? types[type].name : NULL;
}

const char *number_combine_name(cw_combine operation)
{
    return operation >= 1 && (unsigned)operation <= NUMBER_COMBINES ? combines[operation] : NULL;
}

bool number_read(const char *word, cw_number *out)
{
    for (unsigned i = 1; i <= NUMBER_TYPES; i++) {
        if (strcmp(word, types[i].name) == 0) {
            *out = (cw_number)i;
            return true;
        }
    }
    return false;
}

bool number_combine_read(const char *word, cw_combine *out)
{
    for (unsigned i = 1; i <= NUMBER_COMBINES; i++) {
        if (strcmp(word, combines[i]) == 0) {
            *out = (cw_combine)i;
            return true;
        }
    }
    return false;
}
