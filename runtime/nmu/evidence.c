/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/evidence.h"

/* Checks every slot that privilege_find() looks at, the empty one at the end as well. */
static bool find_holds(struct seals *s, const struct nmu_tables *t, uint64_t key)
{
    const struct privilege *p = &t->privilege;
    uint32_t at = privilege_slot(p, key);
    for (uint32_t looked = 0; looked <= p->mask && seals_hold(s, t, SEALED_PRIVILEGE, at); looked++) {
        if (p->slot[at].key == key || p->slot[at].key == 0) {
            return true;
        }
        at = (at + 1) & p->mask;
    }
    return false;
}

/* Checks every span that spans_search() looks at among the `count` spans of the array from `at` on. */
static bool search_holds(struct seals *s, const struct nmu_tables *t, enum sealed table, const struct nmu_span *array,
                         uint32_t at, uint32_t count, cw_process process)
{
    uint32_t from = 0, to = count;
    while (from < to) {
        uint32_t half = from + (to - from) / 2;
        const struct nmu_span *span = &array[at + half];
        if (!seals_hold(s, t, table, at + half)) {
            return false;
        }
        if (span->last < process) {
            from = half + 1;
        } else if (span->first > process) {
            to = half;
        } else {
            return true;
        }
    }
    return true;
}

static bool grant_holds(struct seals *s, const struct nmu_tables *t, uint32_t home, const struct nmu_to *to,
                        uint32_t port)
{
    uint64_t key = privilege_key(home, to->job, port);
    if (!find_holds(s, t, key)) {
        return false;
    }
    const struct spans *sets = &t->privilege.sets;
    const struct privilege_entry *grant = privilege_find(&t->privilege, key);
    if (grant == NULL || grant->spans == 0 || to->key) {
        return true;
    }
    return seals_hold(s, t, SEALED_SET_LIST, home) &&
           search_holds(s, t, SEALED_SET_SPAN, sets->span, sets->list[home].at + grant->at, grant->spans, to->process);
}

/* Checks what tells, in the map, where the process lives. */
static bool way_holds(struct seals *s, const struct nmu_tables *t, uint32_t place, const struct nmu_to *to)
{
    const struct map *m = &t->map;
    if (!seals_hold(s, t, SEALED_DOOR, place)) {
        return false;
    }
    uint32_t ranges = m->door[place].ranges;
    if (ranges <= 1 || to->key) {
        return true;
    }
    return seals_hold(s, t, SEALED_RANGE_LIST, place) &&
           search_holds(s, t, SEALED_RANGE_SPAN, m->ranges.span, m->ranges.list[place].at, ranges, to->process);
}

bool evidence_holds(struct seals *s, const struct nmu_tables *t, uint32_t speaker, const struct nmu_to *to)
{
    if (speaker >= t->access.speakers) {
        return true; /* nothing is read */
    }
    if (!seals_hold(s, t, SEALED_ACCESS, speaker)) {
        return false;
    }
    const struct access_entry *who = access_of(&t->access, speaker);
    if (who == NULL) {
        return true;
    }
    uint32_t home = who->home;
    if (!seals_hold(s, t, SEALED_JOB, home) || !seals_hold(s, t, SEALED_DOOR, home)) {
        return false;
    }
    const uint32_t ports[] = {to->port, PRIVILEGE_ANY_PORT};
    for (unsigned i = 0; i < 2; i++) {
        if (!grant_holds(s, t, home, to, ports[i])) {
            return false;
        }
        const struct privilege_entry *grant = privilege_find(&t->privilege, privilege_key(home, to->job, ports[i]));
        if (grant != NULL && (to->key ? grant->spans == 0 : privilege_holds(&t->privilege, home, grant, to->process))) {
            return way_holds(s, t, grant->remote, to);
        }
    }
    return true;
}
