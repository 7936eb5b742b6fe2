/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mark.h - where the thread of a node is: in which upcall of which service, or in none.
 *
 * The node writes the mark at the beginning and the end of every upcall; whoever owns the mark reads it when something
 * has gone wrong: the handler of a crash, and the watcher of a daemon that has stopped moving. All nodes of one thread
 * may share one mark. The mark costs a few stores an upcall, and nothing that a node does depends on it.
 */
#ifndef BASE_MARK_H
#define BASE_MARK_H

#include "cubeway/time.h"
#include "cubeway/types.h"

struct upcall_mark {
    const char *service; /* borrowed while the upcall runs; NULL: the thread is in no upcall */
    const char *upcall;  /* "on_packet" ..; static */
    cw_coord server;
    cw_time now;    /* the node's time in the upcall: that of the entry under way */
    uint64_t moves; /* grows whenever an upcall begins or ends */
};

#endif
