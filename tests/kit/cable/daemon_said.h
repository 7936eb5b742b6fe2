/* SPDX-License-Identifier: Apache-2.0 */
/* daemon_said.h - keeps the mistakes that are reported of a configuration, for a test to read. */
#ifndef KIT_DAEMON_SAID_H
#define KIT_DAEMON_SAID_H

#include "daemon/config/config.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

struct said {
    unsigned count;
    char text[32][400];
};

static inline void say(void *context, const char *text)
{
    struct said *s = context;
    if (s->count < 32) {
        snprintf(s->text[s->count], sizeof s->text[0], "%s", text);
    }
    s->count++;
}

/* Parses a configuration. 0, or -EINVAL, and *said has what was reported. */
static inline int try_config(const char *text, struct daemon_config *out, struct said *said)
{
    *said = (struct said){.count = 0};
    int rc = config_parse("c", text, strlen(text), out, say, said);
    ck_assert_int_eq(rc, said->count == 0 ? 0 : -EINVAL);
    return rc;
}

static inline bool was_said(const struct said *said, const char *text)
{
    for (unsigned i = 0; i < said->count && i < 32; i++) {
        if (strcmp(said->text[i], text) == 0) {
            return true;
        }
    }
    return false;
}

#endif
