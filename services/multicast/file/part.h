/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.h - one file on its way to this server's disk: the sink of its message (cast/store.h).
 *
 *  1. Under its name a file is whole or not there: it is made as a part file, its digest compared, and then renamed.
 *  2. What was on the disk at the last checkpoint need not be sent again, whatever became of the daemon or its machine;
 *     one is made after every FILE_PART_CHECKPOINT bytes or 2 s, and at the end of a transfer that broke off.
 *  3. Memory: two buffers of FILE_PART_BUFFER bytes, and a bit for each piece. When both are full write() says -EAGAIN.
 *  4. The server's thread waits for no disk.
 *
 * A part that cannot become the file is dropped (wrong digest, no room, a name that is taken, a source that was told to
 * stop); others stay for the next time.
 */
#ifndef SERVICES_MULTICAST_FILE_PART_H
#define SERVICES_MULTICAST_FILE_PART_H

#include "services/multicast/file/crew.h"
#include "services/multicast/file/label.h"

enum { FILE_PART_BUFFER = 2 << 20, FILE_PART_CHECKPOINT = 16 << 20, FILE_FOLDER = 512 };

/* What all files of a server share. */
struct file_env {
    cw_svc *s;
    const struct files_host *host;
    struct file_crew crew;
    char folder[FILE_FOLDER]; /* "": files are refused */
    void *context;
    void (*resume)(void *context, uint64_t ticket);            /* cast_engine_resume() */
    void (*ended)(void *context, uint64_t ticket, int status); /* cast_engine_ended() */
};

/* How long the disk and the digest take for so many bytes, in the simulator. */
cw_span file_env_takes(const struct file_env *env, uint64_t bytes);

enum file_part_state { FILE_PART_OPENING, FILE_PART_TAKING, FILE_PART_FINISHING, FILE_PART_OVER };

struct file_part_view {
    enum file_part_state state;
    bool taken;             /* somebody has its sink, or had it */
    int status;             /* -errno: why it fails, or has failed */
    uint64_t bytes;         /* of the file */
    uint64_t there, before; /* bytes on the disk now, and when it began; by whole pieces */
    uint64_t checked;       /* bytes that were read back and digested */
};

struct file_part;

/* Begins to open a part; resume(ticket) follows. Borrows env for as long as the part lives. -ENOMEM. */
CW_MUST_CHECK int file_part_open(struct file_part **out, struct file_env *env, const struct cast_offer *offer,
                                 const struct file_label *label);
const struct file_label *file_part_label(const struct file_part *p);
/* 0: its sink may be taken; -EAGAIN: it is being opened; any other -errno: why it cannot be had. */
int file_part_ready(const struct file_part *p);
/* Gives its sink, which is good until its end() was called. */
struct cast_sink file_part_sink(struct file_part *p);
/* Ends a part of which nobody has taken the sink, also one that is still being opened. status: 0, or -errno: why. */
void file_part_abandon(struct file_part *p, int status);
/* It has ended, and no work of it runs: it may be closed. */
bool file_part_is_over(const struct file_part *p);
struct file_part_view file_part_look(const struct file_part *p);
/*
 * A walker for CHECK_SLOW. True; stops the program, with the file's name, when batches, map and digest do not agree
 * ("files F2").
 */
bool file_part_audit(const struct file_part *p);
/* To be called when no work of it runs. What it has so far is recorded in its map, so that the file can go on later. */
void file_part_close(struct file_part *p);

#endif
