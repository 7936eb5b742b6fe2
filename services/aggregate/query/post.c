/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include "services/aggregate/query/internal.h"
#include "services/aggregate/query/mutant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- What this server says itself -------------------------------------------------------------------------------- */

static uint32_t group_of(const struct post *p)
{
    cw_coord c = cw_self(p->q->s);
    switch (p->ask.by) {
    case LETTER_BY_X:
        return c.x;
    case LETTER_BY_Y:
        return c.y;
    case LETTER_BY_Z:
        return c.z;
    case LETTER_BY_SERVER:
        return p->q->self;
    case LETTER_BY_NONE:
        break;
    }
    return 0;
}

/* Puts the bytes of one more part in. 0; or what part_merge() says, and nothing has changed. */
static int add_bytes(struct post *p, const uint8_t *bytes, size_t length)
{
    struct query *q = p->q;
    int64_t merged =
        part_merge(p->ask.summary, p->part, p->part_length, bytes, length, q->merged, PART_BYTES_MOST, q->work);
    if (merged < 0) {
        return (int)merged;
    }
    uint8_t *part = malloc((size_t)merged + 1);
    if (part == NULL) {
        return -ENOMEM;
    }
    memcpy(part, q->merged, (size_t)merged);
    free(p->part);
    p->part = part;
    p->part_length = (size_t)merged;
    return 0;
}

