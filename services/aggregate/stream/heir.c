/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heir.c - who stands in for a contributor that is gone: a server that has a copy of its input. Its lead asks the
 * nearest ones first, as the keyspace gives a key's heirs. All that the heir brings is sorted again, so the next round
 * has the records of the same inputs as the one before, from others (aggregate rule 31).
 */
#include "services/aggregate/stream/internal.h"
#include "services/aggregate/stream/lead.h"
#include "services/reply/refuse.h"

#include <stdio.h>
#include <string.h>

int heir_check(cw_request *r, const char *value)
{
    size_t marks = 0, length = strlen(value);
    for (const char *c = value; *c != '\0'; c++) {
        marks += *c == HEIR_MARK;
    }
    if (marks == 0 || length + marks * (TORUS_TEXT - 1) > LETTER_NAME_MOST) {
        return refuse_request(
            r, "copies: a name with %c in place of the server whose file it is a copy of, as copies/%c; not '%.60s'",
            HEIR_MARK, HEIR_MARK, value);
    }
    return 0;
}

/* As muster_ask() is to be given it: with the server's coordinate for each mark. */
static void name_of_copy(const struct lead *l, cw_server of, char out[static LETTER_NAME_MOST + 1])
{
    char server[TORUS_TEXT];
    size_t used = 0;
    torus_format(torus_coord(&l->st->torus, of), server);
    out[0] = '\0';
    for (const char *c = l->copies; *c != '\0' && used < LETTER_NAME_MOST; c++) {
        const char one[] = {*c, '\0'};
        used += (size_t)snprintf(out + used, LETTER_NAME_MOST + 1 - used, "%s", *c == HEIR_MARK ? server : one);
    }
}

/* Is a nearer to `of` than b? Of two at the same distance, the one with the lower number. */
static bool is_nearer(const struct torus *torus, cw_server of, cw_server a, cw_server b)
{
    unsigned x = torus_distance(torus, of, a), y = torus_distance(torus, of, b);
    return x != y ? x < y : a < b;
}

/* The next one behind `after` that may be asked. */
static cw_server next_of(const struct lead *l, cw_server of, cw_server after)
{
    const struct torus *torus = &l->st->torus;
    cw_server best = CW_SERVER_NONE;
    for (cw_server s = 0; s < torus->servers; s++) {
        if (s != after && !is_nearer(torus, of, s, after) && !trees_set_has(l->gone, s) && stream_sees(l->st, s) &&
            (best == CW_SERVER_NONE || is_nearer(torus, of, s, best))) {
            best = s;
        }
    }
    return best;
}

bool heir_ask(struct lead *l, cw_server of)
{
    char from[LETTER_NAME_MOST + 1];
    cw_server next;
    name_of_copy(l, of, from);
    while (l->copies[0] != '\0' && (next = next_of(l, of, l->by[of])) != CW_SERVER_NONE) {
        l->by[of] = next;
        if (muster_ask(l, of, from) == 0) {
            return true;
        }
    }
    return false;
}

/* A request that the server has not answered, and will not. */
static void forget_request(struct lead *l, cw_server of)
{
    int64_t id = l->asked[of];
    if (id != 0) {
        l->asked[of] = 0;
        l->awaited--;
        (void)transport_cancel(l->st->call, id);
    }
}

bool heir_lose(struct lead *l, cw_server server, cw_server *whose, bool *writing)
{
    struct stream *st = l->st;
    bool without = (l->wish.flags & LETTER_WITHOUT) != 0, writer = trees_set_has(l->writers, server);
    *whose = server;
    *writing = writer;
    trees_set_add(l->gone, server);
    if (!without && l->copies[0] == '\0') {
        return false;
    }
    if (writer) {
        trees_set_remove(l->writers, server);
        trees_set_add(l->bare, server);
    }
    for (cw_server of = 0; of < st->torus.servers; of++) {
        bool lost = l->by[of] == server && (of == server || !STREAM_MUTANT(HEIR_OF_HEIR));
        if (!trees_set_has(l->counted, of) || !lost) {
            continue;
        }
        forget_request(l, of);
        if (!heir_ask(l, of) && !without) {
            *whose = of;
            *writing = false;
            return false;
        }
        if (l->asked[of] == 0) {
            trees_set_remove(l->counted, of);
        }
    }
    return !writer || stream_first(st, l->writers) != CW_SERVER_NONE || l->to == LEAD_TO_CALLER;
}

void heir_set(const struct lead *l, uint64_t *set)
{
    memset(set, 0, stream_words(l->st) * sizeof *set);
    for (cw_server of = 0; of < l->st->torus.servers; of++) {
        if (trees_set_has(l->counted, of)) {
            trees_set_add(set, l->by[of]);
        }
    }
}

void heir_text(const struct lead *l, char *out, size_t room)
{
    const struct torus *torus = &l->st->torus;
    size_t used = 0;
    unsigned more = 0;
    out[0] = '\0';
    for (cw_server of = 0; of < torus->servers; of++) {
        char one[TORUS_TEXT], other[TORUS_TEXT];
        if (!trees_set_has(l->counted, of) || l->by[of] == of) {
            continue;
        }
        if (more > 0 || used + 2 * TORUS_TEXT + 32 > room) {
            more++;
        } else {
            torus_format(torus_coord(torus, of), one);
            torus_format(torus_coord(torus, l->by[of]), other);
            used += (size_t)snprintf(out + used, room - used, "%s%s by %s", used > 0 ? "; " : "", one, other);
        }
    }
    if (more > 0) {
        snprintf(out + used, room - used, "; and %u others", more);
    }
}
