/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/order/note.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

static uint8_t bytes[NOTE_BYTES_MOST + 1];
static struct note out;

static struct note look(void)
{
    struct note n = {.kind = NOTE_LOOK, .number = 7, .life = UINT64_C(0x1122334455667788), .root = 4};
    n.spec = (struct spec){CW_NUMBER_FLOAT32, CW_COMBINE_SUM, CW_REDUCE_WITHOUT, 12};
    n.limit_ms = 30000;
    n.source = NOTE_SOURCE_FILE;
    n.sink = NOTE_SINK_FILE;
    strcpy(n.from, "grad.f32");
    strcpy(n.to, "all");
    return n;
}

static int again(const struct note *n)
{
    note_encode(n, bytes);
    return note_decode(bytes, note_size(n), &out);
}

START_TEST(looks)
{
    struct note n = look();
    ck_assert_int_eq(again(&n), 0);
    ck_assert_uint_eq(out.number, 7);
    ck_assert_uint_eq(out.life, n.life);
    ck_assert_uint_eq(out.root, 4);
    ck_assert(spec_equal(&out.spec, &n.spec));
    ck_assert_uint_eq(out.limit_ms, 30000);
    ck_assert_str_eq(out.from, "grad.f32");
    ck_assert_str_eq(out.to, "all");
    memset(n.from, 'a', NOTE_NAME_MOST);
    memset(n.to, 'b', NOTE_NAME_MOST);
    ck_assert_int_eq(again(&n), 0);
    ck_assert_str_eq(out.to, n.to);
}
END_TEST

START_TEST(others)
{
    struct note n = {.kind = NOTE_LOOKED, .number = 1, .life = 3, .bytes = UINT64_C(1) << 40};
    ck_assert_int_eq(again(&n), 0);
    ck_assert_uint_eq(out.bytes, n.bytes);
    n = (struct note){.kind = NOTE_GO, .spec = {.elements = 99}, .servers = 70, .set = {5, 1}};
    ck_assert_int_eq(again(&n), 0);
    ck_assert_uint_eq(out.spec.elements, 99);
    ck_assert(out.set[0] == 5 && out.set[1] == 1);
    n = (struct note){.kind = NOTE_DONE, .who = 3, .attempts = 2, .took_ns = 5, .wrong = 6, .servers = 27, .set = {9}};
    ck_assert_int_eq(again(&n), 0);
    ck_assert(out.who == 3 && out.attempts == 2 && out.took_ns == 5 && out.wrong == 6 && out.set[0] == 9);
    n = (struct note){.kind = NOTE_DROP, .number = 8};
    ck_assert_int_eq(again(&n), 0);
    ck_assert_uint_eq(out.number, 8);
}
END_TEST

static void refused(const struct note *n, size_t at, uint8_t value)
{
    note_encode(n, bytes);
    bytes[at] = value;
    ck_assert_int_eq(note_decode(bytes, note_size(n), &out), -EPROTO);
}

START_TEST(impossible)
{
    const struct note n = look(), go = {.kind = NOTE_GO, .servers = 27, .set = {1}};
    refused(&n, 0, 0x21);  /* another version */
    refused(&n, 0, 0x16);  /* no kind */
    refused(&n, 1, 1);     /* what must be 0 */
    refused(&n, 20, 99);   /* no type */
    refused(&n, 21, 6);    /* and of floats */
    refused(&n, 22, 0x80); /* no flag */
    refused(&n, 36, 3);    /* no source */
    refused(&n, 36, 2);    /* a name, and no file */
    refused(&n, 38, 9);    /* lengths that are not those of the names */
    refused(&n, 38, 255);
    refused(&n, 41, 0);  /* a NUL in a name */
    refused(&go, 26, 1); /* servers without bits */
    note_encode(&go, bytes);
    bytes[32 - 4] = 0x80; /* bit 63 of 27 */
    ck_assert_int_eq(note_decode(bytes, note_size(&go), &out), -EPROTO);
    note_encode(&n, bytes);
    for (size_t size = 0; size < note_size(&n); size++) {
        ck_assert_int_eq(note_decode(bytes, size, &out), -EPROTO);
    }
    ck_assert_int_eq(note_decode(bytes, note_size(&n) + 1, &out), -EPROTO);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(looks), SUITE_TEST(others), SUITE_TEST(impossible)};
SUITE_MAIN("note", tests)
