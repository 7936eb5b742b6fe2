# SPDX-License-Identifier: Apache-2.0
"""What memcached and our front end are both asked, to compare their answers. Each case is all that one client sends."""

K251 = b"k" * 251
BIG = b"x" * 1048577


def store(value, key=b"a", flags=5):
    """The bytes of a set command with that value."""
    return b"set %s %d 0 %d\r\n%s\r\n" % (key, flags, len(value), value)


ONE = store(b"1")
HI = store(b"hi")

GETS = [
    b"get\r\n", b"get \r\n", b"gets\r\n", b"gat\r\n", b"gat 0\r\n", b"gat x k\r\n", b"gat 10 k\r\n", b"get nope\r\n",
    ONE + b"get a\r\n", ONE + b"get a nope a\r\n", ONE + b"gat 100 a\r\n", ONE + b"gat -1 a\r\nget a\r\n",
    b"get " + K251 + b"\r\n",
    b"get a " + K251 + b" a\r\n", b"get a\n", b"  get  a \r\n", b"get\ta\r\n", b"GET a\r\n",
    b"get " + b"k " * 3000 + b"\r\n",
    b" " * 200 + b"get a\r\n", b"get " + b" ".join(b"%d" % i for i in range(500)) + b"\r\n", b"gats 10 nope\r\n",
    b"get a",
    b"".join(store(b"%d" % i, b"k%d" % i) for i in range(300)) + b"get "
    + b" ".join(b"k%d" % i for i in range(300)) + b"\r\n",
    store(bytes(range(256))) + b"get a\r\n", store(b"") + b"get a\r\n", store(b"x" * 1000000) + b"get a a a a\r\n",
]

WRITES = [
    b"set\r\n", b"set a\r\n", b"set a 0 0\r\n", b"set a 0 0 x\r\n", b"set a 0 0 -1\r\n", b"set a 0 0 3\r\nabcd\r\n",
    b"set a x 0 3\r\nabc\r\n",
    b"set a -1 0 3\r\nabc\r\n", b"set a 0 x 3\r\nabc\r\n", b"set a 0 0 3 foo\r\nabc\r\n",
    b"set a 0 0 3 noreply\r\nabc\r\nget a\r\n",
    b"set a 0 0 3 noreply x\r\nabc\r\nget a\r\n", b"set " + K251 + b" 0 0 3\r\nabc\r\n",
    b"set " + K251 + b" 0 0 3 noreply\r\nabc\r\n",
    b"set a 0 0 2000000000000\r\n", b"set a 0 0 2147483647\r\n",
    ONE + b"set a 0 0 %d\r\n%s\r\nget a\r\n" % (len(BIG), BIG),
    ONE + b"set a 0 0 %d noreply\r\n%s\r\nget a\r\n" % (len(BIG), BIG),
    ONE + b"add a 0 0 %d\r\n%s\r\nget a\r\n" % (len(BIG), BIG),
    b"set a 0 0 3\r\nabcde\r\n", b"set a 0 0 3\r\nab\r\n\r\n", b"set a 0 0 3 noreply\r\nabcde\r\n",
    b"set a 0 0 1\n1\r\n", b"set a 0 0 1\n1\n",
    b"set a  5  0  1\r\n1\r\nget  a \r\n", b"set a 5 0 1 \r\n1\r\nget a\r\n", b"set a 0 0 +1\r\n1\r\n",
    b"set a +1 0 1\r\n1\r\nget a\r\n",
    b"set a 0x1 0 1\r\n1\r\n", b"set a 01 0 01\r\n1\r\nget a\r\n", b"set a 4294967295 0 1\r\n1\r\nget a\r\n",
    b"set a 5 -1 1\r\n1\r\nget a\r\n", b"set a 5 2592001 1\r\n1\r\nget a\r\n", b"set a 5 2592000 1\r\n1\r\nget a\r\n",
    b"set a 5 2000000000 1\r\n1\r\nget a\r\n",
    ONE + b"add a 0 0 1\r\n2\r\nadd b 0 0 1\r\n2\r\nadd b 0 0 1\r\n2\r\n",
    b"replace zz 0 0 1\r\n1\r\n" + ONE + b"replace a 1 0 2\r\n22\r\nget a\r\n",
    b"append zz 0 0 1\r\n1\r\nprepend zz 0 0 1\r\n1\r\n",
    ONE + b"append a 9 9 1\r\ny\r\nprepend a 9 9 1\r\nx\r\nget a\r\n",
    b"cas a 0 0 3\r\nabc\r\n", b"cas a 0 0 3 x\r\nabc\r\n", b"cas nope 0 0 3 1\r\nabc\r\n",
    ONE + b"cas a 0 0 3 1\r\nabc\r\n", b"cas nope 0 0 3 1 noreply\r\nabc\r\n",
    b"set a 0 0 1 " + b"1" * 3000 + b"\r\n1\r\n", b"set a 0 0 5\r\nab",
    b"set " + b"k" * 250 + b" 1 0 1\r\n1\r\nget " + b"k" * 250 + b"\r\n",
    store(b"a\r\nget b\r\n") + b"get a\r\n",
]

