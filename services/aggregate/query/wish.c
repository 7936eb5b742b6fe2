/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "base/words.h"
#include "services/aggregate/query/internal.h"
#include "services/reply/refuse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { WITHIN_LEAST_MS = 20, WITHIN_MOST_MS = LETTER_WITHIN_MOST_US / 1000, TOP = 10, MILLION = 1000000 };

static const struct {
    const char *name;
    enum summary_kind summary;
} ops[] = {
    [WISH_COUNT] = {"count", SUMMARY_NUMBER},
    [WISH_SUM] = {"sum", SUMMARY_NUMBER},
    [WISH_MEAN] = {"mean", SUMMARY_NUMBER},
    [WISH_MIN] = {"min", SUMMARY_NUMBER},
    [WISH_MAX] = {"max", SUMMARY_NUMBER},
    [WISH_TOP] = {"top", SUMMARY_TOP},
    [WISH_DISTINCT] = {"distinct", SUMMARY_DISTINCT},
    [WISH_QUANTILE] = {"quantile", SUMMARY_HISTOGRAM},
    [WISH_HISTOGRAM] = {"histogram", SUMMARY_HISTOGRAM},
    [WISH_LIST] = {"list", SUMMARY_NAMES},
};
enum { OPS = sizeof ops / sizeof *ops };

const char *wish_name(enum wish_op op)
{
    return ops[op].name;
}

enum summary_kind wish_summary(enum wish_op op)
{
    return ops[op].summary;
}

static int read_server_of(const struct query *q, cw_request *r, const char *word, struct wish *out)
{
    cw_coord c;
    if (torus_parse(&q->torus, word, strlen(word), &c) < 0) {
        return refuse_request(r, "on: '%.80s' is not a server of this torus: expected X,Y,Z", word);
    }
    query_put(out->on, torus_id(&q->torus, c));
    return 0;
}

static int read_by(cw_request *r, const char *word, struct wish *out)
{
    static const char *const names[] = {
        [LETTER_BY_X] = "x", [LETTER_BY_Y] = "y", [LETTER_BY_Z] = "z", [LETTER_BY_SERVER] = "server"};
    for (unsigned i = LETTER_BY_X; i <= LETTER_BY_SERVER; i++) {
        if (strcmp(names[i], word) == 0) {
            out->by = (enum letter_by)i;
            return 0;
        }
    }
    return refuse_request(r, "by: expected x, y, z or server; not '%.80s'", word);
}

static int read_quantile(cw_request *r, const char *word, struct wish *out)
{
    int64_t ppm;
    if (quantity_millionths(word, strlen(word), &ppm) < 0 || ppm < 0 || ppm > MILLION) {
        return refuse_request(r, "a quantile is from 0 to 1, as 0.5 or 0.99 or 99%%; not '%.80s'", word);
    }
    if (out->quantiles == QUERY_QUANTILES) {
        return refuse_request(r, "at most %d quantiles at a time", QUERY_QUANTILES);
    }
    out->ppm[out->quantiles++] = (uint32_t)ppm;
    return 0;
}

static const char usage[] = "[k=N] [p=P].. [by=x|y|z|server] [on=SERVER].. [within_ms=N]";

static int read_option(const struct query *q, cw_request *r, const char *word, struct wish *out)
{
    const char *k = words_value(word, "k"), *p = words_value(word, "p"), *by = words_value(word, "by");
    const char *on = words_value(word, "on"), *within = words_value(word, "within_ms");
    uint64_t n;
    if (k != NULL && out->op == WISH_TOP) {
        if (words_number(k, 1, QUERY_TOP_MOST, &n) < 0) {
            return refuse_request(r, "top: how many is a whole number from 1 to %d; not '%.80s'", QUERY_TOP_MOST, k);
        }
        out->top = (unsigned)n;
        return 0;
    }
    if (p != NULL && out->op == WISH_QUANTILE) {
        return read_quantile(r, p, out);
    }
    if (by != NULL && out->op != WISH_LIST) {
        return read_by(r, by, out);
    }
    if (on != NULL) {
        return read_server_of(q, r, on, out);
    }
    if (within != NULL) {
        if (words_number(within, WITHIN_LEAST_MS, WITHIN_MOST_MS, &n) < 0) {
            return refuse_request(r, "within is from %d ms to %d s; not %.80s ms", WITHIN_LEAST_MS,
                                  WITHIN_MOST_MS / 1000, within);
        }
        out->within = CW_MS((int64_t)n);
        return 0;
    }
    return refuse_request(r, "%s takes %s; not '%.80s'", ops[out->op].name, usage, word);
}

/* What can never be carried is refused at once. Other questions may turn out to be too large on their way. */
static int check_size(const struct query *q, cw_request *r, const struct wish *w)
{
    const cw_dims dims = torus_dims(&q->torus);
    const uint32_t groups[] = {[LETTER_BY_NONE] = 1,
                               [LETTER_BY_X] = dims.x,
                               [LETTER_BY_Y] = dims.y,
                               [LETTER_BY_Z] = dims.z,
                               [LETTER_BY_SERVER] = query_size(q, w->on)};
    size_t each = w->op == WISH_DISTINCT ? SUMMARY_DISTINCT_BYTES : w->op == WISH_TOP ? SUMMARY_TOP_BYTES : 0;
    if (each * groups[w->by] > PART_BYTES_MOST) {
        return refuse_request(r,
                              "%s by so many groups is more than one answer carries (1 MiB): ask for fewer servers, "
                              "or by an axis",
                              ops[w->op].name);
    }
    return 0;
}

int wish_read(const struct query *q, cw_request *r, int argc, const char *const *argv, struct wish *out)
{
    *out = (struct wish){.op = WISH_LIST, .top = TOP, .within = QUERY_WITHIN};
    int op = 0;
    while (argc >= 2 && op < OPS && strcmp(ops[op].name, argv[1]) != 0) {
        op++;
    }
    if (argc < 2 || op == OPS) {
        return refuse_request(r,
                              "query: expected count, sum, mean, min, max, top, distinct, quantile, histogram, list "
                              "or feed; not '%.80s'",
                              argc < 2 ? "" : argv[1]);
    }
    out->op = (enum wish_op)op;
    int from = out->op == WISH_LIST ? 2 : 3, rc = 0;
    if (from == 3 && (argc < 3 || !summary_name_valid(argv[2], strlen(argv[2])))) {
        return refuse_request(r, "%s of what? A source has 1 to %d characters and no spaces; `query list` names them",
                              ops[op].name, SUMMARY_NAME_MOST);
    }
    if (from == 3) {
        snprintf(out->source, sizeof out->source, "%s", argv[2]);
    }
    for (int i = from; i < argc && rc == 0; i++) {
        rc = read_option(q, r, argv[i], out);
    }
    if (rc == 0 && out->op == WISH_QUANTILE && out->quantiles == 0) {
        rc = refuse_request(r, "which quantile? As 0.5, the median, or 0.99");
    }
    bool all = query_is_empty(q, out->on);
    for (cw_server s = 0; s < q->torus.servers && all; s++) {
        query_put(out->on, s);
    }
    return rc == 0 ? check_size(q, r, out) : rc;
}
