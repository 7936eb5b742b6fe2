/* SPDX-License-Identifier: Apache-2.0 */
/* test_send.c - from the command to the message, and back to who asked; everything that may be refused on the way. */
#include "fake_engine.h"
#include "services/multicast/file/internal.h"
#include "suite.h"

#include <errno.h>

enum { BYTES = 700000 };
static uint8_t bytes[BYTES];
static struct fake_result r;

static void begin(void)
{
    ck_assert_int_eq(fake_town_begin(NULL), 0);
    for (unsigned i = 0; i < BYTES; i++) {
        bytes[i] = (uint8_t)(i * 3 + (i >> 9));
    }
}

static void end(void)
{
    fake_run(town.s, CW_SEC(1));
    ck_assert_uint_eq(fake_town_end(), 0);
}

static void send(const char *words)
{
    char line[300];
    uint64_t ticket = town.disk.passed == NULL ? fake_files_pass(&town.disk, bytes, BYTES, 0751) : town.disk.ticket;
    snprintf(line, sizeof line, "file-send ticket=%llu %s", (unsigned long long)ticket, words);
    fake_command(town.s, line, &r);
}

static void refused(const char *words, int rc, const char *says)
{
    send(words);
    fake_run(town.s, CW_SEC(1));
    ck_assert_msg(r.done && r.rc == rc, "%s: %d", words, r.rc);
    ck_assert_msg(strstr(fake_text(&r, 0, "error"), says) != NULL, "%s: %s", words, fake_text(&r, 0, "error"));
}

START_TEST(to_some_and_how_it_ended)
{
    uint8_t digest[FILES_DIGEST_BYTES], piece[1000];
    struct file_label label;
    begin();
    send("name=image to 3 5 0");
    fake_run(town.s, CW_MS(50));
    ck_assert(town.engine.sending && !r.done);
    const struct cast_order *o = &town.engine.order;
    ck_assert_uint_eq(o->members[0], 1 << 3 | 1 << 5); /* not the source itself */
    ck_assert(o->ask_first && !o->once && o->bytes == BYTES && o->kind == CAST_FILE);
    ck_assert_int_eq(file_label_decode(o->label, o->label_bytes, &label), 0);
    fake_files_digest(bytes, BYTES, digest);
    ck_assert_mem_eq(label.digest, digest, sizeof digest);
    ck_assert_mem_eq(o->id, digest, sizeof o->id);
    ck_assert_uint_eq(label.mode, 0751);
    ck_assert(!label.keep);
    ck_assert_int_eq(o->from.read(o->from.context, 5000, piece, sizeof piece), -EAGAIN);
    fake_run(town.s, CW_MS(10));
    ck_assert_uint_eq(town.engine.resumed, 1);
    ck_assert_int_eq(o->from.read(o->from.context, 5000, piece, sizeof piece), 0);
    ck_assert_mem_eq(piece, bytes + 5000, sizeof piece);
    town.engine.member[0] = (struct cast_member){.server = 3, .state = CAST_HAS, .took = CW_MS(7)};
    town.engine.member[1] = (struct cast_member){.server = 5, .state = CAST_LOST, .status = -ENOSPC};
    fake_engine_done(0);
    ck_assert(r.done && r.rc == 1);
    ck_assert_str_eq(fake_text(&r, 0, "what"), "sum");
    ck_assert_int_eq(fake_int(&r, 0, "complete"), 1);
    ck_assert_int_eq(fake_int(&r, 0, "failed"), 1);
    ck_assert_int_eq(fake_int(&r, 0, "sent_bytes"), 1000);
    ck_assert_str_eq(fake_text(&r, 1, "state"), "complete");
    ck_assert_str_eq(fake_text(&r, 2, "server"), "0,1,2");
    ck_assert_str_eq(fake_text(&r, 2, "reason"), "its disk is full (cwctl events there names the folder)");
    end();
}
END_TEST

START_TEST(all_of_them)
{
    begin();
    send("name=image mode=600 keep=1 to all");
    fake_run(town.s, CW_MS(50));
    struct file_label label;
    ck_assert_int_eq(file_label_decode(town.engine.order.label, town.engine.order.label_bytes, &label), 0);
    ck_assert_uint_eq(label.mode, 0600);
    ck_assert(label.keep);
    ck_assert_uint_eq(town.engine.session.out.members.count, 26);
    for (unsigned i = 0; i < 26; i++) {
        town.engine.member[i].state = CAST_HAS;
    }
    fake_engine_done(0);
    ck_assert(r.done && r.rc == 0);
    end();
}
END_TEST

