/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/address.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <string.h>

enum { HOST_BYTES = 80, PORT_DIGITS = 5 };

/* Splits at the last colon, outside of brackets; an address of six has brackets, one of four has none. */
static bool split(const char *text, char host[static HOST_BYTES], const char **port, int *family)
{
    const char *colon = strrchr(text, ':');
    if (colon == NULL) {
        return false;
    }
    const char *start = text;
    const char *end = colon;
    *family = AF_INET;
    if (*text == '[') {
        *family = AF_INET6;
        start++;
        end--;
    }
    if (end <= start || (*family == AF_INET6 && *end != ']') || end - start >= HOST_BYTES) {
        return false;
    }
    memcpy(host, start, (size_t)(end - start));
    host[end - start] = '\0';
    *port = colon + 1;
    return true;
}

static bool is_port(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    unsigned value = 0;
    if (digits == 0 || digits > PORT_DIGITS || text[digits] != '\0') {
        return false;
    }
    for (size_t i = 0; i < digits; i++) {
        value = 10 * value + (unsigned)(text[i] - '0');
    }
    return 1 <= value && value <= 65535;
}

int address_parse(const char *text, struct sockaddr_storage *out)
{
    char host[HOST_BYTES];
    const char *port;
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *found;
    if (!split(text, host, &port, &hints.ai_family) || !is_port(port) || getaddrinfo(host, port, &hints, &found) != 0) {
        return -EINVAL;
    }
    socklen_t length = found->ai_addrlen;
    *out = (struct sockaddr_storage){0};
    memcpy(out, found->ai_addr, length);
    freeaddrinfo(found);
    return (int)length;
}
