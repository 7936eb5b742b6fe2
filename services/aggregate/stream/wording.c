/* SPDX-License-Identifier: Apache-2.0 */
/* wording.c - the words of a run, of an operator or a service: what is wrong with them, and the lead they make. */
#include "base/nearest.h"
#include "base/words.h"
#include "services/aggregate/query/tallies.h"
#include "services/aggregate/sorted/mapper.h"
#include "services/aggregate/stream/internal.h"
#include "services/aggregate/stream/lead.h"
#include "services/reply/refuse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "expected: run from=FILE to=SERVER:FILE|each:FILE|all:FILE|- [map= combine= top= path= "
                            "partitions= copies= limit_ms=] [of=SERVER].. [without=1]";

static int read_name(cw_request *r, const char *option, const char *name, char out[static LETTER_NAME_MOST + 1])
{
    if (name[0] == '\0' || name[0] == '/' || strlen(name) > LETTER_NAME_MOST) {
        return refuse_request(r,
                              "%s: the name of a file is 1 to %d bytes, and relative to the data folder of its server; "
                              "not '%.80s'",
                              option, LETTER_NAME_MOST, name);
    }
    snprintf(out, LETTER_NAME_MOST + 1, "%s", name);
    return 0;
}

/* A file below the data folder of each server, or what programs feed there. */
static int read_from(cw_request *r, const char *value, struct wish *w)
{
    const char *feed = intake_name_of(value);
    if (feed != NULL && !tallies_name_valid(feed)) {
        return refuse_request(r, "from: a feed is called by 1 to %d of a-z A-Z 0-9 _ -, as feed:clicks; not '%.80s'",
                              TALLIES_NAME, feed);
    }
    return read_name(r, "from", value, w->from);
}

static int read_server_of(const struct stream *st, cw_request *r, const char *word, size_t length, cw_server *out)
{
    cw_coord c;
    if (torus_parse(&st->torus, word, length, &c) < 0) {
        int shown = (int)(length < 80 ? length : 80);
        return refuse_request(r, "'%.*s' is not a server of this torus: expected X,Y,Z", shown, word);
    }
    *out = torus_id(&st->torus, c);
    return 0;
}

/* SERVER:FILE, which may come again for another server, each:FILE, all:FILE, or -. */
static int read_to(const struct stream *st, cw_request *r, const char *value, struct lead *l)
{
    size_t length = strcspn(value, ":");
    bool each = strncmp(value, "each:", 5) == 0, all = strncmp(value, "all:", 4) == 0, first = l->wish.to[0] == '\0';
    enum lead_to to = each ? LEAD_TO_EACH : all ? LEAD_TO_ALL : LEAD_TO_SERVERS;
    char name[LETTER_NAME_MOST + 1];
    cw_server s = CW_SERVER_NONE;
    if (strcmp(value, "-") == 0 && first) {
        l->to = LEAD_TO_CALLER;
        l->wish.flags |= LETTER_CALLER;
        snprintf(l->wish.to, sizeof l->wish.to, "-");
        return 0;
    }
    if (!first && (to != l->to || to != LEAD_TO_SERVERS)) {
        return refuse_request(
            r, "to: several results are SERVER:FILE, of one name; each:FILE, all:FILE and - stand alone");
    }
    if (value[length] != ':') {
        return refuse_request(r, "to: expected SERVER:FILE, each:FILE, all:FILE or -, as 0,0,0:top.txt; not '%.80s'",
                              value);
    }
    int rc = each || all ? 0 : read_server_of(st, r, value, length, &s);
    rc = rc < 0 ? rc : read_name(r, "to", value + length + 1, name);
    if (rc == 0 && !first && strcmp(name, l->wish.to) != 0) {
        return refuse_request(r, "to: the parts of a result have one name; not '%s' and '%s'", l->wish.to, name);
    }
    if (rc == 0) {
        l->to = to;
        memcpy(l->wish.to, name, sizeof name);
    }
    if (rc == 0 && s != CW_SERVER_NONE) {
        trees_set_add(l->writers, s);
    }
    return rc;
}

/* near: the name that was perhaps meant; NULL: none is. */
static int refuse_name(cw_request *r, const char *word, const char *what, const char *near, const char *all)
{
    return refuse_request(r, "'%.40s' is no %s%s%s%s %s", word, what, near != NULL ? "; did you mean " : "",
                          near != NULL ? near : "", near != NULL ? "? There are" : ": there are", all);
}

