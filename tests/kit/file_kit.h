/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_kit.h - what the unit tests of files on the multicast share: a server that does nothing by itself, a disk in
 * memory, and a record of what was reported.
 */
#ifndef KIT_FILE_KIT_H
#define KIT_FILE_KIT_H

#include "fake_files.h"
#include "fake_host.h"
#include "services/multicast/file/part.h"

#include <string.h>

struct file_kit {
    cw_svc *s;
    struct fake_files disk;
    struct file_env env;
    unsigned resumes, ends;
    uint64_t ticket; /* of the last */
    int status;
};

static struct file_kit kit;

static const cw_service file_kit_service = {CW_SERVICE_INIT, .name = "kit", .version = "1", .job = 7, .state_size = 1};

static inline void file_kit_resume(void *context, uint64_t ticket)
{
    struct file_kit *k = context;
    k->resumes++;
    k->ticket = ticket;
}

static inline void file_kit_ended(void *context, uint64_t ticket, int status)
{
    struct file_kit *k = context;
    k->ends++;
    k->ticket = ticket;
    k->status = status;
}

static inline void file_kit_begin(void)
{
    memset(&kit, 0, sizeof kit);
    kit.s = fake_open(&file_kit_service, (cw_dims){3, 3, 3}, (cw_coord){0, 0, 0});
    fake_files_init(&kit.disk);
    kit.env = (struct file_env){.s = kit.s,
                                .host = &kit.disk.host,
                                .crew = {.s = kit.s},
                                .folder = "/files",
                                .context = &kit,
                                .resume = file_kit_resume,
                                .ended = file_kit_ended};
}

/* Closes all. Returns the number of handles that were never closed. */
static inline unsigned file_kit_end(void)
{
    unsigned handles = kit.disk.handles;
    fake_close(kit.s);
    fake_files_free(&kit.disk);
    return handles;
}

/* Bytes that differ from place to place. */
static inline void file_kit_fill(uint8_t *out, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        out[i] = (uint8_t)(i * 131 + (i >> 8) * 17 + (i >> 16));
    }
}

#endif
