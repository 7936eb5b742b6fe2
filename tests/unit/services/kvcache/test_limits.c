/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the cache itself. */
#include "kv_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static const char *name_said, *value_said;

static const char *get(void *context, const char *name)
{
    unsigned *asked = context;
    (*asked)++;
    return strcmp(name, name_said) == 0 ? value_said : NULL;
}

static struct kv_limits l;
static char why[KV_LIMITS_WHY];

static int read_one(const char *name, const char *value)
{
    unsigned asked = 0;
    name_said = name;
    value_said = value;
    int rc = kv_limits_read(&l, get, &asked, why);
    ck_assert_uint_eq(asked, 4); /* all, whatever is wrong: cw_option() knows then which are not the service's */
    return rc;
}

START_TEST(what_is_said_counts)
{
    ck_assert_int_eq(read_one("other", "x"), 0);
    struct kv_limits plain = l, standard = kv_limits_default();
    ck_assert_uint_eq(plain.value_bytes, standard.value_bytes);
    ck_assert_uint_eq(plain.copy_bytes, standard.copy_bytes);
    ck_assert_uint_eq(plain.extras, standard.extras);
    ck_assert_int_eq(plain.age.ns, standard.age.ns);
    ck_assert_uint_eq(l.extras, 4);
    ck_assert_int_eq(l.age.ns, CW_SEC(10).ns);
    ck_assert_int_eq(read_one("extras", "0"), 0);
    ck_assert_uint_eq(l.extras, 0);
    ck_assert_int_eq(read_one("extras", "8"), 0);
    ck_assert_uint_eq(l.extras, 8);
    ck_assert_int_eq(read_one("values_mib", "1"), 0);
    ck_assert_uint_eq(l.value_bytes, 1 << 20);
    ck_assert_uint_eq(l.copy_bytes, standard.copy_bytes);
    ck_assert_int_eq(read_one("copies_mib", "100"), 0);
    ck_assert_uint_eq(l.copy_bytes, 100 << 20);
    ck_assert_int_eq(read_one("copy_age_ms", "250"), 0);
    ck_assert_int_eq(l.age.ns, CW_MS(250).ns);
}
END_TEST

START_TEST(what_cannot_be_is_named)
{
    static const char *const rows[][2] = {
        {"extras", "9"},     {"extras", "-1"},    {"extras", ""},       {"extras", "four"},       {"values_mib", "0"},
        {"copies_mib", "0"}, {"values_mib", "x"}, {"copy_age_ms", "0"}, {"copy_age_ms", "10001"}, {"copies_mib", "1e3"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_int_eq(read_one(rows[i][0], rows[i][1]), -EINVAL);
        ck_assert_msg(strstr(why, rows[i][0]) != NULL && strstr(why, "expected") != NULL, "%s", why);
    }
}
END_TEST

/* The service does as they say, and does not open with one that is wrong. */
START_TEST(the_service_asks_for_them)
{
    static const char *const good[] = {"extras=2", "values_mib=3", "copies_mib=2", "copy_age_ms=500", NULL};
    static const char *const bad[] = {"extras=9", "connections=0", NULL};
    int rc;
    cw_svc *s = fake_open_with(&kvcache_service, (cw_dims){2, 1, 1}, (cw_coord){0, 0, 0}, good, &rc);
    ck_assert_ptr_nonnull(s);
    const struct kvcache *k = s->state;
    ck_assert_uint_eq(k->limits.extras, 2);
    ck_assert_uint_eq(k->values.bytes_max, 3 << 20);
    ck_assert_uint_eq(k->copies.bytes_max, 2 << 20);
    ck_assert_int_eq(k->limits.age.ns, CW_MS(500).ns);
    fake_close(s);
    ck_assert_ptr_null(fake_open_with(&kvcache_service, (cw_dims){2, 1, 1}, (cw_coord){0, 0, 0}, bad, &rc));
    ck_assert_int_eq(rc, -EINVAL);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(what_is_said_counts), SUITE_TEST(what_cannot_be_is_named),
                                          SUITE_TEST(the_service_asks_for_them)};
SUITE_MAIN("limits", tests)