OTHERS = [
    b"delete\r\n", b"delete a\r\n", ONE + b"delete a\r\nget a\r\n", b"delete a 0\r\n", b"delete a 1\r\n",
    ONE + b"delete a 0 noreply\r\nget a\r\n",
    ONE + b"delete a noreply\r\nget a\r\n", b"delete a b c d\r\n", b"delete " + K251 + b"\r\n",
    b"delete a noreply 0\r\n",
    b"incr\r\n", b"incr a\r\n", b"incr a x\r\n", b"incr a -1\r\n", b"incr nope 1\r\n", HI + b"incr a 1\r\n",
    store(b"10") + b"incr a 5 noreply\r\ndecr a 1\r\ndecr a 99\r\n",
    store(b"18446744073709551615") + b"incr a 1\r\n", b"incr a 1 2 3 4\r\n", b"incr " + K251 + b" 1\r\n",
    b"incr a 18446744073709551616\r\n", store(b"1") + b"incr a 01\r\nincr a +1\r\n",
    store(b"99") + b"incr a 1\r\nget a\r\n",
    b"touch\r\n", b"touch a\r\n", b"touch a x\r\n", b"touch nope 10\r\n",
    ONE + b"touch a 10\r\ntouch a 10 noreply\r\ntouch a -1\r\nget a\r\n", b"touch a 1 2 3\r\n",
    b"verbosity\r\n", b"verbosity 1\r\n", b"verbosity x\r\n", b"verbosity 1 noreply\r\n", b"verbosity noreply\r\n",
    ONE + b"flush_all\r\nget a\r\n", b"flush_all 0\r\n", b"flush_all noreply\r\n", b"flush_all 0 noreply\r\n",
    b"flush_all x\r\n", b"flush_all 1 2 3\r\n",
    b"quit\r\nget a\r\n", b"quit now\r\n", b"stats foo\r\n", b"stats reset\r\n", b"stats noreply\r\n",
    b"\r\n", b"foo\r\n", b"\0\r\n", b"mop\r\n", b"x" * 3000 + b"\r\n", b"slabs\r\n", b"lru\r\n", b"\n\n\n", b"\r\r\n",
    b"get\r\nget\r\nversionx\r\n",
    b"\xff\xfe\r\n",
    b"POST / HTTP/1.1\r\nHost: localhost:11211\r\nContent-Length: 18\r\n\r\n" + ONE + b"get a\r\n",
    b"GET /a HTTP/1.0\r\n" + ONE, b"nonsense HTTP/\r\nmn\r\n", b"nonsense HTTP\r\nmn\r\n",
    b"HTTP/1.1 nonsense\r\nmn\r\n",
]

