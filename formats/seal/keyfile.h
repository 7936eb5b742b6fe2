/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyfile.h - an operator's keys on disk: FILE, the private half in PEM that its owner alone may read, and FILE.pub, the public one.
 */
#ifndef SEAL_KEYFILE_H
#define SEAL_KEYFILE_H

#include "seal/seal.h"

/*
 * Draws a pair and writes both files, synced; neither may be there yet (-EEXIST), and after an error none is left. Other errors: -errno.
 * why says in a sentence what and what to do.
 */
CW_MUST_CHECK int keyfile_make(const char *path, uint8_t raw[static SEAL_PUBLIC_BYTES], char why[static SEAL_WHY]);

/*
 * Reads the private half. -EPERM: it is not a plain file, it is somebody else's (only root's or our own will do), or others may read it;
 * -EBADMSG: it is no key; other -errno. With why.
 */
CW_MUST_CHECK int keyfile_open(struct seal_key **out, const char *path, char why[static SEAL_WHY]);

/*
 * A public half as configurations name it: 64 hex digits, or a file with them or with PEM, which nobody but root and us may write (-EPERM):
 * whoever writes there is the operator. Else as above.
 */
CW_MUST_CHECK int keyfile_public(const char *text, uint8_t raw[static SEAL_PUBLIC_BYTES], char why[static SEAL_WHY]);

#endif