static int read_mapper(const struct stream *st, cw_request *r, const char *word, struct wish *w)
{
    static const char *const names[] = {"words", "lines", "kv", "field:1", "records", NULL};
    struct mapper_kind_of of;
    int rc = modules_agree(&st->modules, MODULES_MAPPER, word, w->mapper);
    if (rc == -ELIBACC || rc == -ELIBBAD) {
        return functions_refuse(st, r, MODULES_MAPPER, word, rc);
    }
    if (rc < 0 || modules_mapper(&st->modules, w->mapper, &of) < 0) {
        return refuse_name(
            r, word, "mapper", nearest_word(word, names),
            "words, lines, kv (lines KEY TAB VALUE), field:N, field:N:SEPARATOR, records and module:NAME");
    }
    return 0;
}

static int read_combine(const struct stream *st, cw_request *r, const char *word, struct wish *w)
{
    static const char *const names[] = {"sum",  "min",    "max",   "count", "avg", "first",
                                        "last", "topk:3", "set:3", "none",  NULL};
    struct combine c;
    int rc = modules_agree(&st->modules, MODULES_COMBINER, word, w->combine);
    if (rc == -ELIBACC || rc == -ELIBBAD) {
        return functions_refuse(st, r, MODULES_COMBINER, word, rc);
    }
    if (rc < 0 || modules_combine(&st->modules, w->combine, &c) < 0) {
        return refuse_name(r, word, "combination", nearest_word(word, names),
                           "sum, min, max, count, avg, first, last, topk:K, set:K, module:NAME and none");
    }
    return 0;
}

static int read_number(cw_request *r, const char *option, const char *word, uint32_t most, uint32_t *out)
{
    uint64_t n;
    if (words_number(word, 1, most, &n) < 0) {
        return refuse_request(r, "%s is a whole number from 1 to %u; not '%.80s'", option, most, word);
    }
    *out = (uint32_t)n;
    return 0;
}

static const char *const path_names[] = {[LEAD_PATH_AUTO] = "auto",
                                         [LEAD_PATH_TREES] = "trees",
                                         [LEAD_PATH_DIRECT] = "direct",
                                         [LEAD_PATH_SHORTEST] = "shortest"};

static int read_path(cw_request *r, const char *word, struct lead *l)
{
    for (unsigned i = 0; i < sizeof path_names / sizeof *path_names; i++) {
        if (strcmp(word, path_names[i]) == 0) {
            l->path = (enum lead_path)i;
            return 0;
        }
    }
    return refuse_request(r,
                          "path: records go over trees, over the shortest ones, direct to who writes them, or auto, "
                          "whichever is fastest; "
                          "not '%.40s'",
                          word);
}

static int read_word(const struct stream *st, cw_request *r, const char *word, struct lead *l)
{
    struct wish *w = &l->wish;
    const char *value;
    if ((value = words_value(word, "from")) != NULL) {
        return read_from(r, value, w);
    }
    if ((value = words_value(word, "to")) != NULL) {
        return read_to(st, r, value, l);
    }
    if ((value = words_value(word, "copies")) != NULL) {
        int rc = heir_check(r, value);
        return rc < 0 ? rc : read_name(r, "copies", value, l->copies);
    }
    if ((value = words_value(word, "map")) != NULL) {
        return read_mapper(st, r, value, w);
    }
    if ((value = words_value(word, "combine")) != NULL) {
        return read_combine(st, r, value, w);
    }
    if ((value = words_value(word, "path")) != NULL) {
        return read_path(r, value, l);
    }
    if ((value = words_value(word, "top")) != NULL) {
        return read_number(r, "top", value, BEST_MOST, &w->top);
    }
    if ((value = words_value(word, "partitions")) != NULL) {
        return read_number(r, "partitions", value, LETTER_PARTITIONS_MOST, &w->partitions);
    }
    if ((value = words_value(word, "limit_ms")) != NULL) {
        return read_number(r, "limit_ms", value, LETTER_LIMIT_MOST_MS, &w->limit_ms);
    }
    if ((value = words_value(word, "of")) != NULL) {
        cw_server s = 0;
        int rc = read_server_of(st, r, value, strlen(value), &s);
        if (rc == 0) {
            trees_set_add(l->members, s);
        }
        return rc;
    }
    if ((value = words_value(word, "without")) != NULL && strcmp(value, "1") == 0) {
        w->flags |= LETTER_WITHOUT;
        return 0;
    }
    return refuse_request(r, "%s; not '%.80s'", usage, word);
}

