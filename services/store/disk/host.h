/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - what a store on disks needs of the program it runs in: a disk of its own for each server.
 *
 * The program offers a struct disks_host to cw_find(), under DISKS_HOST_NAME and version DISKS_HOST_VERSION. Without
 * one, or without a folder set, a server takes part in no store on disks.
 *
 * All is called, and all waiters of a disk are told, by the server's thread; waiters are told inside an upcall of the
 * service that opened the disk, so that they may send.
 */
#ifndef SERVICES_STORE_DISK_HOST_H
#define SERVICES_STORE_DISK_HOST_H

#include "cubeway/types.h"
#include "storage/disk.h"

#define DISKS_HOST_NAME "disks"
enum { DISKS_HOST_VERSION = 1, DISKS_WHY = 320 };

struct disks_host {
    size_t size; /* of this struct, as the host knows it */
    void *context;
    /*
     * Opens the folder as the disk of that server's service `service`, whose exports have that version. The folder's
     * last part is made when it is missing; where several servers run in this program, each has a folder of its own
     * below, called x,y,z. 0, and *out is borrowed until close(). -EPERM: others could put something else in a file's
     * place there; -EBUSY: another program uses it; or -errno. Then why[] is one sentence with the path.
     */
    int (*open)(void *context, cw_coord self, const char *service, unsigned version, const char *folder,
                struct disk **out, char why[static DISKS_WHY]);
    /* Waits for what the disk is doing at this moment. Nobody is told any more. */
    void (*close)(void *context, struct disk *disk);
};

#endif