static void add_own(struct post *p)
{
    struct query *q = p->q;
    const struct sources sources = query_sources(q);
    uint8_t *at = q->bytes + PART_HEAD;
    size_t room = PART_BYTES_MOST - PART_HEAD;
    int64_t length = p->ask.summary == SUMMARY_NAMES
                         ? source_names(&sources, at, room)
                         : source_summary(&sources, p->ask.summary, p->source, p->ask.source_length, at, room);
    query_put(p->answered, q->self);
    if (length < 0) {
        p->flags |= length == -EOPNOTSUPP ? LETTER_UNFIT : 0;
        query_put(p->without, q->self);
        return;
    }
    (void)part_put(group_of(p), NULL, 0, q->bytes, PART_HEAD);
    put_be32(q->bytes + 4, (uint32_t)length);
    if (add_bytes(p, q->bytes, PART_HEAD + (size_t)length) < 0) {
        query_take(p->answered, q->self); /* there is no memory */
    }
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

struct post *post_find(const struct query *q, const struct letter_name *name)
{
    for (struct list_node *n = list_first(&q->posts); n != NULL; n = list_next(&q->posts, n)) {
        struct post *p = container_of(n, struct post, link);
        if (letter_name_equal(&p->ask.name, name)) {
            return p;
        }
    }
    return NULL;
}

void post_free(struct post *p)
{
    cw_timer_stop(p->q->s, p->timer);
    list_remove(&p->link);
    p->q->posts_count--;
    free(p->part);
    free(p);
}

/*
 * All that is waited for has come, or its time is over: one letter up, and that is all. Query rule 11: what this
 * server says itself is in it once.
 */
static void finish(struct post *p)
{
    struct query *q = p->q;
    if (p->asker != NULL) {
        asker_tree_over(p->asker);
        return;
    }
    if (QUERY_MUTANT(OWN_TWICE) && p->children > 0 && query_has(p->answered, q->self)) {
        add_own(p);
    }
    struct query_letter up = {.kind = LETTER_PART, .summary = p->ask.summary, .by = p->ask.by, .flags = p->flags};
    up.name = p->ask.name;
    up.round = p->ask.round;
    up.servers = p->ask.servers;
    up.within_us = p->ask.within_us;
    memcpy(up.answered, p->answered, sizeof up.answered);
    memcpy(up.without, p->without, sizeof up.without);
    up.part = p->part;
    up.part_length = p->part_length;
    (void)!query_send(q, &up, p->parent); /* a part that is lost is missing, and the answer says so */
    post_free(p);
}

static void look(struct post *p)
{
    if (p->waits == 0 && (p->asker == NULL || !p->asker->direct)) {
        finish(p);
    }
}

static void time_over(cw_svc *s, void *state, void *arg)
{
    struct post *p = arg;
    (void)s;
    (void)state;
    p->timer = NULL;
    p->waits = 0;
    finish(p);
}

/* ---- Children ---------------------------------------------------------------------------------------------------- */

/* Of the tree that was made last. */
static void find_children(struct post *p)
{
    const struct query *q = p->q;
    for (cw_links left = torus_links(&q->torus); left != 0; left &= (cw_links)(left - 1)) {
        cw_server next = torus_neighbour(&q->torus, q->self, (cw_link)__builtin_ctz(left));
        bool seen = false;
        for (unsigned i = 0; i < p->children; i++) {
            seen = seen || p->child[i] == next; /* both links of an axis of two */
        }
        if (!seen && q->tree.parent[next] == q->self && q->tree.needed[next]) {
            p->child[p->children++] = next;
        }
    }
}

static void ask_children(struct post *p)
{
    for (unsigned i = 0; i < p->children; i++) {
        p->waits |= (uint8_t)(query_send(p->q, &p->ask, p->child[i]) == 0 ? 1u << i : 0);
    }
}

static int child_index(const struct post *p, cw_server server)
{
    for (unsigned i = 0; i < p->children; i++) {
        if (p->child[i] == server) {
            return (int)i;
        }
    }
    return -1;
}

/* The place in the tree: parent, children, and for how long they are waited for. */
static int take_place(struct post *p, cw_server from)
{
    struct query *q = p->q;
    cw_server asker = p->ask.name.asker;
    if (query_has(p->ask.dead, asker)) {
        return -EPROTO;
    }
    spread_make(&q->tree, &q->torus, asker, p->ask.dead, p->ask.members);
    cw_server parent = q->tree.parent[q->self];
    if (p->asker == NULL && (parent == CW_SERVER_NONE || parent != from)) {
        return -EPROTO; /* the asker does not believe that we live, or it is not the asker's question */
    }
    p->parent = parent;
    find_children(p);
    if (p->children > 0) {
        int64_t height = q->tree.height[q->self], depth = q->tree.height[asker];
        p->timer = cw_timer_start(q->s, CW_US(p->ask.within_us * height / (depth + 1)), time_over, p);
        return p->timer == NULL ? -ENOBUFS : 0;
    }
    return 0;
}

int post_begin(struct query *q, const struct query_letter *ask, cw_server from, struct asker *asker, struct post **out)
{
    if (ask->servers != q->torus.servers || (ask->round == LETTER_TREE && post_find(q, &ask->name) != NULL)) {
        return -EPROTO;
    }
    struct post *p = q->posts_count < QUERY_POSTS ? calloc(1, sizeof *p) : NULL;
    if (p == NULL) {
        return q->posts_count < QUERY_POSTS ? -ENOMEM : -EBUSY;
    }
    p->q = q;
    p->ask = *ask;
    p->asker = asker;
    p->parent = from;
    memcpy(p->source, ask->source, ask->source_length);
    p->ask.source = p->source;
    list_push_back(&q->posts, &p->link);
    q->posts_count++;
    int rc = ask->round == LETTER_TREE ? take_place(p, from) : from != ask->name.asker ? -EPROTO : 0;
    if (rc < 0) {
        post_free(p);
        return rc;
    }
    query_count(q, QUERY_SERVED, 1);
    if (query_has(p->ask.members, q->self)) {
        add_own(p);
    }
    if (out != NULL) {
        *out = p;
    }
    ask_children(p);
    if (asker == NULL) {
        look(p);
    }
    return 0;
}

/* ---- Parts that come --------------------------------------------------------------------------------------------- */

static bool meet(const struct query *q, const uint64_t *a, const uint64_t *b)
{
    for (size_t i = 0; i < query_words(q); i++) {
        if ((a[i] & b[i]) != 0) {
            return true;
        }
    }
    return false;
}

static void note_servers(struct post *p, const struct query_letter *part)
{
    for (size_t i = 0; i < query_words(p->q); i++) {
        p->answered[i] |= part->answered[i] & p->ask.members[i];
        p->without[i] |= part->without[i] & p->ask.members[i];
    }
}

/*
 * Query rule 9: a part is taken when none of its servers is in what is there. Query rule 12: its servers are noted
 * exactly when it is taken.
 */
static void take_part(struct post *p, const struct query_letter *part)
{
    struct query *q = p->q;
    if (meet(q, p->answered, part->answered) && !QUERY_MUTANT(OVERLAP)) {
        query_count(q, QUERY_OVERLAPS, 1);
        if (QUERY_MUTANT(REFUSED_NAMED)) {
            note_servers(p, part);
        }
        return;
    }
    for (size_t i = 0; i < query_words(q); i++) {
        if ((part->answered[i] & ~p->ask.members[i]) != 0) {
            query_count(q, QUERY_STRANGE, 1);
            return;
        }
    }
    int rc = add_bytes(p, part->part, part->part_length);
    p->flags |= part->flags;
    if (rc < 0) {
        p->flags |= rc == -EMSGSIZE ? LETTER_LARGE : rc == -EINVAL ? LETTER_MIXED : 0;
        query_count(q, rc == -EMSGSIZE ? QUERY_LARGE : QUERY_STRANGE, 1);
        return;
    }
    query_count(q, QUERY_PARTS, 1);
    if (!QUERY_MUTANT(SET_LOST)) {
        note_servers(p, part);
    }
}

/* Query rule 10: of the question that the part names. */
static struct post *meant(const struct query *q, const struct query_letter *part)
{
    for (struct list_node *n = list_first(&q->posts); n != NULL && QUERY_MUTANT(OTHER_QUESTION);
         n = list_next(&q->posts, n)) {
        struct post *p = container_of(n, struct post, link);
        if (p->ask.name.asker == part->name.asker && p->ask.summary == part->summary) {
            return p;
        }
    }
    return post_find(q, &part->name);
}

int post_part(struct query *q, const struct query_letter *part, cw_server from)
{
    struct post *p = meant(q, part);
    if (p == NULL || part->servers != p->ask.servers || part->summary != p->ask.summary || part->by != p->ask.by) {
        query_count(q, QUERY_STRANGE, 1);
        return p != NULL ? -EPROTO : -ESTALE;
    }
    if (part->round == LETTER_DIRECT) {
        if (p->asker == NULL || !query_has(p->asker->awaits, from)) {
            query_count(q, QUERY_STRANGE, 1);
            return -ESTALE;
        }
        take_part(p, part);
        asker_heard(p->asker, from);
        return 0;
    }
    int i = child_index(p, from);
    if (i < 0) {
        query_count(q, QUERY_STRANGE, 1);
        return -EPROTO;
    }
    take_part(p, part);
    if ((p->waits & 1u << i) != 0) {
        p->waits &= (uint8_t) ~(1u << i);
        look(p);
    } else if (p->asker != NULL) {
        asker_heard(p->asker, from);
    }
    return 0;
}

void post_lost(struct query *q, const struct letter_name *name, cw_server to, enum letter_round round)
{
    struct post *p = post_find(q, name);
    int i = p != NULL ? child_index(p, to) : -1;
    if (p == NULL) {
        return;
    }
    if (round == LETTER_DIRECT) {
        if (p->asker != NULL) {
            asker_heard(p->asker, to);
        }
    } else if (i >= 0 && (p->waits & 1u << i) != 0) {
        p->waits &= (uint8_t) ~(1u << i);
        look(p);
    }
}

void post_server_down(struct query *q, cw_server server)
{
    struct letter_name name[QUERY_POSTS];
    unsigned count = 0;
    for (struct list_node *n = list_first(&q->posts), *next; n != NULL; n = next) {
        struct post *p = container_of(n, struct post, link);
        next = list_next(&q->posts, n);
        if (p->asker == NULL && p->ask.name.asker == server) {
            post_free(p);
        } else if (count < QUERY_POSTS) {
            name[count++] = p->ask.name;
        }
    }
    for (unsigned i = 0; i < count; i++) { /* what one end brings about may be the end of another */
        post_lost(q, &name[i], server, LETTER_TREE);
        post_lost(q, &name[i], server, LETTER_DIRECT);
    }
}
