/* SPDX-License-Identifier: Apache-2.0 */
#include "tp_ledger.h"

#include "base/prng.h"

#include <errno.h>
#include <string.h>

struct ledger *ledger;

void ledger_fill(uint32_t number, uint64_t offset, uint8_t *out, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        out[i] = ledger_byte(number, offset + i);
    }
}

bool ledger_same(uint32_t number, uint64_t offset, const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] != ledger_byte(number, offset + i)) {
            return false;
        }
    }
    return true;
}

size_t ledger_head(uint32_t number, uint8_t *out)
{
    uint64_t mix = prng_mix(number, 21);
    size_t length = mix % 3 != 0 ? 0 : mix / 3 % (LEDGER_HEAD_MOST + 1);
    ledger_fill(number, LEDGER_HEAD_AT, out, length);
    return length;
}

bool ledger_head_same(uint32_t number, const uint8_t *head, size_t length)
{
    uint8_t right[LEDGER_HEAD_MOST];
    return length == ledger_head(number, right) && memcmp(head, right, length) == 0;
}

uint64_t ledger_answer_bytes(uint32_t number)
{
    uint64_t mix = prng_mix(number, 7);
    return mix % 4 != 0 ? mix / 4 % 300 : mix / 4 % 60000;
}

uint32_t ledger_answer_number(uint32_t number)
{
    return number ^ UINT32_C(0x5a5a5a5a);
}

void ledger_taken(uint32_t number, uint64_t bytes, uint64_t life)
{
    if (number >= ledger->count) {
        ledger_wrong("unsent", "message %u was taken, and nobody sent it", number);
        return;
    }
    struct ledger_message *m = &ledger->message[number];
    if (bytes != m->bytes) {
        ledger_wrong("length", "message %u has %llu bytes, not %llu", number, (unsigned long long)bytes,
                     (unsigned long long)m->bytes);
    }
    for (unsigned i = 0; i < m->takers && i < LEDGER_TAKERS; i++) {
        if (m->taker[i] == life) {
            ledger_wrong("twice", "message %u was taken twice by one incarnation", number);
        }
    }
    if (m->takers > 0 && !m->restart) {
        ledger_wrong("again", "message %u was taken again, elsewhere, though nobody asked for it", number);
    }
    if (m->takers < LEDGER_TAKERS) {
        m->taker[m->takers] = life;
    }
    m->takers++;
    ledger->taken++;
    ledger->bytes += bytes;
}

void ledger_ended(uint32_t number, uint64_t life, int status)
{
    if (status == -EINVAL) {
        ledger_wrong("address", "message %u was sent to a process that is not there", number);
    }
    struct ledger_message *m = &ledger->message[number];
    if (number >= ledger->count || m->life != life) {
        ledger_wrong("stranger", "the end of message %u was told to who did not send it", number);
        return;
    }
    if (m->ends++ > 0) {
        ledger_wrong("ends", "the end of message %u was told %u times", number, m->ends);
    }
    m->status = status;
    if (status == 0 && m->takers == 0) {
        ledger_wrong("lost", "message %u is said to have been taken, and was not", number);
    }
    ledger->done += status == 0;
    ledger->failed += status != 0;
}
