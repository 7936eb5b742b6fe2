/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_relay.c - the judge of the relay on any frame in any state. The first 8 bytes draw a state, the next ones are
 * written over parts of it, and the rest is a frame. The judge must say what the reference of kit/model/relay_kit.c
 * says, leave the same bytes and the same state, and write nothing when the frame goes up.
 */
#include "relay_kit.h"

#include <stdlib.h>
#include <string.h>

enum { PATCHES = 4, PATCH_BYTES = 3, HEAD_BYTES = 8 + PATCHES * PATCH_BYTES + 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

/* Writes over bytes of the link that the frame comes by, of the routes, or of the words at the state's beginning. */
static void patch(struct relay_state *state, uint32_t in, const uint8_t bytes[PATCH_BYTES])
{
    struct relay_view *view = &state->view[state->gen & 1];
    switch (bytes[0] % 4) {
    case 0:
        ((uint8_t *)&view->link[in])[bytes[1] % sizeof view->link[in]] = bytes[2];
        break;
    case 1:
        view->way[(bytes[1] * 16u + bytes[0] / 16u) % RELAY_SERVERS] = bytes[2];
        break;
    case 2:
        ((uint8_t *)&state->live)[bytes[1] % 32] = bytes[2];
        break;
    default:
        ((uint8_t *)state->queue)[(bytes[1] * 2u + bytes[0] / 128u) % sizeof state->queue] = bytes[2];
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct relay_state state, right_state;
    struct relay_kit_frame frame = {.size = 0}, right_frame;
    struct relay_verdict verdict;
    struct dice d;
    const uint64_t now = 3 * RELAY_KIT_FAR;
    if (size < HEAD_BYTES) {
        return 0;
    }
    memcpy(&d.state, data, sizeof d.state);
    relay_kit_state(&d, &state, now);
    relay_kit_frame(&d, &state, &frame); /* overwritten by the rest of the input, from its first byte on */
    frame.in = data[HEAD_BYTES - 1] % CW_LINK_COUNT;
    for (unsigned i = 0; i < PATCHES; i++) {
        patch(&state, frame.in, data + 8 + i * PATCH_BYTES);
    }
    size_t rest = size - HEAD_BYTES < sizeof frame.bytes ? size - HEAD_BYTES : sizeof frame.bytes;
    memcpy(frame.bytes, data + HEAD_BYTES, rest);
    if ((data[HEAD_BYTES - 2] & 1) != 0) {
        frame.size = frame.here = (uint32_t)rest;
    }
    right_frame = frame;
    right_state = state;
    struct relay_verdict right = relay_kit_judge(&right_state, &right_frame, now);
    relay_judge(&state, frame.bytes, frame.bytes + frame.here, frame.size, frame.in, now, &verdict);
    require(verdict.reason == right.reason && verdict.reason < RELAY_REASONS);
    require(memcmp(frame.bytes, right_frame.bytes, sizeof frame.bytes) == 0);
    require(memcmp(&state, &right_state, sizeof state) == 0);
    if (verdict.reason == RELAY_PASSED) {
        require(verdict.out == right.out && verdict.ifindex == right.ifindex && verdict.place == right.place);
    }
    return 0;
}
