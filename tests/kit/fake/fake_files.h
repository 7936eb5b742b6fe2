/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_files.h - one server's disk in memory (services/multicast/file/host.h), with faults that a test asks for.
 *
 * A file stays until it is dropped, even when the service that wrote it is gone. A digest is one hash of 64 bits, four
 * times over: good enough to find mistakes.
 */
#ifndef KIT_FAKE_FILES_H
#define KIT_FAKE_FILES_H

#include "services/multicast/file/host.h"

enum { FAKE_BLOBS = 32, FAKE_FAULTS = 8 };

struct fake_blob {
    char name[256]; /* "": free */
    uint8_t *bytes;
    size_t length;
    uint32_t mode;
    bool open;
    bool finished; /* with that digest */
    uint8_t digest[FILES_DIGEST_BYTES];
};

struct fake_fault {
    const char *op; /* "write", "open", ...; NULL: none */
    unsigned after; /* calls that succeed before */
    int error;
    bool for_ever;
};

struct fake_files {
    struct files_host host;
    struct fake_blob blob[FAKE_BLOBS];
    struct fake_fault fault[FAKE_FAULTS];
    struct files_file *passed;
    uint64_t ticket, tickets;
    uint64_t room;                                  /* bytes of all blobs together */
    unsigned writes, syncs, stores, reads, handles; /* handles: that are open */
};

void fake_files_init(struct fake_files *ff);
void fake_files_free(struct fake_files *ff);
/* Passes a file to the service; borrows bytes while it is open. Returns the ticket, which is good for one claim. */
uint64_t fake_files_pass(struct fake_files *ff, const uint8_t *bytes, size_t length, uint32_t mode);
/* NULL: none. */
struct fake_blob *fake_files_find(struct fake_files *ff, const char *name);
/* Makes a file. */
void fake_files_put(struct fake_files *ff, const char *name, const void *bytes, size_t length);
/* Lets a call of op fail with error, after `after` calls that succeed: once, or always from then on. Borrows op. */
void fake_files_fail(struct fake_files *ff, const char *op, unsigned after, int error, bool for_ever);
/* The digest that this host computes. */
void fake_files_digest(const uint8_t *bytes, size_t length, uint8_t out[static FILES_DIGEST_BYTES]);

#endif
