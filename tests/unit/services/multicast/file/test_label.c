/* SPDX-License-Identifier: Apache-2.0 */
/* test_label.c - labels come back as they were; names that lead elsewhere are none. */
#include "services/multicast/file/label.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct file_label label_of(const char *name)
{
    struct file_label l = {.bytes = 0x123456789a, .mode = 0640, .keep = true};
    for (unsigned i = 0; i < sizeof l.digest; i++) {
        l.digest[i] = (uint8_t)(i * 7 + 1);
    }
    snprintf(l.name, sizeof l.name, "%s", name);
    return l;
}

static enum file_name_fault check(const char *name)
{
    return file_name_check(name, strlen(name));
}

START_TEST(names)
{
    char longest[FILE_NAME_MOST + 2];
    memset(longest, 'n', sizeof longest);
    ck_assert_int_eq(file_name_check(longest, FILE_NAME_MOST), FILE_NAME_GOOD);
    ck_assert_int_eq(file_name_check(longest, FILE_NAME_MOST + 1), FILE_NAME_LONG);
    ck_assert_int_eq(check("image.qcow2"), FILE_NAME_GOOD);
    ck_assert_int_eq(check("two words \xc3\xbc"), FILE_NAME_GOOD);
    ck_assert_int_eq(check(""), FILE_NAME_EMPTY);
    ck_assert_int_eq(check("."), FILE_NAME_DOT);
    ck_assert_int_eq(check(".."), FILE_NAME_DOT);
    ck_assert_int_eq(check(".hidden"), FILE_NAME_DOT);
    ck_assert_int_eq(check("../etc/passwd"), FILE_NAME_SLASH);
    ck_assert_int_eq(check("a/b"), FILE_NAME_SLASH);
    ck_assert_int_eq(check("a\nb"), FILE_NAME_CONTROL);
    ck_assert_int_eq(check("a\x7f"), FILE_NAME_CONTROL);
    ck_assert_int_eq(check("a\xc2\x9b"), FILE_NAME_CONTROL);
    ck_assert_int_eq(check("caf\xe9"), FILE_NAME_NO_TEXT);
    ck_assert_int_eq(check("caf\xc3\xa9"), FILE_NAME_GOOD);
    ck_assert_int_eq(file_name_check("a\0b", 3), FILE_NAME_CONTROL);
    for (enum file_name_fault f = FILE_NAME_GOOD; f <= FILE_NAME_NO_TEXT; f++) {
        ck_assert_ptr_nonnull(file_name_text(f));
    }
}
END_TEST

START_TEST(there_and_back)
{
    uint8_t bytes[FILE_LABEL_MOST + 1];
    struct file_label l = label_of("kernel"), back;
    size_t length = file_label_encode(&l, bytes);
    ck_assert_uint_eq(length, FILE_LABEL_HEAD + 6);
    ck_assert_int_eq(file_label_decode(bytes, length, &back), 0);
    ck_assert_uint_eq(back.bytes, l.bytes);
    ck_assert_uint_eq(back.mode, l.mode);
    ck_assert(back.keep);
    ck_assert_str_eq(back.name, "kernel");
    ck_assert_mem_eq(back.digest, l.digest, sizeof l.digest);
    l.bytes = 0;
    ck_assert_uint_eq(file_label_message(&l), 1);
}
END_TEST

START_TEST(labels_that_are_none)
{
    uint8_t bytes[FILE_LABEL_MOST + 1], wrong[FILE_LABEL_MOST + 1];
    struct file_label l = label_of("kernel"), back;
    size_t length = file_label_encode(&l, bytes);
    for (size_t n = 0; n <= FILE_LABEL_HEAD; n++) {
        ck_assert_int_eq(file_label_decode(bytes, n, &back), -EBADMSG);
    }
    memcpy(wrong, bytes, sizeof wrong);
    memset(wrong + FILE_LABEL_HEAD, 'n', FILE_NAME_MOST + 1);
    ck_assert_int_eq(file_label_decode(wrong, sizeof wrong, &back), -EBADMSG);
    static const struct {
        size_t at;
        uint8_t value;
    } faults[] = {
        {0, 2}, {1, 2}, {2, 0xff}, {FILE_LABEL_HEAD, '.'}, {FILE_LABEL_HEAD + 2, '/'}, {FILE_LABEL_HEAD + 5, 0}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        memcpy(wrong, bytes, sizeof wrong);
        wrong[faults[i].at] = faults[i].value;
        ck_assert_int_eq(file_label_decode(wrong, length, &back), -EBADMSG);
    }
}
END_TEST

START_TEST(what_is_beside)
{
    char part[FILE_BESIDE], map[FILE_BESIDE], longest[FILE_NAME_MOST + 1];
    struct file_label l = label_of("kernel");
    file_label_part(&l, part);
    file_label_map(&l, map);
    ck_assert_str_eq(part, ".kernel.01080f161d242b323940474e555c636a.part");
    ck_assert_str_eq(map, ".kernel.01080f161d242b323940474e555c636a.map");
    ck_assert(file_label_is_part(part));
    ck_assert(file_label_is_part(map));
    ck_assert(!file_label_is_part("kernel.part"));
    ck_assert(!file_label_is_part(".kernel.part"));
    ck_assert(!file_label_is_part(".kernel.01080f161d242b323940474e555c636A.part"));
    ck_assert(!file_label_is_part(".01080f161d242b323940474e555c636a.part"));
    ck_assert(!file_label_is_part(".kernel.01080f161d242b323940474e555c636a.old"));
    memset(longest, 'n', FILE_NAME_MOST);
    longest[FILE_NAME_MOST] = '\0';
    l = label_of(longest);
    file_label_part(&l, part);
    ck_assert(file_label_is_part(part));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(names),
    SUITE_TEST(there_and_back),
    SUITE_TEST(labels_that_are_none),
    SUITE_TEST(what_is_beside),
};
SUITE_MAIN("file_label", tests)
