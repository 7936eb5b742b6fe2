/* SPDX-License-Identifier: Apache-2.0 */
#include "services/reply/upload.h"

#include "fake_host.h"
#include "suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20 };

static cw_time at(int64_t seconds)
{
    return (cw_time){CW_SEC(seconds).ns};
}

static int add(struct uploads *s, uint64_t id, uint64_t from, const void *bytes, size_t length, cw_time now)
{
    return upload_add(s, id, from, bytes, length, MOST, now);
}

START_TEST(pieces_become_one)
{
    struct uploads s = {0};
    size_t length;
    ck_assert_int_eq(add(&s, 7, 0, "ab", 2, at(1)), 0);
    ck_assert_int_eq(add(&s, 8, 0, "xy", 2, at(1)), 0);
    ck_assert_int_eq(add(&s, 7, 2, "", 0, at(1)), 0);
    ck_assert_int_eq(add(&s, 7, 2, "c", 1, at(2)), 0);
    uint8_t *bytes = upload_take(&s, 7, &length);
    ck_assert_uint_eq(length, 3);
    ck_assert(memcmp(bytes, "abc", 3) == 0);
    free(bytes);
    ck_assert_ptr_null(upload_take(&s, 7, &length));
    ck_assert_ptr_null(upload_take(&s, 0, &length));
    upload_close(&s);
    ck_assert_ptr_null(upload_take(&s, 8, &length));
}
END_TEST

START_TEST(few_and_not_for_long)
{
    struct uploads s = {0};
    for (uint64_t id = 1; id <= UPLOADS; id++) {
        ck_assert_int_eq(add(&s, id, 0, "x", 1, at(10)), 0);
    }
    ck_assert_int_eq(add(&s, 99, 0, "x", 1, at(10)), -EBUSY);
    ck_assert_int_eq(add(&s, 1, 1, "x", 1, at(30)), 0);
    ck_assert_int_eq(add(&s, 99, 0, "x", 1, at(11 + UPLOAD_LIFE_S)), 0);
    size_t length;
    uint8_t *bytes = upload_take(&s, 1, &length); /* it was added to in time */
    ck_assert_uint_eq(length, 2);
    free(bytes);
    ck_assert_ptr_null(upload_take(&s, 2, &length));
    upload_close(&s);
}
END_TEST

/* A piece is added where it belongs or not at all: what is taken is never a part that seems to be the whole. */
START_TEST(a_piece_says_where_it_belongs)
{
    struct uploads s = {0};
    size_t length;
    ck_assert_int_eq(add(&s, 1, 0, "abc", 3, at(1)), 0);
    ck_assert_int_eq(add(&s, 1, 0, "abc", 3, at(2)), -ESPIPE);
    ck_assert_int_eq(add(&s, 1, 4, "e", 1, at(2)), -ESPIPE);
    ck_assert_uint_eq(upload_length(&s, 1), 3);
    ck_assert_int_eq(add(&s, 1, 3, "d", 1, at(2)), 0);
    ck_assert_int_eq(add(&s, 1, 4, "e", 1, at(3 + UPLOAD_LIFE_S)), -ESPIPE); /* the rest is forgotten by now */
    ck_assert_uint_eq(upload_length(&s, 1), 0);
    ck_assert_ptr_null(upload_take(&s, 1, &length));
}
END_TEST

START_TEST(memory_goes_by_itself_or_when_told)
{
    struct uploads s = {0};
    size_t length;
    ck_assert_int_eq(add(&s, 1, 0, "abc", 3, at(1)), 0);
    ck_assert_int_eq(add(&s, 2, 0, "abc", 3, at(1)), 0);
    upload_drop(&s, 2);
    upload_drop(&s, 2);
    upload_drop(&s, 0);
    ck_assert_ptr_null(upload_take(&s, 2, &length));
    ck_assert(upload_expire(&s, at(1 + UPLOAD_LIFE_S)));
    ck_assert(!upload_expire(&s, at(2 + UPLOAD_LIFE_S)));
    ck_assert_uint_eq(upload_length(&s, 1), 0);
}
END_TEST

/* ---- The command ------------------------------------------------------------------------------------------------- */

static struct uploads uploads;

