/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules.h - the functions of modules that are loaded on this server, and the words by which runs name them.
 *
 *     module:NAME  module:NAME:K  module:NAME:K@DIGEST     K: the function's argument; DIGEST: SHA-256, 64 hex digits
 *
 * An operator need not give the digest: modules_agree() adds that of the file which is loaded where the run is ordered,
 * and from there on the word has it. A server that has no such module, or one of another digest, refuses the word: so
 * all servers of a run use the same function, or nobody does (aggregate rule 32).
 */
#ifndef SERVICES_AGGREGATE_SORTED_MODULES_H
#define SERVICES_AGGREGATE_SORTED_MODULES_H

#include "services/aggregate/sorted/combine.h"
#include "services/aggregate/sorted/host.h"
#include "services/aggregate/sorted/mapper.h"

enum {
    MODULES_MOST = 64,
    MODULES_WORD_MOST = 128, /* bytes of a word, with its digest */
    MODULES_WHY = 200,
};

struct module {
    uint8_t digest[MODULES_DIGEST];
    const cw_combiner *combiner; /* NULL: it has none */
    const cw_mapper *mapper;
};

/* Zeroed: there are none. */
struct modules {
    const struct modules_host *host;
    struct module_files *files; /* NULL: no folder is set */
    unsigned count;
    struct module module[MODULES_MOST];
    void (*tell)(void *arg, const char *line);
    void *tell_arg;
};

/*
 * Loads the modules of the folder ("": none is set). host: NULL: this program has none. tell() hears a sentence about
 * each file, good or not. -EPERM, or -errno: the folder cannot be read.
 */
CW_MUST_CHECK int modules_open(struct modules *m, const struct modules_host *host, const char *folder,
                               void (*tell)(void *arg, const char *line), void *arg);
void modules_close(struct modules *m);

/*
 * The word with its digest, in out (of MODULES_WORD_MOST + 1 bytes); a word that names no module stays as it is. what:
 * a combination, or a mapper. -ELIBACC: there is no such module here; -ELIBBAD: the word has another digest; -EINVAL:
 * it makes no sense.
 */
enum modules_what { MODULES_COMBINER, MODULES_MAPPER };
CW_MUST_CHECK int modules_agree(const struct modules *m, enum modules_what what, const char *word,
                                char out[static MODULES_WORD_MOST + 1]);
/* As combine_read() and mapper_read(), and for words that modules_agree() has given. -ELIBACC, -ELIBBAD: as there. */
CW_MUST_CHECK int modules_combine(const struct modules *m, const char *word, struct combine *out);
CW_MUST_CHECK int modules_mapper(const struct modules *m, const char *word, struct mapper_kind_of *out);
/* "module:a, module:b": the words of what is loaded, as many as fit; "": nothing is. */
void modules_names(const struct modules *m, enum modules_what what, char *out, size_t room);

#endif
