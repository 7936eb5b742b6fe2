/* SPDX-License-Identifier: Apache-2.0 */
/* address.h - the text of an address and a port, both in numbers: nothing here asks a name server. */
#ifndef SHIM_ADDRESS_H
#define SHIM_ADDRESS_H

#include "cubeway/types.h"

#include <sys/socket.h>

/*
 * "10.0.0.1:7001", "[fd00::1]:7001", "[fe80::1%eth0]:7001"; the port is 1..65535. Returns the length of *out, or
 * -EINVAL.
 */
CW_MUST_CHECK int address_parse(const char *text, struct sockaddr_storage *out);

#endif
