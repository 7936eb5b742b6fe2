/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/entry/letters.h"

#include "services/reply/servers.h"
#include "services/store/carry.h"
#include "services/store/common.h"
#include "store_town.h"
#include "suite.h"

#include <errno.h>

static int status;
static unsigned told;

static void on_answer(void *context, void *arg, int how, const uint8_t *bytes, uint64_t size,
                      const struct transport_message *m)
{
    (void)context;
    (void)arg;
    (void)bytes;
    (void)size;
    (void)m;
    status = how;
    told++;
}

/* Sends a letter from server 0 to 1, and gives how it ended. */
static int letter(struct fake_net *net, uint32_t tag, size_t head, uint64_t bytes)
{
    static const uint8_t zeros[8000], heads[8];
    struct store *s = store_town_of(net, 0);
    const struct transport_data data = {.bytes = zeros, .size = bytes};
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .tag = tag, .reply_max = 100, .head = heads,
                                                   .head_length = head};
    const cw_to to = to_server(s->svc, STORE_JOB, STORE_PORT_LETTERS, 1);
    told = 0;
    ck_assert_int_gt(transport_request(s->transport, &to, &data, &options, on_answer, NULL), 0);
    fake_net_run(net, CW_SEC(6));
    ck_assert_uint_eq(told, 1);
    return status;
}

START_TEST(what_is_no_letter_is_refused)
{
    struct fake_net *net = store_town_open(3);
    ck_assert_int_eq(letter(net, STORE_PORT_OPERATORS, STORE_LETTER_HEAD, 10), -EBADMSG);
    ck_assert_int_eq(letter(net, STORE_PORT_READ, 3, 10), -EBADMSG);
    ck_assert_uint_eq(store_town_of(net, 1)->count[STORE_COUNT_MALFORMED], 2);
    ck_assert_int_eq(letter(net, STORE_PORT_READ, STORE_LETTER_HEAD, 8000),
                     -ETIMEDOUT); /* it says nothing: no answer */
    ck_assert_uint_eq(store_town_of(net, 1)->count[STORE_COUNT_MALFORMED], 3);
    ck_assert_uint_eq(store_town_of(net, 1)->hand[STORE_HAND_ASKS], 0);
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(what_is_no_letter_is_refused)};
SUITE_MAIN("store letters", tests)
