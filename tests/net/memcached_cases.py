# SPDX-License-Identifier: Apache-2.0
"""What two memcacheds are asked to compare their answers: each case is what one client sends before it says no more."""

K251 = b"k" * 251
BIG = b"x" * 1048577


def store(value, key=b"a", flags=5):
    """A set of that value."""
    return b"set %s %d 0 %d\r\n%s\r\n" % (key, flags, len(value), value)


ONE = store(b"1")
HI = store(b"hi")

GETS = [
    b"get\r\n", b"get \r\n", b"gets\r\n", b"gat\r\n", b"gat 0\r\n", b"gat x k\r\n", b"gat 10 k\r\n", b"get nope\r\n",
    ONE + b"get a\r\n", ONE + b"get a nope a\r\n", ONE + b"gat 100 a\r\n", ONE + b"gat -1 a\r\nget a\r\n", b"get " + K251 + b"\r\n",
    b"get a " + K251 + b" a\r\n", b"get a\n", b"  get  a \r\n", b"get\ta\r\n", b"GET a\r\n", b"get " + b"k " * 3000 + b"\r\n",
    b" " * 200 + b"get a\r\n", b"get " + b" ".join(b"%d" % i for i in range(500)) + b"\r\n", b"gats 10 nope\r\n", b"get a",
    b"".join(store(b"%d" % i, b"k%d" % i) for i in range(300)) + b"get " + b" ".join(b"k%d" % i for i in range(300)) + b"\r\n",
    store(bytes(range(256))) + b"get a\r\n", store(b"") + b"get a\r\n", store(b"x" * 1000000) + b"get a a a a\r\n",
]

WRITES = [
    b"set\r\n", b"set a\r\n", b"set a 0 0\r\n", b"set a 0 0 x\r\n", b"set a 0 0 -1\r\n", b"set a 0 0 3\r\nabcd\r\n", b"set a x 0 3\r\nabc\r\n",
    b"set a -1 0 3\r\nabc\r\n", b"set a 0 x 3\r\nabc\r\n", b"set a 0 0 3 foo\r\nabc\r\n", b"set a 0 0 3 noreply\r\nabc\r\nget a\r\n",
    b"set a 0 0 3 noreply x\r\nabc\r\nget a\r\n", b"set " + K251 + b" 0 0 3\r\nabc\r\n", b"set " + K251 + b" 0 0 3 noreply\r\nabc\r\n",
    b"set a 0 0 2000000000000\r\n", b"set a 0 0 2147483647\r\n", ONE + b"set a 0 0 %d\r\n%s\r\nget a\r\n" % (len(BIG), BIG),
    ONE + b"set a 0 0 %d noreply\r\n%s\r\nget a\r\n" % (len(BIG), BIG), ONE + b"add a 0 0 %d\r\n%s\r\nget a\r\n" % (len(BIG), BIG),
    b"set a 0 0 3\r\nabcde\r\n", b"set a 0 0 3\r\nab\r\n\r\n", b"set a 0 0 3 noreply\r\nabcde\r\n", b"set a 0 0 1\n1\r\n", b"set a 0 0 1\n1\n",
    b"set a  5  0  1\r\n1\r\nget  a \r\n", b"set a 5 0 1 \r\n1\r\nget a\r\n", b"set a 0 0 +1\r\n1\r\n", b"set a +1 0 1\r\n1\r\nget a\r\n",
    b"set a 0x1 0 1\r\n1\r\n", b"set a 01 0 01\r\n1\r\nget a\r\n", b"set a 4294967295 0 1\r\n1\r\nget a\r\n",
    b"set a 5 -1 1\r\n1\r\nget a\r\n", b"set a 5 2592001 1\r\n1\r\nget a\r\n", b"set a 5 2592000 1\r\n1\r\nget a\r\n", b"set a 5 2000000000 1\r\n1\r\nget a\r\n",
    ONE + b"add a 0 0 1\r\n2\r\nadd b 0 0 1\r\n2\r\nadd b 0 0 1\r\n2\r\n", b"replace zz 0 0 1\r\n1\r\n" + ONE + b"replace a 1 0 2\r\n22\r\nget a\r\n",
    b"append zz 0 0 1\r\n1\r\nprepend zz 0 0 1\r\n1\r\n", ONE + b"append a 9 9 1\r\ny\r\nprepend a 9 9 1\r\nx\r\nget a\r\n",
    b"cas a 0 0 3\r\nabc\r\n", b"cas a 0 0 3 x\r\nabc\r\n", b"cas nope 0 0 3 1\r\nabc\r\n", ONE + b"cas a 0 0 3 1\r\nabc\r\n", b"cas nope 0 0 3 1 noreply\r\nabc\r\n",
    b"set a 0 0 1 " + b"1" * 3000 + b"\r\n1\r\n", b"set a 0 0 5\r\nab", b"set " + b"k" * 250 + b" 1 0 1\r\n1\r\nget " + b"k" * 250 + b"\r\n",
    store(b"a\r\nget b\r\n") + b"get a\r\n",
]

