#include "services/multicast/cast_engine.h"
#include <errno.h>
void cast_engine_kind(struct cast_engine *e, enum cast_content kind, cast_accept_fn accept, void *context) { (void)e,(void)kind,(void)accept,(void)context; }
int cast_engine_send(struct cast_engine *e, const struct cast_order *order, uint64_t *ticket) { (void)e,(void)order,(void)ticket; return -EBUSY; }
int cast_engine_cancel(struct cast_engine *e, uint64_t ticket, int status) { (void)e,(void)ticket,(void)status; return -ENOENT; }
