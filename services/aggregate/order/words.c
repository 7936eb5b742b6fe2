/* SPDX-License-Identifier: Apache-2.0 */
#include "base/words.h"
#include "services/aggregate/dense/number.h"
#include "services/aggregate/order/internal.h"
#include "services/reply/refuse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { CHECK_BYTES = 10 * 1000 * 1000, LIMIT_MOST_MS = 3600 * 1000 };

/* ---- Sentences --------------------------------------------------------------------------------------------------- */

const char *words_reason(int status)
{
    switch (status) {
    case -ENOENT:
        return "there is no such file in its data folder";
    case -EACCES:
    case -EPERM:
        return "the daemon there may not open the file or the folder";
    case -EXDEV:
    case -ELOOP:
        return "the name leads out of its data folder";
    case -EINVAL:
    case -EISDIR:
        return "it is no regular file";
    case -EFBIG:
        return "the file is longer than the memory that is free for vectors there (option memory)";
    case -EOPNOTSUPP:
        return "no data folder is set there: service aggregate { options { data = \"/path\" } }";
    case -ENOBUFS:
        return "it has no room for another reduction, or for its result (option memory)";
    case -EBUSY:
        return "another reduction is about to write its result to that name there";
    case -ENETUNREACH:
        return "it is not in view";
    case -ECONNRESET:
        return "it has restarted, or has left";
    case -ETIMEDOUT:
        return "it does not answer";
    case -ECANCELED:
        return "the reduction was ended";
    case -ESTALE:
        return "it has forgotten the reduction";
    default:
        return strerror(-status);
    }
}

const char *words_store(int status)
{
    switch (status) {
    case -ENOENT:
        return "there is no such folder below its data folder";
    case -EISDIR:
    case -EEXIST:
    case -ENOTEMPTY:
        return "a folder has that name";
    case -ENOTDIR:
        return "a part of the name is a file, not a folder";
    case -EINVAL:
        return "no file can have that name";
    case -EACCES:
        return "the daemon there may not write in that folder";
    case -EPERM:
        return "the daemon there may not write in that folder, or others may, too";
    case -EXDEV:
    case -ELOOP:
        return "the name leads out of its data folder";
    case -ENOSPC:
    case -EDQUOT:
        return "there is no space left on its disk";
    case -EAGAIN:
    case -ENOBUFS:
        return "too much work is under way there";
    case -ECANCELED:
        return "the order was cancelled before the file was whole";
    default:
        return words_reason(status);
    }
}