OTHERS = [
    b"delete\r\n", b"delete a\r\n", ONE + b"delete a\r\nget a\r\n", b"delete a 0\r\n", b"delete a 1\r\n", ONE + b"delete a 0 noreply\r\nget a\r\n",
    ONE + b"delete a noreply\r\nget a\r\n", b"delete a b c d\r\n", b"delete " + K251 + b"\r\n", b"delete a noreply 0\r\n",
    b"incr\r\n", b"incr a\r\n", b"incr a x\r\n", b"incr a -1\r\n", b"incr nope 1\r\n", HI + b"incr a 1\r\n", store(b"10") + b"incr a 5 noreply\r\ndecr a 1\r\ndecr a 99\r\n",
    store(b"18446744073709551615") + b"incr a 1\r\n", b"incr a 1 2 3 4\r\n", b"incr " + K251 + b" 1\r\n", b"incr a 18446744073709551616\r\n", store(b"1") + b"incr a 01\r\nincr a +1\r\n",
    store(b"99") + b"incr a 1\r\nget a\r\n",
    b"touch\r\n", b"touch a\r\n", b"touch a x\r\n", b"touch nope 10\r\n", ONE + b"touch a 10\r\ntouch a 10 noreply\r\ntouch a -1\r\nget a\r\n", b"touch a 1 2 3\r\n",
    b"verbosity\r\n", b"verbosity 1\r\n", b"verbosity x\r\n", b"verbosity 1 noreply\r\n", b"verbosity noreply\r\n",
    ONE + b"flush_all\r\nget a\r\n", b"flush_all 0\r\n", b"flush_all noreply\r\n", b"flush_all 0 noreply\r\n", b"flush_all x\r\n", b"flush_all 1 2 3\r\n",
    b"quit\r\nget a\r\n", b"quit now\r\n", b"stats foo\r\n", b"stats reset\r\n", b"stats noreply\r\n",
    b"\r\n", b"foo\r\n", b"\0\r\n", b"mop\r\n", b"x" * 3000 + b"\r\n", b"slabs\r\n", b"lru\r\n", b"\n\n\n", b"\r\r\n", b"get\r\nget\r\nversionx\r\n",
    b"\xff\xfe\r\n",
]

