/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipients.h - to whom a command sends: what stands behind `to` is "all", servers (x,y,z), or the name of one
 * operators' group. The members of a group are not known here: the group's root is asked.
 */
#ifndef SERVICES_MULTICAST_RECIPIENTS_H
#define SERVICES_MULTICAST_RECIPIENTS_H

#include "services/multicast/group/membership.h"

struct recipients {
    cw_svc *s;
    const struct torus *torus;
    struct membership *membership;
};

/*
 * Reads the words. 0: they name servers, whose bits are set in *set (bit i % 8 of byte i / 8; cast_set_bytes(), zeroed
 * by the caller). 1: they name a group, and done(arg, ...) is called once, from a later upcall, unless
 * recipients_cancel() comes before. -EINVAL: they are wrong, and the reply's "error" says why; -EAGAIN, -ENOMEM: as
 * membership_ask().
 */
CW_MUST_CHECK int recipients_read(const struct recipients *q, cw_request *r, int argc, const char *const *argv,
                                  uint8_t *set, membership_answer_fn done, void *arg);
/* The question with that arg is not answered any more. */
void recipients_cancel(const struct recipients *q, const void *arg);

#endif
