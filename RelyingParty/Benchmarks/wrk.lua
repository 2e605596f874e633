-- SPDX-License-Identifier: Apache-2.0
-- Sends BENCH_BODY to BENCH_PATH, and prints statuses and durations as one line of JSON.
local threads = {}

function setup(thread)
    table.insert(threads, thread)
end

function init()
    good, bad = 0, 0
    message = wrk.format("POST", os.getenv("BENCH_PATH"), {["Content-Type"] = "application/json"},
        os.getenv("BENCH_BODY"))
end

function request()
    return message
end

function response(status)
    if status < 300 then good = good + 1 else bad = bad + 1 end
end

function done(summary, latency)
    local good, bad = 0, 0
    for _, thread in ipairs(threads) do
        good, bad = good + thread:get("good"), bad + thread:get("bad")
    end
    print(string.format('{"good":%d,"bad":%d,"seconds":%.6f,"p50":%d,"p99":%d,"p999":%d}', good, bad,
        summary.duration / 1e6, latency:percentile(50), latency:percentile(99), latency:percentile(99.9)))
end