METAS = [
    b"mn\r\n", b"mn x\r\n", b"mg\r\n", b"mg nope\r\n", ONE + b"mg a\r\n", ONE + b"mg a v\r\n", ONE + b"mg a v f s k O123 q\r\n", ONE + b"mg a vfsk\r\n", b"mg nope v q\r\nmn\r\n",
    b"mg nope v k Oab\r\n", b"mg a !\r\n", b"mg a v v\r\n", ONE + b"mg a v T30\r\n", ONE + b"mg a T-1\r\nmg a v\r\n", b"mg a Tx\r\n", b"mg YQ= b v\r\n", b"mg !!! b v\r\n",
    ONE + b"mg YQ== b v\r\n", b"mg " + K251 + b" v\r\n", b"mg " + K251 + b" v q\r\n", b"mg a O" + b"1" * 40 + b"\r\n", b"mg a O" + b"1" * 31 + b"\r\n", b"mg a O" + b"1" * 32 + b"\r\n", ONE + b"mg a q\r\n", ONE + b"mg a k\r\n",
    ONE + b"mg a Lx Px v\r\n", ONE + b"mg  a   v\r\n", ONE + b"mg a u v\r\n",
    b"ms\r\n", b"ms b\r\n", b"ms b 2\r\nhi\r\n", b"ms b S2\r\nhi\r\n", b"ms b 2 F7 T0 k O9\r\nhi\r\nmg b v f\r\n", b"ms b 2 q\r\nhi\r\nmn\r\n", HI + b"ms a 2 ME\r\nhi\r\n",
    b"ms zz 2 MR\r\nhi\r\n", HI + b"ms a 2 MA\r\n++\r\nmg a v\r\n", HI + b"ms a 2 MP\r\n--\r\nmg a v\r\n", b"ms b 2 MX\r\n++\r\nmn\r\n", b"ms b 2 M\r\n++\r\nmn\r\n",
    HI + b"ms a 2 C1\r\n++\r\n", b"ms zzz 2 C1\r\n++\r\n", b"ms b 2 Cx\r\n++\r\nmn\r\n", b"ms b 2 Fx\r\n++\r\nmn\r\n", b"ms b 2 Tx\r\n++\r\nmn\r\n", b"ms b x\r\n++\r\nmn\r\n", b"ms b -1\r\n++\r\nmn\r\n",
    b"ms b 2\r\nabc\r\nmn\r\n", b"ms b 2 q\r\nabc\r\nmn\r\n", b"ms b 2 !\r\nab\r\nmn\r\n", b"ms " + K251 + b" 2\r\nab\r\nmn\r\n", b"ms b %d\r\n%s\r\nmn\r\n" % (len(BIG), BIG),
    b"ms b %d k O7 q\r\n%s\r\nmn\r\n" % (len(BIG), BIG), b"ms YQ== 2 b k\r\nab\r\nget a\r\n", b"ms b 2 b\r\nhi\r\nmn\r\n", b"ms b 2 T-1\r\nhi\r\nmg b v\r\n",
    HI + b"md a\r\nmd a\r\n", HI + b"md a q k O1\r\nmd a q k O1\r\nmd a k O1\r\nmn\r\n", HI + b"md a C1\r\n", b"md nope C1\r\n", b"md a Cx\r\n", b"md\r\n", b"md a !\r\n",
    b"ma nope\r\n", store(b"10", b"n") + b"ma n\r\nma n v\r\nma n D5 v\r\nma n MD v\r\nma n M- D100 v\r\nma n MI v k O3\r\nma n q\r\nma n v q\r\n", b"ma nope q\r\nmn\r\n",
    b"ma new N0 J13 v\r\nma new N0 J13 v\r\n", b"ma new2 J13 v\r\n", b"ma new Mx\r\n", b"ma new Dx\r\n", b"ma new D-1\r\n", store(b"1") + b"ma a C1\r\n", HI + b"ma a\r\nma a q\r\nma a v k\r\n", b"ma\r\n", b"ma new !\r\n",
    b"me\r\n", b"me nope\r\n", b"mx a\r\n", b"mgx a\r\n", b"mg\ra\r\n", b"mn\r\r\n",
]

CASES = GETS + WRITES + OTHERS + METAS

# Where this cache answers otherwise, and means to: (case, its answer). docs/services/memcached.md says why.
DIFFERENT = [
    (ONE + b"get a " + K251 + b" a\r\n", b"STORED\r\nCLIENT_ERROR bad command line format\r\n"),  # takes answers to others with it there
    (b"set a 4294967296 0 1\r\n1\r\n", b"CLIENT_ERROR bad command line format\r\nERROR\r\n"),  # flags of 33 bits lose one there
    (store(b"100") + b"decr a 1\r\nget a\r\n", b"STORED\r\n99\r\nVALUE a 5 2\r\n99\r\nEND\r\n"),  # there the value stays 3 bytes long
    (b"set a 5 4000000000 1\r\n1\r\nget a\r\n", b"STORED\r\nVALUE a 5 1\r\n1\r\nEND\r\n"),  # a date after 2038 is over there
    (b"x" * 3000, b"CLIENT_ERROR line too long\r\n"),  # hangs up without a word there
    (b"mg a h\r\n", b"CLIENT_ERROR invalid flag: mg has no h, l, t, N and R here\r\n"),
    (b"mg a N30\r\n", b"CLIENT_ERROR invalid flag: mg has no h, l, t, N and R here\r\n"),
    (b"ms a 1 I\r\n1\r\n", b"CLIENT_ERROR invalid flag: ms has no I here\r\n"),
    (b"md a I\r\n", b"CLIENT_ERROR invalid flag: md has no I and T here\r\n"),
    (b"ma a t\r\n", b"CLIENT_ERROR invalid flag: ma has no t and T here\r\n"),
    (b"stats slabs\r\n", b"END\r\n"),
    (b"shutdown\r\n", b"ERROR\r\n"),
    (b"cache_memlimit 1\r\n", b"ERROR\r\n"),
]
