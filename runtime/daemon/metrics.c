/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/metrics.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUEST_BYTES = 8192, PATIENCE_S = 10 };

struct metrics {
    struct evhttp *http;
    struct host *host;
};

static void add_text(void *context, const char *text)
{
    evbuffer_add(context, text, strlen(text));
}

static void give_metrics(struct evhttp_request *request, void *context)
{
    struct metrics *metrics = context;
    struct evbuffer *body = evbuffer_new();
    if (body == NULL) {
        evhttp_send_error(request, HTTP_INTERNAL, NULL);
        return;
    }
    const struct metrics_out out = {add_text, body};
    metrics_write(metrics->host, &out);
    evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type",
                      "application/openmetrics-text; version=1.0.0; charset=utf-8");
    evhttp_send_reply(request, HTTP_OK, "OK", body);
    evbuffer_free(body);
}

static void give_pointer(struct evhttp_request *request, void *context)
{
    (void)context;
    evhttp_send_error(request, HTTP_NOTFOUND, "the numbers are at /metrics");
}

int metrics_open(struct metrics **out, struct host *h, char why[static CONTROL_WHY])
{
    const char *listen = host_config(h)->metrics_listen;
    char address[CONFIG_TEXT];
    uint16_t port;
    *out = NULL;
    if (listen[0] == '\0') {
        return 0;
    }
    if (metrics_address(listen, address, sizeof address, &port) < 0) {
        snprintf(why, CONTROL_WHY, "metrics.listen = \"%s\": expected address:port, as 127.0.0.1:9464", listen);
        return -EINVAL;
    }
    struct metrics *metrics = calloc(1, sizeof *metrics);
    struct evhttp *http = metrics != NULL ? evhttp_new(host_base(h)) : NULL;
    if (http == NULL) {
        free(metrics);
        snprintf(why, CONTROL_WHY, "no metrics: out of memory");
        return -ENOMEM;
    }
    metrics->http = http;
    metrics->host = h;
    evhttp_set_max_headers_size(http, REQUEST_BYTES);
    evhttp_set_max_body_size(http, REQUEST_BYTES);
    evhttp_set_timeout(http, PATIENCE_S);
    evhttp_set_allowed_methods(http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
    evhttp_set_cb(http, "/metrics", give_metrics, metrics);
    evhttp_set_gencb(http, give_pointer, NULL);
    errno = 0;
    if (evhttp_bind_socket_with_handle(http, address[0] != '\0' ? address : "0.0.0.0", port) == NULL) {
        int rc = errno != 0 ? -errno : -EINVAL;
        snprintf(why, CONTROL_WHY, "metrics.listen = \"%s\": %s; choose another address, or leave it out", listen,
                 rc == -EADDRINUSE ? "somebody listens there already" : strerror(-rc));
        metrics_close(metrics);
        return rc;
    }
    *out = metrics;
    return 0;
}

void metrics_close(struct metrics *metrics)
{
    if (metrics != NULL) {
        evhttp_free(metrics->http);
        free(metrics);
    }
}
