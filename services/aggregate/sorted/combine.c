/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/combine.h"

#include "services/aggregate/sorted/decimal.h"
#include "services/aggregate/sorted/list.h"

#include "base/words.h"

#include <errno.h>
#include <string.h>

static int copy(cw_bytes value, uint8_t *out, size_t room)
{
    if (value.length > room) {
        return -EMSGSIZE;
    }
    if (value.length > 0) {
        memcpy(out, value.bytes, value.length);
    }
    return (int)value.length;
}

static int sum(cw_bytes key, const cw_bytes *values, size_t count, uint64_t argument, uint8_t *out, size_t room)
{
    struct decimal total, next;
    (void)key, (void)argument;
    int rc = decimal_read(values[0], &total);
    for (size_t i = 1; i < count && rc == 0; i++) {
        rc = decimal_read(values[i], &next);
        rc = rc == 0 ? decimal_add(&total, &next) : rc;
    }
    return rc == 0 ? decimal_write(&total, out, room) : rc;
}

/* A value that is no number is refused where it comes in. */
static int number(cw_bytes key, cw_bytes value, uint64_t argument, uint8_t *out, size_t room)
{
    struct decimal d;
    (void)key, (void)argument;
    int rc = decimal_read(value, &d);
    return rc == 0 ? copy(value, out, room) : rc;
}

/* The value that is least (sign 1) or greatest (sign -1). */
static int extreme(const cw_bytes *values, size_t count, int sign, uint8_t *out, size_t room)
{
    struct decimal best, next;
    size_t at = 0;
    int rc = decimal_read(values[0], &best);
    for (size_t i = 1; i < count && rc == 0; i++) {
        rc = decimal_read(values[i], &next);
        if (rc == 0) {
            int order = sign * decimal_order(&next, &best);
            if (order < 0 || (order == 0 && list_order(values[i], values[at]) < 0)) {
                at = i;
                best = next;
            }
        }
    }
    return rc == 0 ? copy(values[at], out, room) : rc;
}

static int least(cw_bytes key, const cw_bytes *values, size_t count, uint64_t argument, uint8_t *out, size_t room)
{
    (void)key, (void)argument;
    return extreme(values, count, 1, out, room);
}

static int greatest(cw_bytes key, const cw_bytes *values, size_t count, uint64_t argument, uint8_t *out, size_t room)
{
    (void)key, (void)argument;
    return extreme(values, count, -1, out, room);
}

static int one(cw_bytes key, cw_bytes value, uint64_t argument, uint8_t *out, size_t room)
{
    (void)key, (void)value, (void)argument;
    return copy((cw_bytes){(const uint8_t *)"1", 1}, out, room);
}

static int first(cw_bytes key, const cw_bytes *values, size_t count, uint64_t argument, uint8_t *out, size_t room)
{
    (void)key, (void)count, (void)argument;
    return copy(values[0], out, room);
}

static int last(cw_bytes key, const cw_bytes *values, size_t count, uint64_t argument, uint8_t *out, size_t room)
{
    (void)key, (void)argument;
    return copy(values[count - 1], out, room);
}

/* "SUM COUNT" */
static int average_write(const struct decimal *total, const struct decimal *count, uint8_t *out, size_t room)
{
    int length = decimal_write(total, out, room);
    if (length < 0 || (size_t)length == room) {
        return length < 0 ? length : -EMSGSIZE;
    }
    out[length++] = ' ';
    int more = decimal_write(count, out + length, room - (size_t)length);
    return more < 0 ? more : length + more;
}

static int average_read(cw_bytes value, struct decimal *total, struct decimal *count)
{
    const uint8_t *space = value.length == 0 ? NULL : memchr(value.bytes, ' ', value.length);
    if (space == NULL) {
        return -EINVAL;
    }
    size_t before = (size_t)(space - value.bytes);
    int rc = decimal_read((cw_bytes){value.bytes, before}, total);
    rc = rc == 0 ? decimal_read((cw_bytes){space + 1, value.length - before - 1}, count) : rc;
    bool good = rc == 0 && count->is_whole && count->whole > 0 && count->whole <= INT64_MAX;
    return rc < 0 || good ? rc : -EINVAL;
}

static int average_prepare(cw_bytes key, cw_bytes value, uint64_t argument, uint8_t *out, size_t room)
{
    struct decimal d, n = {.is_whole = true, .whole = 1};
    (void)key, (void)argument;
    int rc = decimal_read(value, &d);
    return rc == 0 ? average_write(&d, &n, out, room) : rc;
}

