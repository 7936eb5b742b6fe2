/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - what this server itself says to a question: the summary of one of its sources, or their names. Reads, and
 * changes nothing.
 */
#ifndef SERVICES_AGGREGATE_QUERY_SOURCE_H
#define SERVICES_AGGREGATE_QUERY_SOURCE_H

#include "services/aggregate/query/host.h"
#include "services/aggregate/query/part.h"
#include "services/aggregate/query/tallies.h"

/* Everything is borrowed. */
struct sources {
    const struct figures_host *host; /* NULL: there are feeds only */
    const struct tallies *feeds;
    cw_coord self;
    cw_server at; /* this server */
    union part_summary *room;
};

/*
 * Writes the summary of that kind of the source `name`. Gives its length; -ENOENT: there is no such source here;
 * -EOPNOTSUPP: there is one, and that kind of summary cannot be made of it; -EMSGSIZE.
 *
 * A counter is one number of this server, and the top of a counter the servers where it is largest. Of times the least
 * and the greatest are those of their histogram.
 */
CW_MUST_CHECK int64_t source_summary(const struct sources *s, enum summary_kind kind, const char *name, size_t length,
                                     uint8_t *out, size_t room);
/* The names of all sources (summary_names.h). Gives the length; -EMSGSIZE; -ENOMEM. */
CW_MUST_CHECK int64_t source_names(const struct sources *s, uint8_t *out, size_t room);

#endif
