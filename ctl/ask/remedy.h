/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remedy.h - what to do about a finding of the doctor, written so that it can be typed as it stands: with the server
 * where it is to be typed, and in the words of cwlab where the servers are those of a lab.
 */
#ifndef CTL_ASK_REMEDY_H
#define CTL_ASK_REMEDY_H

#include "ctl/ask/call.h"

enum { REMEDY_TEXT = 640 };

/*
 * Puts "on 1,1,1: " before the remedies that are commands to be typed on one server (the field `where` of a finding
 * says which). Call before diagnose(), which may tell a finding of another server than the one that has seen it.
 */
void remedy_place(struct rows *rows);

/*
 * The same command in a lab, where no machine is to be gone to: "on 1,1,1: systemctl start cubewayd" becomes "cwlab
 * restore 1,1,1". Words that are no such command stay. option: "", or what names the lab ("--name x ").
 */
char *remedy_in_lab(const char *remedy, const char *option, char out[static REMEDY_TEXT]);

/*
 * A sentence with commands of cwctl in it ("..: cwctl job grant a b:1:2"), for whoever talks to that server of a lab:
 * "cwctl" becomes "cwlab ctl SERVER" at the sentence's beginning, and behind ": ", "; ", "(", a quote and " and "; a
 * section of the daemon's configuration that switches a service on becomes what cwlab up calls it. option: as above;
 * NULL: there is no lab, and the sentence stays.
 */
char *remedy_for(const char *option, const char *server, const char *sentence, char out[static REMEDY_TEXT]);
/* The same for the daemon of a client, with the lab that it is in; server: of a daemon that has them all. */
char *remedy_in_sentence(const struct client *daemon, const char *server, const char *sentence,
                         char out[static REMEDY_TEXT]);

/*
 * Does so with all findings. Call after remedy_place() and diagnose(). option: as above; NULL: there is no lab.
 * daemon: the one that was asked, at which commands are typed that may be typed anywhere; lab_of_one_process: all
 * servers of the lab live in one process, in which cwctl itself brings one back.
 */
void remedies_in_lab(struct rows *rows, const char *option, const char *daemon);

#endif