/* Who contributes and who writes, where that was not said; and how many partitions there are. */
static void fill(const struct stream *st, struct lead *l)
{
    size_t bytes = stream_words(st) * sizeof *l->members;
    for (cw_server s = 0; s < st->torus.servers && stream_count_of(st, l->members) == s; s++) {
        trees_set_add(l->members, s); /* nobody is named: all */
    }
    if (l->to == LEAD_TO_EACH || l->to == LEAD_TO_ALL) {
        memcpy(l->writers, l->members, bytes);
    }
    uint32_t roots = l->to == LEAD_TO_SERVERS || l->to == LEAD_TO_EACH ? stream_count_of(st, l->writers) : 1;
    uint32_t each = (uint32_t)CW_LINK_COUNT * ((STREAM_PARTS + roots - 1) / roots);
    uint32_t wanted = l->wish.partitions != 0 ? l->wish.partitions : roots * each;
    wanted = wanted < LETTER_PARTITIONS_MOST ? wanted : LETTER_PARTITIONS_MOST;
    l->wish.partitions = wanted > roots ? wanted : roots;
}

/* whole: they must be a run together, and not only be words of one. */
static int read_words(const struct stream *st, cw_request *r, int argc, const char *const *argv, bool whole,
                      struct lead *l)
{
    l->wish = (struct wish){.mapper = "words", .combine = "sum"};
    l->wish.limit_ms = (uint32_t)(STREAM_LIMIT.ns / CW_MS(1).ns);
    int rc = 0;
    for (int i = 1; i < argc && rc == 0; i++) {
        rc = read_word(st, r, argv[i], l);
    }
    if (rc == 0 && whole && (l->wish.from[0] == '\0' || l->wish.to[0] == '\0')) {
        return refuse_request(r, "%s", usage);
    }
    if (rc == 0 && whole && l->copies[0] != '\0' && intake_name_of(l->wish.from) != NULL) {
        return refuse_request(r, "copies are of files: of what a program feeds there are none");
    }
    if (rc == 0 && l->wish.top > 0 && (l->to == LEAD_TO_EACH || stream_count_of(st, l->writers) > 1)) {
        return refuse_request(r, "top is of one result: to=SERVER:FILE, all:FILE or -");
    }
    return rc;
}

/* `run check=word|run ..`: are these words of a run, or all words of one? Nothing is begun. */
int wording_check(struct stream *st, cw_request *r, int argc, const char *const *argv)
{
    bool whole = strcmp(argv[1], "check=run") == 0;
    struct lead *l = lead_make(st);
    int rc = l == NULL ? -ENOMEM : read_words(st, r, argc - 1, argv + 1, whole, l);
    if (l != NULL) {
        lead_free(l);
    }
    return rc;
}

int wording_read(struct stream *st, cw_job job, cw_request *r, int argc, const char *const *argv, struct lead **out)
{
    if (st->lead_count >= STREAM_LEADS || lead_count_of(st, job) >= STREAM_LEADS_EACH) {
        bool all = st->lead_count >= STREAM_LEADS;
        return refuse_with(r, -EBUSY, "%d runs%s are under way from here; wait until one ends",
                           all ? STREAM_LEADS : STREAM_LEADS_EACH, all ? "" : " of this job");
    }
    struct lead *l = lead_make(st);
    int rc = l == NULL ? -ENOMEM : read_words(st, r, argc, argv, true, l);
    if (rc < 0) {
        if (l != NULL) {
            lead_free(l);
        }
        return rc;
    }
    l->wish.job = job;
    fill(st, l);
    /* With one root, trees are never worse: its links bring all, or less. */
    l->keys = l->path == LEAD_PATH_AUTO && stream_count_of(st, l->writers) > 1 && l->to != LEAD_TO_ALL
                  ? calloc(1, sizeof *l->keys)
                  : NULL;
    *out = l;
    return 0;
}
