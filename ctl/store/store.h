/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - the commands of the key-value store, each as struct command's run wants it. */
#ifndef CTL_STORE_STORE_H
#define CTL_STORE_STORE_H

#include "ctl/ask/call.h"

int run_store_create(struct call *call);
int run_store_get(struct call *call);
int run_store_watch(struct call *call);
int run_store_list(struct call *call);
int run_store_head(struct call *call);
int run_store_put(struct call *call);
int run_store_cas(struct call *call);
int run_store_insert(struct call *call);
int run_store_delete(struct call *call);
int run_store_txn(struct call *call);
int run_store_export(struct call *call);
int run_store_import(struct call *call);
int run_store_status(struct call *call);
int run_store_scrub(struct call *call);
int run_store_explain(struct call *call);

#endif
