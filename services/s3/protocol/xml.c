/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/xml.h"

#include <string.h>

void s3_xml_begin(struct s3_buffer *out)
{
    s3_buffer_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
}

void s3_xml_open(struct s3_buffer *out, const char *name)
{
    s3_buffer_text(out, "<");
    s3_buffer_text(out, name);
    s3_buffer_text(out, ">");
}

void s3_xml_open_root(struct s3_buffer *out, const char *name)
{
    s3_buffer_text(out, "<");
    s3_buffer_text(out, name);
    s3_buffer_text(out, " xmlns=\"" S3_XML_SPACE "\">");
}

void s3_xml_close(struct s3_buffer *out, const char *name)
{
    s3_buffer_text(out, "</");
    s3_buffer_text(out, name);
    s3_buffer_text(out, ">");
}

static const char *escaped(char c, char room[static 8])
{
    static const char digits[] = "0123456789ABCDEF";
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    default:
        break;
    }
    if ((uint8_t)c >= ' ' && c != 0x7f) {
        return NULL;
    }
    memcpy(room, "&#x", 3);
    size_t n = 3;
    if ((uint8_t)c >= 16) {
        room[n++] = digits[(uint8_t)c >> 4];
    }
    room[n++] = digits[c & 15];
    room[n++] = ';';
    room[n] = '\0';
    return room;
}

void s3_xml_escape(struct s3_buffer *out, const char *bytes, size_t length)
{
    char room[8];
    size_t plain = 0; /* where those begin that stand for themselves */
    for (size_t i = 0; i < length; i++) {
        const char *text = escaped(bytes[i], room);
        if (text != NULL) {
            s3_buffer_add(out, bytes + plain, i - plain);
            s3_buffer_text(out, text);
            plain = i + 1;
        }
    }
    if (plain < length) {
        s3_buffer_add(out, bytes + plain, length - plain);
    }
}

void s3_xml_text(struct s3_buffer *out, const char *name, const char *bytes, size_t length)
{
    s3_xml_open(out, name);
    s3_xml_escape(out, bytes, length);
    s3_xml_close(out, name);
}

void s3_xml_word(struct s3_buffer *out, const char *name, const char *text)
{
    s3_xml_text(out, name, text, strlen(text));
}

void s3_xml_number(struct s3_buffer *out, const char *name, uint64_t number)
{
    s3_xml_open(out, name);
    s3_buffer_number(out, number);
    s3_xml_close(out, name);
}

void s3_xml_bool(struct s3_buffer *out, const char *name, bool yes)
{
    s3_xml_word(out, name, yes ? "true" : "false");
}
