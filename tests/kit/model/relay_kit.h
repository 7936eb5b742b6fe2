/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay_kit.h - for tests of the relay: frames and states that are drawn, and a judge that is too simple to be wrong.
 */
#ifndef KIT_RELAY_KIT_H
#define KIT_RELAY_KIT_H

#include "dice.h"
#include "wire/relay.h"

enum { RELAY_KIT_FRAME = 400 };

/* Instants are drawn this far from now, so that a clock which goes on between two judges changes no verdict. */
#define RELAY_KIT_FAR UINT64_C(1000000000000)

struct relay_kit_frame {
    uint8_t bytes[RELAY_KIT_FRAME];
    uint32_t size; /* of the whole frame */
    uint32_t here; /* bytes of it that can be read; not more than size */
    uint32_t in;
};

/* Draws a state in which most frames qualify. `now` is ns of CLOCK_BOOTTIME, more than twice RELAY_KIT_FAR. */
void relay_kit_state(struct dice *d, struct relay_state *state, uint64_t now);
/* Draws a frame that qualifies in that state, unless something was changed: in two of three nothing was. */
void relay_kit_frame(struct dice *d, const struct relay_state *state, struct relay_kit_frame *frame);

/*
 * The reference, written from the table of docs/relay.md: judges the frame and gives what the judge must give; changes
 * frame and state as the judge must change them.
 */
struct relay_verdict relay_kit_judge(struct relay_state *state, struct relay_kit_frame *frame, uint64_t now);

#endif
