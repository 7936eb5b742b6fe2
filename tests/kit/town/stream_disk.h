/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_disk.h - the folders of a server in memory: inputs, spool, results and modules of the sorted engine, for unit
 * tests and worlds.
 */
#ifndef KIT_STREAM_DISK_H
#define KIT_STREAM_DISK_H

#include "services/aggregate/order/host.h"
#include "services/aggregate/sorted/host.h"

enum { STREAM_DISK_FILES = 160, STREAM_DISK_NAME = 32 };

struct stream_blob {
    char name[STREAM_DISK_NAME]; /* "": none */
    uint8_t *bytes;
    size_t length;
};

struct stream_disk {
    struct vectors_host results;
    struct spool_host spool;
    /* One module: "module:total" adds whole numbers, "module:pairs" maps lines KEY TAB VALUE. */
    struct modules_host modules;
    bool other_module; /* what is there under these names is another file, whose total is wrong */
    bool no_module;
    struct stream_blob input[STREAM_DISK_FILES], output[STREAM_DISK_FILES];
    unsigned handles; /* files that are open now */
    uint64_t spooled; /* bytes that were ever written to the spool */
    int spool_error;  /* of the spool's next write, when it is < 0 */
    int result_error; /* of a result's next write */
};

/* Empty folders. No thread but the caller's. */
void stream_disk_open(struct stream_disk *d);
/* Frees the files; handles says how many are open still. */
void stream_disk_close(struct stream_disk *d);
/* Puts an input there; copies the bytes. */
void stream_disk_put(struct stream_disk *d, const char *name, const void *bytes, size_t length);
/* A result; NULL: there is none. */
const struct stream_blob *stream_disk_result(const struct stream_disk *d, const char *name);

#endif
