/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml.h - XML that is written: elements with text in them. What a reader could take for markup is escaped, and so is
 * what XML has no place for (control characters), as S3 does it: "&#x1;". Bytes are UTF-8, which is the caller's.
 *
 *     s3_xml_begin(&out);
 *     s3_xml_open(&out, "Error");
 *     s3_xml_text(&out, "Code", code, strlen(code));
 *     s3_xml_close(&out, "Error");
 */
#ifndef SERVICES_S3_PROTOCOL_XML_H
#define SERVICES_S3_PROTOCOL_XML_H

#include "services/s3/protocol/buffer.h"

#define S3_XML_SPACE "http://s3.amazonaws.com/doc/2006-03-01/"

void s3_xml_begin(struct s3_buffer *out);
void s3_xml_open(struct s3_buffer *out, const char *name);
/* The outermost element of an answer of S3, with its name space. */
void s3_xml_open_root(struct s3_buffer *out, const char *name);
void s3_xml_close(struct s3_buffer *out, const char *name);
void s3_xml_text(struct s3_buffer *out, const char *name, const char *bytes, size_t length);
void s3_xml_word(struct s3_buffer *out, const char *name, const char *text);
void s3_xml_number(struct s3_buffer *out, const char *name, uint64_t number);
void s3_xml_bool(struct s3_buffer *out, const char *name, bool yes);
void s3_xml_escape(struct s3_buffer *out, const char *bytes, size_t length);

#endif
