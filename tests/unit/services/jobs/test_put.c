/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs_town.h"
#include "suite.h"

static int64_t last(const char *name)
{
    return fake_int(&town_result, town_result.rows - 1, name);
}

static void open_town(void)
{
    town_prepare();
    town_open((cw_dims){3, 2, 1});
    town_run(1);
}

START_TEST(put_is_answered_when_all_hold_it)
{
    open_town();
    town_put_room(0, kit_version(TOWN_RESIDENT, 2, town_room), "rows=1", true);
    ck_assert_int_eq(town_result.rc, 0);
    ck_assert_uint_eq(town_result.rows, 7);
    ck_assert_int_eq(last("complete"), 1);
    ck_assert_int_eq(last("acked"), 6);
    ck_assert_int_eq(last("missing") + last("fenced") + last("unkept") + last("absent"), 0);
    ck_assert_int_gt(last("took_ns"), CW_MS(1).ns);
    ck_assert_int_lt(last("took_ns"), CW_MS(5).ns);
    ck_assert_str_eq(fake_text(&town_result, 5, "server"), "2,1,0");
    ck_assert_str_eq(fake_text(&town_result, 5, "state"), "acked");
    ck_assert_int_eq(fake_int(&town_result, 5, "kept"), 1);
    for (cw_server s = 0; s < town.servers; s++) {
        ck_assert_uint_eq(town_decides(s, TOWN_RESIDENT), 2);
    }
    /* Again: who holds it is asked all the same. */
    town_put_room(4, kit_version(TOWN_RESIDENT, 2, town_room), NULL, true);
    ck_assert_int_eq(town_result.rc, 0);
    ck_assert_uint_eq(town_result.rows, 1);
    ck_assert_int_eq(last("acked"), 6);
    ck_assert_uint_eq(town_jobs(4)->put_count, 0);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(nobody_is_waited_for)
{
    open_town();
    town_put_room(0, kit_version(9, 2, town_room), "wait=0", true);
    ck_assert_int_eq(town_result.rc, 0);
    ck_assert_int_eq(last("complete"), 0);
    town_run(5);
    ck_assert_uint_eq(town_item(5, 9)->mark.version, 2);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

/* Acks and records are lost: the silent are asked again. */
START_TEST(over_bad_links)
{
    open_town();
    town.net->lose = 3;
    for (uint64_t v = 2; v < 12; v++) {
        town_put_room(0, kit_version(9, v, town_room), NULL, true);
        ck_assert_int_eq(town_result.rc, 0);
        ck_assert_int_eq(last("complete"), 1);
    }
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(who_is_silent_is_missing_until_it_is_fenced)
{
    open_town();
    cw_svc *silent = town.net->server[5];
    silent->swallow = true;
    town_put_room(0, kit_version(9, 2, town_room), "timeout=400", true);
    ck_assert_int_eq(town_result.rc, -ETIMEDOUT);
    ck_assert_int_eq(last("complete"), 0);
    ck_assert_int_eq(last("missing"), 1);
    ck_assert_str_eq(fake_text(&town_result, 0, "state"), "missing");
    ck_assert_str_eq(fake_text(&town_result, 0, "server"), "2,1,0");
    ck_assert_int_ge(last("took_ns"), CW_MS(400).ns);
    /* It leaves the view: its word is void, and it is waited for until its fence time is over. */
    town_put_room(0, kit_version(9, 3, town_room), NULL, false);
    town_run(20);
    ck_assert(!town_result.done);
    town.net->server[0]->down[5] = true;
    const cw_event event = {.size = sizeof event, .kind = CW_EVENT_SERVER_DOWN, .server = {2, 1, 0}};
    jobs_service.on_event(town.net->server[0], town.net->server[0]->state, &event);
    town_run(60);
    ck_assert(!town_result.done);
    town.at[0].far[5] = true;
    town_run(10);
    ck_assert(town_result.done);
    ck_assert_int_eq(town_result.rc, 0);
    ck_assert_int_eq(last("fenced"), 1);
    ck_assert_int_eq(last("complete"), 1);
    ck_assert_str_eq(fake_text(&town_result, 0, "state"), "fenced");
    /* It was away before the next: nothing is to be said of it. */
    town_put_room(0, kit_version(9, 4, town_room), NULL, true);
    ck_assert_int_eq(last("absent"), 1);
    ck_assert_uint_eq(town_result.rows, 1);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

/* Each of two jobs fits the tables, and both do not: where both live, the later one is shut, and that is said. */
START_TEST(where_there_is_no_room_it_is_closed)
{
    open_town();
    struct kit_job first = {.job = 60, .version = 2, .generation = 1, .processes = 6, .grants = 40};
    struct kit_job second = {.job = TOWN_RESIDENT, .version = 2, .generation = 1, .processes = 6, .grants = 20};
    struct nmu_config small = nmu_config_default();
    small.privileges = 50;
    nmu_close(&town.at[3].nmu);
    ck_assert_int_eq(nmu_open(&town.at[3].nmu, &small), 0);
    ck_assert_int_eq(nmu_reside(&town.at[3].nmu, 0, TOWN_RESIDENT, 3, 0), 0);
    ck_assert_int_eq(nmu_reside(&town.at[3].nmu, 1, 60, 3, 0), 0);
    town_put_room(0, kit_record(&first, KIT_KEY, KIT_CLUSTER, town_room, KIT_RECORD_MAX), NULL, true);
    ck_assert_int_eq(town_result.rc, 0);
    ck_assert_int_eq(last("closed"), 0);
    town_put_room(0, kit_record(&second, KIT_KEY, KIT_CLUSTER, town_room, KIT_RECORD_MAX), NULL, true);
    ck_assert_int_eq(town_result.rc, 0);
    ck_assert_int_eq(last("complete"), 1); /* nobody sends by what was before */
    ck_assert_int_eq(last("closed"), 1);
    ck_assert_uint_eq(town_result.rows, 2);
    ck_assert_str_eq(fake_text(&town_result, 0, "server"), "1,1,0");
    ck_assert_str_eq(fake_text(&town_result, 0, "state"), "acked");
    ck_assert_int_eq(fake_int(&town_result, 0, "closed"), 1);
    ck_assert_uint_eq(town_decides(3, TOWN_RESIDENT), 0);
    ck_assert_uint_eq(town_decides(2, TOWN_RESIDENT), 2);
    /* With less it is open again. */
    second.version = 3;
    second.grants = 5;
    town_put_room(3, kit_record(&second, KIT_KEY, KIT_CLUSTER, town_room, KIT_RECORD_MAX), NULL, true);
    ck_assert_int_eq(last("closed"), 0);
    ck_assert_uint_eq(town_decides(3, TOWN_RESIDENT), 3);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

/* All others are out of reach of a server that is in no view: nobody can be told that they are fenced. */
START_TEST(nothing_is_complete_where_the_others_are_lost)
{
    open_town();
    town.at[0].lost = true;
    for (cw_server s = 1; s < TOWN_SERVERS; s++) {
        town.at[0].far[s] = true;
    }
    town_put_room(0, kit_version(9, 2, town_room), "timeout=100", true);
    ck_assert_int_eq(town_result.rc, -ETIMEDOUT);
    ck_assert_int_eq(last("complete"), 0);
    ck_assert_int_eq(last("missing"), 0);
    ck_assert_int_eq(last("absent"), 5);
    town_put_room(0, kit_version(9, 3, town_room), "timeout=1000", false);
    town_run(50);
    ck_assert(!town_result.done);
    memset(town.at[0].far, 0, sizeof town.at[0].far);
    town.at[0].lost = false; /* it is among them again */
    town_run(200);
    ck_assert(town_result.done);
    ck_assert_int_eq(town_result.rc, 0);
    ck_assert_int_eq(last("complete"), 1);
    ck_assert_int_eq(last("absent"), 0);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

/* Another change wins meanwhile: this one is superseded there, and complete. */
START_TEST(superseded)
{
    open_town();
    struct fake_result first;
    town.net->server[5]->swallow = true;
    town_put_room(0, kit_version(9, 2, town_room), NULL, false);
    town_run(10);
    ck_assert(!town_result.done);
    jobs_take_kept(town_jobs(5), town_room, kit_version(9, 3, town_room));
    town.net->server[5]->swallow = false;
    fake_net_finish(town.net, &town_result);
    first = town_result;
    ck_assert_int_eq(first.rc, 0);
    ck_assert_int_ge(last("superseded"), 1);
    ck_assert_int_eq(last("complete"), 1);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(not_stored_is_said)
{
    town_prepare();
    town.at[3].store_is = -ENOSPC;
    town_open((cw_dims){3, 2, 1});
    town_put_room(0, kit_version(9, 2, town_room), "rows=1", true);
    ck_assert_int_eq(last("complete"), 1);
    ck_assert_int_eq(last("unkept"), 1);
    ck_assert_int_eq(fake_int(&town_result, 3, "kept"), 0);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

static void refused(const struct kit_job *job, int rc)
{
    town_put_room(0, kit_record(job, KIT_KEY, KIT_CLUSTER, town_room, KIT_RECORD_MAX), NULL, true);
    ck_assert_msg(town_result.rc == rc, "gave %d", town_result.rc);
    ck_assert_uint_gt(strlen(fake_text(&town_result, 0, "error")), 10);
}

START_TEST(what_an_operator_may_not_do)
{
    open_town();
    struct kit_job k = {.job = 9, .version = 5, .generation = 1};
    town_put_room(0, kit_record(&k, KIT_KEY, KIT_CLUSTER, town_room, KIT_RECORD_MAX), NULL, true);
    ck_assert_int_eq(town_result.rc, 0);
    k.version = 4;
    refused(&k, -ESTALE);
    k.version = 5;
    k.processes = 3;
    refused(&k, -EEXIST);
    k.version = 6;
    k.generation = 2;
    refused(&k, -ESTALE); /* the first lives */
    k.generation = 1;
    k.destroyed = true;
    town_put_room(0, kit_record(&k, KIT_KEY, KIT_CLUSTER, town_room, KIT_RECORD_MAX), NULL, true);
    ck_assert_int_eq(town_result.rc, 0);
    k.version = 7;
    k.destroyed = false;
    refused(&k, -ESTALE);
    k.generation = 2;
    k.version = 6;
    refused(&k, -ESTALE);
    k.version = 7;
    town_put_room(0, kit_record(&k, KIT_KEY, KIT_CLUSTER, town_room, KIT_RECORD_MAX), NULL, true);
    ck_assert_int_eq(town_result.rc, 0);
    k.job = JOBS_JOB;
    refused(&k, -EINVAL);
    k.job = 11;
    k.grants = nmu_config_default().jobs;
    refused(&k, -ENOSPC); /* all would hold it, and the job could do nothing */
    ck_assert_ptr_nonnull(strstr(fake_text(&town_result, 0, "error"), "larger than a server's tables"));
    k.grants--;
    town_put_room(0, kit_record(&k, KIT_KEY, KIT_CLUSTER, town_room, KIT_RECORD_MAX), NULL, true);
    ck_assert_int_eq(town_result.rc, 0);
    k.grants = 0;
    k.job = 10;
    town_put_room(0, kit_record(&k, KIT_KEY + 1, KIT_CLUSTER, town_room, KIT_RECORD_MAX), NULL, true);
    ck_assert_int_eq(town_result.rc, -EBADMSG);
    ck_assert_ptr_nonnull(strstr(fake_text(&town_result, 0, "error"), "did not sign"));
    ck_assert_uint_eq(town_jobs(0)->put_count, 0);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

/* Two who did not know of one another, within the time of a signature: one is told that the other was faster. */
START_TEST(two_at_once)
{
    open_town();
    static struct fake_result first;
    char text[1024];
    struct kit_job k = {.job = 9, .version = 5, .generation = 1};
    base64_encode(town_room, kit_record(&k, KIT_KEY, KIT_CLUSTER, town_room, KIT_RECORD_MAX), text);
    const char *const words[] = {"put", text};
    cw_svc *s = town.net->server[0];
    fake_result_init(&first);
    ck_assert_int_eq(jobs_service.on_command(s, s->state, (cw_request *)&first, 2, words), 1);
    k.processes = 3;
    town_put_room(0, kit_record(&k, KIT_KEY, KIT_CLUSTER, town_room, KIT_RECORD_MAX), NULL, true);
    fake_net_finish(town.net, &first);
    ck_assert_int_eq(first.rc, 0);
    ck_assert(town_result.rc == -EEXIST || town_result.rc == -ESTALE);
    ck_assert_int_eq(fake_int(&first, first.rows - 1, "superseded"), 0);
    struct job_record held;
    const struct records_item *item = town_item(3, 9);
    ck_assert_int_eq(job_record_decode(item->blob->bytes, item->blob->size - JOBS_SIGNATURE_BYTES, &held), WIRE_OK);
    ck_assert_uint_eq(held.ranges, 0);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

/* What was held when the put was made is another record now: whatever its version, it may not be replaced unseen. */
START_TEST(made_from_another_record)
{
    open_town();
    char none[] = "base=none", base[32];
    town_put_room(0, kit_version(9, 1, town_room), none, true);
    ck_assert_int_eq(town_result.rc, 0);
    snprintf(base, sizeof base, "base=%016llx", (unsigned long long)town_item(0, 9)->mark.digest);
    town_put_room(0, kit_version(9, 2, town_room), none, true);
    ck_assert_int_eq(town_result.rc, -EEXIST);
    town_put_room(0, kit_version(9, 2, town_room), base, true);
    ck_assert_int_eq(town_result.rc, 0);
    ck_assert_int_eq(last("superseded"), 0);
    town_put_room(0, kit_version(9, 3, town_room), base, true);
    ck_assert_int_eq(town_result.rc, -EEXIST);
    ck_assert_ptr_nonnull(strstr(fake_text(&town_result, 0, "error"), "another change of the job came first"));
    town_put_room(0, kit_version(10, 1, town_room), base, true);
    ck_assert_int_eq(town_result.rc, -EEXIST); /* there is no record of it at all */
    town_put_room(0, kit_version(9, 2, town_room), base, true);
    ck_assert_int_eq(town_result.rc, 0); /* it is held: whether all have it is asked */
    /* It is replaced while the signature of what was made from it is checked. */
    snprintf(base, sizeof base, "base=%016llx", (unsigned long long)town_item(0, 9)->mark.digest);
    size_t size = kit_version(9, 4, town_room);
    town_put_room(0, size, base, false);
    ck_assert(!town_result.done);
    static uint8_t other[KIT_RECORD_MAX];
    jobs_take_kept(town_jobs(0), other, kit_version(9, 3, other));
    fake_net_finish(town.net, &town_result);
    ck_assert_int_eq(town_result.rc, -EEXIST);
    ck_assert_uint_eq(town_item(0, 9)->mark.version, 3);
    for (unsigned i = 0; i < 3; i++) {
        static const char *const bad[] = {"base=12", "base=0123456789ABCDEF", "base=no"};
        town_put_room(0, size, bad[i], true);
        ck_assert_int_eq(town_result.rc, -EINVAL);
    }
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

static void begin_put(cw_server at, size_t size, struct fake_result *result)
{
    char text[1024];
    base64_encode(town_room, size, text);
    const char *const words[] = {"put", text};
    cw_svc *s = town.net->server[at];
    fake_result_init(result);
    ck_assert_int_eq(jobs_service.on_command(s, s->state, (cw_request *)result, 2, words), 1);
}

/*
 * Two make the same version at two servers, over and over: each round one is told that it holds everywhere, and the
 * other that it was superseded; soon, and also of the server that it was put at.
 */
START_TEST(two_at_two_servers)
{
    open_town();
    static struct fake_result at[2];
    for (uint64_t v = 2; v < 40; v++) {
        for (unsigned i = 0; i < 2; i++) {
            const struct kit_job k = {.job = 9, .version = v, .generation = 1, .processes = 1 + i};
            begin_put(i == 0 ? 0 : 5, kit_record(&k, KIT_KEY, KIT_CLUSTER, town_room, KIT_RECORD_MAX), &at[i]);
        }
        town_run(60);
        unsigned told = 0;
        for (unsigned i = 0; i < 2; i++) {
            ck_assert(at[i].done);
            ck_assert_int_eq(at[i].rc, 0);
            told += fake_int(&at[i], at[i].rows - 1, "superseded") == 0;
        }
        ck_assert_uint_eq(told, 1);
    }
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

/* The next version is put at the same server before the first is stored there: both are answered, and soon. */
START_TEST(replaced_where_it_was_put)
{
    open_town();
    static struct fake_result first;
    begin_put(0, kit_version(9, 2, town_room), &first);
    while (town_item(0, 9) == NULL) {
        fake_net_run(town.net, CW_US(50));
    }
    ck_assert(!town_item(0, 9)->tried);
    town_put_room(0, kit_version(9, 3, town_room), NULL, true);
    ck_assert_int_eq(town_result.rc, 0);
    ck_assert_int_eq(last("superseded"), 0);
    town_run(60);
    ck_assert(first.done);
    ck_assert_int_eq(first.rc, 0);
    ck_assert_int_ge(fake_int(&first, first.rows - 1, "superseded"), 1);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(bad_words)
{
    static const char *const lines[] = {"put",  "put AAAA", "put A",       "put AAAA x=1", "put AAAA wait=2",
                                        "more", "more 0",   "more x AAAA", "more 0 A",     "more 4 AAAA"};
    open_town();
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) {
        town_line(0, lines[i]);
        ck_assert_msg(town_result.rc == -EINVAL, "%s", lines[i]);
        ck_assert_uint_gt(strlen(fake_text(&town_result, 0, "error")), 10);
    }
    memset(town_room, 0, sizeof town_room);
    town_put_room(0, RECORDS_RECORD_MAX, NULL, true);
    ck_assert_int_eq(town_result.rc, -EINVAL);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(so_many_at_a_time_and_closed)
{
    open_town();
    for (cw_server s = 1; s < town.servers; s++) {
        town.net->server[s]->swallow = true;
    }
    static struct fake_result results[JOBS_CHANGES];
    for (cw_job i = 0; i < JOBS_CHANGES; i++) {
        char text[1024];
        size_t size = kit_version(100 + i, 1, town_room);
        base64_encode(town_room, size, text);
        const char *const words[] = {"put", text};
        fake_result_init(&results[i]);
        cw_svc *s = town.net->server[0];
        ck_assert_int_eq(jobs_service.on_command(s, s->state, (cw_request *)&results[i], 2, words), 1);
    }
    town_put_room(0, kit_version(9, 1, town_room), NULL, false);
    ck_assert_int_eq(town_result.rc, -EBUSY);
    town_run(10);
    ck_assert_uint_eq(town_close(), 0);
    for (unsigned i = 0; i < JOBS_CHANGES; i++) {
        ck_assert(results[i].done);
        ck_assert_int_eq(results[i].rc, -ECANCELED);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(put_is_answered_when_all_hold_it),
    SUITE_TEST(nobody_is_waited_for),
    SUITE_TEST(over_bad_links),
    SUITE_TEST(who_is_silent_is_missing_until_it_is_fenced),
    SUITE_TEST(superseded),
    SUITE_TEST(not_stored_is_said),
    SUITE_TEST(what_an_operator_may_not_do),
    SUITE_TEST(two_at_once),
    SUITE_TEST(nothing_is_complete_where_the_others_are_lost),
    SUITE_TEST(where_there_is_no_room_it_is_closed),
    SUITE_TEST(made_from_another_record),
    SUITE_TEST(two_at_two_servers),
    SUITE_TEST(replaced_where_it_was_put),
    SUITE_TEST(bad_words),
    SUITE_TEST(so_many_at_a_time_and_closed),
};
SUITE_MAIN("put", tests)
