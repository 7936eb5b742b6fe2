-- SPDX-License-Identifier: Apache-2.0
--
-- cubeway.lua - shows cubeway frames, every field of docs/wire.md by name.
--
--     wireshark -X lua_script:tools/wireshark/cubeway.lua
--     tshark -X lua_script:tools/wireshark/cubeway.lua -Y 'cubeway.hello.port == 3' -r some.pcap
--
-- or copy it into the personal plugin folder (Help, About, Folders). Filters: cubeway.<field>, cubeway.<part>.<field>.
--
-- cubeway.refused names the reason (runtime/wire/reason.h) for which a daemon refuses the bytes: once for a frame that is
-- refused whole, once for every refused packet. It judges in the order of the C decoders, so it names the same reason; a test
-- compares the two. What can still be shown of refused bytes is shown.
--
-- Works with Wireshark 4.0 and later (Lua 5.2 and 5.4); uses no bit operators and no file functions, so that a
-- superuser's Wireshark, where those are disabled, runs it too.

local cubeway = Proto("cubeway", "cubeway")

cubeway.prefs.ethertype = Pref.uint("EtherType", 0x88b5, "EtherType of data frames")
cubeway.prefs.ethertype_control = Pref.uint("Control EtherType", 0x88b6, "EtherType of control frames")

-- ---- names of numbers ----

local LINKS = { [0] = "+x", "-x", "+y", "-y", "+z", "-z" }
local KINDS = { [1] = "key", [2] = "server", [3] = "link", [4] = "control" }
local CONTROLS = { [1] = "hello", [2] = "goodbye", [3] = "stream", [4] = "probe", [5] = "cabling", [6] = "cabling ack" }
local LABELS = { [0] = "+x", "-x", "+y", "-y", "+z", "-z", "none", "no such port" }
local GOODBYES = { [1] = "leaving", [2] = "died", [3] = "link closed" }
local PATH_MODES = { [0] = "record", [1] = "retrace", [2] = "overflow" }
local TRACE_IN = { [0] = "+x", "-x", "+y", "-y", "+z", "-z", "made here" }
local TRACE_OUT = { [0] = "+x", "-x", "+y", "-y", "+z", "-z", "taken here", "dropped" }
local EXTENSIONS = { [0] = "full key", "request", "response", "path", "trace", "waypoints", "guest" }
local EXTENSION_LAST, EXTENSION_OPTIONAL = 6, 16
local GUESTS = { [0] = "plain", "transport", "notify", "read", "moved" }
local ITEMS = { "record", "ack", "summary", "synced", "job part", "job ack", "job summary", [128] = "about" }
local ITEM_OPTIONAL = 128

local REASONS = {
    ["truncated"] = "fewer bytes than the header says or needs",
    ["bad-length"] = "a length field does not fit its kind",
    ["bad-version"] = "another version of the wire format",
    ["bad-kind"] = "an unknown packet kind, control type, extension or item",
    ["reserved"] = "a reserved bit or padding byte is not zero",
    ["bad-value"] = "a field is outside its range",
    ["bad-count"] = "a count disagrees with the bytes that follow",
    ["bad-order"] = "extensions out of order, repeated, or not those that the flags name",
}

-- ---- fields ----

local f = {}

-- field("hello.port", "uint8", "Port", ...) makes f["hello.port"], filter name cubeway.hello.port.
local function field(name, kind, title, ...)
    f[name] = ProtoField[kind]("cubeway." .. name, title, ...)
end

-- A server is three bytes, shown as "x,y,z". ProtoField has no such kind: a string it is.
local function server_field(name, title)
    field(name, "string", title)
end

field("refused", "string", "Refused")
field("version", "uint8", "Version", base.DEC, nil, 0xf0)
field("flags", "uint8", "Flags", base.HEX, nil, 0x0f)
field("flags.tagged", "bool", "Tagged", 8, nil, 0x01)
field("flags.relayed", "bool", "Relayed", 8, nil, 0x02)
field("flags.reserved", "uint8", "Reserved", base.HEX, nil, 0x0c)
field("packets", "uint8", "Packets")
field("session", "uint16", "Session (low 16 bits)", base.HEX)
field("sequence", "uint16", "Link sequence")
field("position", "uint16", "Control position (low 16 bits)")
field("counter", "uint64", "Counter")
field("tag", "bytes", "Tag")
field("padding", "bytes", "Padding")

field("packet.version", "uint8", "Version", base.DEC, nil, 0xf0)
field("packet.kind", "uint8", "Kind", base.DEC, KINDS, 0x0f)
field("packet.length", "uint16", "Length")
field("packet.flags", "uint8", "Flags", base.HEX)
for type = 0, EXTENSION_LAST do
    field("packet.flags." .. EXTENSIONS[type]:gsub(" ", "_"), "bool", "Extension " .. EXTENSIONS[type], 8, nil, 2 ^ type)
end
field("packet.flags.mark", "bool", "Mark: waited too long on its way", 8, nil, 0x80)
field("packet.hop_limit", "uint8", "Hop limit")
field("packet.hops", "uint8", "Hops")
field("packet.port", "uint16", "Port")
field("packet.job", "uint32", "Destination job")
field("packet.source_job", "uint32", "Source job")
field("packet.source_process", "uint32", "Source process")
server_field("packet.source", "Source server")
field("packet.ext_words", "uint8", "Extension words")
field("packet.key", "uint64", "Destination key (routing bits)", base.HEX)
server_field("packet.server", "Destination server")
field("packet.reserved", "uint8", "Reserved", base.HEX)
field("packet.process", "uint32", "Destination process")
field("packet.payload", "bytes", "Payload")

field("ext.type", "uint8", "Type", base.DEC, EXTENSIONS)
field("ext.words", "uint8", "Words")
field("ext.reserved", "uint16", "Reserved", base.HEX)
field("ext.optional", "bytes", "Argument and body")
field("key.head", "bytes", "First 96 bits")
field("key.full", "string", "Whole key")
for _, name in ipairs({ "request", "response" }) do
    local who = name == "request" and "Recipient" or "Requester"
    if name == "request" then
        field("request.port", "uint16", "Recipient port")
    else
        field("response.status", "uint16", "Status")
    end
    field(name .. ".job", "uint32", who .. " job")
    field(name .. ".process", "uint32", who .. " process")
    server_field(name .. ".server", who .. " server")
    field(name .. ".reserved", "uint8", "Reserved", base.HEX)
    field(name .. ".call", "uint32", "Call")