METAS = [
    b"mn\r\n", b"mn x\r\n", b"mg\r\n", b"mg nope\r\n", ONE + b"mg a\r\n", ONE + b"mg a v\r\n",
    ONE + b"mg a v f s k O123 q\r\n", ONE + b"mg a vfsk\r\n", b"mg nope v q\r\nmn\r\n",
    b"mg nope v k Oab\r\n", b"mg a !\r\n", b"mg a v v\r\n", ONE + b"mg a v T30\r\n", ONE + b"mg a T-1\r\nmg a v\r\n",
    b"mg a Tx\r\n", b"mg YQ= b v\r\n", b"mg !!! b v\r\n",
    ONE + b"mg YQ== b v\r\n", b"mg " + K251 + b" v\r\n", b"mg " + K251 + b" v q\r\n", b"mg a O" + b"1" * 40 + b"\r\n",
    b"mg a O" + b"1" * 31 + b"\r\n", b"mg a O" + b"1" * 32 + b"\r\n", ONE + b"mg a q\r\n", ONE + b"mg a k\r\n",
    ONE + b"mg a Lx Px v\r\n", ONE + b"mg  a   v\r\n", ONE + b"mg a u v\r\n",
    b"ms\r\n", b"ms b\r\n", b"ms b 2\r\nhi\r\n", b"ms b S2\r\nhi\r\n", b"ms b 2 F7 T0 k O9\r\nhi\r\nmg b v f\r\n",
    b"ms b 2 q\r\nhi\r\nmn\r\n", HI + b"ms a 2 ME\r\nhi\r\n",
    b"ms zz 2 MR\r\nhi\r\n", HI + b"ms a 2 MA\r\n++\r\nmg a v\r\n", HI + b"ms a 2 MP\r\n--\r\nmg a v\r\n",
    b"ms b 2 MX\r\n++\r\nmn\r\n", b"ms b 2 M\r\n++\r\nmn\r\n",
    HI + b"ms a 2 C1\r\n++\r\n", b"ms zzz 2 C1\r\n++\r\n", b"ms b 2 Cx\r\n++\r\nmn\r\n", b"ms b 2 Fx\r\n++\r\nmn\r\n",
    b"ms b 2 Tx\r\n++\r\nmn\r\n", b"ms b x\r\n++\r\nmn\r\n", b"ms b -1\r\n++\r\nmn\r\n",
    b"ms b 2\r\nabc\r\nmn\r\n", b"ms b 2 q\r\nabc\r\nmn\r\n", b"ms b 2 !\r\nab\r\nmn\r\n",
    b"ms " + K251 + b" 2\r\nab\r\nmn\r\n", b"ms b %d\r\n%s\r\nmn\r\n" % (len(BIG), BIG),
    b"ms b %d k O7 q\r\n%s\r\nmn\r\n" % (len(BIG), BIG), b"ms YQ== 2 b k\r\nab\r\nget a\r\n",
    b"ms b 2 b\r\nhi\r\nmn\r\n", b"ms b 2 T-1\r\nhi\r\nmg b v\r\n",
    HI + b"md a\r\nmd a\r\n", HI + b"md a q k O1\r\nmd a q k O1\r\nmd a k O1\r\nmn\r\n", HI + b"md a C1\r\n",
    b"md nope C1\r\n", b"md a Cx\r\n", b"md\r\n", b"md a !\r\n",
    b"ma nope\r\n", store(b"10", b"n") + b"ma n\r\nma n v\r\nma n D5 v\r\nma n MD v\r\nma n M- D100 v\r\nma n MI v k "
                                         b"O3\r\nma n q\r\nma n v q\r\n", b"ma nope q\r\nmn\r\n",
    b"ma new N0 J13 v\r\nma new N0 J13 v\r\n", b"ma new2 J13 v\r\n", b"ma new Mx\r\n", b"ma new Dx\r\n",
    b"ma new D-1\r\n", store(b"1") + b"ma a C1\r\n", HI + b"ma a\r\nma a q\r\nma a v k\r\n", b"ma\r\n", b"ma new !\r\n",
    b"me\r\n", b"me nope\r\n", b"mx a\r\n", b"mgx a\r\n", b"mg\ra\r\n", b"mn\r\r\n",
]

MS1 = b"ms a 1 T100\r\n1\r\n"

