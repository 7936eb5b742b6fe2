/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/xml.h"

#include "suite.h"

START_TEST(elements_and_escapes)
{
    struct s3_buffer b = {0};
    s3_xml_begin(&b);
    s3_xml_open_root(&b, "Root");
    s3_xml_word(&b, "A", "a<b>&\"c\"\r\n\x01\x7f\xc3\xa4]]>");
    s3_xml_text(&b, "B", "", 0);
    s3_xml_number(&b, "N", 1234567890123);
    s3_xml_bool(&b, "T", true);
    s3_xml_bool(&b, "F", false);
    s3_xml_close(&b, "Root");
    ck_assert_str_eq(b.bytes, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                              "<Root xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                              "<A>a&lt;b&gt;&amp;&quot;c&quot;&#xD;&#xA;&#x1;&#x7F;\xc3\xa4]]&gt;</A><B></B>"
                              "<N>1234567890123</N><T>true</T><F>false</F></Root>");
    s3_buffer_drop(&b);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(elements_and_escapes)};
SUITE_MAIN("xml", tests)
