/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/text.h"
#include "suite.h"

#include <string.h>

START_TEST(pieces)
{
    char out[200];
    struct text t = text_of(out, sizeof out);
    struct boot_who named = {.id = 0xab, .name = "sixteen-letters!", .at = {1, 0, 255}, .placed = true};
    struct boot_who bare = {.id = UINT64_MAX}, nobody = {0}, spot = {.placed = true, .at = {4, 5, 6}};
    text_put_number(&t, -120);
    text_put(&t, " ");
    text_put_number(&t, 0);
    text_put(&t, " ");
    text_put_dims(&t, (cw_dims){256, 1, 30});
    text_put(&t, " ");
    text_put_port(&t, 3, 4);
    text_put(&t, " ");
    text_put_port(&t, 3, BOOT_UNLABELLED);
    text_put(&t, " ");
    text_put_who(&t, &named);
    text_put(&t, " ");
    text_put_who(&t, &bare);
    text_put(&t, " ");
    text_put_who(&t, &nobody);
    text_put(&t, " ");
    text_put_who(&t, &spot);
    ck_assert_str_eq(out, "-120 0 256x1x30 +z port 4 sixteen-letters! (00000000000000ab) at 1,0,255 ffffffffffffffff "
                          "nobody the server at 4,5,6");
    ck_assert_uint_eq(t.length, strlen(out));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(pieces)};
SUITE_MAIN("text", tests)