# Times, stale values, and values whose reader is to make them anew.
MARKS = [
    b"mg a h l t\r\n", b"mg a N30 t v\r\nmg a t v\r\nmg a h l t v\r\nget a\r\nms a 2\r\nhi\r\nmg a v\r\n",
    b"mg a q N30 t v k O1\r\nmg a q N30 v\r\nmg a s h l t f\r\n", b"mg a N30 T60 t\r\nmg a t\r\nmg b T60 N30 t\r\nmg b "
                                                                  b"t\r\nmg c t N30\r\nmg d t N0\r\nmg d t\r\nmg e "
                                                                  b"N-1\r\nmg e v\r\nmg e N-1 v\r\n",
    b"mg a Nx\r\nmg a N\r\nmg a Rx\r\nmg a R\r\nmg a N30 N30\r\nmg a hh\r\nmg a h1 l1 t1\r\n",
    MS1 + b"mg a R30 t\r\nmg a R200 t\r\nmg a R200 t\r\nmg a t\r\nmg a v\r\nget a\r\n",
    b"ms a 1\r\n1\r\nmg a R30 t\r\nmg a R-1 t\r\nmg a R0\r\n",
    MS1 + b"mg a T10 R30 t\r\n" + MS1 + b"mg a R30 T10 t\r\n" + MS1 + b"mg a t T10\r\nmg a t\r\n",
    b"mg x N10 T30 t h\r\nmg x t N50 t\r\n" + MS1 + b"mg a N10 R200 t\r\nmg y N20 R200 t\r\nmg z R200 N20 t\r\n",
    MS1 + b"md a I\r\nget a\r\nmg a v\r\nmg a v\r\nmg a v t\r\ngat 0 a\r\nmg a v t\r\ntouch a 50\r\nmg a t\r\nappend a "
          b"0 0 1\r\n1\r\nmg a v\r\n",
    MS1 + b"md a I\r\ngat 0 a\r\nmg a v t\r\ntouch a 50\r\nmg a t v\r\nappend a 0 0 1\r\n1\r\nmg a v\r\n",
    MS1 + b"md a I\r\nmg a v\r\nreplace a 0 0 1\r\n2\r\nmg a v t\r\n",
    MS1 + b"md a I T30\r\nmg a t v\r\nmd a I\r\nmg a t v\r\nmd a I k O1\r\nmd a I q\r\nmg a\r\nmd nope I\r\nmd a "
          b"T30\r\nmg a\r\nmd a T10\r\n", MS1 + b"md a I k O1 b\r\nma a b\r\nmd ! b\r\nma ! b\r\nmg ! b\r\n",
    MS1 + b"md a I C99999999999999\r\nmd a IT x\r\nmd a I I\r\nmd a Tx I\r\nmd a T I\r\nmg a t\r\n",
    MS1 + b"ms a 1 I\r\n2\r\nmg a v t\r\nms a 1 I C1 T10\r\n3\r\nmg a v t\r\n",
    b"ms zz 1 I C1\r\n1\r\n" + MS1 + b"ms a 1 I C1 MR\r\n4\r\nmg a v t\r\nms a 1 I C1 f s k O2\r\n4\r\nms a 1 I C1 "
                                     b"T0\r\n5\r\nmg a t v\r\n",
                                     MS1 + b"ms a 1 I C1 MA\r\n3\r\nms a 1 I C1 MP\r\n3\r\nmg a v\r\n",
    b"ma n N30 J5 t v\r\nma n t v T60\r\nma n T70 t v\r\nma n t\r\nma m N0 t\r\nma m Tx\r\nma o T30 N60 t\r\nma o "
    b"t\r\nma z T1 t v k O1\r\nma o tx T\r\n",
    b"ms a 1\r\n1\r\nmg a h l t\r\nmg a h l t\r\nms a 1\r\n1\r\nmg a h\r\nms a 1\r\n1\r\nmg a u\r\nmg a u h\r\nget "
    b"a\r\nmg a h\r\n", b"ms b 1\r\n1\r\ngat 10 b\r\nmg b h t\r\nms c 1\r\n1\r\ntouch c 10\r\nmg c h\r\n",
    b"ms d 1\r\n1\r\nma d\r\nmg d h\r\nms d 1\r\n1\r\nmg d T10\r\nmg d h u\r\nms e 1\r\n1\r\nappend e 0 0 1\r\n1\r\nmg "
    b"e h\r\n", b"mg x N10\r\nmg x u h\r\n" + MS1 + b"md a I\r\nmg a h u\r\nmg a\r\nmd a I\r\nmg a h\r\n",
    b"mg v N30\r\nma v\r\nmg v N30 v\r\nappend v 0 0 1\r\n1\r\nmg v v\r\nincr v 1\r\nmg v v\r\nmg w N30\r\nincr w "
    b"1\r\nadd w 0 0 1\r\n1\r\nmg w v\r\ndelete w\r\nmg w N30\r\nmd w I\r\nmg w v N30\r\nmg w v N30\r\n",
    b"set n 0 0 1\r\n9\r\nmd n I\r\nmg n\r\nincr n 1\r\nmg n v\r\n", b"set n 0 0 1\r\n8\r\nmd n I\r\nincr n 1\r\nmg n "
                                                                     b"v\r\n", b"ms a 1 F5 T100\r\n1\r\nmd a I q\r\nmg "
                                                                               b"a f h k l s t v O77 q\r\nmn\r\n",
                                                                               MS1 + b"mg a t l R\r\nmg a R200 q\r\nmg "
                                                                                     b"a q R200\r\nmd a I\r\nmg a s v "
                                                                                     b"u\r\n mg a\r\n",
    b"ms a 1 T100 I I\r\n1\r\nmn\r\nms a 1 Ix\r\n1\r\nma a tt\r\nma a t t\r\nmd a IC\r\nmd a x\r\n",
    b"flush_all -1\r\nget a\r\n", b"flush_all 1 noreply\r\nmn\r\n", b"flush_all noreply 1\r\nmn\r\n",
    b"flush_all  noreply\r\nmn\r\n",
    b"".join(b"ms a 1 %c\r\n1\r\nmg a %c\r\nma a %c\r\nmd a %c\r\n" % (f, f, f, f) for f in range(33, 127)
             if f not in b"bc"),
    b"".join(b"ms a 1 %c5\r\n1\r\nmg a %c5 k\r\nma a %c5 k\r\nmd a k %c5\r\n" % (f, f, f, f) for f in range(33, 127)
             if f not in b"bcC"),
    b"ms a 1 t h l s f v u k\r\n1\r\nma a h l s f u k\r\nmg a C9 D1 J1 Ma k\r\nmd a t h l s f v u c k\r\n",
    ONE + b"flush_all 100\r\nget a\r\n", ONE + b"flush_all 100 noreply\r\nget a\r\nflush_all\r\nget a\r\n",
]