end
field("request.limit", "uint32", "Time limit (us)")
field("path.mode", "uint8", "Mode", base.DEC, PATH_MODES)
field("path.hops", "uint8", "Hops")
field("path.places", "uint8", "Places")
field("path.links", "string", "Links")
field("path.word", "uint32", "Word", base.OCT)
field("trace.reserved", "uint8", "Reserved", base.HEX)
field("trace.entries", "uint8", "Entries")
field("trace.places", "uint8", "Places")
server_field("trace.server", "Server")
field("trace.in", "uint8", "In", base.DEC, TRACE_IN, 0xf0)
field("trace.out", "uint8", "Out", base.DEC, TRACE_OUT, 0x0f)
field("trace.wait", "uint32", "Wait (ns)")
field("trace.job", "uint32", "Job")
field("trace.verdict", "uint8", "Verdict")
field("trace.entry_reserved", "uint8", "Reserved", base.HEX)
field("trace.queued", "uint16", "Queued")
field("trace.unfilled", "bytes", "Unfilled")
field("waypoints.next", "uint8", "Next")
field("waypoints.count", "uint8", "Count")
server_field("waypoints.at", "Waypoint")
field("waypoints.reserved", "uint8", "Reserved", base.HEX)
field("guest.what", "uint8", "What", base.DEC, GUESTS)
field("guest.flags", "uint8", "Flags", base.HEX)
field("guest.meant", "uint32", "Life meant")
field("guest.life", "uint32", "Life of the sender")

field("control.type", "uint8", "Type", base.DEC, CONTROLS)
field("control.session", "uint32", "Session", base.HEX)
field("control.body", "bytes", "Body")

field("hello.cluster", "uint32", "Cluster id", base.HEX)
field("hello.config", "uint32", "Config hash", base.HEX)
server_field("hello.server", "Server")
field("hello.flags", "uint8", "Flags", base.HEX, nil, 0xf0)
field("hello.flags.synced", "bool", "Synced", 8, nil, 0x80)
field("hello.flags.up", "bool", "Up", 8, nil, 0x40)
field("hello.flags.leaving", "bool", "Leaving", 8, nil, 0x20)
field("hello.flags.fenced", "bool", "Fenced", 8, nil, 0x10)
field("hello.port", "uint8", "Port", base.DEC, LINKS, 0x0f)
field("hello.heard", "uint32", "Heard session", base.HEX)
field("hello.incarnation", "uint64", "Incarnation")
field("hello.clock", "uint64", "Clock (ns)")
field("hello.echo", "uint64", "Echo (ns)")
field("hello.position", "uint32", "Stream position")
field("hello.ack", "uint32", "Stream ack")
field("hello.digest", "uint64", "Digest", base.HEX)
field("hello.number", "uint16", "Number")
field("hello.newest", "uint16", "Newest heard")
field("hello.before", "uint16", "Heard before it", base.HEX)
field("hello.reserved", "uint16", "Reserved", base.HEX)

field("goodbye.incarnation", "uint64", "Incarnation")
server_field("goodbye.server", "Server")
field("goodbye.reason", "uint8", "Reason", base.DEC, GOODBYES)

field("probe.cluster", "uint32", "Cluster id", base.HEX)
field("probe.heard", "uint32", "Heard session", base.HEX)
field("probe.id", "uint64", "Id", base.HEX)
field("probe.port", "uint8", "Port")
field("probe.label", "uint8", "Label", base.DEC, LABELS)
field("probe.flags", "uint8", "Flags", base.HEX)
field("probe.flags.placed", "bool", "Placed", 8, nil, 0x01)
field("probe.flags.taken", "bool", "Taken", 8, nil, 0x02)
field("probe.dims", "string", "Dims")
server_field("probe.at", "Stands at")
field("probe.name", "string", "Name")

field("cabling.heard", "uint32", "Heard session", base.HEX)
field("cabling.id", "uint64", "Id", base.HEX)
field("cabling.version", "uint32", "Version")
field("cabling.flags", "uint8", "Flags", base.HEX)
field("cabling.flags.placed", "bool", "Placed", 8, nil, 0x01)
field("cabling.flags.told", "bool", "Told", 8, nil, 0x02)
field("cabling.dims", "string", "Dims")
server_field("cabling.at", "Stands at")
field("cabling.solution", "uint64", "Solution", base.HEX)
field("cabling.name", "string", "Name")
field("cabling.label", "uint8", "Label", base.DEC, LABELS, 0xf0)
field("cabling.far_port", "uint8", "Far port", base.DEC, nil, 0x0f)
field("cabling.far_id", "uint64", "Far id", base.HEX)

field("stream.heard", "uint32", "Heard session", base.HEX)
field("stream.ack", "uint32", "Ack")
field("stream.first", "uint32", "First")
field("stream.items", "uint16", "Items")
field("stream.reserved", "uint16", "Reserved", base.HEX)
field("stream.rest", "bytes", "Rest")

field("item.number", "uint32", "Number")
field("item.type", "uint8", "Type", base.DEC, ITEMS)
field("item.flags", "uint8", "Flags", base.HEX)
field("item.flags.last", "bool", "Last", 8, nil, 0x01)
field("item.flags.more", "bool", "More", 8, nil, 0x02)
field("item.flags.reserved", "uint8", "Reserved", base.HEX, nil, 0xfc)
field("item.length", "uint16", "Length")
field("item.body", "bytes", "Body")

server_field("record.origin", "Origin")
field("record.flags", "uint8", "Flags", base.HEX)
field("record.flags.leaving", "bool", "Leaving", 8, nil, 0x01)
field("record.flags.active", "bool", "Active", 8, nil, 0x02)
field("record.flags.reserved", "uint8", "Reserved", base.HEX, nil, 0xfc)
field("record.incarnation", "uint64", "Incarnation")
field("record.seq", "uint32", "Seq")
field("record.up", "uint8", "Up", base.HEX)
field("record.up.links", "string", "Up links")
field("record.pending", "uint8", "Pending", base.HEX)
field("record.pending.links", "string", "Pending links")
field("record.nonce", "uint16", "Boot nonce", base.HEX)
field("record.neighbour", "uint16", "Neighbour incarnation (low 16 bits)", base.HEX)

server_field("ack.acker", "Acker")
field("ack.acker_reserved", "uint8", "Reserved", base.HEX)
field("ack.acker_incarnation", "uint64", "Acker's incarnation")
server_field("ack.origin", "Origin")
field("ack.origin_reserved", "uint8", "Reserved", base.HEX)
field("ack.incarnation", "uint64", "Origin's incarnation")
field("ack.seq", "uint32", "Seq")