const char *words_end(int status)
{
    switch (status) {
    case -ECONNRESET:
        return "a server that was part of it died, restarted or left";
    case -ETIMEDOUT:
        return "nothing has moved for the limit";
    case -ENOBUFS:
        return "a server has no room for it";
    case -ENETUNREACH:
        return "the root cannot be reached";
    case -ECANCELED:
        return "it was cancelled";
    default:
        return words_reason(status);
    }
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static int read_server_of(const struct orders *o, cw_request *r, const char *word, size_t length, cw_server *out)
{
    cw_coord c;
    if (torus_parse(&o->torus, word, length, &c) < 0) {
        int shown = (int)(length < 80 ? length : 80);
        return refuse_request(r, "'%.*s' is not a server of this torus: expected X,Y,Z", shown, word);
    }
    *out = torus_id(&o->torus, c);
    return 0;
}

static int read_name(cw_request *r, const char *option, const char *name, char out[static NOTE_NAME_MOST + 1])
{
    if (name[0] == '\0' || name[0] == '/' || strlen(name) > NOTE_NAME_MOST) {
        return refuse_request(r,
                              "%s: the name of a file is 1 to %d bytes, and relative to the data folder of its server; "
                              "not '%.80s'",
                              option, NOTE_NAME_MOST, name);
    }
    snprintf(out, NOTE_NAME_MOST + 1, "%s", name);
    return 0;
}

/* SERVER, SERVER:FILE, all, or all:FILE. */
static int read_sink(const struct orders *o, cw_request *r, const char *value, struct note *look)
{
    size_t length = strcspn(value, ":");
    bool all = length == 3 && memcmp(value, "all", 3) == 0;
    int rc = all ? 0 : read_server_of(o, r, value, length, &look->root);
    look->spec.flags |= all ? CW_REDUCE_TO_ALL : 0;
    look->sink = NOTE_SINK_NONE;
    if (rc == 0 && value[length] == ':') {
        look->sink = NOTE_SINK_FILE;
        rc = read_name(r, "to", value + length + 1, look->to);
    }
    return rc;
}

/* A word that `reduce` and `check` have in common. 1: it is none of them. */
static int read_common(const struct orders *o, cw_request *r, const char *word, struct wanted *w)
{
    const char *of = words_value(word, "of"), *limit = words_value(word, "limit_ms");
    const char *without = words_value(word, "without"), *order = words_value(word, "order");
    uint64_t n;
    if (of != NULL) {
        cw_server s = 0;
        int rc = read_server_of(o, r, of, strlen(of), &s);
        if (rc == 0) {
            orders_add(w->members, s);
        }
        return rc;
    }
    if (limit != NULL) {
        if (words_number(limit, 1, LIMIT_MOST_MS, &n) < 0) {
            return refuse_request(r, "limit_ms is a whole number from 1 to %d; not '%.80s'", LIMIT_MOST_MS, limit);
        }
        w->look.limit_ms = (uint32_t)n;
        return 0;
    }
    if (without != NULL && strcmp(without, "1") == 0) {
        w->look.spec.flags |= CW_REDUCE_WITHOUT;
        return 0;
    }
    if (order != NULL && (strcmp(order, "fixed") == 0 || strcmp(order, "any") == 0)) {
        w->look.spec.flags |= order[0] == 'f' ? CW_REDUCE_FIXED : 0;
        return 0;
    }
    return 1;
}

/* No member named: all servers. A result for all is made here, or at the first member. */
static void fill_members(const struct orders *o, struct wanted *w)
{
    if (orders_count(o, w->members) == 0) {
        for (cw_server s = 0; s < o->torus.servers; s++) {
            orders_add(w->members, s);
        }
    }
    if ((w->look.spec.flags & CW_REDUCE_TO_ALL) == 0) {
        return;
    }
    w->look.root = o->self;
    for (cw_server s = 0; !orders_has(w->members, w->look.root); s++) {
        w->look.root = s;
    }
}

static int read_operation(cw_request *r, const char *operation, const char *type, struct wanted *w)
{
    cw_combine combine;
    cw_number number;
    if (!number_combine_read(operation, &combine)) {
        return refuse_request(r, "'%.40s' is no operation: there are sum prod min max mean and or xor minloc maxloc",
                              operation);
    }
    if (!number_read(type, &number)) {
        return refuse_request(r,
                              "'%.40s' is no type: there are float32 float64 bfloat16 float16 int8 int16 int32 int64 "
                              "uint8 uint16 uint32 uint64",
                              type);
    }
    if (number_element(number, combine) == 0) {
        return refuse_request(r,
                              "%s is not for %s: mean is for floating point, and or xor for integers, minloc maxloc "
                              "for types of 32 and 64 bits",
                              operation, type);
    }
    w->look.spec.combine = (uint8_t)combine;
    w->look.spec.type = (uint8_t)number;
    return 0;
}

static const char reduce_usage[] =
    "expected: reduce OP TYPE from=FILE to=SERVER:FILE|all:FILE [of=SERVER].. [without=1] "
    "[order=any|fixed] [limit_ms=N]";

int words_reduce(const struct orders *o, cw_request *r, int argc, const char *const *argv, struct wanted *out)
{
    *out = (struct wanted){.look = {.kind = NOTE_LOOK, .source = NOTE_SOURCE_FILE, .root = CW_SERVER_NONE}};
    int rc = argc < 3 ? refuse_request(r, "%s", reduce_usage) : read_operation(r, argv[1], argv[2], out);
    for (int i = 3; i < argc && rc == 0; i++) {
        const char *from = words_value(argv[i], "from"), *to = words_value(argv[i], "to");
        rc = from != NULL ? read_name(r, "from", from, out->look.from)
             : to != NULL ? read_sink(o, r, to, &out->look)
                          : read_common(o, r, argv[i], out);
        if (rc == 1) {
            return refuse_request(r, "%s; not '%.80s'", reduce_usage, argv[i]);
        }
    }
    if (rc == 0 && (out->look.from[0] == '\0' || out->look.sink != NOTE_SINK_FILE)) {
        return refuse_request(r, "%s", reduce_usage);
    }
    fill_members(o, out);
    return rc;
}

static const char check_usage[] =
    "expected: check [bytes=N] [to=SERVER|all] [of=SERVER].. [without=1] [order=any|fixed] [limit_ms=N]";

int words_check(const struct orders *o, cw_request *r, int argc, const char *const *argv, struct wanted *out)
{
    uint64_t bytes = CHECK_BYTES;
    int rc = 0;
    *out = (struct wanted){.look = {.kind = NOTE_LOOK, .source = NOTE_SOURCE_KNOWN, .root = o->self}};
    for (int i = 1; i < argc && rc == 0; i++) {
        const char *to = words_value(argv[i], "to"), *n = words_value(argv[i], "bytes");
        if (n != NULL) {
            rc = words_number(n, sizeof(uint64_t), o->memory_most, &bytes) < 0
                     ? refuse_request(
                           r, "bytes is a whole number from 8 to the memory for vectors, as 10M; not '%.80s'", n)
                     : 0;
        } else {
            rc = to != NULL ? read_sink(o, r, to, &out->look) : read_common(o, r, argv[i], out);
        }
        if (rc == 1 || (rc == 0 && out->look.sink == NOTE_SINK_FILE)) {
            return refuse_request(r, "%s; not '%.80s'", check_usage, argv[i]);
        }
    }
    out->look.sink = NOTE_SINK_COMPARE;
    out->look.spec.type = CW_NUMBER_UINT64;
    out->look.spec.combine = CW_COMBINE_SUM;
    out->look.spec.elements = bytes / sizeof(uint64_t);
    fill_members(o, out);
    return rc;
}
