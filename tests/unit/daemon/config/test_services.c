/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of services and of networks, and where their options stand in the file. */
#include "daemon_said.h"
#include "suite.h"

#define TORUS "torus { dims = 3x3x3; coordinate = '0,1,2' }\n"

static struct daemon_config c;
static struct said said;

static void read_all(const char *text)
{
    ck_assert_msg(try_config(text, &c, &said) == 0, "%s", said.text[0]);
}

START_TEST(networks)
{
    read_all(TORUS
             "network ip { mtu = 1500 }\n"
             "network blue { job = 5003; subnet = 10.80.0.0/12; weight = 7; gateway { servers = '0 3'; for = ::/0 } }");
    ck_assert_uint_eq(c.service_count, 2);
    const struct config_service *ip = &c.service[0], *blue = &c.service[1];
    ck_assert(ip->network && ip->job == 0 && ip->options == 1 && ip->policy.queue_packets > 0);
    ck_assert(blue->network && blue->job == 5003 && blue->policy.weight == 7 && blue->enabled);
    ck_assert_str_eq(config_service_option(ip, "mtu"), "1500");
    ck_assert_ptr_null(config_service_option(ip, "device"));
    ck_assert_str_eq(config_service_option(blue, "subnet"), "10.80.0.0/12");
    ck_assert_str_eq(config_service_option(blue, "gateway_servers"), "0 3");
    ck_assert_str_eq(config_service_option(blue, "gateway_for"), "::/0");
    ck_assert_str_eq(config_service_option(blue, "device"), "cw-blue"); /* unless it is given */
    read_all(TORUS "network blue { job = 5003; device = b0 }");
    ck_assert_str_eq(config_service_option(&c.service[0], "device"), "b0");
}
END_TEST

START_TEST(keys_of_options)
{
    char key[CONFIG_KEY];
    read_all(TORUS
             "network blue { job = 5003; mtu = 1500; gateway { servers = 0 } } service ip { options { mtu = 1500 } }");
    const struct config_service *blue = &c.service[0], *ip = &c.service[1];
    ck_assert_str_eq(config_service_key(blue, NULL, key), "network \"blue\"");
    ck_assert_str_eq(config_service_key(blue, "mtu", key), "network \"blue\".mtu");
    ck_assert_str_eq(config_service_key(blue, "gateway_servers", key), "network \"blue\".gateway.servers");
    ck_assert_str_eq(config_service_key(blue, "subnet", key), "network \"blue\""); /* it is not given */
    ck_assert_str_eq(config_service_key(ip, "mtu", key), "service \"ip\".options.mtu");
    ck_assert_str_eq(config_service_key(ip, "subnet", key), "service \"ip\"");
}
END_TEST

START_TEST(what_is_wrong)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"network = 3", "c:2: network: expected a section"},
        {"network { job = 5003 }", "c:2: network: this section needs a name"},
        {"network blue { job = 5003; job = 5004 }", "c:2: network \"blue\".job: it was given before, in line 2"},
        {"network blue { job = x }", "c:2: network \"blue\".job: 'x': expected a whole number"},
        {"network blue { job = 5003; gateway = 0 }", "c:2: network \"blue\".gateway: expected a section"},
        {"network blue { job = 5003; subnets { } }", "c:2: network \"blue\".subnets: expected name = value"},
        {"service ping { speed = 3 }", "c:2: service \"ping\".speed: no such key of a service: an option"},
        {"service ping { option { } }",
         "c:2: service \"ping\".option: no such key of a service; did you mean options?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, TORUS "%s", cases[i].text);
        ck_assert_int_eq(try_config(text, &c, &said), -EINVAL);
        ck_assert_msg(strncmp(said.text[0], cases[i].says, strlen(cases[i].says)) == 0, "%s", said.text[0]);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(networks), SUITE_TEST(keys_of_options), SUITE_TEST(what_is_wrong)};
SUITE_MAIN("config_services", tests)
