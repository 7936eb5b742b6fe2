/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netns.h - network namespaces and interfaces for tests, by netlink. A namespace has no name: it ends with the process
 * that entered it, whatever ends that process. Works as root, and as an ordinary user where user namespaces can be had.
 *
 * A step that fails prints what and why on standard error and ends the process: tests run in children of their own.
 */
#ifndef KIT_NETNS_H
#define KIT_NETNS_H

#include <stdbool.h>
#include <stdint.h>

/* True when namespaces may be made here. Tries it in a child process, and prints why not. */
bool netns_can(void);

/* Puts the process into a new, empty namespace, whose loopback is up. */
void netns_enter(void);

/* A descriptor of the namespace that the process is in; and the function that goes back to it. */
int netns_here(void);
void netns_go(int ns);

/* A pair of interfaces, both up, with indexes that differ; b is made in namespace ns (-1: here). */
void netns_veth(const char *a, const char *b, uint32_t mtu, int ns);
void netns_up(const char *name, bool up);
void netns_mtu(const char *name, uint32_t mtu);
void netns_rename(const char *name, const char *to);
void netns_delete(const char *name);
void netns_promiscuous(const char *name, bool on);
/* Gives the interface an address, such as "10.1.0.1" with 24 bits of prefix. */
void netns_address(const char *name, const char *address, unsigned prefix);
/* A route that leads nowhere: to what is refused without a word. */
void netns_blackhole(const char *to, unsigned prefix);
/* Shapes what leaves by the interface; more than limit bytes in its queue are dropped. */
void netns_tbf(const char *name, uint64_t bits_per_second, uint32_t burst, uint32_t limit);

#endif
