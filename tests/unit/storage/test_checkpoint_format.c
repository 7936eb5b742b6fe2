/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/checkpoint_format.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

START_TEST(chunks_are_whole_or_nothing)
{
    uint8_t bytes[CHECKPOINT_CHUNK_HEAD + 5 + CHECKPOINT_CHUNK_SUM];
    struct checkpoint_chunk chunk;
    uint32_t used = 0;
    memcpy(bytes + CHECKPOINT_CHUNK_HEAD, "hello", 5);
    uint64_t seed = checkpoint_seed(1, 2, 3);
    checkpoint_seal(bytes, CHECKPOINT_NAMES, 9, 5, seed);
    ck_assert_int_eq(checkpoint_chunk_decode(&chunk, bytes, sizeof bytes, seed, &used), 0);
    ck_assert_uint_eq(used, sizeof bytes);
    ck_assert_int_eq(chunk.type, CHECKPOINT_NAMES);
    ck_assert_uint_eq(chunk.count, 9);
    ck_assert_mem_eq(chunk.body, "hello", 5);
    ck_assert_int_eq(checkpoint_chunk_decode(&chunk, bytes, sizeof bytes, checkpoint_seed(1, 2, 4), &used), -EBADMSG);
    for (uint32_t cut = 0; cut < sizeof bytes; cut++) {
        SUITE_HOLDS(checkpoint_chunk_decode(&chunk, bytes, cut, seed, &used) == -EBADMSG);
    }
    for (unsigned bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1u << bit % 8);
        SUITE_HOLDS(checkpoint_chunk_decode(&chunk, bytes, sizeof bytes, seed, &used) == -EBADMSG);
        bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1u << bit % 8);
    }
}
END_TEST

START_TEST(head_and_slots_come_back)
{
    uint8_t bytes[CHECKPOINT_SLOT];
    struct checkpoint_head head = {1, 2, 3, 4, 5, 6}, head_back;
    checkpoint_head_encode(&head, bytes);
    checkpoint_head_decode(&head_back, bytes);
    ck_assert_mem_eq(&head, &head_back, sizeof head);
    struct key_slot slot, back;
    memset(&slot, 0, sizeof slot);
    slot = (struct key_slot){.key = {{7}}, .kind = 1, .flags = 3, .record = {1, 2, 3}, .value = {4, 5, 6}};
    slot.value_sum = 8;
    slot.position = 9;
    checkpoint_slot_encode(&slot, bytes);
    checkpoint_slot_decode(&back, bytes);
    ck_assert_mem_eq(&slot, &back, sizeof slot);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(chunks_are_whole_or_nothing),
    SUITE_TEST(head_and_slots_come_back),
};
SUITE_MAIN("checkpoint_format", tests)