static int on_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    (void)state;
    if (strcmp(argv[0], "put") == 0) { /* WORD, plain or base64, upload */
        const struct upload_word w = {argv[1], strtoull(argv[3], NULL, 10), strcmp(argv[2], "base64") == 0};
        int rc;
        size_t length = 0;
        uint8_t *bytes = upload_value(&uploads, r, &w, &length, &rc);
        ck_assert((bytes != NULL) == (rc == 0));
        if (bytes != NULL) {
            cw_request_int(r, "bytes", (int64_t)length);
            cw_request_int(r, "first", length > 0 ? bytes[0] : -1);
        }
        free(bytes);
        return rc;
    }
    return upload_command(&uploads, r, argc, argv, 4, cw_now(s));
}

static const cw_service stager = {CW_SERVICE_INIT, .name = "stager", .job = 900, .on_command = on_command};

static void says(cw_svc *s, const char *line, int rc, const char *error)
{
    struct fake_result r;
    fake_command(s, line, &r);
    ck_assert_msg(r.rc == rc, "%s: %d", line, r.rc);
    ck_assert_msg(rc == 0 || strstr(fake_text(&r, 0, "error"), error) != NULL, "%s", line);
}

START_TEST(by_words)
{
    cw_svc *s = fake_open(&stager, (cw_dims){1, 1, 1}, (cw_coord){0, 0, 0});
    says(s, "stage 7 YWI=", 0, "");
    says(s, "stage 7 YWI=", -ESPIPE, "2 bytes are here under 7: a piece is sent from there on");
    says(s, "stage 7 Yw== from=2", 0, "");
    ck_assert_uint_eq(upload_length(&uploads, 7), 3);
    says(s, "stage 8", -EINVAL, "a number from 1 on");
    says(s, "stage 8 !", -EINVAL, "no base64");
    says(s, "stage 8 YQ== to=1", -EINVAL, "no such option");
    says(s, "stage 7 YWI= from=3", -EINVAL, "a value has at most 4 bytes: what was brought under 7 is gone");
    ck_assert_uint_eq(upload_length(&uploads, 7), 0);
    says(s, "stage 9 YQ==", 0, "");
    says(s, "stage 9 - drop=1", 0, "");
    says(s, "stage 9 - drop=1", 0, "");
    ck_assert_uint_eq(upload_length(&uploads, 9), 0);
    upload_close(&uploads);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

/* What the word of a put stands for: itself, what it encodes, or what was brought. */
START_TEST(values)
{
    cw_svc *s = fake_open(&stager, (cw_dims){1, 1, 1}, (cw_coord){0, 0, 0});
    struct fake_result r;
    fake_command(s, "put YQ== plain 0", &r);
    ck_assert(fake_int(&r, 0, "bytes") == 4 && fake_int(&r, 0, "first") == 'Y');
    fake_command(s, "put YQ== base64 0", &r);
    ck_assert(fake_int(&r, 0, "bytes") == 1 && fake_int(&r, 0, "first") == 'a');
    says(s, "put ! base64 0", -EINVAL, "no base64: '!'");
    says(s, "put - plain 5", -EINVAL, "nothing was brought under 5, or it was too long ago");
    says(s, "stage 5 YmM=", 0, "");
    fake_command(s, "put - plain 5", &r);
    ck_assert(fake_int(&r, 0, "bytes") == 2 && fake_int(&r, 0, "first") == 'b');
    says(s, "put - plain 5", -EINVAL, "nothing was brought under 5"); /* it was taken */
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

START_TEST(no_more_than_a_value)
{
    static uint8_t big[MOST];
    struct uploads s = {0};
    size_t length;
    ck_assert_int_eq(add(&s, 1, 0, big, sizeof big, at(1)), 0);
    ck_assert_int_eq(add(&s, 1, sizeof big, big, 1, at(1)), -EMSGSIZE);
    ck_assert_ptr_null(upload_take(&s, 1, &length));
    upload_close(&s);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(pieces_become_one),
    SUITE_TEST(few_and_not_for_long),
    SUITE_TEST(a_piece_says_where_it_belongs),
    SUITE_TEST(memory_goes_by_itself_or_when_told),
    SUITE_TEST(by_words),
    SUITE_TEST(values),
    SUITE_TEST(no_more_than_a_value),
};
SUITE_MAIN("upload", tests)
