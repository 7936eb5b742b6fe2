/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/recipients.h"

#include "services/multicast/cast/head.h"
#include "services/reply/refuse.h"

#include <string.h>

static void add(uint8_t *set, cw_server server)
{
    set[server / 8] |= (uint8_t)(1 << server % 8);
}

static int ask(const struct recipients *q, const char *word, membership_answer_fn done, void *arg)
{
    struct group_name name;
    int rc = group_name_make(&name, MULTICAST_JOB, word, strlen(word));
    rc = rc < 0 ? rc : membership_ask(q->membership, &name, done, arg);
    return rc < 0 ? rc : 1;
}

int recipients_read(const struct recipients *q, cw_request *r, int argc, const char *const *argv, uint8_t *set,
                    membership_answer_fn done, void *arg)
{
    if (argc == 1 && group_plain_name(argv[0])) {
        return ask(q, argv[0], done, arg);
    }
    bool all = argc == 1 && strcmp(argv[0], "all") == 0;
    for (cw_server i = 0; all && i < q->torus->servers; i++) {
        add(set, i);
    }
    for (int i = 0; !all && i < argc; i++) {
        cw_coord c;
        if (strcmp(argv[i], "all") == 0) {
            return refuse_request(r, "\"all\" must stand alone, without '%.80s'", argv[i == 0 ? 1 : 0]);
        }
        if (torus_parse(q->torus, argv[i], strlen(argv[i]), &c) < 0) {
            return refuse_request(r, "'%.80s' is not a server of this torus: expected X,Y,Z or all", argv[i]);
        }
        add(set, torus_id(q->torus, c));
    }
    return 0;
}

void recipients_cancel(const struct recipients *q, const void *arg)
{
    membership_cancel(q->membership, arg);
}
