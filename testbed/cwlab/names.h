/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - names for the servers of a lab with a tunnel: 1-0-2.cube, and s11.cube for the server with number 11.
 *
 * `cwlab exec` and `cwlab shell` show programs an /etc/hosts of their own: that of the machine, and behind it the
 * addresses of all servers by these names, as `cwctl hosts` writes them. The machine's file is not touched.
 */
#ifndef TESTBED_CWLAB_NAMES_H
#define TESTBED_CWLAB_NAMES_H

#include "testbed/lab.h"

/* Writes the names of all servers of the lab. */
void names_write(const struct lab *lab, FILE *out);

/*
 * Puts such a file over /etc/hosts, for this process and its children: in a mount namespace of its own. Names of other
 * labs, and those that cwctl hosts --write has put there, are left out: labs have the same names. -errno: programs then
 * know addresses and not these names; this process may be in a mount namespace of its own by then, and what others see
 * has not changed. -EINVAL: the root of this process is no mount point, as in a chroot. Where /etc/hosts has exactly
 * the names of this lab already, by cwctl hosts --write, that is as good, and 0; -ESTALE: such names are there, and
 * lead to servers of another torus.
 */
CW_MUST_CHECK int names_lend(const struct lab *lab);

#endif
