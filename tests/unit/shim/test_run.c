/* SPDX-License-Identifier: Apache-2.0 */
/* test_run.c - datagrams of one length leave as one message and are the same datagrams when they arrive. */
#include "shim/run.h"

#include "netns.h"
#include "suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <string.h>
#include <unistd.h>

static uint8_t memory[SHIM_BATCH][4000];
static struct iovec vectors[SHIM_BATCH];

/* Frames of these lengths, ended by 0; each byte of a frame says which one it is. */
static unsigned frames_of(const size_t *lengths)
{
    unsigned count = 0;
    for (; lengths[count] != 0; count++) {
        memset(memory[count], (int)count + 1, sizeof memory[count]);
        vectors[count] = (struct iovec){memory[count], lengths[count]};
    }
    return count;
}

static void lines_up(const size_t *lengths, bool runs, const unsigned *expected)
{
    static struct run_outbox out;
    unsigned count = frames_of(lengths);
    unsigned messages = run_line_up(&out, vectors, count, runs);
    unsigned frames = 0;
    for (unsigned i = 0; i < messages; i++) {
        const struct msghdr *m = &out.messages[i].head;
        ck_assert_uint_eq(out.frames[i], expected[i]);
        ck_assert_uint_eq(m->msg_iovlen, expected[i]);
        ck_assert_ptr_eq(m->msg_iov, &vectors[frames]);
        ck_assert((m->msg_control != NULL) == (expected[i] > 1));
        frames += expected[i];
        ck_assert_uint_eq(run_frames(&out, i + 1), frames);
    }
    ck_assert_uint_eq(expected[messages], 0);
    ck_assert_uint_eq(frames, count);
}

START_TEST(runs_end_where_lengths_differ)
{
    lines_up((size_t[]){100, 0}, true, (unsigned[]){1, 0});
    lines_up((size_t[]){100, 100, 100, 0}, true, (unsigned[]){3, 0});
    lines_up((size_t[]){100, 100, 100, 0}, false, (unsigned[]){1, 1, 1, 0});
    lines_up((size_t[]){100, 99, 99, 100, 100, 1, 0}, true, (unsigned[]){1, 2, 2, 1, 0});
}
END_TEST

START_TEST(runs_are_no_longer_than_a_datagram_may_be)
{
    size_t lengths[SHIM_BATCH + 1] = {0};
    for (unsigned i = 0; i < SHIM_BATCH; i++) {
        lengths[i] = 4000;
    }
    lines_up(lengths, true, (unsigned[]){16, 16, 0});
}
END_TEST

static int bound(uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(fd, (const struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

static void joined(int fd, uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    ck_assert_int_eq(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
}

/* Sends them, and takes them one by one, however many come in a message. */
static unsigned there_and_back(const size_t *lengths, bool gathers)
{
    static struct run_outbox out;
    struct run_inbox in;
    int one = 1, from = bound(7001), to = bound(7002);
    joined(from, 7002);
    ck_assert(!gathers || setsockopt(to, IPPROTO_UDP, UDP_GRO, &one, sizeof one) == 0);
    ck_assert_int_eq(run_inbox_open(&in), 0);
    ck_assert_int_eq(run_receive(&in, to), -EAGAIN);
    ck_assert(!run_is_left(&in));
    unsigned count = frames_of(lengths), messages = run_line_up(&out, vectors, count, true);
    ck_assert_int_eq(run_send(&out, from, messages), (int)messages);
    unsigned taken = 0, received = 0;
    while (taken < count) {
        int rc = run_receive(&in, to);
        ck_assert_int_gt(rc, 0);
        received += (unsigned)rc;
        while (run_is_left(&in)) {
            uint32_t length;
            const uint8_t *bytes = run_take(&in, &length);
            ck_assert_uint_eq(length, lengths[taken]);
            ck_assert_int_eq(memcmp(bytes, memory[taken], length), 0);
            taken++;
        }
    }
    ck_assert_int_eq(run_receive(&in, to), -EAGAIN);
    run_inbox_close(&in);
    close(from);
    close(to);
    return received;
}

START_TEST(datagrams_are_what_they_were)
{
    const size_t lengths[] = {1400, 1400, 1400, 1400, 7, 7, 1400, 1399, 1, 3000, 3000, 0};
    netns_enter();
    ck_assert_uint_eq(there_and_back(lengths, false), 11); /* who gathers none gets each by itself */
    ck_assert_uint_eq(there_and_back(lengths, true), 6);
}
END_TEST

START_TEST(an_empty_datagram_is_one)
{
    struct run_inbox in;
    uint32_t length = 1;
    int one = 1;
    netns_enter();
    int from = bound(7001), to = bound(7002);
    joined(from, 7002);
    ck_assert_int_eq(setsockopt(to, IPPROTO_UDP, UDP_GRO, &one, sizeof one), 0);
    ck_assert_int_eq(run_inbox_open(&in), 0);
    ck_assert_int_eq((int)send(from, "", 0, 0), 0);
    ck_assert_int_eq((int)send(from, "x", 1, 0), 1);
    ck_assert_int_eq(run_receive(&in, to), 2);
    run_take(&in, &length);
    ck_assert_uint_eq(length, 0);
    ck_assert_int_eq(*run_take(&in, &length), 'x');
    ck_assert_uint_eq(length, 1);
    ck_assert(!run_is_left(&in));
    run_inbox_close(&in);
    run_inbox_close(&(struct run_inbox){.count = 0});
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(runs_end_where_lengths_differ),
    SUITE_TEST(runs_are_no_longer_than_a_datagram_may_be),
    SUITE_TEST(datagrams_are_what_they_were),
    SUITE_TEST(an_empty_datagram_is_one),
};

int main(void)
{
    if (!netns_can()) {
        return SUITE_SKIP;
    }
    return suite_run("run", tests, sizeof tests / sizeof *tests);
}
