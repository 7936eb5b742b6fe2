/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_share_commands.c - what a process may write into its memory, between any two things that its daemon does with
 * it. The input is a list of steps, a byte each and what belongs to it (enum step). Whatever they are: what is taken is
 * fine by the model, all is counted, batches and rings keep their bounds, and nothing behind an area is touched.
 */
#include "share_kit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum step {
    STEP_COMMAND, /* slot:8, then the 64 bytes of a command */
    STEP_WORD,    /* slot:8 word:8, then 8 bytes of the slot */
    STEP_TAIL,    /* by so many commands, signed:8 */
    STEP_ANY,     /* one of the shared words:8, then 8 bytes for it */
    STEP_REGION,  /* at:16, then 8 bytes of region 0 */
    STEP_TAKE,    /* a batch of at most so many:8 */
    STEP_SEND,    /* a message of so many bytes:16 for endpoint:8 */
    STEPS
};

struct input {
    const uint8_t *at;
    size_t left;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct share_kit k;

static void hold(bool good)
{
    if (!good) {
        abort();
    }
}

static uint64_t next(struct input *in, size_t bytes)
{
    uint64_t word = 0;
    size_t take = bytes < in->left ? bytes : in->left;
    memcpy(&word, in->at, take);
    in->at += take;
    in->left -= take;
    return word;
}

static void take(unsigned most)
{
    static unsigned char body[SHARE_BYTES_MOST + 1];
    int waiting = share_taker_look(&k.taker), rc = 1;
    hold(waiting == -EPROTO || (waiting >= 0 && waiting <= (int)k.g.commands));
    for (unsigned i = 0; i < most && rc != 0 && rc != -EPROTO; i++) {
        struct share_taken t;
        rc = share_taker_next(&k.taker, &k.tables, &t);
        hold(k.teller.broken || k.teller.tail - k.teller.head_seen + k.teller.reserved <= k.teller.slots);
        if (rc != 1) {
            continue;
        }
        hold(share_model_faults(&t.c, &k.tables) == 0 && share_model_parts(&t, &k.tables) == 0);
        if (t.shape.body == SHARE_BODY_BYTES) {
            body[t.c.length] = 0x5a;
            share_taker_body(&k.taker, &k.tables, &t, body);
            hold(body[t.c.length] == 0x5a);
        }
        if (t.c.flags & SHARE_TELL) {
            share_teller_tell(&k.teller, &(struct share_completion){.kind = SHARE_END_SENT, .user = t.c.user});
        } else {
            share_teller_keep_silent(&k.teller);
        }
    }
    share_taker_publish(&k.taker);
    (void)share_teller_publish(&k.teller);
    (void)!share_waker_published(&k.waker);
}

static void send(uint16_t endpoint, uint32_t length)
{
    static const unsigned char bytes[4096];
    struct share_record r = {.kind = SHARE_RECORD_SHORT, .endpoint = endpoint % KIT_ENDPOINTS, .length = length % 4096};
    (void)!share_inbox_put(&k.writer, &r, bytes);
    (void)share_inbox_publish(&k.writer);
    hold(k.writer.tail - k.writer.head + k.writer.reserved <= k.writer.bytes);
}

static void one(struct input *in)
{
    static const uint16_t words[] = {SHARE_SUB_COMMAND_TAIL, SHARE_SUB_COMPLETION_HEAD, SHARE_SUB_INBOX_HEAD,
                                     SHARE_SUB_REST};
    unsigned step = (unsigned)next(in, 1) % STEPS;
    unsigned char *slot = k.sub + SHARE_SUB_COMMANDS;
    uint64_t word;
    uint32_t tail;
    switch (step) {
    case STEP_COMMAND:
        slot += SHARE_SLOT_BYTES * (next(in, 1) % k.g.commands);
        for (size_t i = 0; i < SHARE_COMMAND_BYTES; i += 8) {
            word = next(in, 8);
            memcpy(slot + i, &word, sizeof word);
        }
        return;
    case STEP_WORD:
        slot += SHARE_SLOT_BYTES * (next(in, 1) % k.g.commands);
        slot += 8 * (next(in, 1) % (SHARE_SLOT_BYTES / 8));
        word = next(in, 8);
        memcpy(slot, &word, sizeof word);
        return;
    case STEP_TAIL:
        memcpy(&tail, k.sub + SHARE_SUB_COMMAND_TAIL, sizeof tail);
        tail += (uint32_t)(int8_t)next(in, 1);
        memcpy(k.sub + SHARE_SUB_COMMAND_TAIL, &tail, sizeof tail);
        return;
    case STEP_ANY:
        slot = k.sub + words[next(in, 1) % 4];
        word = next(in, 8);
        memcpy(slot, &word, sizeof word);
        return;
    case STEP_REGION:
        slot = k.region[0] + next(in, 2) % (k.regions[0].size - 8);
        word = next(in, 8);
        memcpy(slot, &word, sizeof word);
        return;
    case STEP_TAKE:
        take((unsigned)next(in, 1));
        return;
    default:
        word = next(in, 2);
        send((uint16_t)next(in, 1), (uint32_t)word);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    if (k.sub == NULL) {
        share_kit_open(&k, SHARE_COMMANDS_LEAST, SHARE_INBOX_LEAST, 0);
    }
    share_kit_again(&k, size % 2 ? 0 : UINT32_MAX - 3);
    memset(k.region[0], 0, 256);
    while (in.left > 0) {
        one(&in);
    }
    take(SHARE_COMMANDS_LEAST);
    uint64_t counted = k.taker.taken;
    for (unsigned v = 0; v < SHARE_VERDICTS; v++) {
        counted += k.taker.refused[v];
    }
    hold((uint32_t)counted == k.taker.head - (size % 2 ? 0 : UINT32_MAX - 3));
    return 0;
}
