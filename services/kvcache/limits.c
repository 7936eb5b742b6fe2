/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/limits.h"

#include "base/quantity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    EXTRAS = 4,
    VALUES_MIB = 64,
    COPIES_MIB = 8,
    TIMEOUT_MS = 2000,
    ATTEMPT_MS = 100,
};

struct kv_limits kv_limits_default(void)
{
    return (struct kv_limits){.value_bytes = (size_t)VALUES_MIB << 20,
                              .copy_bytes = (size_t)COPIES_MIB << 20,
                              .extras = EXTRAS,
                              .timeout = CW_MS(TIMEOUT_MS),
                              .attempt = CW_MS(ATTEMPT_MS),
                              .age = CW_MS(KV_AGE_MOST_MS)};
}

enum { OPTION_EXTRAS, OPTION_VALUES, OPTION_COPIES, OPTION_AGE, OPTIONS };
static const struct {
    const char *name;
    uint64_t least, most;
    const char *unit;
} options[OPTIONS] = {
    [OPTION_EXTRAS] = {"extras", 0, KV_EXTRAS_MOST, " extra keys (0: no copies)"},
    [OPTION_VALUES] = {"values_mib", 1, 1024 * 1024, " MiB"},
    [OPTION_COPIES] = {"copies_mib", 1, 64 * 1024, " MiB"},
    [OPTION_AGE] = {"copy_age_ms", 1, KV_AGE_MOST_MS, " milliseconds"},
};

static void set(struct kv_limits *l, unsigned which, uint64_t n)
{
    switch (which) {
    case OPTION_EXTRAS:
        l->extras = (unsigned)n;
        break;
    case OPTION_VALUES:
        l->value_bytes = (size_t)n << 20;
        break;
    case OPTION_COPIES:
        l->copy_bytes = (size_t)n << 20;
        break;
    default:
        l->age = CW_MS((int64_t)n);
        break;
    }
}

int kv_limits_read(struct kv_limits *l, const char *(*get)(void *context, const char *name), void *context,
                   char why[static KV_LIMITS_WHY])
{
    int rc = 0;
    *l = kv_limits_default();
    why[0] = '\0';
    for (unsigned i = 0; i < OPTIONS; i++) {
        const char *text = get(context, options[i].name);
        uint64_t n = 0;
        if (text == NULL) {
            continue;
        }
        if (quantity_count(text, strlen(text), &n) != 0 || n < options[i].least || n > options[i].most) {
            snprintf(why, KV_LIMITS_WHY, "%s = \"%.40s\": expected %llu to %llu%s", options[i].name, text,
                     (unsigned long long)options[i].least, (unsigned long long)options[i].most, options[i].unit);
            rc = -EINVAL;
            continue;
        }
        set(l, i, n);
    }
    return rc;
}