CASES = GETS + WRITES + OTHERS + METAS + MARKS

# Where our front end answers otherwise on purpose: (case, our answer). docs/services/memcached.md says why.
DIFFERENT = [
    # memcached drops answers to other commands together with this one
    (ONE + b"get a " + K251 + b" a\r\n", b"STORED\r\nCLIENT_ERROR bad command line format\r\n"),
    # memcached loses the highest bit of flags of 33 bits
    (b"set a 4294967296 0 1\r\n1\r\n", b"CLIENT_ERROR bad command line format\r\nERROR\r\n"),
    # in memcached the value stays 3 bytes long
    (store(b"100") + b"decr a 1\r\nget a\r\n", b"STORED\r\n99\r\nVALUE a 5 2\r\n99\r\nEND\r\n"),
    # for memcached a date after 2038 is in the past
    (b"set a 5 4000000000 1\r\n1\r\nget a\r\n", b"STORED\r\nVALUE a 5 1\r\n1\r\nEND\r\n"),
    (b"x" * 3000, b"CLIENT_ERROR line too long\r\n"),  # memcached hangs up without a word
    (b"stats slabs\r\n", b"END\r\n"),
    # get k by the binary protocol, which is spoken there
    (b"\x80\0\0\1" + b"\0" * 7 + b"\1\x0a\x0b\x0c\x0d" + b"\0" * 8 + b"k",
     b"\x81\0\0\0\0\0\0\x81\0\0\0\x45\x0a\x0b\x0c\x0d" + b"\0" * 8
     + b"the binary protocol is not spoken here: use memcached's text protocol"),
    (b"shutdown\r\n", b"ERROR\r\n"),
    (b"cache_memlimit 1\r\n", b"ERROR\r\n"),
]
