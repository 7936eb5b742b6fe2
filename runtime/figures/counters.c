/* SPDX-License-Identifier: Apache-2.0 */
#include "figures/counters.h"

#include <string.h>

void counters_init(struct counter_set *set)
{
    set->count = 0;
    set->overflow = (struct cw_counter){.help = "counted by counters that found no place", .name = "overflow"};
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

size_t counter_name_length(const char *name)
{
    size_t length = 0;
    while (name != NULL && length < COUNTER_NAME && name[length] != '\0') {
        if (!is_name_byte(name[length])) {
            return 0;
        }
        length++;
    }
    return length < COUNTER_NAME ? length : 0;
}

struct cw_counter *counters_get(struct counter_set *set, const char *name, const char *help)
{
    size_t length = counter_name_length(name);
    if (length == 0) {
        return &set->overflow;
    }
    for (uint32_t i = 0; i < set->count; i++) {
        if (memcmp(set->counter[i].name, name, length + 1) == 0) {
            return &set->counter[i];
        }
    }
    if (set->count == sizeof set->counter / sizeof *set->counter) {
        return &set->overflow;
    }
    struct cw_counter *counter = &set->counter[set->count++];
    *counter = (struct cw_counter){.help = help != NULL ? help : ""};
    memcpy(counter->name, name, length);
    return counter;
}

const struct cw_counter *counters_at(const struct counter_set *set, uint32_t i)
{
    if (i < set->count) {
        return &set->counter[i];
    }
    return i == set->count && set->overflow.value > 0 ? &set->overflow : NULL;
}
