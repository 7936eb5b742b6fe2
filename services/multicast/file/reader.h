/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - an operator's file as the source of a message (cast/store.h): its digest first, then its bytes, read ahead
 * away from the server's thread.
 *
 * Memory: FILE_READER_CHUNKS chunks of FILE_READER_CHUNK bytes. The chunk that was used least lately makes room, so
 * that pieces that are sent again are mostly still there. A piece that is not there gives -EAGAIN, and resume()
 * follows.
 */
#ifndef SERVICES_MULTICAST_FILE_READER_H
#define SERVICES_MULTICAST_FILE_READER_H

#include "services/multicast/file/part.h"

enum { FILE_READER_CHUNK = 512 << 10, FILE_READER_CHUNKS = 24, FILE_READER_AHEAD = 4 };

struct file_reader;

/*
 * Takes file and borrows env. ready(context, status) is called once, from a later upcall, with 0: facts and digest are
 * known; or with -errno (-EOPNOTSUPP: the file has content, though its length is said to be 0). -ENOMEM:
 * file is still the caller's.
 */
CW_MUST_CHECK int file_reader_open(struct file_reader **out, struct file_env *env, struct files_file *file,
                                   void (*ready)(void *context, int status), void *context);
/* Good after ready(0); `bytes` before that too, 0 until it is known. */
const struct files_facts *file_reader_facts(const struct file_reader *r);
const uint8_t *file_reader_digest(const struct file_reader *r);
/* Bytes that were digested so far. */
uint64_t file_reader_hashed(const struct file_reader *r);
/* Bytes that read() gave, repetitions included. */
uint64_t file_reader_given(const struct file_reader *r);
/*
 * The source of a message, after ready(0). Its close() does nothing: the owner closes the reader. file_reader_ticket()
 * sets the ticket for resume().
 */
struct cast_source file_reader_source(struct file_reader *r);
void file_reader_ticket(struct file_reader *r, uint64_t ticket);
/* Closes it as soon as its work is done. ready() and resume() are not called any more. */
void file_reader_close(struct file_reader *r);
/* It was closed, and so is its file: it may be freed. */
bool file_reader_is_over(const struct file_reader *r);
/* Frees it, when it is over or, at the service's close, none of its work runs. NULL is allowed. */
void file_reader_free(struct file_reader *r);

#endif
