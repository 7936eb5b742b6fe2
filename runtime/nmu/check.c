/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/check.h"

/* Does the grant, if there is one, cover the destination? */
static bool covers(const struct privilege *p, uint32_t home, const struct privilege_entry *grant,
                   const struct nmu_to *to)
{
    if (grant == NULL) {
        return false;
    }
    return to->key ? grant->spans == 0 : privilege_holds(p, home, grant, to->process);
}

/* Why the job at that place may do nothing. */
static enum nmu_cause of_no_use(const struct map *m, uint32_t home)
{
    if (m->job[home].version == 0) {
        return NMU_NO_RECORD;
    }
    return m->door[home].known ? NMU_STALE : NMU_DESTROYED;
}

enum nmu_cause nmu_check(const struct nmu_tables *t, uint32_t speaker, const struct nmu_to *to, struct nmu_pass *pass)
{
    const struct access_entry *who = access_of(&t->access, speaker);
    if (who == NULL) {
        return NMU_NO_SPEAKER;
    }
    bool same = who->generation == 0 || who->generation == t->map.job[who->home].generation;
    if (!t->map.door[who->home].known || !same) {
        return of_no_use(&t->map, who->home);
    }
    const struct privilege *p = &t->privilege;
    const struct privilege_entry *port = privilege_find(p, privilege_key(who->home, to->job, to->port));
    const struct privilege_entry *grant = port;
    if (!covers(p, who->home, grant, to)) {
        grant = privilege_find(p, privilege_key(who->home, to->job, PRIVILEGE_ANY_PORT));
        if (!covers(p, who->home, grant, to)) {
            return port == NULL && grant == NULL ? NMU_NO_GRANT : NMU_NO_REACH;
        }
    }
    if (!t->map.door[grant->remote].known) {
        return NMU_NO_JOB;
    }
    cw_server server = to->key ? CW_SERVER_NONE : map_server(&t->map, grant->remote, to->process);
    if (!to->key && server == CW_SERVER_NONE) {
        return NMU_NO_PROCESS;
    }
    *pass = (struct nmu_pass){who->job, who->process, server};
    return NMU_ALLOWED;
}
