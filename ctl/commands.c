/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"

#include "ctl/command_columns.h"

#include <string.h>

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static const struct command table[] = {
    {"status", "", "who the server is, and its state",
     "State: joining (no link has been up yet), serving (it may deliver packets to keys), fenced (it may not deliver "
     "any now, because no neighbour has confirmed it lately), or leaving. Exit code 1: a link that should be there is "
     "not up.",
     "  cwctl status\n  cwctl --node 0,1,2 status --watch", "", 0, 0, "status", NULL, show_status, NULL},
    {"links", "[LINK]", "the six links: state, neighbour, traffic",
     "State: up, or how far the link has come: awaited (the interface does not exist yet), no-carrier, down (nobody is "
     "heard), miswired (another server than the "
     "neighbour is heard: see `cwctl wiring`), init, exchange, pending; damped after flapping. HEARD: time since the "
     "neighbour was heard last. LOST IN, LOST OUT: the share of the last thousand hellos that the cable lost on its "
     "way "
     "here, and on the way to the neighbour; nothing is shown where none was lost. RELAY: kernel, where packets that "
     "only pass the server go on inside the kernel; "
     "else they go through the daemon, and below the table stands why. RUNS: the neighbour's release.",
     "  cwctl links\n  cwctl links +x --json", "", 0, 1, "links", link_columns, show_links, NULL},
    {"servers", "", "every server of the torus, as seen from here",
     "State: up (in the view by which packets are routed), feared (away, and perhaps alive: keys that the server may "
     "own are not delivered elsewhere until timers.hold is over), leaving (in order, and still forwards), left (in "
     "order), down (without a word), or refused (it runs, and its neighbours do not take it in: cwctl doctor --all "
     "says "
     "why). BY: the links on shortest paths to the server.",
     "  cwctl servers\n  cwctl servers --json | jq 'select(.state != \"up\")'", "", 0, 0, "servers", server_columns,
     NULL, run_servers},
    {"routes", "[SERVER]", "hops and links from here to a server, or to all",
     "BY: the links on shortest paths; a packet takes the one that becomes free first. Exit code 1: the server cannot "
     "be reached.",
     "  cwctl routes 1,2,0", "", 0, 1, "routes", route_columns, NULL, NULL},
    {"key explain", "KEY", "who is responsible for a key, and who would be",
     "KEY: 40 hex digits; x,y,z or x,y,z:W, the key at place W of those that are at home there; any other text is a "
     "name in the key space of service --job. Shows the home of the key, its order (in which servers take over from "
     "one another), its root now, the next heirs, and a path from here. With --dead, shows all of that as it would be "
     "if those servers had died.",
     "  cwctl key explain hello\n  cwctl key explain 1,1,1 --dead 1,1,1 --dead 1,1,2", "dead job heirs", 1, 1,
     "key-explain", NULL, show_key, NULL},
    {"ping", "SERVER | key KEY | all | far [N]",
     "round trips to a server, to the root of a key, to everybody, or the long way round",
     "far: a path of N links over way-points (15), which the answer retraces. Exit code 1: a packet was lost, or all "
     "were asked for and one cannot be reached.",
     "  cwctl ping 1,2,0 --count 100\n  cwctl ping key hello --rows --count 5\n  cwctl ping all\n  cwctl ping far 12",
     "count interval size lost-after rows job", 1, 12, "ping", NULL, NULL, run_ping},
    {"trace", "SERVER | [key] KEY", "the way of a packet, and what every server on it did",
     "WAIT: the time that the packet spent in the server. BEFORE IT: how many packets of the service stood before it "
     "in the queue. The way back follows; it may be another. A word that is no server is a key; numbers with commas "
     "are one only behind the word key. Exit code 1: no answer came.",
     "  cwctl trace 1,2,0\n  cwctl trace key hello", "size lost-after job", 1, 2, "trace", NULL, NULL, run_trace},
    {"services", "", "services that run on the server",
     "WEIGHT: the share of a link against other services of its class. QUEUED: packets that wait to leave. HANDS: "
     "packets that the service has made or kept, and not yet sent or freed. TIMERS run, CALLS wait for an answer. "
     "MISUSES: what it did wrong with the service API; a daemon with CUBEWAY_STRICT=1 logs each. COMMANDS: those that "
     "it has taken and not ended; OLDEST, the first of them, since SINCE.",
     "  cwctl services", "", 0, 0, "services", service_columns, NULL, NULL},
    {"services load", "FILE", "load a service from a .so",
     "The service runs on every server of the daemon, or on none. With --everywhere, or of several daemons (--node), "
     "all of them check the file first; then it is loaded on all, and taken back from all if one refuses.",
     "  cwctl services load ./hitcount.so --weight 20 --option patience_ms=500\n  cwctl --lab demo services load "
     "./hitcount.so --everywhere",
     "name weight background option check everywhere", 1, 1, "service-load", NULL, NULL, run_load},
    {"services reload", "FILE | NAME --undo", "put a new build of a service in the place of the one that runs",
     "FILE has the service of that name and job. Its policy and options stay, what it knew does not. If the new build "
     "does not start, the old one runs on. Write the new build beside the old one and rename it: a file that is "
     "written into is still the old one for the daemon. --everywhere and --node as of services load. --undo takes the "
     "NAME.",
     "  cwctl services reload ./hitcount.so\n  cwctl services reload hitcount --undo", "check undo everywhere", 1, 1,
     "service-reload", NULL, NULL, run_load},
    {"services unload", "NAME", "stop a service",
     "Packets that wait in its queue are dropped, and counted as closed. From then on, packets that come to it here "
     "are "
     "dropped too (\"drops\": no-service). What others send through this server to the same service elsewhere goes "
     "on. A service that is built in starts again with the daemon.",
     "  cwctl services unload hitcount", "", 1, 1, "service-unload", NULL, show_done, NULL},
    {"services weight", "NAME [WEIGHT]", "change or show the share, the class and the queue of a service",
     "What is not given stays as it is. Shows what is in force now.",
     "  cwctl services weight bench 5 --background --queue-packets 256", "background queue-packets queue-bytes drop", 1,
     2, "service-weight", policy_columns, NULL, NULL},
    {"services times", "[NAME]", "how long calls of services held the server's thread",
     "A row for each kind of call. 50 %, 99 %, ALL: so many of the calls took that long or less, to an eighth.",
     "  cwctl services times hitcount", "", 0, 1, "service-times", time_columns, NULL, NULL},
    {"service", "NAME WORDS..", "run a command that a service has of its own",
     "The words go to the service as they are, but --help among them and --json at the end are cwctl's (service -- "
     "NAME "
     "WORDS.. hands on even these). cwctl service NAME --help says which commands the service has and what "
     "they take, as far as it declares them; --help behind a command is about that one. Where the answer holds "
     "nothing, a terminal shows \"done\".",
     "  cwctl service bench start mode=keys rate=1000\n  cwctl service bench stats\n  cwctl service bench stop\n"
     "  cwctl service bench --help",
     "", 1, 40, "service", NULL, show_service, run_service},
    {"kv get", "KEY", "write a value of the cache to standard output, as it is",
     "On a terminal, a line ends behind the value. --job: the job that the value belongs to, by name or number (6, "
     "that of memcached's clients). --json: the value in base64, with its flags and where it came from; where there is "
     "none, "
     "nothing is printed but a line on standard error. Exit codes: 0 here it is; 1 there is none; 2 the command "
     "line is wrong, or the key (1 to 250 bytes) is; 3 no daemon, or this side of the cluster has no majority, and the "
     "value may be on the other one; 4 no answer in time.",
     "  cwctl kv get greeting\n  cwctl kv get picture > picture.png", "job", 1, 1, NULL, NULL, NULL, run_kv_get},
    {"kv set", "KEY [VALUE | -]", "put a value into the cache",
     "-: the value is read from standard input, any bytes up to 1 MiB. A VALUE that begins with - stands behind --. "
     "When all is well, a terminal shows \"done\", and a file or a pipe gets nothing, so that scripts stay quiet. Exit "
     "codes: 0 done; 1 refused; 3 this side of "
     "the cluster has no majority; 4 no answer in time, or nobody knows: the value may have been set.",
     "  cwctl kv set greeting hello --expire 10min\n  cwctl kv set picture --file picture.png\n  date | cwctl kv set "
     "now -",
     "job file flags expire", 1, 2, NULL, NULL, NULL, run_kv_set},
    {"kv delete", "KEY", "take a value out of the cache",
     "A terminal shows \"done\". Exit codes: 0 done; 1 there was none; 3 and 4 as of kv set.",
     "  cwctl kv delete greeting", "job", 1, 1, NULL, NULL, NULL, run_kv_delete},
    {"kv flush", "", "drop all values of a job, on all servers",
     "After exit code 0, nobody reads a value that was there before. Exit code 5: some servers did not answer in time, "
     "and may have values left; flush again.",
     "  cwctl kv flush\n  cwctl kv flush --job 5001", "job", 0, 0, NULL, NULL, NULL, run_kv_flush},
    {"kv stats", "", "the cache of every server at a glance",
     "MEMORY: what the cache takes of the memory that it may have; a good megabyte even when it is empty, for its "
     "tables. GETS and WRITES: requests that were made at the server. HERE, COPY, ROOT: hits among the GETS at the "
     "server "
     "itself, at a copy, and at the key's root elsewhere. GET, SET: the median time of requests that crossed the "
     "torus; P99: the time that 99 of 100 did not exceed. --json has every number.",
     "  cwctl kv stats --watch\n  cwctl kv stats --json | jq '{server, evicted, timed_out}'", "", 0, 0, NULL, NULL,
     NULL, run_kv_stats},
    {"kv hot", "[N]", "the keys that are asked for most, on any server",
     "Rates of reads and writes over the last ten seconds or so. One request in four is counted: small rates are "
     "rough. ERROR: how much "
     "of the rate may belong to other keys. AT ROOT: the part of the rate that the root answered; copies answered the "
     "rest. Exit code 1: no keys were asked for.",
     "  cwctl kv hot\n  cwctl kv hot 50 --json", "", 0, 1, NULL, NULL, NULL, run_kv_hot},
    {"store create", "disk|memory", "make the store, on all servers of the torus, once",
     "disk: what is done survives a loss of power of all servers; each needs a folder (service store { options { "
     "folder "
     "= ... } }; cwlab gives one). memory: it is gone then. Every server has to be up and run service store; otherwise "
     "nothing is made, and the servers that did not agree are named.",
     "  cwctl store create disk --r 3", "r", 1, 1, NULL, NULL, NULL, run_store_create},
    {"store get", "KEY", "write a value of the store to standard output, as it is",
     "On a terminal, a line ends behind the value. --json: the value in base64, with its version and flags. --job: the "
     "job that the name belongs to, by name or number (10, the store's own). Exit codes: 0 here it is; 1 there is "
     "none, or "
     "no store; 2 the command line is wrong; 3 no majority of its members answers, or no daemon; 4 no answer in time.",
     "  cwctl store get greeting\n  cwctl store get greeting --json | jq .version", "job", 1, 1, NULL, NULL, NULL,
     run_store_get},
    {"store head", "KEY", "the version and the length of a value", "Exit codes as of store get.",
     "  cwctl store head greeting", "job", 1, 1, NULL, NULL, NULL, run_store_head},
    {"store put", "KEY [VALUE | -]", "put a value into the store",
     "-: the value is read from standard input, any bytes up to 4 MiB. When it is done the new version is shown. Exit "
     "codes: 0 done; 1 refused; 2 with --if-version, the version there is another; 3 no majority of its members "
     "answers: nothing was done; 4 no answer in time: nothing was done; 5 nobody knows whether it was done.",
     "  cwctl store put greeting hello\n  cwctl store put greeting bye --if-version 12\n  date | cwctl store put now -",
     "job file flags if-version expire", 1, 2, NULL, NULL, NULL, run_store_put},
    {"store cas", "KEY VERSION [VALUE | -]", "put a value if that is the version there (compare and set)",
     "Exit codes as of store put; 2: the version there is another, and shown.", "  cwctl store cas greeting 12 bye",
     "job file flags expire", 2, 3, NULL, NULL, NULL, run_store_cas},
    {"store insert", "KEY [VALUE | -]", "put a value if there is none", "Exit codes as of store put; 2: there is one.",
     "  cwctl store insert lock me", "job file flags expire", 1, 2, NULL, NULL, NULL, run_store_insert},
    {"store delete", "KEY", "take a value out of the store", "Exit codes as of store put; 1: there was none.",
     "  cwctl store delete greeting", "job if-version", 1, 1, NULL, NULL, NULL, run_store_delete},
    {"store list", "[PREFIX]", "the names in the store that begin so, in order",
     "Each with its version and length, read at some instant while the list was made, not all at one. Without PREFIX "
     "all names of the job. A PREFIX that begins with a whole {tag} asks one shard, any other all shards of the torus. "
     "--json: names also in base64. Exit codes as of store get; 0 also when there are none.",
     "  cwctl store list config/\n  cwctl store list '{user7}' --json | jq -r .name", "job after most", 0, 1, NULL,
     NULL, NULL, run_store_list},
    {"store watch", "KEY", "changes of a name in the store, as they come, until Ctrl-C",
     "First the value that is there, then each new version, or that it was deleted; what is overwritten at once may be "
     "left out. --prefix: of all names that begin so, with a whole {tag}. When another server comes to lead, all is "
     "told again. --most N: ends after so many. Exit codes as of store get.",
     "  cwctl store watch config\n  cwctl store watch '{user7}' --prefix --json", "job prefix most", 1, 1, NULL, NULL,
     NULL, run_store_watch},
    {"store txn", "CLAUSE..", "several names of the store that begin with one {tag}, together: all of it or nothing",
     "Each CLAUSE is one word for the shell: 'if NAME = VERSION', 'if NAME absent', 'if NAME exists', 'put NAME "
     "VALUE', "
     "'delete NAME', 'get NAME'. When all guards hold, at one instant, the rest is done at that instant; gets tell "
     "what "
     "was there right before. At most 16 guards and 16 others, values of at most 4096 bytes; a name has no blanks. "
     "--file: a clause in each line. Exit codes as of store put; 2: a guard does not hold, and is shown.",
     "  cwctl store txn 'get {bank}a' 'get {bank}b'\n  cwctl store txn 'if {bank}a = 17' 'if {bank}b = 18' 'put "
     "{bank}a "
     "70' 'put {bank}b 130'\n  cwctl store txn --file transfer.txt",
     "job file", 0, 32, NULL, NULL, NULL, run_store_txn},
    {"store export", "[PREFIX]", "all values of the store, or those whose names begin so, as an archive that tar reads",
     "Each value is a file of that name, and is what a get told while the archive was written; all of them together "
     "are "
     "not the picture of one instant. Name, version and flags are kept as extended attributes; the time after which a "
     "value goes by itself (--expire) is not kept. "
     "--file: the archive has that name when it is whole; without it, it goes to standard output. Exit codes as of "
     "store get; 0 also when there are none.",
     "  cwctl store export >all.tar\n  cwctl store export config/ --file config.tar && tar -tvf config.tar", "job file",
     0, 1, NULL, NULL, NULL, run_store_export},
    {"store import", "ARCHIVE | -", "put the files of a tar archive into the store",
     "-: from standard input. What store export has written comes back under the same names, with new versions; of any "
     "other archive each file is put under its path. --if-absent: names that have a value are left as they are, and "
     "counted. It ends at the first value that cannot be put, and says how many are in; importing again puts all once "
     "more. An archive that breaks off or is damaged is read up to there. Exit codes as of store put.",
     "  cwctl store import all.tar --if-absent\n  tar -c config | cwctl store import -", "job if-absent", 1, 1, NULL,
     NULL, NULL, run_store_import},
    {"store status", "", "the store as this server knows it",
     "MEMBER OF: so many shards have a copy here. LEADS: of these, this server serves so many. SHORT: of those that it "
     "leads, so many have a member that has missed writes. LOST: members of its shards that it has found to have "
     "started again, with nothing. MISSING: registers that have fewer copies than they should, which is 0 when all is "
     "well. DISK: how this server's folder was found, or what is wrong with it. --json has "
     "every "
     "number.",
     "  cwctl store status\n  cwctl --lab demo --node all store status --json | jq '{server, registers}'", "", 0, 0,
     NULL, NULL, NULL, run_store_status},
    {"store scrub", "[now]", "whether what the store has on a disk can still be read",
     "A server reads all that its store has on the disk in 14 days, at most 1 MB a second, and verifies it. now: at "
     "once, some 12 MB a second; asked again it says how far it is. READ: of RECORDS, in this pass. PASSES, VERIFIED, "
     "DAMAGED: since the daemon started. What is damaged is written again by itself, from memory.",
     "  cwctl store scrub now\n  cwctl --lab demo --node all store scrub", "", 0, 1, NULL, NULL, NULL, run_store_scrub},
    {"store explain", "KEY", "which shard a name is in, and which servers keep it",
     "ROLE: as far as this server knows. VERSION: of what this server itself keeps.", "  cwctl store explain greeting",
     "job", 1, 1, NULL, NULL, NULL, run_store_explain},
    {"tunnel status", "", "a network of this server: addresses, what waits, how packets came, what was dropped",
     "By the network (service ip, or --network) unmodified programs speak TCP/IP with other servers. WAITING: packets "
     "that programs here have sent and no link has taken yet. A packet that was overtaken on another path leaves a "
     "hole, which is filled when it comes, or given up. LATENESS: the time that 99 of 100 late packets did not exceed. "
     "Exit code 1: there is no device, or no such service. --json: causes of drops are fields drop_..., where there "
     "are any.",
     "  cwctl tunnel status --watch\n  cwctl --lab demo --node all tunnel status --json | jq '{server, dropped}'",
     "network", 0, 0, NULL, NULL, NULL, run_tunnel_status},
    {"tunnel flows", "[N]", "connections that have sent from here in the last ten seconds",
     "Those with most bytes first, 20 unless N says otherwise. BYTES: since the connection began, or since another one "
     "that shares its queue (there are 1,024). WAITING: bytes that no link has taken yet. Exit code 1: there are none.",
     "  cwctl tunnel flows --watch\n  cwctl tunnel flows 5", "network", 0, 1, NULL, NULL, NULL, run_tunnel_flows},
    {"tunnel explain", "ADDRESS", "which server has an IP address, and by which way it is reached",
     "Of an address outside, a gateway that is nearest. Also how long a missing piece from there is waited for, and by "
     "which grant of the network's job packets may go there; none, with the reason, where they may not. Exit code 1: "
     "the server cannot be reached, or may not be sent to.",
     "  cwctl tunnel explain 10.64.11.1", "network", 1, 1, NULL, NULL, NULL, run_tunnel_explain},
    {"tunnel nat", "", "the rules by which a gateway's kernel masks the network's addresses",
     "nftables rules (masquerading for what leaves by the device, and the MSS of connections set to what their way "
     "takes) and sysctls that let the kernel forward. --apply loads them by nft(8), in place of those that it loaded "
     "before. Exit code 1: this server is no gateway, or they could not be loaded.",
     "  cwctl tunnel nat\n  cwctl tunnel nat --device eth0 --apply", "network device apply", 0, 0, NULL, NULL, NULL,
     run_tunnel_nat},
    {"tunnel cni", "", "a list for CNI, by which containers of this server get addresses of the network",
     "For the plug-ins ptp and host-local of containernetworking: each container has an address out of the server's "
     "/24 and /64, and the network leads there without NAT.",
     "  cwctl tunnel cni > /etc/cni/net.d/20-cubeway.conflist", "network", 0, 0, NULL, NULL, NULL, run_tunnel_cni},
    {"tunnel networkd", "", "units by which systemd-networkd makes and keeps the device",
     "Two files, each behind a line with its name: a device that outlives the daemon, and its addresses and routes. "
     "Connections live on when the daemon is started anew.",
     "  cwctl tunnel networkd", "network", 0, 0, NULL, NULL, NULL, run_tunnel_networkd},
    {"hosts", "", "names for the addresses of all servers, as lines of /etc/hosts",
     "Server 1,0,2 is called 1-0-2.cube, and s11.cube where its number is 11; in another network 1-0-2.NAME. --write "
     "keeps them in a file, between two lines of its own; all other lines stay. --zone prints them for a name server.",
     "  cwctl hosts\n  cwctl hosts --write /etc/hosts\n  cwctl hosts --zone dnsmasq > /etc/dnsmasq.d/cubeway.conf",
     "write zone network", 0, 0, NULL, NULL, NULL, run_hosts},
    {"counters", "", "every counter of the server and its services",
     "Counters that are zero are left out, except in JSON.", "  cwctl counters\n  cwctl counters --json", "", 0, 0,
     "counters", NULL, show_counters, NULL},
    {"drops", "", "packets dropped here, by cause, in words",
     "Every packet that is not delivered is counted once, where it was dropped.",
     "  cwctl drops\n  cwctl --server all drops --all", "all", 0, 0, "drops", drops_columns, show_drops, NULL},
    {"top", "", "live rates of packets and links",
     "Rates over the last interval (that of --watch; 1 s): packets made, delivered and dropped a second, and the "
     "traffic of each link.",
     "  cwctl top\n  cwctl --server all top --watch 500ms --rounds 10", "", 0, 0, NULL, NULL, NULL, run_top},
    {"watch", "", "the whole torus, drawn again and again: servers, what cables carry, keys, events",
     "The planes of the torus side by side (z), x to the right, y downwards. Each server has a sign for its state, "
     "each "
     "cable one for what it carries; the line below the planes explains those of cables. Servers: X down, ? feared "
     "(away, "
     "and perhaps alive), - left, > leaving, + joining, ! fenced, z silent (in view, without an answer). Keys: arrows, "
     "< "
     "and > select a server; t follows a key: H is its home, R its root where that is another, 1 2 .. its next heirs, "
     "and "
     "arrows show the way of a packet from here; [ and ] go back and forth in time, space stands still, Esc forgets, q "
     "ends. In a lab of cwlab also k kills the server that is selected, r restores it, c cuts and m mends one of its "
     "cables. Elsewhere than on a terminal one picture is printed, after one interval.",
     "  cwctl watch\n  cwctl watch --every 200ms --full 1gbit\n  cwctl watch --json | jq 'select(.bits_per_s > 1e6)'",
     "every full", 0, 0, "picture", NULL, NULL, run_watch},
    {"capture", "LINK FILE", "frames of a link into a file that Wireshark opens",
     "Captures both directions, until --count, q or Ctrl-C. Wireshark decodes the frames with cubeway.lua. FILE - is "
     "standard output.",
     "  cwctl capture +x out.pcapng --count 1000\n  wireshark -X lua_script:/usr/share/cubeway/cubeway.lua out.pcapng",
     "count", 2, 2, "capture", NULL, NULL, run_capture},
    {"wiring", "", "where each cable should lead, and what is seen there",
     "The six ports of the server, each with what should be at the other end and what was heard there; with --all, "
     "every cable of the torus, and what any server has to say of it. Exit code 1: a cable is not right.",
     "  cwctl wiring\n  cwctl wiring --all", "all", 0, 0, "wiring", NULL, show_wiring, run_wiring},
    {"doctor", "", "what is wrong, by cause, worst first, and what to do about it",
     "Each finding is one sentence and one command, or what to do by hand. grave: keys are not delivered here, or "
     "could be delivered twice; broken: a link that should be up is not; warning: it works, and not as it should; "
     "note: "
     "nothing is wrong, as with a server that left in order. With --all, every server in view is asked, and what "
     "several of them see of one fault is told once, where it is. A server that nobody reaches is asked on its own "
     "machine. Exit code 0: nothing is wrong; 1: something is; 3: no daemon runs here.",
     "  cwctl doctor\n  cwctl doctor --all\n  cwctl doctor --all --json | jq -r .text", "all", 0, 0, NULL, NULL, NULL,
     run_doctor},
    {"events", "", "what has happened, in order: links, servers, keys, services, job records, files",
     "Each daemon keeps the last 1,024 events. TIME, SERVER, KIND: link, carrier, cable, view (a server came, left "
     "in order, or is down), keys (which keys are delivered there), service, or the name of the service that says "
     "something. With "
     "--all, "
     "those of every server in view, in the order of their clocks. --follow goes on until q or Ctrl-C; with --timeout, "
     "until the daemon does not answer for so long, however long nothing happens. With both, a line is shown once "
     "every server that answers has told what happened before it; (late), in JSON \"late\": what a server could tell "
     "only after later events were shown, because it was out of reach or its clock is behind. All other lines are in "
     "order.",
     "  cwctl events\n  cwctl events --all --follow --last 20\n  cwctl events --json | jq 'select(.kind == \"view\")'",
     "all follow last", 0, 0, NULL, NULL, NULL, run_events},
    {"plan", "XxYxZ", "every cable of a torus of that extent, before there is one",
     "+x of a server leads to -x of the next one along x, and so on around each ring. With --labels, two labels for "
     "each "
     "cable, to print and to stick on its ends. No daemon is asked.",
     "  cwctl plan 4x4x4\n  cwctl plan 4x4x4 --labels | lp", "labels", 1, 1, NULL, NULL, NULL, run_plan},
    {"job list", "", "jobs whose records an operator has signed",
     "IS: alive or destroyed. KEPT: the record is on this server's disk. `cwctl services` lists what runs, with and "
     "without a record.",
     "  cwctl job list", "", 0, 0, NULL, NULL, NULL, run_job_list},
    {"job show", "JOB", "a job as a job file: where its processes live, its ports, its grants",
     "JOB: a number or a name. What is shown is a job file, with its signature.",
     "  cwctl job show web\n  cwctl job show web --json", "", 1, 1, NULL, NULL, NULL, run_job_show},
    {"job create", "FILE", "make the jobs of a job file, or with --replace change them to it",
     "FILE: job \"web\" { id = 5001; processes = \"0-8\"; ports { http = 1 }\n            grant \"store\" { processes "
     "= all; ports = \"get, put\" } }\nThe jobs are signed here, with --key, unless the file is signed already (job "
     "sign). Exit codes as of job grant.",
     "  cwctl job create web.jobs --key operator.key", "key replace no-wait", 1, 1, NULL, NULL, NULL, run_job_create},
    {"job grant", "JOB TO[:PROCESSES[:PORTS]]..", "let a job send to processes and ports of another job, or its own",
     "PROCESSES: all, or numbers as 0-3,7. PORTS: all, or numbers and names as 1-3,get. What is left out means all. "
     "The change is signed here, and the command waits until every server in view has it (--timeout, 10 s). "
     "When others change the job at the same time, it is made again to what they left. Exit codes: 0 all have it; 1 "
     "refused, or it could not be made; 5 it counts, but some servers did not answer in time, or have no room for it "
     "and let the job send nothing.",
     "  cwctl job grant web store:0-8:get --key operator.key", "key no-wait", 2, 40, NULL, NULL, NULL, run_job_grant},
    {"job revoke", "JOB FROM[:PROCESSES[:PORTS]]..", "take a grant away again",
     "It is complete when no server can send by the old grant any more: each has the change, or is fenced. Exit codes "
     "as of job grant.",
     "  cwctl job revoke web store --key operator.key", "key no-wait", 2, 40, NULL, NULL, NULL, run_job_revoke},
    {"job destroy", "JOB", "end a job: it may send nothing, and nobody can reach it",
     "Its number can be used again, by job create. Exit codes as of job grant.",
     "  cwctl job destroy web --key operator.key", "key no-wait", 1, 1, NULL, NULL, NULL, run_job_destroy},
    {"job explain", "JOB:PROCESS TO:PROCESS:PORT",
     "may a process send there, and by which entry, or which one is missing",
     "The server where the sender lives is asked, for it decides. Shows what must be true, in the order in which the "
     "server asks: yes; no, with the remedy; or -, where it did not come so far. Where no server can be asked, because "
     "the process or the job is gone, the records of the two jobs say what they can. TO:*:PORT: packets to keys, which "
     "need the port on all processes. Exit code 1: it may not. --json: each of the \"conditions\" has \"holds\", which "
     "is "
     "true, false or null.",
     "  cwctl job explain web:3 store:7:get", "", 2, 2, NULL, NULL, NULL, run_job_explain},
    {"job audit", "", "who was refused what, how often, on every server in view",
     "Counted since each server started. Exit code 5: some servers did not answer.", "  cwctl job audit", "", 0, 0,
     NULL, NULL, NULL, run_job_audit},
    {"job keygen", "FILE", "draw an operator's key: FILE private, FILE.pub public",
     "Whoever has FILE may change every job. No daemon is asked.", "  cwctl job keygen operator.key", "", 1, 1, NULL,
     NULL, NULL, run_job_keygen},
    {"job sign", "FILE", "write a job file with signatures to standard output",
     "Use it where the key is: no daemon is asked. The result is for job create anywhere, and for job_file in "
     "cubewayd.conf. Versions are signed as they stand in the file, so they must grow from one change to the next. "
     "Jobs are named by number, or by names of the file; servers by number, or with --dims by x,y,z.",
     "  cwctl job sign web.jobs --key operator.key --cluster 7 --dims 4x4x4 > web.signed", "key cluster dims", 1, 1,
     NULL, NULL, NULL, run_job_sign},
    {"file send", "FILE.. --to all|SERVER..|GROUP", "send files to other servers, to all at the same time",
     "Several files, all before --to, go one after the other. FILE is opened here, with your rights. It appears on "
     "each server whole or not at all, in the folder that is set there (option folder of service multicast). When it "
     "is sent again, only what is missing goes. On a terminal, or with --progress, it is shown how far it is, with a "
     "line for each receiver that the others wait for; at the end, why bytes were sent more than once. Exit codes: 0 "
     "all have it; 5 some have it, and the others are named with the reason; 1 nobody has it.",
     "  cwctl file send image.qcow2 --to all\n  cwctl file send kernel --as vmlinuz --to 1,0,0 --to 1,0,1 --mode 644",
     "to as mode keep progress no-wait", 1, OPTION_WORDS_MAX - 2, NULL, NULL, NULL, run_file_send},
    {"file status", "", "files on their way from this server, and to it",
     "STATE: digesting (its bytes are read once), asking (who is in the group), sending; done (all have it), in part "
     "(FAILED have not), failed (nobody has it), or ended (it was not sent: REASON). THERE: bytes on the disk, on "
     "average over all receivers; BEFORE: those that were there before this sending. HAD IT: receivers that had the "
     "whole file already. SLOWEST, HAS: the receiver that has least, and how much it has. SENT: bytes that this "
     "server has sent, including those sent again; MISSED: bytes sent again because receivers had missed them (they "
     "were out of sight, or their disks too slow). LEFT: the time until the slowest receiver has all, at its pace of "
     "the last seconds. TREES, LINKS: those by which it sends now. Of what comes here: opening, taking, finishing; "
     "then here (under its name), or failed. What has ended is shown for 10 minutes (of what came here, the last 16 "
     "files): TIME is how long it took, ENDED how long ago that was.",
     "  cwctl file status --watch\n  cwctl file status --members", "members", 0, 0, "file-status", file_columns, NULL,
     run_file_status},
    {"file stop", "ID", "stop sending a file",
     "No receiver keeps a part of it; those that have the whole file keep that.", "  cwctl file stop 3", "", 1, 1,
     "file-stop", NULL, show_done, NULL},
    {"aggregate reduce", "OP TYPE --from NAME --to SERVER:NAME|all:NAME", "combine a vector of each server into one",
     "Each server reads the file NAME, numbers of that type one after the other, from the folder that is set there "
     "(option data of service aggregate). The vectors are combined on their way, element by element, and SERVER "
     "writes the result below its own folder: whole, or not at all; with all, every member does, the same bits. OP: "
     "sum prod min max mean, for integers also and or xor, for types of 32 and 64 bits minloc maxloc. TYPE: float32 "
     "float64 bfloat16 float16 int8 int16 int32 int64 uint8 uint16 uint32 uint64. Exit codes: 0 all servers are in "
     "the result; 5 some are not, or (with all) could not write it: they are named with the reason; 1 nobody has a "
     "result.",
     "  cwctl aggregate reduce sum float32 --from grad.f32 --to 0,0,0:sum.f32\n"
     "  cwctl aggregate reduce max int64 --from age --to 1,0,2:oldest --without --of 0,0,0 --of 1,0,2",
     "from to of without order limit", 2, 2, NULL, NULL, NULL, run_aggregate_reduce},
    {"aggregate check", "[FILE]", "add vectors that every server can compute, and compare the sum",
     "Shows that reductions work and how fast they are: nothing is read or written, and a server that is missing or "
     "counted twice shows in every element. Exit codes: 0 every element is right; 5 right, but without some "
     "servers; 1 wrong, or no result. With FILE: is that a run, as \"aggregate run FILE\" wants it? Tells every "
     "mistake with its line (exit code 2), and begins nothing.",
     "  cwctl aggregate check\n  cwctl aggregate check --bytes 200M --to all\n  cwctl aggregate check words.run",
     "bytes to of without order limit", 0, 1, NULL, NULL, NULL, run_aggregate_check},
    {"aggregate words", "--from NAME|feed:FEED --to SERVER:NAME|each:NAME|all:NAME|-",
     "count the words in a file of each server",
     "Each server reads the text NAME in its data folder. Equal words are added on their way, and lines WORD TAB "
     "COUNT are written, sorted: by SERVER; with --to again, or each (every server), a part by each of them, all "
     "parts under one name; with all, the whole by every server; with -, to standard output. Whole, or not at all. "
     "Exit codes: 0 all is well; 5 some servers are not in the result, or have not got it: they are named with the "
     "reason; 1 there is no result.",
     "  cwctl aggregate words --from access.log --to 0,0,0:words.txt --top 100\n"
     "  cwctl aggregate words --from access.log --to -",
     "from to top of copies without limit", 0, 0, NULL, NULL, NULL, run_aggregate_words},
    {"aggregate run", "[FILE] --from NAME|feed:FEED --to SERVER:NAME|each:NAME|all:NAME|-",
     "sort and combine the records in a file of each server",
     "As aggregate words, with a mapper that makes keys and values of the file, and a combination of values. With "
     "--from feed:FEED the input of each server is what a program there hands in (aggregate feed). FILE says all of "
     "this instead, in lines as map = \"kv\"; (without = true;), and options stand above what it says. Every "
     "mistake in it is told with its line, before anything begins.",
     "  cwctl aggregate run --map field:1 --from access.log --to 0,0,0:clients --top 10\n"
     "  cwctl aggregate run --map kv --combine max --from peaks.tsv --to each:peaks.tsv --without\n"
     "  cwctl aggregate run clients.run",
     "from to map combine top partitions path of copies without limit", 0, 1, NULL, NULL, NULL, run_aggregate_run},
    {"aggregate feed", "FEED", "standard input becomes the input of a run",
     "For a run --from feed:FEED, which takes what is fed at each server that it is of: in its own time, so the "
     "program before the pipe waits when the run does. Records of any length; the daemon holds 36 KiB of them. It "
     "waits until there is a run, and ends when the run has all of its input. If it ends before, or is stopped for "
     "3 s, the run ends and names its server, or (with --without) goes on without what was fed there. A program "
     "that fails halfway looks like one that has ended: set -o pipefail. One program feeds one FEED of a server. "
     "Exit codes: 0 the run has all of it; 1 it has not.",
     "  zcat access.log.gz | cut -f 1 | cwctl aggregate feed clients\n"
     "  cwctl aggregate run --map lines --from feed:clients --to 0,0,0:clients.txt --top 100",
     "", 1, 1, NULL, NULL, NULL, run_aggregate_feed},
    {"aggregate status", "", "reductions under way at this server, and who is waited for",
     "ROLE: desk, the operator asked here; root, the result is made here; member, this server's vector is in it; on "
     "the way, it passes others' sums on. SETTLED: bytes of the result that are whole. STILL FOR: since something "
     "has moved. WAITS FOR: members that have not called, or servers that do not answer; the root alone knows.",
     "  cwctl aggregate status --watch\n  cwctl --server 1,1,1 aggregate status --json", "", 0, 0, NULL, NULL, NULL,
     run_aggregate_status},
    {"aggregate cancel", "ID", "end a reduction that was begun at this server",
     "It ends everywhere, and nothing is written. ID: as \"cwctl aggregate status\" shows it.",
     "  cwctl aggregate cancel 3", "", 1, 1, NULL, NULL, NULL, run_aggregate_cancel},
    {"query", "count|sum|mean|min|max|top|distinct|quantile|histogram [K|P..] SOURCE", "ask all servers at once",
     "SOURCE: a counter or a histogram of times of every server, as kvcache.gets, or the lines of a feed; \"cwctl "
     "query list\" names them. count, sum, mean, min, max: of a counter, one number for each server; of a feed, its "
     "lines that are numbers (count: all). top K: the K most frequent lines; of a counter, the servers with most. "
     "distinct: how many different lines. quantile P.., as 0.5 0.99: of times, of a feed's numbers, of servers. The "
     "answer says how many of the servers are in it, and names the others. Exit codes: 0 all are in it; 5 some are "
     "not; 1 none is; 2 there is no such source, or this cannot be made of it.",
     "  cwctl query sum kvcache.gets\n  cwctl query top 10 clients --every 1s\n"
     "  cwctl query quantile 0.5 0.99 kvcache.get_root --by server\n  cwctl query distinct clients --on 0,0,0 --on "
     "1,0,0",
     "by on within every for", 2, 18, NULL, NULL, NULL, run_query},
    {"query list", "", "the counters, times and feeds that can be asked about", "SERVERS: on how many there is one.",
     "  cwctl query list\n  cwctl query list --on 0,0,0 --json", "on within", 0, 0, NULL, NULL, NULL, run_query_list},
    {"query feed", "FEED", "count the lines of standard input, for questions",
     "This server keeps how many lines there were, the most frequent ones, about how many different ones, and, of "
     "those that are numbers, their sum and how they are spread: some 80 KB, however many lines. All of it goes 3 s "
     "after the program has ended, or as --keep-for says. Several programs, here and on other servers, may feed one "
     "FEED.",
     "  tail -F access.log | cut -d ' ' -f 1 | cwctl query feed clients\n"
     "  cwctl query feed sizes --keep-for 1h < sizes.txt",
     "keep-for", 1, 1, NULL, NULL, NULL, run_query_feed},
    {"config show", "", "the configuration in force, including defaults", "", "  cwctl config show --effective",
     "effective", 0, 0, "config", NULL, show_config, NULL},
    {"log level", "[LEVEL]", "show or set how much the daemon logs",
     "LEVEL: error, warn, info or debug. It holds until the daemon ends.", "  cwctl log level debug", "", 0, 1,
     "log-level", NULL, show_done, NULL},
    {"daemon relay", "[on|off]", "show or set whether packets that only pass the server cross it in the kernel",
     "Says so, or switches it; it holds until the daemon ends. Off: all transit goes through the daemon, as on links "
     "without a relay. Exit code 1: there is no relay, and why.",
     "  cwctl daemon relay\n  cwctl daemon relay off", "", 0, 1, "relay", NULL, show_done, NULL},
    {"fail", "", "of a torus in one process: take the power from --server",
     "As if its plug were pulled: it says no goodbye, and frames to it are lost.",
     "  cwctl --server 1,1,1 fail\n  cwctl --server 1,1,1 restore", "", 0, 0, "fail", NULL, show_done, NULL},
    {"restore", "", "of a torus in one process: give --server its power back",
     "The server starts anew, with nothing in memory.", "  cwctl --server 1,1,1 restore", "", 0, 0, "restore", NULL,
     show_done, NULL},
    {"cut", "LINK", "of a torus in one process: pull out a cable", "Both ends lose their carrier.",
     "  cwctl --server 1,1,1 cut +x\n  cwctl --server 1,1,1 mend +x", "", 1, 1, "cut", NULL, show_done, NULL},
    {"mend", "LINK", "of a torus in one process: put a cable back", "Both ends have their carrier again.",
     "  cwctl --server 1,1,1 mend +x", "", 1, 1, "mend", NULL, show_done, NULL},
    {"drain", "", "hand over to the heirs, leave the cluster, and end the daemon",
     "As leave, but only when that is safe: waits (--timeout, 10 s) until the view has settled, so that no other "
     "server's keys are without an owner, and stays when the servers that are left would be no majority (--force goes "
     "all the same). Then its keys go to their heirs, and the command ends when the daemon has ended. Exit codes: 0 it "
     "has left; 1 it stays; 4 it stays, because the view did not settle in time.",
     "  cwctl drain && systemctl stop cubewayd && apt-get install ./cubeway_2.deb", "force", 0, 0, NULL, NULL, NULL,
     run_drain},
    {"leave", "", "leave the cluster in order, and end the daemon",
     "Its keys go to their heirs first: nothing is lost that other servers hold copies of. The command ends when the "
     "daemon has ended. Exit code 4: it has not ended in time (--timeout, 10 s).",
     "  cwctl --node 0,1,2 leave", "", 0, 0, "leave", NULL, show_done, run_leave},
};
enum { COMMANDS = sizeof table / sizeof *table };

