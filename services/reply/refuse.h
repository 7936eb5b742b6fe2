/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refuse.h - how a built-in service tells an operator, in a sentence, that a command or an option makes no sense.
 *
 * The sentence about a command becomes the field "error" of the reply, which cwctl prints in place of the error's name.
 * A sentence is cut after REFUSE_TEXT - 1 bytes; nothing is kept. Each function returns the error, so that a handler can
 * end with `return refuse_...(...)`.
 */
#ifndef SERVICES_REPLY_REFUSE_H
#define SERVICES_REPLY_REFUSE_H

#include "base/words.h"
#include "cubeway/service.h"

enum { REFUSE_TEXT = 400 };

/* Refuses the command: returns -EINVAL, for on_command to return. */
__attribute__((format(printf, 2, 3))) int refuse_request(cw_request *r, const char *format, ...);

/* As refuse_request(), with another error than -EINVAL: returns rc, which is not looked at. */
__attribute__((format(printf, 3, 4))) int refuse_with(cw_request *r, int rc, const char *format, ...);

/*
 * Refuses `word`, the one at which words_options() stopped: the sentence says which values the option takes, or which
 * options there are. Returns -EINVAL.
 */
int refuse_option(cw_request *r, const char *word, const struct words_option *options, size_t n);

/*
 * Refuses a value of one of the service's own options (cw_option()), for open() to return: logs
 * `option NAME = "VALUE": expected EXPECTED` as an error, the value cut after 100 bytes. Returns -EINVAL.
 */
int refuse_setting(cw_svc *s, const char *name, const char *value, const char *expected);

#endif
