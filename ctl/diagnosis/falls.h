/* SPDX-License-Identifier: Apache-2.0 */
/* falls.h - links that went down so seldom that nobody has a finding of it: one note of them all. */
#ifndef CTL_DIAGNOSIS_FALLS_H
#define CTL_DIAGNOSIS_FALLS_H

#include "ctl/ask/call.h"

/*
 * Reads the rows of part "fell" of several servers, and adds one finding, a note of cause "fell-once", with the links
 * that fell for no reason that another finding has: how often, and how long ago last. A cable of which both ends tell
 * is told once, and one whose other end has switched its interface off and on (part "switched") not at all. When only
 * one server was asked, nothing is added.
 */
void diagnose_falls(struct rows *rows);

#endif
