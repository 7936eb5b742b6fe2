/* SPDX-License-Identifier: Apache-2.0 */
/* preflight_look.h - what preflight() says of a file with some text. */
#ifndef UNIT_DAEMON_HOST_PREFLIGHT_LOOK_H
#define UNIT_DAEMON_HOST_PREFLIGHT_LOOK_H

#include "daemon/host/preflight.h"

#include "daemon_said.h"
#include "suite.h"

#include <stdlib.h>
#include <unistd.h>

static char file[64];

/* What is said of a file with this text; its name becomes "F" in the sentences. */
static inline struct preflight look(const char *text, struct said *said)
{
    struct daemon_config c;
    struct preflight p = {.mistake = say, .warning = say, .context = said};
    snprintf(file, sizeof file, "/tmp/cubeway-preflight-XXXXXX");
    int fd = mkstemp(file);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    *said = (struct said){.count = 0};
    ck_assert_int_ge(config_load_most(file, &c, say, said), 0);
    preflight(&c, &p);
    unlink(file);
    for (unsigned i = 0; i < said->count && i < 32; i++) {
        size_t length = strlen(file);
        ck_assert_msg(strncmp(said->text[i], file, length) == 0, "%s", said->text[i]);
        memmove(said->text[i] + 1, said->text[i] + length, strlen(said->text[i] + length) + 1);
        said->text[i][0] = 'F';
    }
    return p;
}

static inline void expect(const struct said *said, const char *text)
{
    if (!was_said(said, text)) {
        for (unsigned i = 0; i < said->count && i < 32; i++) {
            fprintf(stderr, "said: %s\n", said->text[i]);
        }
        ck_abort_msg("not said: %s", text);
    }
}

#define WHOLE "torus { dims = 3x3x3; coordinate = all }\ncontrol { socket = '' }\n"

#endif
