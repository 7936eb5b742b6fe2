/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - what the multicast needs of the program it runs in to send and receive files: an operator's open file, a folder, a digest.
 *
 * The program offers a struct files_host under FILES_HOST_NAME, version FILES_HOST_VERSION, to cw_find(). Without it files are neither sent nor taken
 * there, and whoever sends one is told so.
 *
 * Threads: claim is called on the server's thread and does not wait. Everything else may wait for a disk and is called away from it (cw_offload()), each
 * file by one caller at a time, different ones at the same time.
 *
 * Names are those of label.h: one word below the folder, never with a slash. A folder that is missing is made where its parent is there.
 */
#ifndef SERVICES_MULTICAST_FILE_HOST_H
#define SERVICES_MULTICAST_FILE_HOST_H

#include "cubeway/time.h"
#include "cubeway/types.h"

#define FILES_HOST_NAME "files"
enum { FILES_HOST_VERSION = 1, FILES_DIGEST_BYTES = 32 };

struct files_file;   /* an open file */
struct files_digest; /* SHA-256 under way */

struct files_facts {
    uint64_t bytes;
    uint32_t mode; /* 0777 at most */
    int64_t changed_ns;
};

/* How a part file becomes the file. */
struct files_end {
    const char *part, *name;
    uint32_t mode;
    bool replace; /* false: -EEXIST when a file of that name is there */
    uint8_t digest[FILES_DIGEST_BYTES];
};

enum files_have {
    FILES_NONE,
    FILES_OTHER, /* something */
    FILES_SAME, /* a file of that length, which this host once finished with that digest, untouched since, and which nobody else may write */
};

/* Functions give 0 or -errno where nothing else is said. Texts and bytes are borrowed for the call. */
struct files_host {
    size_t size; /* of this struct, as the host knows it */
    void *context;
    bool several; /* servers in this program: each has a folder of its own below the one that is set, called x,y,z */

    /* Gives the file that an operator's client has passed under that ticket, to be closed. -ENOENT: there is none any more. */
    int (*claim)(void *context, uint64_t ticket, struct files_file **out);
    int (*look)(void *context, struct files_file *f, struct files_facts *out);
    /* All of it: -ENODATA when the file ends before. */
    int (*read)(void *context, struct files_file *f, uint64_t offset, uint8_t *out, size_t length);

    /*
     * What stands under that name in the folder: enum files_have, as far as is known. -errno: the folder is of no use: -ENOENT, -EACCES, -EROFS, -EPERM (others
     * may change what is in it).
     */
    int (*have)(void *context, const char *folder, const char *name, uint64_t bytes, const uint8_t *digest);
    /*
     * Opens a part file, makes it when it is not there, and has room for all its bytes on the disk. 1: it is new, or was empty, and nothing that was noted of
     * it before is true; 0: it was there. -EBUSY: somebody writes it already; -ENOSPC.
     */
    int (*open)(void *context, const char *folder, const char *part, uint64_t bytes, struct files_file **out);
    /* All of it. What read() gives is what was written. */
    int (*write)(void *context, struct files_file *f, uint64_t offset, const uint8_t *bytes, size_t length);
    /* What was written is on the disk. */
    int (*sync)(void *context, struct files_file *f);
    /*
     * All at once: the file under its name, with mode, whole, on the disk. 1: all of that, but the folder could not be synced, so that after a loss of power
     * the part file may be there in its stead. After -errno the part file is as it was, and what stood under the name too.
     */
    int (*finish)(void *context, const char *folder, struct files_file *f, const struct files_end *end);
    void (*close)(void *context, struct files_file *f);

    /* Small files beside: what was stored is there whole, or what was there before. load gives the length; -EFBIG: longer than room. */
    int64_t (*load)(void *context, const char *folder, const char *name, uint8_t *out, size_t room);
    int (*store)(void *context, const char *folder, const char *name, const uint8_t *bytes, size_t length);
    /* -ENOENT too. */
    int (*drop)(void *context, const char *folder, const char *name);
    /* Drops part files and what is beside them (file_label_is_part()) that nobody has written for so long, and nobody has open. Gives how many. */
    int (*sweep)(void *context, const char *folder, cw_span age);

    /* NULL: no memory. */
    struct files_digest *(*digest_open)(void *context);
    int (*digest_add)(struct files_digest *d, const uint8_t *bytes, size_t length);
    int (*digest_end)(struct files_digest *d, uint8_t out[static FILES_DIGEST_BYTES]);
    void (*digest_close)(struct files_digest *d);
};

#endif
