/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drop.h - lots that go: each chunk, from the last one to the first, and then the lot's own register, which says for
 * whom it was. So a lot whose going is broken off has all chunks up to some one, and its register: whoever sweeps finds
 * it. Only who knows that no manifest names the lot, and none ever will, may drop it.
 */
#ifndef SERVICES_S3_OBJECT_DROP_H
#define SERVICES_S3_OBJECT_DROP_H

#include "services/s3/object/desk.h"

/* Will drop the lot after so many seconds; when too many wait, or there is no memory, it is left to the sweeper. */
void s3_drop(struct s3_desk *d, cw_job job, const struct s3_lot *lot, int64_t after_s);
/* All lots of one manifest that the other one has not; NULL: all. */
void s3_drop_replaced(struct s3_desk *d, cw_job job, const struct s3_manifest *old, const struct s3_manifest *kept);

/* Does the manifest name the lot? */
bool s3_drop_names(const struct s3_manifest *m, const uint8_t lot[static S3_LOT_ID]);

/* For the desk: begins with what is due; and lets go of what waits. */
void s3_drop_due(struct s3_desk *d);
void s3_drop_forget(struct s3_desk *d);

/* What the register of a lot says. */
struct s3_lot_note {
    int64_t made_s;
    uint32_t chunk;
    /* The register that is to name the lot: that of an object, or of a part; and the object in the end. */
    struct s3_place owner, object;
};
void s3_lot_note_write(const struct s3_lot_note *n, struct s3_buffer *out);
CW_MUST_CHECK bool s3_lot_note_read(const uint8_t *bytes, size_t length, struct s3_lot_note *out);

#endif
