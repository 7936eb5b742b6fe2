/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receive.h - the receive table (NMU 4.4): which template says where a message for (job, process, port) goes. Here a
 * template is a number; what templates are comes with attached processes.
 */
#ifndef NMU_RECEIVE_H
#define NMU_RECEIVE_H

#include "cubeway/types.h"

struct receive_entry {
    cw_job job; /* 0: empty */
    cw_process process;
    uint32_t template_id; /* never 0 */
    cw_port port;
};

struct receive {
    struct receive_entry *slot; /* open addressing, at most half full */
    uint32_t mask;
    uint32_t limit, used;
};

/* At most limit templates. -ENOMEM. */
CW_MUST_CHECK int receive_open(struct receive *r, uint32_t limit);
void receive_close(struct receive *r);
size_t receive_bytes(const struct receive *r);

/* From now on that template serves the port of the process; 0: none does. -ENOSPC. */
CW_MUST_CHECK int receive_set(struct receive *r, cw_job job, cw_process process, cw_port port, uint32_t template_id);
/* 0: no template. O(1). */
uint32_t receive_find(const struct receive *r, cw_job job, cw_process process, cw_port port);
/* Removes all templates of a process, which is gone. Linear in the table. */
void receive_end(struct receive *r, cw_job job, cw_process process);

#endif