server_field("summary.origin", "Origin")
field("summary.reserved", "uint8", "Reserved", base.HEX)
field("summary.incarnation", "uint64", "Incarnation")
field("summary.seq", "uint32", "Seq")

field("synced.digest", "uint64", "Digest", base.HEX)

field("job_part.job", "uint32", "Job")
field("job_part.version", "uint64", "Version")
field("job_part.total", "uint32", "Total")
field("job_part.offset", "uint32", "Offset")
field("job_part.used", "uint16", "Used")
field("job_part.reserved", "uint16", "Reserved", base.HEX)
field("job_part.bytes", "bytes", "Bytes")
field("job_part.padding", "bytes", "Padding")

server_field("job_ack.server", "Server")
field("job_ack.reserved", "uint8", "Reserved", base.HEX)
field("job_ack.incarnation", "uint64", "Incarnation")
field("job_ack.job", "uint32", "Job")
field("job_ack.version", "uint64", "Version")

field("job_summary.job", "uint32", "Job")
field("job_summary.version", "uint64", "Version")

field("about.version", "string", "Version")
field("about.build", "string", "Build")

cubeway.fields = f

local experts = {}
for reason, text in pairs(REASONS) do
    local group = reason == "reserved" and expert.group.PROTOCOL or expert.group.MALFORMED
    local severity = reason == "reserved" and expert.severity.WARN or expert.severity.ERROR
    experts[reason] = ProtoExpert.new("cubeway.expert." .. reason:gsub("-", "_"), "Refused: " .. text, group, severity)
end
cubeway.experts = experts

-- ---- tools ----

-- One judgement, of a frame or of a packet: the first reason found is the reason.
local function new_judge(tree)
    return { tree = tree, reason = nil }
end

local function refuse(judge, range, reason, text)
    if judge.reason then
        return
    end
    judge.reason = reason
    local item = judge.tree:add(f["refused"], range, reason)
    item:set_generated()
    item:append_text(" (" .. text .. ")")
    item:add_proto_expert_info(experts[reason], "Refused, " .. reason .. ": " .. text)
end

-- True when judged sound so far.
local function must(judge, condition, range, reason, text)
    if not condition then
        refuse(judge, range, reason, text)
    end
    return condition
end

local function bit_of(range, from_top)
    return range:bitfield(from_top, 1) == 1
end

-- No UInt64 arithmetic for what bytes can say.
local function all_zero(range)
    return not range:bytes():tohex():find("[^0]")
end

local function server_text(range)
    return string.format("%d,%d,%d", range(0, 1):uint(), range(1, 1):uint(), range(2, 1):uint())
end

local function add_server(tree, name, range)
    tree:add(f[name], range(0, 3), server_text(range))
end

-- add_all(tree, tvb, at, {"name", bytes, "name", bytes, ...}): fields that follow one another.
local function add_all(tree, tvb, at, layout)
    for i = 1, #layout, 2 do
        tree:add(f[layout[i]], tvb(at, layout[i + 1]))
        at = at + layout[i + 1]
    end
end

