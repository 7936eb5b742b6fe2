/* SPDX-License-Identifier: Apache-2.0 */
/* make_share_corpus.c - the seeds of fuzz_share_commands, fuzz_share_records and fuzz_share_greeting, drawn by dice. */
#include "share/greeting.h"
#include "share_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *seed(const char *folder, const char *target, unsigned number)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s/seed-%u", folder, target, number);
    FILE *f = fopen(path, "wb");
    if (f == NULL) {
        perror(path);
        exit(1);
    }
    return f;
}

static void put_word(FILE *f, uint64_t word, size_t bytes)
{
    fwrite(&word, 1, bytes, f);
}

/* Steps by their numbers in fuzz_share_commands.c: commands with all that stands inline, the tail, a batch. */
static void commands(const char *folder, unsigned number)
{
    static struct share_kit k;
    struct dice d = {number};
    FILE *f = seed(folder, "fuzz_share_commands", number);
    share_kit_open(&k, SHARE_COMMANDS_LEAST, SHARE_INBOX_LEAST, 0);
    for (unsigned i = 0; i < 6; i++) {
        struct share_said said;
        uint64_t word[SHARE_COMMAND_WORDS];
        unsigned char inl[SHARE_INLINE_BYTES] = {0};
        share_kit_draw(&k, &d, &said);
        said.c.op = said.c.op > 0 && said.c.op < SHARE_OPS ? said.c.op : SHARE_OP_WANT;
        share_command_encode(&said.c, word);
        put_word(f, 0, 1);
        put_word(f, i, 1);
        fwrite(word, 1, sizeof word, f);
        memcpy(inl, said.lead, said.lead_bytes);
        size_t room = SHARE_INLINE_BYTES - said.lead_bytes;
        memcpy(inl + said.lead_bytes, said.body, said.body_bytes < room ? said.body_bytes : room);
        for (unsigned w = 0; w < 9; w++) {
            put_word(f, 1, 1);
            put_word(f, i, 1);
            put_word(f, SHARE_COMMAND_WORDS + w, 1);
            fwrite(inl + 8 * (size_t)w, 1, 8, f);
        }
    }
    put_word(f, 2, 1);
    put_word(f, 6, 1);
    put_word(f, 6, 1);
    put_word(f, 100 * number, 2);
    put_word(f, number, 1);
    put_word(f, 5, 1);
    put_word(f, 16, 1);
    fclose(f);
    (void)share_kit_close(&k);
}

static void records(const char *folder, unsigned number)
{
    struct dice d = {number};
    unsigned char bytes[4096] = {0};
    size_t at = 0;
    for (unsigned i = 0; i < 6; i++) {
        uint64_t word[SHARE_RECORD_WORDS];
        struct share_record r = {
            .kind = SHARE_RECORD_SHORT, .endpoint = (uint16_t)dice_below(&d, 8), .length = dice_below(&d, 200)};
        r.job = number % 2 ? 7 : 0; /* fine in an inbox alone */
        share_record_encode(&r, word);
        memcpy(bytes + at, word, sizeof word);
        at += share_record_room(r.length);
    }
    FILE *f = seed(folder, "fuzz_share_records", number);
    put_word(f, at / SHARE_RECORD_BYTES, 1);
    put_word(f, 0x7f, 1);
    fwrite(bytes, 1, at, f);
    fclose(f);
}

static void greetings(const char *folder)
{
    for (unsigned type = 1; type < SHARE_GREETS; type++) {
        struct share_greeting g = {.type = (enum share_greeting_type)type};
        uint8_t bytes[SHARE_GREETING_MOST];
        if (type == SHARE_GREET_HELLO) {
            g.hello.version = SHARE_VERSION;
            g.hello.geometry = (struct share_geometry){64, 64 << 10, 64};
            strcpy(g.hello.job, "web");
        } else if (type == SHARE_GREET_COOKIE) {
            g.cookie.version = SHARE_VERSION;
        } else if (type == SHARE_GREET_AREAS) {
            g.areas.geometry = (struct share_geometry){64, 64 << 10, 64};
            g.areas.region_bytes = SHARE_PAGE;
        } else if (type == SHARE_GREET_REGION || type == SHARE_GREET_AREA) {
            g.region.bytes = SHARE_PAGE;
        }
        FILE *f = seed(folder, "fuzz_share_greeting", type);
        fwrite(bytes, 1, share_greeting_encode(&g, bytes), f);
        fclose(f);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "use: make_share_corpus tests/fuzz/corpus\n");
        return 2;
    }
    for (unsigned i = 0; i < 6; i++) {
        commands(argv[1], i);
        records(argv[1], i);
    }
    greetings(argv[1]);
    return 0;
}
