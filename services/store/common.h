/* SPDX-License-Identifier: Apache-2.0 */
/* common.h - what all files of the store use: counts, and statuses in words. */
#ifndef SERVICES_STORE_COMMON_H
#define SERVICES_STORE_COMMON_H

#include "services/reply/metrics.h"
#include "services/store/internal.h"

extern const struct metric store_count_names[STORE_COUNTS];
extern const struct metric store_time_names[STORE_TIMES];

void store_note(struct store *s, enum store_count what);
/* A line of the log. */
__attribute__((format(printf, 3, 4))) void store_say(const struct store *s, cw_level level, const char *format, ...);
/* Static: "done", "not found" .. */
const char *store_status_text(cw_store_status status);
/* How many bytes of names the answer to a list carries here. */
size_t store_page_room(const struct store *s);
/* Is a write refused that needs more memory? */
bool store_is_full(const struct store *s);
/* After registers of a shard have changed: `before` is what its table had. */
void store_count_registers(struct store *s, const struct store_shard *shard, size_t bytes, size_t registers);

#endif
