/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_boot.c - any frames on the ports of a bootstrap, with time passing: it stays sound, and one that has a place
 * keeps it. The input is a sequence of port, length, frame.
 */
#include "boot/boot.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void drain(struct boot *b, cw_links links, cw_time now)
{
    uint8_t frame[1500];
    for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
        for (unsigned i = 0; i < 8 && (links & 1u << port) != 0; i++) {
            if (boot_tx_pull(b, port, frame, sizeof frame, now) == 0) {
                break;
            }
        }
    }
}

static void feed(struct boot *b, const uint8_t *data, size_t size)
{
    cw_time now = {CW_SEC(1).ns};
    while (size > 2) {
        size_t length = data[1] < size - 2 ? data[1] : size - 2;
        drain(b, boot_rx(b, data[0] % CW_LINK_COUNT, data + 2, (uint32_t)length, now), now);
        data += 2 + length;
        size -= 2 + length;
        now = cw_time_add(now, CW_MS(700));
        drain(b, boot_tick(b, now), now);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct boot_place place = {{3, 3, 3}, {0, 1, 2}, {0, 1, 2, 3, 4, 5}};
    for (unsigned placed = 0; placed < 2; placed++) {
        struct boot *b;
        struct boot_config config = boot_config_default();
        config.id = 1;
        config.cluster = 7;
        config.servers_max = 64;
        config.place = placed != 0 ? &place : NULL;
        if (boot_open(&b, &config, (cw_time){0}) != 0) {
            abort();
        }
        feed(b, data, size);
        if (placed != 0 && (boot_place(b) == NULL || memcmp(boot_place(b), &place, sizeof place) != 0)) {
            abort();
        }
        for (unsigned i = 0; i < boot_fault_count(b); i++) {
            char text[BOOT_FAULT_TEXT];
            if (boot_fault_text(boot_fault(b, i), text) != strlen(text)) {
                abort();
            }
        }
        boot_close(b);
    }
    return 0;
}
