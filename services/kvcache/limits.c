/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/limits.h"

enum {
    EXTRAS = 4,
    VALUES_MIB = 64,
    COPIES_MIB = 8,
    TIMEOUT_MS = 2000,
    ATTEMPT_MS = 100,
    MIB = 1 << 20,
    NS_IN_MS = 1000000,
};

struct kv_limits kv_limits_default(void)
{
    return (struct kv_limits){.value_bytes = (size_t)VALUES_MIB * MIB,
                              .copy_bytes = (size_t)COPIES_MIB * MIB,
                              .extras = EXTRAS,
                              .timeout = CW_MS(TIMEOUT_MS),
                              .attempt = CW_MS(ATTEMPT_MS),
                              .age = CW_MS(KV_AGE_MOST_MS)};
}

#define OPTION(word, field, ...)                                                                 \
    {                                                                                            \
        .name = word, .kind = SETTING_COUNT, SETTING_FIELD(struct kv_limits, field), __VA_ARGS__ \
    }
static const struct setting options[] = {
    OPTION("extras", extras, .most = KV_EXTRAS_MOST, .of = "extra keys (0: no copies)"),
    OPTION("values_mib", value_bytes, .least = 1, .most = 1024 * 1024, .unit = MIB, .of = "MiB"),
    OPTION("copies_mib", copy_bytes, .least = 1, .most = 64 * 1024, .unit = MIB, .of = "MiB"),
    OPTION("copy_age_ms", age, .least = 1, .most = KV_AGE_MOST_MS, .unit = NS_IN_MS, .of = "milliseconds"),
    {.name = NULL},
};

int kv_limits_read(struct kv_limits *l, const char *(*get)(void *context, const char *name), void *context,
                   char why[static KV_LIMITS_WHY])
{
    *l = kv_limits_default();
    return setting_read_table(options, l, get, context, why);
}
