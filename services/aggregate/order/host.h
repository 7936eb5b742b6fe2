/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - what operators' reductions need of the program they run in: the vectors in a folder, as files.
 *
 * The program offers a struct vectors_host to cw_find(), under VECTORS_HOST_NAME and version VECTORS_HOST_VERSION.
 * Without one, no file is read or written there, and whoever asks for one is told so.
 *
 * Threads: all functions may wait for a disk and are called away from the server's thread (cw_offload()), several at
 * the same time, but one at a time for one struct vectors_file. abandon() may also be called on the server's thread.
 *
 * A result is written in pieces, because the server waits for a piece of work that is under way when a service is
 * unloaded or the daemon stops. Two that write under one name at the same time disturb neither each other nor the file:
 * one of the two results, whole, has the name afterwards.
 *
 * Names are relative to the folder and lead to nothing outside of it: neither by "..", nor by a symbolic link.
 */
#ifndef SERVICES_AGGREGATE_ORDER_HOST_H
#define SERVICES_AGGREGATE_ORDER_HOST_H

#include "cubeway/types.h"

#define VECTORS_HOST_NAME "vectors"
enum { VECTORS_HOST_VERSION = 2 };

/* A file that is being written. */
struct vectors_file;

struct vectors_host {
    size_t size; /* of this struct, as the host knows it */
    void *context;
    /* Several servers run in this program: each has a folder of its own, called x,y,z, below the one that is set. */
    bool several;
    /*
     * Reads a whole regular file of at most `most` bytes into memory of malloc(), which the caller frees; an empty file
     * gives memory, too. 0; -EFBIG: the file is longer; -EINVAL: it is no regular file; -EXDEV, -ELOOP: the name leads
     * out of the folder; -ENOMEM, or what opening and reading say.
     */
    int (*load)(void *context, const char *folder, const char *name, uint64_t most, uint8_t **bytes, uint64_t *length);
    /* The most bytes that write() is given in one call. */
    uint64_t piece;
    /*
     * Begins a file that end() puts under that name. Makes the folder when only its last part is missing. 0: *out is
     * given; or -errno.
     */
    int (*begin)(void *context, const char *folder, const char *name, struct vectors_file **out);
    /* Writes the next bytes, to the disk; 0, or -errno. */
    int (*write)(void *context, struct vectors_file *f, const uint8_t *bytes, uint64_t length);
    /*
     * Takes f, and puts what was written under the name, instead of a file that is there, and at one instant: whole and
     * on the disk, or not at all. 0, or -errno: nothing has changed.
     */
    int (*end)(void *context, struct vectors_file *f);
    /* Takes f: nothing has changed. */
    void (*abandon)(void *context, struct vectors_file *f);
};

#endif
