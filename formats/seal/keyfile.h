/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyfile.h - an operator's keys on disk: FILE is the private half in PEM, which only its owner may read; FILE.pub is
 * the public half.
 */
#ifndef SEAL_KEYFILE_H
#define SEAL_KEYFILE_H

#include "seal/seal.h"

/*
 * Draws a pair of keys, writes both files and syncs them. Neither may be there yet (-EEXIST); after an error none is
 * left. Other errors: -errno. why says in one sentence what is wrong and what to do.
 */
CW_MUST_CHECK int keyfile_make(const char *path, uint8_t raw[static SEAL_PUBLIC_BYTES], char why[static SEAL_WHY]);

/*
 * Reads the private half. -EPERM: it is no plain file, its owner is neither root nor this process's user, or others may
 * read it; -EBADMSG: it is no key; other -errno. All with why.
 */
CW_MUST_CHECK int keyfile_open(struct seal_key **out, const char *path, char why[static SEAL_WHY]);

/*
 * Reads a public half as configurations name it: 64 hex digits, or a file with hex digits or PEM. Only root and this
 * process's user may be able to write that file (-EPERM), because whoever can write it is the operator. Other errors as
 * above.
 */
CW_MUST_CHECK int keyfile_public(const char *text, uint8_t raw[static SEAL_PUBLIC_BYTES], char why[static SEAL_WHY]);

#endif
