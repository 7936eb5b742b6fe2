/* SPDX-License-Identifier: Apache-2.0 */
#include "services/transport/outcomes.h"

#include <string.h>

static uint64_t bit(uint32_t number)
{
    return UINT64_C(1) << number % 64;
}

static unsigned word(uint32_t number)
{
    return number % SEGMENT_NUMBERS / 64;
}

void outcomes_restart(struct outcomes *o, uint32_t floor)
{
    memset(o, 0, sizeof *o);
    o->floor = floor;
}

void outcomes_raise(struct outcomes *o, uint32_t floor)
{
    uint32_t ahead = floor - o->floor;
    if (ahead == 0 || (int32_t)ahead < 0) {
        return;
    }
    if (ahead >= SEGMENT_NUMBERS) {
        outcomes_restart(o, floor);
        return;
    }
    for (; o->floor != floor; o->floor++) {
        o->known[word(o->floor)] &= ~bit(o->floor);
        o->tell[word(o->floor)] &= ~bit(o->floor);
    }
}

enum outcome outcomes_of(const struct outcomes *o, uint32_t number)
{
    if (number - o->floor >= SEGMENT_NUMBERS) {
        return OUTCOME_OUTSIDE;
    }
    return o->known[word(number)] & bit(number) ? OUTCOME_KNOWN : OUTCOME_OPEN;
}

void outcomes_end(struct outcomes *o, uint32_t number, uint16_t result)
{
    if (outcomes_of(o, number) != OUTCOME_OPEN) {
        return;
    }
    o->known[word(number)] |= bit(number);
    o->tell[word(number)] |= bit(number);
    o->result[number % SEGMENT_NUMBERS] = result;
}

void outcomes_tell(struct outcomes *o, uint32_t number)
{
    if (outcomes_of(o, number) == OUTCOME_KNOWN) {
        o->tell[word(number)] |= bit(number);
    }
}

bool outcomes_untold(const struct outcomes *o)
{
    uint64_t any = 0;
    for (unsigned w = 0; w < OUTCOMES_WORDS; w++) {
        any |= o->tell[w];
    }
    return any != 0;
}

unsigned outcomes_notes(struct outcomes *o, struct segment_note *note, unsigned most)
{
    unsigned notes = 0;
    uint32_t base =
        o->floor - o->floor % SEGMENT_NUMBERS; /* of the places; those before the floor's are of the next round */
    for (unsigned w = 0; w < OUTCOMES_WORDS; w++) {
        while (o->tell[w] != 0 && notes < most) {
            uint32_t place = w * 64 + (uint32_t)__builtin_ctzll(o->tell[w]);
            o->tell[w] &= o->tell[w] - 1;
            uint32_t number = base + place;
            number += (int32_t)(number - o->floor) < 0 ? SEGMENT_NUMBERS : 0;
            note[notes++] = (struct segment_note){NOTE_RESULT, number, o->result[place]};
        }
    }
    return notes;
}
