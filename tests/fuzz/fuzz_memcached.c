/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client may say: the first byte draws how it is cut into pieces, and whether the cache answers at once or
 * later. Every piece is answered by words of memcached, in bounds; in pieces and in one the answers are the same.
 */
#define _GNU_SOURCE /* memmem() */
#include "mc_talk.h"
#include "services/kvcache/memcached/binary.h"

#include <stdio.h>

static void must(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static void append(struct mc_buffer *heard, struct talk *t)
{
    const struct mc_buffer *out = mc_session_answers(t->session);
    size_t length = mc_buffer_length(out);
    must(mc_buffer_add(heard, length > 0 ? mc_buffer_bytes(out) : NULL, length), "no memory");
    mc_session_taken(t->session, length);
}

static void converse(const uint8_t *bytes, size_t size, size_t piece, bool deferred, struct mc_buffer *heard)
{
    struct talk t;
    talk_open(&t);
    t.config.output = 16 * 1024;
    t.cache.deferred = deferred;
    for (size_t i = 0; i < size && !mc_session_over(t.session);) {
        size_t length = size - i < piece ? size - i : piece;
        if (mc_session_wants(t.session)) {
            mc_session_feed(t.session, bytes + i, length);
            i += length;
        }
        must(t.cache.waits <= MC_WINDOW, "too much is under way");
        standin_answer_all(&t.cache);
        append(heard, &t);
        if (!mc_session_wants(t.session)) {
            mc_session_resume(t.session);
        }
    }
    for (unsigned i = 0;
         i < 100000 && (t.cache.waits > 0 || !mc_session_wants(t.session)) && !mc_session_over(t.session); i++) {
        standin_answer_all(&t.cache);
        append(heard, &t);
        mc_session_resume(t.session);
    }
    standin_answer_all(&t.cache);
    append(heard, &t);
    must(t.hub.answers == 0, "answers were lost or made up");
    talk_close(&t);
}

/*
 * The binary protocol is refused at its first byte (binary.h). Here its answer repeats the question's opcode and
 * opaque, which are 0 where they have not come.
 */
static bool repeats(size_t at)
{
    return at == 1 || (at >= 12 && at < 16);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || memmem(data, size, "stats", 5) != NULL) { /* its numbers differ */
        return 0;
    }
    struct mc_buffer whole = {0}, pieces = {0};
    converse(data + 1, size - 1, size, false, &whole);
    converse(data + 1, size - 1, 1 + (data[0] & 0x3f), data[0] >> 7, &pieces);
    size_t length = mc_buffer_length(&whole);
    must(length == mc_buffer_length(&pieces), "in pieces the answer is longer or shorter");
    for (size_t i = 0; i < length; i++) {
        uint8_t one = mc_buffer_bytes(&whole)[i], other = mc_buffer_bytes(&pieces)[i];
        must(one == other || (data[1] == MC_BINARY_REQUEST && repeats(i) && other == 0),
             "in pieces the answer is another");
    }
    mc_buffer_drop(&whole);
    mc_buffer_drop(&pieces);
    return 0;
}