static int average(cw_bytes key, const cw_bytes *values, size_t count, uint64_t argument, uint8_t *out, size_t room)
{
    struct decimal total, n, next, next_n;
    (void)key, (void)argument;
    int rc = average_read(values[0], &total, &n);
    for (size_t i = 1; i < count && rc == 0; i++) {
        rc = average_read(values[i], &next, &next_n);
        rc = rc == 0 ? decimal_add(&total, &next) : rc;
        rc = rc == 0 ? decimal_add(&n, &next_n) : rc;
    }
    return rc == 0 ? average_write(&total, &n, out, room) : rc;
}

static int average_finish(cw_bytes key, cw_bytes value, uint64_t argument, uint8_t *out, size_t room)
{
    struct decimal total, n;
    (void)key, (void)argument;
    int rc = average_read(value, &total, &n);
    if (rc < 0) {
        return rc;
    }
    total = decimal_divide(&total, (uint64_t)n.whole);
    return decimal_write(&total, out, room);
}

#define TABLE(word, ...)                                                                           \
    {                                                                                              \
        .size = sizeof(cw_combiner), .api = CW_COMBINE_API, .name = (word), .deterministic = true, \
        .associative = true, __VA_ARGS__                                                           \
    }
static const cw_combiner builtin[] = {
    TABLE("sum", .prepare = number, .combine = sum),
    TABLE("min", .prepare = number, .combine = least),
    TABLE("max", .prepare = number, .combine = greatest),
    TABLE("count", .prepare = one, .combine = sum),
    TABLE("avg", .prepare = average_prepare, .combine = average, .finish = average_finish),
    TABLE("first", .combine = first),
    TABLE("last", .combine = last),
    TABLE("topk", .prepare = number, .combine = list_top),
    TABLE("set", .prepare = list_set_prepare, .combine = list_set, .finish = list_set_finish),
};

const cw_combiner *combine_builtin(unsigned i)
{
    return i < sizeof builtin / sizeof *builtin ? &builtin[i] : NULL;
}

static bool wants_number(const cw_combiner *table)
{
    return table->combine == list_top || table->combine == list_set;
}

int combine_read(const char *word, struct combine *out)
{
    const char *colon = strchr(word, ':');
    size_t length = colon != NULL ? (size_t)(colon - word) : strlen(word);
    uint64_t k = 0;
    if (strcmp(word, "none") == 0) {
        *out = (struct combine){NULL, 0};
        return 0;
    }
    for (unsigned i = 0; combine_builtin(i) != NULL; i++) {
        const cw_combiner *table = combine_builtin(i);
        if (strlen(table->name) == length && memcmp(table->name, word, length) == 0) {
            if (wants_number(table) != (colon != NULL) ||
                (colon != NULL && words_number(colon + 1, 1, COMBINE_K_MOST, &k) < 0)) {
                return -EINVAL;
            }
            *out = (struct combine){table, k};
            return 0;
        }
    }
    return -ENOENT;
}

static bool name_is_good(const char *name)
{
    size_t length = name == NULL ? 0 : strnlen(name, 32);
    return length >= 1 && length <= 31 &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == length;
}

static const char *fault(const cw_combiner *table)
{
    if (table == NULL) {
        return "it gives no table";
    }
    if (table->size < sizeof *table) {
        return "its table is too short";
    }
    if (table->api != CW_COMBINE_API) {
        return "its table is of another version";
    }
    if (!name_is_good(table->name)) {
        return "its name is not 1 to 31 letters, digits and '-'";
    }
    return table->combine == NULL ? "it has no function combine" : NULL;
}

int combine_check(const cw_combiner *table, const char **why)
{
    *why = fault(table);
    return *why == NULL ? 0 : -EINVAL;
}

/* What a function has given, in words that mean the same here. */
static int checked(int rc, size_t room)
{
    if (rc > 0 && (size_t)rc > room) {
        return -EMSGSIZE;
    }
    return rc == -ENOSPC || rc == -EBADMSG ? -EINVAL : rc;
}

int combine_prepare(const struct combine *c, cw_bytes key, cw_bytes value, uint8_t *out, size_t room)
{
    bool has = c->table != NULL && c->table->prepare != NULL;
    return has ? checked(c->table->prepare(key, value, c->argument, out, room), room) : copy(value, out, room);
}

int combine_values(const struct combine *c, cw_bytes key, const cw_bytes *values, size_t count, uint8_t *out,
                   size_t room)
{
    return checked(c->table->combine(key, values, count, c->argument, out, room), room);
}

int combine_finish(const struct combine *c, cw_bytes key, cw_bytes value, uint8_t *out, size_t room)
{
    bool has = c->table != NULL && c->table->finish != NULL;
    return has ? checked(c->table->finish(key, value, c->argument, out, room), room) : copy(value, out, room);
}
