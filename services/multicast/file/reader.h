/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - an operator's file as the source of a message (cast/store.h): its digest first, then its bytes, read ahead away from the server's thread.
 *
 * Memory: FILE_READER_CHUNKS chunks of FILE_READER_CHUNK bytes. What was read least lately goes, so that what is sent again is mostly still there; what is not
 * there gives -EAGAIN, and resume() follows.
 */
#ifndef SERVICES_MULTICAST_FILE_READER_H
#define SERVICES_MULTICAST_FILE_READER_H

#include "services/multicast/file/part.h"

enum { FILE_READER_CHUNK = 512 << 10, FILE_READER_CHUNKS = 24, FILE_READER_AHEAD = 4 };

struct file_reader;

/* Takes file. Borrows env. ready(context, status) is called once, from a later upcall: facts and digest are known, or -errno. -ENOMEM: file is the caller's still. */
CW_MUST_CHECK int file_reader_open(struct file_reader **out, struct file_env *env, struct files_file *file,
                                   void (*ready)(void *context, int status), void *context);
/* After ready(0); bytes before that too, as soon as they are known. */
const struct files_facts *file_reader_facts(const struct file_reader *r);
const uint8_t *file_reader_digest(const struct file_reader *r);
/* Bytes digested by now. */
uint64_t file_reader_hashed(const struct file_reader *r);
/* Bytes that were given to read(), again and again ones too. */
uint64_t file_reader_given(const struct file_reader *r);
/* After ready(0): its close() does nothing, the reader is closed by its owner. resume(ticket) goes by file_reader_ticket(). */
struct cast_source file_reader_source(struct file_reader *r);
void file_reader_ticket(struct file_reader *r, uint64_t ticket);
/* Ends it, when its work is done: ready() and resume() are not called any more. */
void file_reader_close(struct file_reader *r);
/* It was closed, and its file is: it may be freed. */
bool file_reader_is_over(const struct file_reader *r);
/* Also at the service's close, when none of its work runs. NULL is allowed. */
void file_reader_free(struct file_reader *r);

#endif
