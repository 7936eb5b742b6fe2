/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - what key-value streams need of the program they run in: files of a folder as input, room for what does not
 * fit into memory, and modules (cubeway/combine.h).
 *
 * The program offers a struct spool_host to cw_find(), under SPOOL_HOST_NAME and version SPOOL_HOST_VERSION. Without
 * one, or without a folder set, nothing is written, and who has more than fits into memory is told so.
 *
 * Threads: all functions may wait for a disk and are called away from the server's thread (cw_offload()), several at
 * the same time; of one file, read() several at the same time, everything else one at a time. close() may also be
 * called on the server's thread.
 */
#ifndef SERVICES_AGGREGATE_SORTED_HOST_H
#define SERVICES_AGGREGATE_SORTED_HOST_H

#include "cubeway/combine.h"

#define SPOOL_HOST_NAME "spool"
enum { SPOOL_HOST_VERSION = 1 };

/* A file that is open. */
struct spool_file;

struct spool_host {
    size_t size; /* of this struct, as the host knows it */
    void *context;
    /* Several servers run in this program: each has a folder of its own, called x,y,z, below the one that is set. */
    bool several;
    /*
     * Makes an empty file in the folder that has no name, so that nothing is left of it when the program ends, however
     * it ends. Makes the folder when only its last part is missing. 0: *out is given; -EPERM: others could put
     * something else in a file's place there; or -errno.
     */
    int (*make)(void *context, const char *folder, struct spool_file **out);
    /* Writes behind what was written. 0; -ENOSPC: the disk is full; or -errno: the file is good for close() only. */
    int (*write)(void *context, struct spool_file *f, const uint8_t *bytes, uint64_t length);
    /*
     * Opens a regular file, below the folder and nothing outside of it, as an input. 0: *out is given and *length set;
     * -EINVAL: it is no regular file; -EXDEV, -ELOOP: the name leads out of the folder; or what opening says.
     */
    int (*input)(void *context, const char *folder, const char *name, struct spool_file **out, uint64_t *length);
    /* Reads exactly length bytes from `offset` on. 0; -ENODATA: the file ends before; or -errno. */
    int (*read)(void *context, struct spool_file *f, uint64_t offset, uint8_t *out, uint64_t length);
    /* Takes f. What was made is gone. */
    void (*close)(void *context, struct spool_file *f);
};

#define MODULES_HOST_NAME "modules"
enum { MODULES_HOST_VERSION = 1, MODULES_DIGEST = 32 };

/* A file of the folder of modules. */
struct module_file {
    const char *file;            /* its name in the folder */
    const char *why;             /* why it is none that can be loaded; NULL: it is loaded */
    const uint8_t *digest;       /* of its bytes, by SHA-256 */
    const cw_combiner *combiner; /* NULL: it has none; not looked at so far */
    const cw_mapper *mapper;     /* likewise */
};

/* What is loaded of a folder. */
struct module_files;

/* Only called on the server's thread, when the service opens and closes: it may wait for a disk. */
struct modules_host {
    size_t size; /* of this struct, as the host knows it */
    void *context;
    /*
     * Loads each file NAME.so of the folder, in the order of their names, and calls found() for it, with what is
     * borrowed for the call, but the tables: those are there until unload(). When found() gives false, the file is
     * unloaded again. 0: *out is given; -EPERM: the folder is another user's, or others may write it; or -errno.
     */
    int (*load)(void *context, const char *folder, bool (*found)(void *arg, const struct module_file *f), void *arg,
                struct module_files **out);
    /* Takes it; no function of its modules is called any more. */
    void (*unload)(void *context, struct module_files *files);
};

#endif
