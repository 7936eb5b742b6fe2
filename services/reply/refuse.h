/* SPDX-License-Identifier: Apache-2.0 */
/* refuse.h - how a built-in service says, in a sentence, that what an operator asked makes no sense. */
#ifndef SERVICES_REPLY_REFUSE_H
#define SERVICES_REPLY_REFUSE_H

#include "cubeway/service.h"

/*
 * The sentence becomes the field "error" (255 bytes at most), which cwctl prints in the place of the error's name. Gives -EINVAL, for on_command to
 * return. Nothing is kept.
 */
__attribute__((format(printf, 2, 3))) int refuse_request(cw_request *r, const char *format, ...);

#endif
