/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - what the multicast needs of the program it runs in to send and receive files: an operator's open file, a
 * folder, a digest.
 *
 * The program offers a struct files_host to cw_find(), under FILES_HOST_NAME and version FILES_HOST_VERSION. Without
 * one, files are neither sent nor taken there, and whoever sends a file is told so.
 *
 * Threads: claim() is called on the server's thread and must not wait. All other functions may wait for a disk and are
 * called away from that thread (cw_offload()): each file by one caller at a time, different files at the same time.
 *
 * Names are those of label.h: one word below the folder, without a slash. A folder that is missing is made when its
 * parent is there.
 */
#ifndef SERVICES_MULTICAST_FILE_HOST_H
#define SERVICES_MULTICAST_FILE_HOST_H

#include "cubeway/time.h"
#include "cubeway/types.h"

#define FILES_HOST_NAME "files"
enum { FILES_HOST_VERSION = 1, FILES_DIGEST_BYTES = 32 };

struct files_file;   /* an open file */
struct files_digest; /* a SHA-256 being computed */

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
    FILES_OTHER, /* something else */
    /* A file of that length, which this host finished with that digest, untouched since; nobody else may write it. */
    FILES_SAME,
};

/* Where nothing else is said a function gives 0 or -errno. Texts and bytes are borrowed for the call. */
struct files_host {
    size_t size; /* of this struct, as the host knows it */
    void *context;
    /* Several servers run in this program: each has a folder of its own, called x,y,z, below the one that is set. */
    bool several;

    /*
     * Gives the file that an operator's client has passed under that ticket; the caller closes it. -ENOENT: it is gone.
     */
    int (*claim)(void *context, uint64_t ticket, struct files_file **out);
    int (*look)(void *context, struct files_file *f, struct files_facts *out);
    /* Reads all `length` bytes. -ENODATA: the file ends before. */
    int (*read)(void *context, struct files_file *f, uint64_t offset, uint8_t *out, size_t length);

    /*
     * What stands under that name in the folder, as far as is known: an enum files_have. -errno: the folder is of no
     * use: -ENOENT, -EACCES, -EROFS, -EPERM (others may change what is in it).
     */
    int (*have)(void *context, const char *folder, const char *name, uint64_t bytes, const uint8_t *digest);
    /*
     * Opens a part file, which is made when it is not there, and reserves room for all its bytes on the disk. 1: it is
     * new, or was empty, so that a map of it that may be there is wrong; 0: it was there. -EBUSY: it is being written
     * already; -ENOSPC.
     */
    int (*open)(void *context, const char *folder, const char *part, uint64_t bytes, struct files_file **out);
    /* Writes all `length` bytes; read() gives them from then on. */
    int (*write)(void *context, struct files_file *f, uint64_t offset, const uint8_t *bytes, size_t length);
    /* When this returns 0, everything that was written is on the disk. */
    int (*sync)(void *context, struct files_file *f);
    /*
     * Puts the part under its name, at one instant: whole, with its mode, on the disk. 1: all of that, but the folder
     * could not be synced: after a loss of power the part may be there instead. -errno: the part, and what stood under
     * the name, are as they were.
     */
    int (*finish)(void *context, const char *folder, struct files_file *f, const struct files_end *end);
    void (*close)(void *context, struct files_file *f);

    /*
     * Small files beside the parts. After store() the new bytes are there, whole, or the old ones. load() gives the
     * length; -EFBIG: the file is longer than room.
     */
    int64_t (*load)(void *context, const char *folder, const char *name, uint8_t *out, size_t room);
    int (*store)(void *context, const char *folder, const char *name, const uint8_t *bytes, size_t length);
    /* Removes a file. -ENOENT: it is not there. */
    int (*drop)(void *context, const char *folder, const char *name);
    /*
     * Removes parts and maps (file_label_is_part()) that were not written for `age` and that nobody has open. Gives how
     * many.
     */
    int (*sweep)(void *context, const char *folder, cw_span age);

    /* NULL: no memory. */
    struct files_digest *(*digest_open)(void *context);
    int (*digest_add)(struct files_digest *d, const uint8_t *bytes, size_t length);
    int (*digest_end)(struct files_digest *d, uint8_t out[static FILES_DIGEST_BYTES]);
    void (*digest_close)(struct files_digest *d);

    /* In the simulator: how long disk and digest together take for 1,000 bytes. 0: 500 ns, 2 GB/s. */
    uint32_t ns_per_kb;
};

#endif
