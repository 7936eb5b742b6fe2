/* SPDX-License-Identifier: Apache-2.0 */
/* functions.c - own functions of runs: the modules of this server, and what operators are told about them. */
#include "services/aggregate/stream/internal.h"
#include "services/reply/refuse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void tell_module(void *arg, const char *line)
{
    cw_log(arg, CW_LOG_INFO, line);
}

/* Modules are loaded when the service opens, and at no other time: in a run nobody waits for a disk. */
int functions_open(struct stream *st)
{
    const char *folder = cw_option(st->s, "modules");
    if (folder != NULL && folder[0] != '/' && folder[0] != '\0') {
        return refuse_setting(st->s, "modules", folder, "a folder's whole path, from / on");
    }
    int rc = modules_open(&st->modules, cw_find(st->s, MODULES_HOST_NAME, MODULES_HOST_VERSION, NULL),
                          folder != NULL ? folder : "", tell_module, st->s);
    const char *wanted =
        rc == -EPERM ? "a folder of root or the daemon's user that nobody else may write" : "a folder that can be read";
    return rc < 0 ? refuse_setting(st->s, "modules", folder, wanted) : 0;
}

/* The word of a run, as this server takes it. */
static const char *word_here(const struct stream *st, enum modules_what what, const char *word,
                             char out[static MODULES_WORD_MOST + 1])
{
    if (!STREAM_MUTANT(ANY_DIGEST)) {
        return word;
    }
    char name[MODULES_WORD_MOST + 1];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "@"), word);
    return modules_agree(&st->modules, what, name, out) == 0 ? out : word;
}

int functions_combine(const struct stream *st, const char *word, struct combine *out)
{
    char here[MODULES_WORD_MOST + 1];
    return modules_combine(&st->modules, word_here(st, MODULES_COMBINER, word, here), out);
}

int functions_mapper(const struct stream *st, const char *word, struct mapper_kind_of *out)
{
    char here[MODULES_WORD_MOST + 1];
    return modules_mapper(&st->modules, word_here(st, MODULES_MAPPER, word, here), out);
}

/* A word of a module that is not here, or is another one. */
int functions_refuse(const struct stream *st, cw_request *r, enum modules_what what, const char *word, int rc)
{
    char names[80];
    modules_names(&st->modules, what, names, sizeof names);
    if (rc == -ELIBBAD) {
        return refuse_with(r, rc, "'%.50s': the module that is loaded here has another digest", word);
    }
    return refuse_with(r, rc, "'%.40s': there is no such module here (option modules of service aggregate)%s%s", word,
                       names[0] != '\0' ? "; there are " : "", names);
}
