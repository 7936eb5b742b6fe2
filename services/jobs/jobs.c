/* SPDX-License-Identifier: Apache-2.0 */
#include "services/jobs/jobs_internal.h"

#include "services/reply/refuse.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Packets ----------------------------------------------------------------------------------------------------- */

/* True when the packet is the service's now. */
static bool heard(struct jobs *j, cw_packet *p, const cw_rx *rx, const struct jobs_frame *frame)
{
    cw_server from = rx->src_process;
    switch (frame->kind) {
    case JOBS_RECORD: {
        const struct jobs_taking taking = {
            .packet = p,
            .bytes = frame->rest,
            .size = frame->rest_size,
            .from = from,
            .origin = frame->origin,
            .ticket = frame->ticket,
        };
        return jobs_take(j, &taking) == 1;
    }
    case JOBS_OFFER: {
        const struct jobs_want want = {frame->mark, from, frame->origin, frame->ticket};
        jobs_want(j, &want);
        return false;
    }
    case JOBS_ACK:
        jobs_put_ack(j, from, frame->ticket, &frame->mark,
                     (frame->flag ? CHANGE_KEPT : 0u) | (frame->closed ? CHANGE_CLOSED : 0u));
        return false;
    case JOBS_HELLO:
        jobs_heard_hello(j, from, frame);
        return false;
    case JOBS_SUMMARY:
        jobs_heard_summary(j, from, frame);
        return false;
    default:
        break;
    }
    if (rx->call != 0 && frame->kind == JOBS_FETCH) {
        jobs_give_part(j, rx->call, p, frame);
    } else if (rx->call != 0 && frame->kind == JOBS_ASK) {
        jobs_say(j, rx->call, p, frame);
    } else if (rx->call != 0 && frame->kind == JOBS_AUDIT) {
        jobs_give_rows(j, rx->call, p, frame);
    } else {
        jobs_count(j, JOBS_COUNT_MALFORMED);
        return false;
    }
    return true;
}

static cw_verdict jobs_on_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    struct jobs *j = state;
    struct jobs_frame frame;
    size_t size;
    const uint8_t *bytes = cw_packet_data(p, &size);
    if (rx->src_job != JOBS_JOB || rx->src_process >= j->servers) {
        jobs_count(j, JOBS_COUNT_STRANGERS);
        return CW_DROP;
    }
    enum jobs_fault fault = jobs_decode(bytes, size, j->cluster, &frame);
    if (fault != JOBS_GOOD) {
        jobs_count(j, fault == JOBS_FOREIGN ? JOBS_COUNT_FOREIGN : JOBS_COUNT_MALFORMED);
        return CW_DROP;
    }
    return heard(j, p, rx, &frame) ? CW_TAKE : CW_FORWARD;
}

static void jobs_on_event(cw_svc *s, void *state, const cw_event *ev)
{
    struct jobs *j = state;
    if (ev->kind == CW_EVENT_LINK_UP) {
        jobs_link_up(j, ev->link);
    }
    if (ev->kind == CW_EVENT_SERVER_DOWN) {
        jobs_put_doubt(j, cw_server_id(s, ev->server));
    }
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static int jobs_on_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    (void)s;
    struct jobs *j = state;
    const char *word = argc >= 1 ? argv[0] : "";
    if (argc == 1 && strcmp(word, "list") == 0) {
        return jobs_command_list(j, r);
    }
    if (argc == 1 && strcmp(word, "status") == 0) {
        return jobs_command_status(j, r);
    }
    if (strcmp(word, "show") == 0) {
        return jobs_command_show(j, r, argc - 1, argv + 1);
    }
    if (strcmp(word, "put") == 0) {
        return jobs_command_put(j, r, argc - 1, argv + 1);
    }
    if (strcmp(word, "more") == 0) {
        return jobs_command_more(j, r, argc - 1, argv + 1);
    }
    if (strcmp(word, "explain") == 0) {
        return jobs_command_explain(j, r, argc - 1, argv + 1);
    }
    if (strcmp(word, "audit") == 0) {
        return jobs_command_audit(j, r, argc - 1, argv + 1);
    }
    return refuse_request(r,
                          "commands are list, show JOB, put BASE64, more OFFSET BASE64, status, "
                          "explain SOURCE:PROCESS JOB:PROCESS:PORT, audit; not: '%.60s'",
                          word);
}