START_TEST(what_is_refused)
{
    begin();
    refused("to all", -EINVAL, "file-send ticket=N");
    refused("name=image", -EINVAL, "file-send ticket=N");
    refused("name=a/b to all", -EINVAL, "has a slash");
    refused("name=.a to all", -EINVAL, "begins with a dot");
    refused("name=image mode=888 to all", -EINVAL, "in octal");
    refused("name=image mode=1000 to all", -EINVAL, "in octal");
    refused("name=image colour=3 to all", -EINVAL, "no such option");
    refused("name=image progress=1 to all", -EINVAL, "progress");
    refused("name=image to nowhere", -EINVAL, "not a server");
    refused("name=image to 0", -EINVAL, "no member but this server itself");
    fake_command(town.s, "file-send ticket=77 name=image to all", &r);
    ck_assert(r.done && r.rc == -ENOENT);
    fake_files_fail(&town.disk, "read", 0, -EIO, false);
    refused("name=image to all", -EIO, "image: ");
    town.engine.refuse = -ENETUNREACH;
    refused("name=image to all", -ENETUNREACH, "no member but this server can be reached");
    town.engine.refuse = -EBUSY;
    refused("name=image to all", -EBUSY, "too many messages");
    town.engine.refuse = 0;
    end();
    town.no_host = true;
    ck_assert_int_eq(fake_town_begin(NULL), 0);
    refused("name=image to all", -EOPNOTSUPP, "knows no files");
    end();
    town.no_host = false;
}
END_TEST

START_TEST(twice_at_a_time)
{
    begin();
    send("name=image wait=0 to all");
    ck_assert(r.done && r.rc == 0);
    ck_assert_int_eq(fake_int(&r, 0, "id"), 1);
    fake_run(town.s, CW_MS(50));
    refused("name=image to 3", -EALREADY, "being sent from here already");
    fake_command(town.s, "file-stop 1", &r);
    ck_assert(r.done && r.rc == 0);
    fake_command(town.s, "file-stop 1", &r);
    ck_assert(r.done && r.rc == -ENOENT);
    end();
}
END_TEST

START_TEST(stopped)
{
    struct fake_result s;
    begin();
    send("name=image to all"); /* while it is digested */
    fake_command(town.s, "file-stop 1", &s);
    ck_assert(s.done && s.rc == 0);
    ck_assert(r.done && r.rc == -ECANCELED);
    fake_run(town.s, CW_SEC(1));
    send("name=image to all"); /* while it is sent */
    fake_run(town.s, CW_MS(50));
    fake_command(town.s, "file-stop 2", &s);
    ck_assert(s.done && s.rc == 0);
    ck_assert(r.done && r.rc == 1);
    ck_assert_str_eq(fake_text(&r, 0, "reason"), "stopped");
    fake_command(town.s, "file-stop x", &s);
    ck_assert(s.done && s.rc == -EINVAL);
    end();
}
END_TEST

static void answer_group(int status, const uint8_t *set)
{
    files_members_fn done = town.group;
    ck_assert_ptr_nonnull(done);
    town.group = NULL;
    done(town.group_arg, status, set, 0);
}

/* A group's members are asked for while the file is digested; either may be known first. */
START_TEST(to_a_group)
{
    static const uint8_t set[4] = {1 << 0 | 1 << 3, 1 << 1}, alone[4] = {1};
    for (int late = 0; late < 2; late++) {
        begin();
        send("name=image to g");
        if (late) {
            fake_run(town.s, CW_MS(50));
            ck_assert(!town.engine.sending);
        }
        answer_group(0, set);
        fake_run(town.s, CW_MS(50));
        ck_assert(town.engine.sending);
        ck_assert_uint_eq(town.engine.order.members[0], 1 << 3);
        ck_assert_uint_eq(town.engine.order.members[1], 1 << 1);
        fake_engine_done(0);
        ck_assert(r.done);
        send("name=image to g");
        answer_group(-ENOENT, NULL);
        ck_assert(r.done && r.rc == -ENXIO);
        ck_assert_ptr_nonnull(strstr(fake_text(&r, 0, "error"), "nobody is in a group 'g'"));
        send("name=image to g");
        answer_group(0, alone);
        ck_assert(r.done && r.rc == -EDESTADDRREQ);
        send("name=image to g"); /* stopped, and the service closes */
        struct fake_result s;
        fake_command(town.s, "file-stop 4", &s);
        ck_assert(r.done && r.rc == -ECANCELED && town.group == NULL);
        send("name=image to g");
        ck_assert_uint_eq(fake_town_end(), 0);
        ck_assert_ptr_null(town.group);
    }
    begin();
    fake_command(town.s, "file-send ticket=99 name=image to g", &r);
    ck_assert(r.done && r.rc == -ENOENT && town.group == NULL);
    end();
}
END_TEST

/* The service closes in every state: nothing is left. */
START_TEST(closed_early)
{
    for (int ms = 0; ms < 3; ms++) {
        begin();
        send("name=image to all");
        fake_run(town.s, CW_MS(ms));
        ck_assert_uint_eq(fake_town_end(), 0);
    }
}
END_TEST

START_TEST(too_many)
{
    char words[64];
    begin();
    for (unsigned i = 0; i < FILES_SENDS; i++) {
        snprintf(words, sizeof words, "name=image%u wait=0 to all", i);
        send(words);
        ck_assert(r.done && r.rc == 0);
    }
    refused("name=more to all", -EBUSY, "16 files");
    ck_assert_uint_eq(fake_town_end(), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(to_some_and_how_it_ended),
    SUITE_TEST(all_of_them),
    SUITE_TEST(what_is_refused),
    SUITE_TEST(twice_at_a_time),
    SUITE_TEST(stopped),
    SUITE_TEST(closed_early),
    SUITE_TEST(too_many),
    SUITE_TEST(to_a_group),
};
SUITE_MAIN("file_send", tests)
