/* SPDX-License-Identifier: Apache-2.0 */
#include "services/reply/servers.h"

#include "keyspace/key.h"
#include "keyspace/torus.h"
#include "services/reply/refuse.h"

#include <string.h>

cw_server servers_of(cw_dims dims)
{
    return (cw_server)dims.x * dims.y * dims.z;
}

cw_to to_server(const cw_svc *s, cw_job job, cw_port port, cw_server server)
{
    return (cw_to){
        .kind = CW_TO_SERVER,
        .job = job,
        .port = port,
        .server = cw_server_coord(s, server),
        .process = server,
    };
}

void tell_server(cw_request *r, const char *name, cw_coord server)
{
    char text[TORUS_TEXT];
    torus_format(server, text);
    cw_request_text(r, name, text);
}

void tell_server_id(const cw_svc *s, cw_request *r, const char *name, cw_server server)
{
    if (server >= servers_of(cw_torus(s))) {
        cw_request_text(r, name, "none");
        return;
    }
    tell_server(r, name, cw_server_coord(s, server));
}

int read_server(const cw_svc *s, cw_request *r, const char *word, cw_coord *out)
{
    struct torus t;
    if (torus_init(&t, cw_torus(s)) < 0 || torus_parse(&t, word, strlen(word), out) < 0) {
        return refuse_request(r, "not a server of this torus (x,y,z): '%.80s'", word);
    }
    return 0;
}

cw_key read_key(const cw_svc *s, const char *word)
{
    cw_key key;
    size_t length = strlen(word);
    return key_parse(word, length, &key) < 0 ? cw_key_of(s, word, length) : key;
}