/* ---- Opening and closing ----------------------------------------------------------------------------------------- */

/* Where the node finds the records that its NMU needs. */
static const uint8_t *record_of(void *context, cw_job job, size_t *size)
{
    const struct jobs *j = context;
    const struct records_item *item = records_find(&j->records, job);
    if (item == NULL) {
        return NULL;
    }
    *size = item->blob->size - JOBS_SIGNATURE_BYTES;
    return item->blob->bytes;
}

static void load(struct jobs *j)
{
    if (j->host == NULL || j->host->load == NULL) {
        return;
    }
    int rc = j->host->load(j->host->context, jobs_take_kept, j);
    if (rc < 0) {
        char text[128];
        snprintf(text, sizeof text, "not all stored job records could be read (error %d): they are learnt from others",
                 -rc);
        cw_log(j->svc, CW_LOG_ERROR, text);
    }
}

static int jobs_open(cw_svc *s, void *state)
{
    struct jobs *j = state;
    j->svc = s;
    j->self = cw_server_id(s, cw_self(s));
    j->servers = servers_of(cw_torus(s));
    j->desk = cw_find(s, NMU_DESK_NAME, NMU_DESK_VERSION, NULL);
    j->host = cw_find(s, JOBS_HOST_NAME, JOBS_HOST_VERSION, NULL);
    if (j->host != NULL && j->host->size < sizeof *j->host) {
        cw_log(s, CW_LOG_ERROR, "the host's signatures are of an older version: no signed jobs here");
        j->host = NULL;
    }
    j->cluster = j->host != NULL ? j->host->cluster : 0;
    j->fetch.overflow = CW_SERVER_NONE;
    metrics_counters(s, jobs_counts, JOBS_COUNTS, j->counter);
    j->fetch.room = malloc(RECORDS_RECORD_MAX);
    if (j->fetch.room == NULL) {
        return -ENOMEM;
    }
    load(j);
    if (j->desk != NULL) {
        j->source = (struct nmu_source){j, record_of};
        j->desk->source(j->desk->node, &j->source);
    }
    jobs_start_rounds(j);
    return 0;
}

static void jobs_close(cw_svc *s, void *state)
{
    (void)s;
    struct jobs *j = state;
    if (j->desk != NULL) {
        j->desk->source(j->desk->node, NULL);
    }
    jobs_put_close(j);
    jobs_ask_close(j);
    jobs_take_close(j);
    records_close(&j->records);
    free(j->fetch.room);
    free(j->stage);
}

static const cw_command commands[] = {
    {"list", "", "the jobs that are known here"},
    {"show", "JOB [raw=1]", "one job: its ports, processes and privileges, or its record in base64"},
    {"put", "BASE64 [wait=1] [rows=1] [timeout=MS] [base=DIGEST]", "take in a signed record, and tell the others"},
    {"more", "OFFSET BASE64", "a further piece of a record that is too long for one command"},
    {"status", "", "which servers have which records"},
    {"explain", "SOURCE:PROCESS JOB:PROCESS:PORT", "may that packet be sent, and what decides it"},
    {"audit", "", "what the servers refused"},
    {NULL, NULL, NULL},
};

const cw_service jobs_service = {
    CW_SERVICE_INIT,
    .name = "jobs",
    .version = "1.0",
    .job = JOBS_JOB,
    .state_size = sizeof(struct jobs),
    .open = jobs_open,
    .close = jobs_close,
    .on_packet = jobs_on_packet,
    .on_event = jobs_on_event,
    .on_command = jobs_on_command,
    .commands = commands,
};