const struct command *commands_table(size_t *count)
{
    *count = COMMANDS;
    return table;
}

/* How many of the words the name is; 0: they do not begin with it. */
static int words_of_name(const char *name, const char *const *words, int count)
{
    int used = 0;
    while (*name != '\0') {
        size_t length = strcspn(name, " ");
        if (used == count || strlen(words[used]) != length || memcmp(words[used], name, length) != 0) {
            return 0;
        }
        name += length + (name[length] == ' ');
        used++;
    }
    return used;
}

/* The only command that begins with the only word: "config" for "config show". */
static const struct command *abbreviated(const char *const *words, int count, int *used)
{
    const struct command *found = NULL;
    for (size_t i = 0; i < COMMANDS && count == 1; i++) {
        size_t length = strcspn(table[i].name, " ");
        if (strlen(words[0]) == length && memcmp(table[i].name, words[0], length) == 0) {
            if (found != NULL) {
                return NULL;
            }
            found = &table[i];
            *used = 1;
        }
    }
    return found;
}

const struct command *commands_find(const char *const *words, int count, int *used)
{
    const struct command *best = NULL;
    *used = 0;
    for (size_t i = 0; i < COMMANDS; i++) {
        int n = words_of_name(table[i].name, words, count);
        if (n > *used) {
            best = &table[i];
            *used = n;
        }
    }
    return best != NULL ? best : abbreviated(words, count, used);
}

bool commands_alone(const struct command *c)
{
    return c->run == run_job_keygen || c->run == run_job_sign || c->run == run_plan;
}
