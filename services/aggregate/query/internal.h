/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - the structs of questions, and what their files may ask of one another.
 *
 *     query.c    the transport, upcalls, time; which letter goes where
 *     post.c     what a server does for a question: its own part, its children's, one letter up
 *     asker.c    at the server that was asked: the tree, those that it did not bring, the end
 *     telling.c  the rows of an answer
 *     wish.c     the words of the commands
 *     source.c, tallies.c, tally.c   what a server has to say
 *     spread.c, part.c, letter.c and the summary_ sources   pure: trees, merging, bytes
 */
#ifndef SERVICES_AGGREGATE_QUERY_INTERNAL_H
#define SERVICES_AGGREGATE_QUERY_INTERNAL_H

#include "base/list.h"
#include "keyspace/torus.h"
#include "services/aggregate/query/host.h"
#include "services/aggregate/query/letter.h"
#include "services/aggregate/query/query.h"
#include "services/aggregate/query/source.h"
#include "services/aggregate/query/spread.h"
#include "services/aggregate/query/tallies.h"
#include "services/transport/transport.h"

enum { QUERY_POSTS = 64, QUERY_QUANTILES = 16, QUERY_TOP_MOST = 1000 };
#define QUERY_WITHIN CW_SEC(1)

enum query_count {
    QUERY_ASKED,
    QUERY_SERVED,
    QUERY_PARTS,
    QUERY_OVERLAPS,
    QUERY_STRANGE,
    QUERY_LARGE,
    QUERY_LINES,
    QUERY_COUNTS
};

/* ---- What is asked (wish.c) -------------------------------------------------------------------------------------- */

enum wish_op {
    WISH_COUNT,
    WISH_SUM,
    WISH_MEAN,
    WISH_MIN,
    WISH_MAX,
    WISH_TOP,
    WISH_DISTINCT,
    WISH_QUANTILE,
    WISH_HISTOGRAM,
    WISH_LIST
};

struct wish {
    enum wish_op op;
    char source[SUMMARY_NAME_MOST + 1]; /* "": WISH_LIST */
    unsigned top;                       /* how many items */
    uint32_t ppm[QUERY_QUANTILES];
    unsigned quantiles;
    enum letter_by by;
    uint64_t on[LETTER_WORDS]; /* the servers that are asked */
    cw_span within;
};

/* Of "query OP ...". 0, or refused with a sentence. */
CW_MUST_CHECK int wish_read(const struct query *q, cw_request *r, int argc, const char *const *argv, struct wish *out);
const char *wish_name(enum wish_op op);
enum summary_kind wish_summary(enum wish_op op);

/* ---- Questions --------------------------------------------------------------------------------------------------- */

struct asker;

/* A question at a server that has to do with it. Freed when its part has gone up, or the asker is done. */
struct post {
    struct list_node link; /* query.posts */
    struct query *q;
    struct query_letter ask; /* LETTER_ASK; ask.source is post.source */
    char source[SUMMARY_NAME_MOST];
    cw_server parent; /* CW_SERVER_NONE: asked here */
    struct asker *asker;
    cw_server child[CW_LINK_COUNT];
    unsigned children;
    uint8_t waits; /* bits of children that are waited for */
    /* What is in the part: answered is a set of servers; of these, `without` have no such source. */
    uint64_t answered[LETTER_WORDS], without[LETTER_WORDS];
    unsigned flags;
    uint8_t *part; /* of malloc(), or NULL */
    size_t part_length;
    cw_timer *timer;
};

/* A question that was asked here. */
struct asker {
    struct query *q;
    struct post *post;
    cw_request *request;
    struct wish wish;
    bool seeks;  /* nobody has the source: this asks for the names that there are */
    bool direct; /* the tree is done with: those that it did not bring are asked one by one */
    uint64_t awaits[LETTER_WORDS];
    cw_time begun;
};

struct query {
    cw_svc *s;
    struct torus torus;
    cw_server self;
    uint64_t life;
    uint32_t numbers; /* of questions that were asked here */
    struct transport *transport;
    const struct figures_host *host; /* NULL: none */
    struct tallies feeds;
    struct spread tree; /* of the question that came last */
    struct list posts;
    unsigned posts_count;
    struct part_room *work;
    uint8_t *bytes, *merged; /* room for one summary or names, and for a part */
    cw_timer *sweep;
    bool closing;
    cw_counter *counter[QUERY_COUNTS];
};

/* query.c */
size_t query_words(const struct query *q);
bool query_has(const uint64_t *set, cw_server s);
void query_put(uint64_t *set, cw_server s);
void query_take(uint64_t *set, cw_server s);
unsigned query_size(const struct query *q, const uint64_t *set);
bool query_is_empty(const struct query *q, const uint64_t *set);
void query_count(struct query *q, enum query_count what, uint64_t n);
/* Sends the letter to the server. An ASK that does not arrive is told to post_lost(). 0, or -errno. */
CW_MUST_CHECK int query_send(struct query *q, const struct query_letter *l, cw_server to);
/* What this server has is looked at: the feeds that are over are gone. */
struct sources query_sources(struct query *q);

/* post.c */
/*
 * Begins what this server does for the question. asker: it was asked here; NULL: it came from server `from`. When
 * nobody is waited for it ends within the call, and *out, where out is not NULL, is only there when it has not. -EBUSY:
 * 64 questions are under way here; -EPROTO: it makes no sense; -ENOMEM.
 */
CW_MUST_CHECK int post_begin(struct query *q, const struct query_letter *ask, cw_server from, struct asker *asker,
                             struct post **out);
void post_free(struct post *p);
struct post *post_find(const struct query *q, const struct letter_name *name);
/* A part has come. */
CW_MUST_CHECK int post_part(struct query *q, const struct query_letter *part, cw_server from);
/* The question has not reached that server, or the server is gone: it is not waited for. */
void post_lost(struct query *q, const struct letter_name *name, cw_server to, enum letter_round round);
void post_server_down(struct query *q, cw_server server);

/* asker.c */
CW_MUST_CHECK int asker_begin(struct query *q, cw_request *r, const struct wish *w);
/* The tree has brought what it brings. */
void asker_tree_over(struct asker *a);
/* A server that was asked directly has answered, or will not. */
void asker_heard(struct asker *a, cw_server server);

/* telling.c */
/* Writes the rows of the answer and ends the request. */
void telling_answer(struct asker *a);
/* Nobody has the source: refuses, naming the nearest of the names that came in. */
void telling_unknown(struct asker *a);
/* Some have it, but nobody can make this of it. */
void telling_unfit(struct asker *a);

#endif