-- Links of a mask, as text: bit i is link i.
local function links_text(range)
    local names = {}
    for link = 0, 5 do
        if bit_of(range, 7 - link) then
            names[#names + 1] = LINKS[link]
        end
    end
    return table.concat(names, " ")
end

-- ---- extensions: each gets the extension's own bytes, its size already judged ----

local extension = {}

extension[0] = function(judge, tree, ext, key)
    tree:add(f["ext.reserved"], ext(2, 2))
    tree:add(f["key.head"], ext(4, 12))
    if key then
        tree:add(f["key.full"], ext(4, 12), (ext(4, 12):bytes():tohex() .. key):lower()):set_generated()
    end
    must(judge, ext(2, 2):uint() == 0, ext(2, 2), "reserved", "argument of a full key")
end

local function call_extension(judge, tree, ext, name, argument)
    tree:add(f[name .. argument], ext(2, 2))
    add_all(tree, ext, 4, { name .. ".job", 4, name .. ".process", 4 })
    add_server(tree, name .. ".server", ext(12, 4))
    add_all(tree, ext, 15, { name .. ".reserved", 1, name .. ".call", 4 })
    must(judge, ext(15, 1):uint() == 0, ext(15, 1), "reserved", "byte after the server")
end

extension[1] = function(judge, tree, ext)
    call_extension(judge, tree, ext, "request", ".port")
    tree:add(f["request.limit"], ext(20, 4))
end

extension[2] = function(judge, tree, ext)
    call_extension(judge, tree, ext, "response", ".status")
end

extension[3] = function(judge, tree, ext)
    local mode, hops, words = ext(2, 1):uint(), ext(3, 1):uint(), ext(1, 1):uint() - 1
    local places = 10 * words
    tree:add(f["path.mode"], ext(2, 1))
    tree:add(f["path.hops"], ext(3, 1))
    tree:add(f["path.places"], ext(1, 1), places):set_generated()
    must(judge, mode <= 2, ext(2, 1), "bad-value", "no such mode")
    must(judge, hops <= places and (mode ~= 2 or hops == places), ext(3, 1), "bad-count", "hops and places of the path")
    local names = {}
    for i = 0, words - 1 do
        local word = ext(4 + 4 * i, 4)
        local spare, sound = word:bitfield(0, 2) == 0, true
        tree:add(f["path.word"], word)
        for place = 0, 9 do
            local link = word:bitfield(2 + 3 * place, 3)
            if 10 * i + place < hops then
                names[#names + 1] = LINKS[link] or "?"
                sound = sound and link <= 5
            else
                spare = spare and link == 0
            end
        end
        must(judge, spare, word, "reserved", "spare bits or unfilled places of the path")
        must(judge, sound, word, "bad-value", "no such link")
    end
    tree:add(f["path.links"], ext(4), table.concat(names, " ")):set_generated()
    tree:append_text(": " .. table.concat(names, " "))
end

extension[4] = function(judge, tree, ext)
    local entries, places = ext(3, 1):uint(), math.floor((ext(1, 1):uint() - 1) / 4)
    tree:add(f["trace.reserved"], ext(2, 1))
    tree:add(f["trace.entries"], ext(3, 1))
    tree:add(f["trace.places"], ext(1, 1), places):set_generated()
    must(judge, ext(2, 1):uint() == 0, ext(2, 1), "reserved", "byte before the count of entries")
    must(judge, entries <= places, ext(3, 1), "bad-count", "more entries than places")
    for i = 0, math.min(entries, places) - 1 do
        local e = ext(4 + 16 * i, 16)
        local entry = tree:add(e, "Entry " .. i .. ": " .. server_text(e))
        add_server(entry, "trace.server", e)
        entry:add(f["trace.in"], e(3, 1))
        entry:add(f["trace.out"], e(3, 1))
        add_all(entry, ext, 4 + 16 * i + 4, {
            "trace.wait", 4, "trace.job", 4, "trace.verdict", 1, "trace.entry_reserved", 1, "trace.queued", 2,
        })
        must(judge, e(3, 1):bitfield(0, 4) <= 6 and e(3, 1):bitfield(4, 4) <= 7, e(3, 1), "bad-value", "no such link")
        must(judge, e(13, 1):uint() == 0, e(13, 1), "reserved", "byte after the verdict")
    end
    if entries < places then
        local rest = ext(4 + 16 * entries)
        tree:add(f["trace.unfilled"], rest)
        must(judge, all_zero(rest), rest, "reserved", "unfilled entries")
    end
end

extension[5] = function(judge, tree, ext)
    local next, count, words = ext(2, 1):uint(), ext(3, 1):uint(), ext(1, 1):uint()
    tree:add(f["waypoints.next"], ext(2, 1))
    tree:add(f["waypoints.count"], ext(3, 1))
    must(judge, words == 1 + count, ext(3, 1), "bad-count", "count of waypoints and words of the extension")
    must(judge, next <= count, ext(2, 1), "bad-value", "next is beyond count")
    for i = 1, words - 1 do
        add_server(tree, "waypoints.at", ext(4 * i, 4))
        tree:add(f["waypoints.reserved"], ext(4 * i + 3, 1))
        must(judge, ext(4 * i + 3, 1):uint() == 0, ext(4 * i + 3, 1), "reserved", "byte after a waypoint")
    end
end

extension[6] = function(judge, tree, ext)
    tree:add(f["guest.what"], ext(2, 1))
    tree:add(f["guest.flags"], ext(3, 1))
    add_all(tree, ext, 4, { "guest.meant", 4, "guest.life", 4 })
    must(judge, ext(3, 1):uint() == 0, ext(3, 1), "reserved", "flags of the guest")
    must(judge, GUESTS[ext(2, 1):uint()], ext(2, 1), "bad-value", "no such what")
end

-- How many words each type may have: smallest, largest, step.
local EXT_WORDS = {
    [0] = { 4, 4, 1 }, { 6, 6, 1 }, { 5, 5, 1 }, { 2, 8, 1 }, { 5, 253, 4 }, { 2, 17, 1 }, { 3, 3, 1 },
}

-- No packet has an extension of these types.
local function is_unknown(type)
    return type > EXTENSION_LAST and type < EXTENSION_OPTIONAL
end

-- The optional extensions that fill the area from `at` on: they are skipped by their words.
local function dissect_optional(judge, tree, area, at)
    local least = EXTENSION_OPTIONAL
    while at < area:len() do
        local rest = area:len() - at
        local head = area(at, 4)
        local found, words = head(0, 1):uint(), head(1, 1):uint()
        local sound = must(judge, not is_unknown(found), head, "bad-kind", "unknown extension")
            and must(judge, found >= least, head, "bad-order", "words that belong to no extension in its place")
            and must(judge, words > 0, head, "bad-length", "words of the extension")
            and must(judge, 4 * words <= rest, head, "truncated", "the extension is longer than the room for it")
        if not sound then
            return
        end
        local ext = area(at, 4 * words)
        local branch = tree:add(ext, "Optional extension " .. found)
        branch:add(f["ext.type"], ext(0, 1))
        branch:add(f["ext.words"], ext(1, 1))
        branch:add(f["ext.optional"], ext(2))
        at, least = at + 4 * words, found + 1
    end
end

-- The extensions that the flags name, in rising order, then optional ones, in exactly their words.
local function dissect_extensions(judge, tree, area, flags, key)
    local at = 0
    for type = 0, EXTENSION_LAST do
        if bit_of(flags, 7 - type) then
            local rest = area:len() - at
            if not must(judge, rest >= 4, area, "truncated", "no room for the extension " .. EXTENSIONS[type]) then
                return
            end
            local head = area(at, 4)
            local found, words = head(0, 1):uint(), head(1, 1):uint()
            local fits = EXT_WORDS[type]
            local sound = must(judge, not is_unknown(found), head, "bad-kind", "unknown extension")
                and must(judge, found == type, head, "bad-order", "not the extension that the flags name")
                and must(judge, words >= fits[1] and words <= fits[2] and (words - fits[1]) % fits[3] == 0, head,
                    "bad-length", "words of the extension")
                and must(judge, 4 * words <= rest, head, "truncated", "the extension is longer than the room for it")
            if not sound then
                return
            end
            local ext = area(at, 4 * words)
            local branch = tree:add(ext, "Extension " .. EXTENSIONS[type])
            branch:add(f["ext.type"], ext(0, 1))
            branch:add(f["ext.words"], ext(1, 1))
            extension[type](judge, branch, ext, key)
            at = at + 4 * words
        end
    end
    dissect_optional(judge, tree, area, at)
end

-- ---- data packets ----

local function dissect_data(judge, tree, p)
    local kind, flags = p(0, 1):bitfield(4, 4), p(1, 1)
    local sound = must(judge, p:len() >= 32, p(2, 2), "truncated", "shorter than a data packet's head")
        and must(judge, p(0, 1):bitfield(0, 4) == 2, p(0, 1), "bad-version", "not version 2")
        and must(judge, KINDS[kind], p(0, 1), "bad-kind", "unknown packet kind")
    if not sound then
        tree:add(f["packet.payload"], p(4))
        return KINDS[kind] or "unknown kind " .. kind
    end
    local ext_words, budget = p(23, 1):uint(), p(4, 1):uint() + p(5, 1):uint()
    local flags_tree = tree:add(f["packet.flags"], flags)
    for type = 0, EXTENSION_LAST do
        flags_tree:add(f["packet.flags." .. EXTENSIONS[type]:gsub(" ", "_")], flags)
    end
    flags_tree:add(f["packet.flags.mark"], flags)
    add_all(tree, p, 4, {
        "packet.hop_limit", 1, "packet.hops", 1, "packet.port", 2, "packet.job", 4, "packet.source_job", 4,
        "packet.source_process", 4,
    })
    add_server(tree, "packet.source", p(20, 3))
    tree:add(f["packet.ext_words"], p(23, 1))
    local destination, key
    if kind == 1 then
        tree:add(f["packet.key"], p(24, 8))
        key = p(24, 8):bytes():tohex()
        destination = "key " .. key:lower()
    else
        add_server(tree, "packet.server", p(24, 3))
        tree:add(f["packet.reserved"], p(27, 1))
        tree:add(f["packet.process"], p(28, 4))
        destination = string.format("%s %s process %d", KINDS[kind], server_text(p(24, 3)), p(28, 4):uint())
    end
    local fits = must(judge, p:len() >= 32 + 4 * ext_words, p(23, 1), "bad-length", "no room for the extension words")
    must(judge, budget >= 1 and budget <= (kind == 3 and 1 or 255), p(4, 2), "bad-value", "hop limit and hops")
    must(judge, kind == 1 or not bit_of(flags, 7), flags, "bad-value", "a full key without routing bits")
    must(judge, kind ~= 3 or not bit_of(flags, 2), flags, "bad-value", "waypoints of a packet that is not routed")
    must(judge, kind == 1 or p(27, 1):uint() == 0, p(27, 1), "reserved", "byte after the server")
    if fits then
        if ext_words > 0 then
            dissect_extensions(judge, tree, p(32, 4 * ext_words), flags, key)
        else
            must(judge, flags:uint() % 128 == 0, flags, "truncated", "flags name extensions, but there are none")
        end
        if p:len() > 32 + 4 * ext_words then
            tree:add(f["packet.payload"], p(32 + 4 * ext_words))
        end
    end
    return string.format("%s, job %d port %d", destination, p(8, 4):uint(), p(6, 2):uint())
end

-- ---- items of the control stream: each gets its body, whose size has been judged ----

local item = {}

item[1] = function(judge, tree, b)
    add_server(tree, "record.origin", b)
    local flags = tree:add(f["record.flags"], b(3, 1))
    flags:add(f["record.flags.leaving"], b(3, 1))
    flags:add(f["record.flags.active"], b(3, 1))
    flags:add(f["record.flags.reserved"], b(3, 1))
    add_all(tree, b, 4, { "record.incarnation", 8, "record.seq", 4 })
    tree:add(f["record.up"], b(16, 1)):append_text(" (" .. links_text(b(16, 1)) .. ")")
    tree:add(f["record.up.links"], b(16, 1), links_text(b(16, 1))):set_generated()
    tree:add(f["record.pending"], b(17, 1)):append_text(" (" .. links_text(b(17, 1)) .. ")")
    tree:add(f["record.pending.links"], b(17, 1), links_text(b(17, 1))):set_generated()
    tree:add(f["record.nonce"], b(18, 2))
    local disjoint, idle_zero = true, true
    for link = 0, 5 do
        local up, pending, word = bit_of(b(16, 1), 7 - link), bit_of(b(17, 1), 7 - link), b(20 + 2 * link, 2)
        tree:add(f["record.neighbour"], word):append_text(" of " .. LINKS[link])
        disjoint = disjoint and not (up and pending)
        idle_zero = idle_zero and (up or pending or word:uint() == 0)
    end
    tree:append_text(string.format(": %s up %s", server_text(b), links_text(b(16, 1))))
    must(judge, b(3, 1):bitfield(0, 6) == 0, b(3, 1), "reserved", "flags of the record")
    must(judge, b(16, 1):bitfield(0, 2) == 0 and b(17, 1):bitfield(0, 2) == 0, b(16, 2), "reserved", "no such link")
    must(judge, not all_zero(b(4, 8)), b(4, 8), "bad-value", "incarnation 0")
    must(judge, not all_zero(b(12, 4)), b(12, 4), "bad-value", "seq 0")
    must(judge, disjoint, b(16, 2), "bad-value", "a link is up and pending")
    must(judge, idle_zero, b(20, 12), "bad-value", "an incarnation where no link is up or pending")
end

item[2] = function(judge, tree, b)
    add_server(tree, "ack.acker", b)
    add_all(tree, b, 3, { "ack.acker_reserved", 1, "ack.acker_incarnation", 8 })
    add_server(tree, "ack.origin", b(12, 3))
    add_all(tree, b, 15, { "ack.origin_reserved", 1, "ack.incarnation", 8, "ack.seq", 4 })
    tree:append_text(string.format(": %s holds %s seq %d", server_text(b), server_text(b(12, 3)), b(24, 4):uint()))
    must(judge, b(3, 1):uint() == 0 and b(15, 1):uint() == 0, b, "reserved", "byte after a server")
    must(judge, not (all_zero(b(4, 8)) or all_zero(b(16, 8))), b, "bad-value", "incarnation 0")
    must(judge, not all_zero(b(24, 4)), b(24, 4), "bad-value", "seq 0")
end

item[3] = function(judge, tree, b, head)
    if not must(judge, b, head, "bad-count", "a summary without entries") then
        return
    end
    for at = 0, b:len() - 16, 16 do
        local e = b(at, 16)
        local entry = tree:add(e, string.format("%s seq %d", server_text(e), e(12, 4):uint()))
        add_server(entry, "summary.origin", e)
        add_all(entry, e, 3, { "summary.reserved", 1, "summary.incarnation", 8, "summary.seq", 4 })
        must(judge, e(3, 1):uint() == 0, e(3, 1), "reserved", "byte after the origin")
        must(judge, not all_zero(e(4, 8)), e(4, 8), "bad-value", "incarnation 0")
        must(judge, not all_zero(e(12, 4)), e(12, 4), "bad-value", "seq 0")
    end
    tree:append_text(string.format(": %d entries", b:len() / 16))
end

item[4] = function(_, tree, b)
    tree:add(f["synced.digest"], b)
end

item[5] = function(judge, tree, b)
    add_all(tree, b, 0, {
        "job_part.job", 4, "job_part.version", 8, "job_part.total", 4, "job_part.offset", 4, "job_part.used", 2,
        "job_part.reserved", 2,
    })
    local total, offset, used = b(12, 4):uint(), b(16, 4):uint(), b(20, 2):uint()
    local room = b:len() - 24
    local shown = math.min(used, room)
    if shown > 0 then
        tree:add(f["job_part.bytes"], b(24, shown))
    end
    if room > shown then
        tree:add(f["job_part.padding"], b(24 + shown))
    end
    tree:append_text(string.format(": job %d, %d bytes at %d of %d", b(0, 4):uint(), used, offset, total))
    must(judge, b(22, 2):uint() == 0, b(22, 2), "reserved", "bytes after used")
    must(judge, total >= 1 and total <= 1048576, b(12, 4), "bad-value", "total is 1 byte to 1 MiB")
    must(judge, used >= 1 and offset + used <= total, b(16, 6), "bad-value", "the part does not lie inside the record")
    must(judge, room == 4 * math.ceil(used / 4), b(20, 2), "bad-count", "used and the bytes that follow")
    if room > shown then
        must(judge, all_zero(b(24 + shown)), b(24 + shown), "reserved", "padding of the part")
    end
end

item[6] = function(judge, tree, b)
    add_server(tree, "job_ack.server", b)
    add_all(tree, b, 3, { "job_ack.reserved", 1, "job_ack.incarnation", 8, "job_ack.job", 4, "job_ack.version", 8 })
    tree:append_text(string.format(": %s holds job %d", server_text(b), b(12, 4):uint()))
    must(judge, b(3, 1):uint() == 0, b(3, 1), "reserved", "byte after the server")
    must(judge, not all_zero(b(4, 8)), b(4, 8), "bad-value", "incarnation 0")
end

item[7] = function(_, tree, b)
    local size = b and b:len() or 0
    for at = 0, size - 12, 12 do
        local entry = tree:add(b(at, 12), "Job " .. b(at, 4):uint())
        add_all(entry, b, at, { "job_summary.job", 4, "job_summary.version", 8 })
    end
    tree:append_text(string.format(": %d entries", size / 12))
end

-- Printable ASCII, then zeros.
local function name_text(range)
    local text = range:string():match("^[^%z]*")
    local rest = range:len() - #text
    local good = not text:find("[^!-~]") and (rest == 0 or all_zero(range(#text, rest)))
    return good and text or nil
end

item[128] = function(judge, tree, b)
    local version, build = name_text(b(0, 16)), name_text(b(16, 16))
    tree:add(f["about.version"], b(0, 16), version or "?")
    tree:add(f["about.build"], b(16, 16), build or "?")
    tree:append_text(string.format(": version %s, build %s", version or "?", build or "?"))
    must(judge, version and build, b, "bad-value", "version or build")
end

-- Of a type that is not known here, and need not be.
local function other_item(_, tree, b)
    if b then
        tree:add(f["item.body"], b)
    end
end

-- A body is a fixed part, then entries; flags: those it may have (1 LAST, 2 MORE).
local ITEM_SHAPES = {
    { fixed = 32, flags = 2 }, { fixed = 28 }, { fixed = 0, entry = 16, flags = 1 }, { fixed = 8 }, { fixed = 24, entry = 4 },
    { fixed = 24 }, { fixed = 0, entry = 12, flags = 1 }, [128] = { fixed = 32 },
}
local OTHER_SHAPE = { fixed = 0, entry = 4, any_flags = true }

local function item_fits(shape, body)
    local rest = body - shape.fixed
    return rest >= 0 and rest % (shape.entry or rest + 1) == 0
end

-- One item at the start of `rest`; gives its length, or nil when the walk is lost.
local function dissect_item(judge, tree, rest, number)
    if not must(judge, rest:len() >= 4, rest, "truncated", "shorter than an item's head") then
        return nil
    end
    local head = rest(0, 4)
    local type, length = head(0, 1):uint(), head(2, 2):uint()
    local shape = ITEM_SHAPES[type] or (type >= ITEM_OPTIONAL and OTHER_SHAPE or nil)
    local branch = tree:add(rest(0, math.min(math.max(length, 4), rest:len())),
        string.format("Item %d, %s", number, ITEMS[type] or "unknown"))
    branch:add(f["item.number"], head, number):set_generated()
    branch:add(f["item.type"], head(0, 1))
    local flags = branch:add(f["item.flags"], head(1, 1))
    flags:add(f["item.flags.last"], head(1, 1))
    flags:add(f["item.flags.more"], head(1, 1))
    flags:add(f["item.flags.reserved"], head(1, 1))
    branch:add(f["item.length"], head(2, 2))
    if not must(judge, shape, head(0, 1), "bad-kind", "unknown item") then
        return nil
    end
    local item_flags = head(1, 1):uint()
    must(judge, item_flags == 0 or item_flags == shape.flags or shape.any_flags, head(1, 1), "reserved", "flags of the item")
    if not must(judge, length <= rest:len(), head(2, 2), "truncated", "the item is longer than the packet") then
        return nil
    end
    if not must(judge, length >= 4 and item_fits(shape, length - 4), head(2, 2), "bad-length", "length of the item") then
        return nil
    end
    local dissect = item[type] or other_item
    dissect(judge, branch, length > 4 and rest(4, length - 4) or nil, head)
    return length
end

-- ---- control packets ----

local control = {}

control[1] = function(judge, tree, p)
    add_all(tree, p, 8, { "hello.cluster", 4, "hello.config", 4 })
    add_server(tree, "hello.server", p(16, 3))
    local flags = tree:add(f["hello.flags"], p(19, 1))
    for _, name in ipairs({ "synced", "up", "leaving", "fenced" }) do
        flags:add(f["hello.flags." .. name], p(19, 1))
    end
    tree:add(f["hello.port"], p(19, 1))
    add_all(tree, p, 20, {
        "hello.heard", 4, "hello.incarnation", 8, "hello.clock", 8, "hello.echo", 8, "hello.position", 4, "hello.ack", 4,
        "hello.digest", 8, "hello.number", 2, "hello.newest", 2, "hello.before", 2, "hello.reserved", 2,
    })
    must(judge, p(70, 2):uint() == 0, p(70, 2), "reserved", "bytes that are kept for later")
    local port = p(19, 1):bitfield(4, 4)
    local NEVER = "7FFFFFFFFFFFFFFF"
    local clock, echo = p(32, 8):bytes():tohex(), p(40, 8):bytes():tohex()
    must(judge, port <= 5, p(19, 1), "bad-value", "no such port")
    must(judge, not all_zero(p(24, 8)), p(24, 8), "bad-value", "incarnation 0")
    must(judge, clock < NEVER and not all_zero(p(32, 8)), p(32, 8), "bad-value", "clock outside 1..2^63 - 2")
    must(judge, echo < NEVER, p(40, 8), "bad-value", "echo above 2^63 - 2")
    must(judge, not all_zero(p(20, 4)) or all_zero(p(66, 4)), p(66, 4), "bad-value", "hellos heard of nobody")
    return string.format("hello %s %s", server_text(p(16, 3)), LINKS[port] or "?")
end

control[2] = function(judge, tree, p)
    local reason = p(19, 1):uint()
    tree:add(f["goodbye.incarnation"], p(8, 8))
    add_server(tree, "goodbye.server", p(16, 3))
    tree:add(f["goodbye.reason"], p(19, 1))
    must(judge, not all_zero(p(8, 8)), p(8, 8), "bad-value", "incarnation 0")
    must(judge, GOODBYES[reason], p(19, 1), "bad-value", "no such reason")
    return string.format("goodbye %s %s", server_text(p(16, 3)), GOODBYES[reason] or "?")
end

control[3] = function(judge, tree, p)
    local first, items = p(16, 4):uint(), p(20, 2):uint()
    add_all(tree, p, 8, { "stream.heard", 4, "stream.ack", 4, "stream.first", 4, "stream.items", 2, "stream.reserved", 2 })
    must(judge, p(22, 2):uint() == 0, p(22, 2), "reserved", "bytes after items")
    must(judge, not all_zero(p(8, 4)), p(8, 4), "bad-value", "heard session 0")
    must(judge, items > 0 or first == 0, p(16, 4), "bad-value", "a first item, but no items")
    local at, left = 24, items
    while left > 0 and at < p:len() do
        local length = dissect_item(judge, tree, p(at), (first + items - left) % 4294967296)
        if not length then
            tree:add(f["stream.rest"], p(at))
            return "stream"
        end
        at, left = at + length, left - 1
    end
    must(judge, left == 0 and at == p:len(), p(20, 2), "bad-count", "items and the bytes that follow")
    if at < p:len() then
        tree:add(f["stream.rest"], p(at))
    end
    return items == 0 and "stream ack " .. p(12, 4):uint() or string.format("stream %d items", items)
end

-- ---- the bootstrap ----

local function dims_text(range)
    return string.format("%dx%dx%d", range(0, 1):uint() + 1, range(1, 1):uint() + 1, range(2, 1):uint() + 1)
end

-- Is the coordinate inside the dims, of which each is one more than its byte?
local function inside(dims, at)
    for axis = 0, 2 do
        if at(axis, 1):uint() > dims(axis, 1):uint() then
            return false
        end
    end
    return true
end

control[4] = function(judge, tree, p)
    add_all(tree, p, 8, { "probe.cluster", 4, "probe.heard", 4, "probe.id", 8, "probe.port", 1, "probe.label", 1 })
    local flags = tree:add(f["probe.flags"], p(26, 1))
    flags:add(f["probe.flags.placed"], p(26, 1))
    flags:add(f["probe.flags.taken"], p(26, 1))
    local name, bits = name_text(p(36, 16)), p(26, 1):uint()
    local placed = bits % 2 == 1
    if placed then
        tree:add(f["probe.dims"], p(28, 3), dims_text(p(28, 3)))
        add_server(tree, "probe.at", p(32, 3))
    end
    tree:add(f["probe.name"], p(36, 16), name or "?")
    local reserved = { p(27, 1), p(31, 1), p(35, 1), p(52, 4) }
    for _, range in ipairs(reserved) do
        must(judge, all_zero(range), range, "reserved", "bytes that are kept for later")
    end
    must(judge, bits <= 3, p(26, 1), "reserved", "flags of the probe")
    must(judge, not all_zero(p(16, 8)), p(16, 8), "bad-value", "id 0")
    must(judge, p(24, 1):uint() <= 5, p(24, 1), "bad-value", "no such port")
    must(judge, p(25, 1):uint() <= 6, p(25, 1), "bad-value", "no such label")
    must(judge, name, p(36, 16), "bad-value", "name")
    must(judge, placed or (bits == 0 and all_zero(p(28, 3)) and all_zero(p(32, 3))), p(26, 9), "bad-value", "a place without PLACED")
    must(judge, not placed or inside(p(28, 3), p(32, 3)), p(32, 3), "bad-value", "outside the dims")
    return string.format("probe %s%s", name or "?", placed and " at " .. server_text(p(32, 3)) or "")
end

local function cabling_ports(judge, tree, e)
    local used = {}
    for port = 0, 5 do
        local byte, id = e(44 + port, 1), e(52 + 8 * port, 8)
        local label, far_port, silent = byte:bitfield(0, 4), byte:bitfield(4, 4), all_zero(id)
        tree:add(f["cabling.label"], byte)
        tree:add(f["cabling.far_port"], byte)
        tree:add(f["cabling.far_id"], id)
        must(judge, label <= 7 and far_port <= 5, byte, "bad-value", "no such label or port")
        must(judge, not silent or far_port == 0, byte, "bad-value", "a port of nobody")
        must(judge, label ~= 7 or silent, byte, "bad-value", "a cable without a port")
        must(judge, label > 5 or not used[label], byte, "bad-value", "two ports with one direction")
        used[label] = true
    end
end

local function cabling_entry(judge, tree, e)
    local bits, name = e(12, 1):uint(), name_text(e(28, 16))
    add_all(tree, e, 0, { "cabling.id", 8, "cabling.version", 4 })
    local flags = tree:add(f["cabling.flags"], e(12, 1))
    flags:add(f["cabling.flags.placed"], e(12, 1))
    flags:add(f["cabling.flags.told"], e(12, 1))
    if bits ~= 0 then
        tree:add(f["cabling.dims"], e(13, 3), dims_text(e(13, 3)))
    end
    if bits == 1 then
        add_server(tree, "cabling.at", e(16, 3))
    end
    tree:add(f["cabling.solution"], e(20, 8))
    tree:add(f["cabling.name"], e(28, 16), name or "?")
    for _, range in ipairs({ e(19, 1), e(50, 2), e(100, 4) }) do
        must(judge, all_zero(range), range, "reserved", "bytes that are kept for later")
    end
    must(judge, not all_zero(e(0, 8)), e(0, 8), "bad-value", "id 0")
    must(judge, not all_zero(e(8, 4)), e(8, 4), "bad-value", "version 0")
    must(judge, bits <= 2, e(12, 1), "bad-value", "flags of the entry")
    must(judge, bits ~= 0 or all_zero(e(13, 3)), e(13, 3), "bad-value", "dims of nothing")
    must(judge, bits == 1 or all_zero(e(16, 3)), e(16, 3), "bad-value", "a coordinate without PLACED")
    must(judge, inside(e(13, 3), e(16, 3)), e(16, 3), "bad-value", "outside the dims")
    must(judge, name, e(28, 16), "bad-value", "name")
    cabling_ports(judge, tree, e)
    tree:append_text(": " .. (name or "?"))
end

local function cabling_ack_entry(judge, tree, e)
    add_all(tree, e, 0, { "cabling.id", 8, "cabling.version", 4 })
    must(judge, not all_zero(e(0, 8)) and not all_zero(e(8, 4)), e, "bad-value", "id or version 0")
end

local function cabling_list(judge, tree, p, size, dissect)
    tree:add(f["cabling.heard"], p(8, 4))
    must(judge, all_zero(p(12, 4)), p(12, 4), "reserved", "bytes after the session")
    must(judge, not all_zero(p(8, 4)), p(8, 4), "bad-value", "heard session 0")
    for at = 16, p:len() - size, size do
        dissect(judge, tree:add(p(at, size), "Server"), p(at, size))
    end
    return (p:len() - 16) / size
end

control[5] = function(judge, tree, p)
    return string.format("cabling of %d servers", cabling_list(judge, tree, p, 104, cabling_entry))
end

control[6] = function(judge, tree, p)
    return string.format("cabling ack of %d servers", cabling_list(judge, tree, p, 12, cabling_ack_entry))
end

local function control_fits(type, length)
    if type >= 5 then
        return length > 16 and (length - 16) % (type == 5 and 104 or 12) == 0
    end
    if type == 3 then
        return length >= 24 and length % 4 == 0
    end
    return length == ({ 72, 20, 0, 56 })[type]
end

local function dissect_control(judge, tree, p)
    local type = p(1, 1):uint()
    tree:add(f["control.type"], p(1, 1))
    tree:add(f["control.session"], p(4, 4))
    local sound = must(judge, p(0, 1):bitfield(0, 4) == 2, p(0, 1), "bad-version", "not version 2")
        and must(judge, CONTROLS[type], p(1, 1), "bad-kind", "unknown control type")
        and must(judge, control_fits(type, p:len()), p(2, 2), "bad-length", "length of the control packet")
    if not sound then
        if p:len() > 8 then
            tree:add(f["control.body"], p(8))
        end
        return CONTROLS[type] or "unknown control"
    end
    must(judge, not all_zero(p(4, 4)), p(4, 4), "bad-value", "session 0")
    return control[type](judge, tree, p)
end

-- ---- frames ----

local function dissect_packet(tree, p, index)
    local branch = tree:add(cubeway, p, "Packet " .. index)
    local judge = new_judge(branch)
    branch:add(f["packet.version"], p(0, 1))
    branch:add(f["packet.kind"], p(0, 1))
    branch:add(f["packet.length"], p(2, 2))
    local dissect = p(0, 1):bitfield(4, 4) == 4 and dissect_control or dissect_data
    local text = dissect(judge, branch, p)
    if judge.reason then
        text = text .. " [refused: " .. judge.reason .. "]"
    end
    branch:append_text(": " .. text)
    return text
end

-- Where the packets of the frame are, {at, length} each; nil when the frame is refused whole.
local function walk(judge, frame, at, packets)
    local found = {}
    for _ = 1, packets do
        if not must(judge, frame:len() - at >= 8, frame(0, 2), "truncated", "a packet begins beyond the frame") then
            return nil
        end
        local length = frame(at + 2, 2):uint()
        if not must(judge, length >= 8, frame(at + 2, 2), "bad-length", "a packet shorter than 8 bytes") then
            return nil
        end
        if not must(judge, length <= frame:len() - at, frame(at + 2, 2), "truncated", "a packet ends beyond the frame") then
            return nil
        end
        found[#found + 1] = { at, length }
        at = at + length
    end
    return found, at
end

-- Gives the text for the info column.
local function dissect_frame(frame, tree)
    local judge = new_judge(tree)
    if not must(judge, frame:len() >= 8, frame, "truncated", "shorter than a frame head") then
        return "truncated"
    end
    local tagged, relayed, packets = bit_of(frame(0, 1), 7), bit_of(frame(0, 1), 6), frame(1, 1):uint()
    tree:add(f["version"], frame(0, 1))
    local flags = tree:add(f["flags"], frame(0, 1))
    flags:add(f["flags.tagged"], frame(0, 1))
    flags:add(f["flags.relayed"], frame(0, 1))
    flags:add(f["flags.reserved"], frame(0, 1))
    add_all(tree, frame, 1, { "packets", 1, "session", 2, "sequence", 2, "position", 2 })
    local sound = must(judge, frame(0, 1):bitfield(0, 4) == 2, frame(0, 1), "bad-version", "not version 2")
        and must(judge, frame(0, 1):bitfield(4, 2) == 0, frame(0, 1), "reserved", "flags of the frame")
        and must(judge, packets > 0, frame(1, 1), "bad-value", "a frame without packets")
        and must(judge, not relayed or frame(4, 2):uint() == 0, frame(4, 2), "reserved", "link sequence of a relayed frame")
        and must(judge, not tagged or frame:len() >= 32, frame, "truncated", "no room for counter and tag")
    if not sound then
        return "refused: " .. judge.reason
    end
    if tagged then
        add_all(tree, frame, 8, { "counter", 8, "tag", 16 })
    end
    local found, at = walk(judge, frame, tagged and 32 or 8, packets)
    if not found then
        return "refused: " .. judge.reason
    end
    local texts = {}
    for index, place in ipairs(found) do
        texts[index] = dissect_packet(tree, frame(place[1], place[2]), index - 1)
    end
    if at < frame:len() then
        tree:add(f["padding"], frame(at))
    end
    return table.concat(texts, "; ")
end

function cubeway.dissector(tvb, pinfo, root)
    pinfo.cols.protocol = "cubeway"
    if tvb:len() < tvb:reported_len() then
        root:add(cubeway, tvb()):append_text(", cut short by the capture: not judged")
        return tvb:len()
    end
    local tree = root:add(cubeway, tvb())
    pinfo.cols.info = dissect_frame(tvb(), tree)
    return tvb:len()
end

-- ---- registration ----

local ethertypes = DissectorTable.get("ethertype")
local registered = {}

local function register()
    for _, type in ipairs(registered) do
        ethertypes:remove(type, cubeway)
    end
    registered = { cubeway.prefs.ethertype, cubeway.prefs.ethertype_control }
    for _, type in ipairs(registered) do
        ethertypes:add(type, cubeway)
    end
end

register()

function cubeway.prefs_changed()
    register()
end
