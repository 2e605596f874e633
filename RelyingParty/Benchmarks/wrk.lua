-- SPDX-License-Identifier: Apache-2.0
-- Sends each line of the file BENCH_BODIES to BENCH_PATH once, or a single one again and again, and prints statuses and
-- durations as one line of JSON. Writes a line to the standard error when everything is sent: wrk would go on until its
-- time is over.
local ffi = require("ffi")
ffi.cdef "typedef struct { long seconds, microseconds; } latchkey_time; int gettimeofday(latchkey_time *, void *);"
local threads = {}

local function now()
    local time = ffi.new("latchkey_time")
    ffi.C.gettimeofday(time, nil)
    return tonumber(time.seconds) + tonumber(time.microseconds) / 1e6
end

function setup(thread)
    table.insert(threads, thread)
end

function init()
    good, bad, sent, messages, began, ended = 0, 0, 0, {}, 0, 0
    local headers = {["Content-Type"] = os.getenv("BENCH_TYPE"), ["Authorization"] = os.getenv("BENCH_AUTHORIZATION")}
    for body in io.lines(os.getenv("BENCH_BODIES")) do
        table.insert(messages, wrk.format("POST", os.getenv("BENCH_PATH"), headers, body))
    end
end

function request()
    if sent == 0 then began = now() end
    if #messages == 1 then
        sent = 1
        return messages[1]
    end
    sent = sent + 1
    if sent == #messages then
        -- Up to one reply for each connection is not waited for.
        wrk.thread:stop()
        io.stderr:write("sent\n")
    end
    return messages[math.min(sent, #messages)]
end

function response(status)
    if status < 300 then good = good + 1 else bad = bad + 1 end
    ended = now()
end

function done(summary, latency)
    local good, bad, seconds = 0, 0, 0
    for _, thread in ipairs(threads) do
        good, bad = good + thread:get("good"), bad + thread:get("bad")
        seconds = math.max(seconds, thread:get("ended") - thread:get("began"))
    end
    print(string.format('{"good":%d,"bad":%d,"seconds":%.6f,"p50":%d,"p99":%d,"p999":%d}', good, bad,
        seconds, latency:percentile(50), latency:percentile(99), latency:percentile(99.9)))
end
