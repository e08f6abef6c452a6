-- For wrk: asks what each line of a file says, in turn, every thread from a place of its own; at the end
-- one line of JSON.
--
--   wrk -t2 -c32 -d10s -s serve.lua http://127.0.0.1:8080 -- THREADS FILE
--
-- A line that begins with / is a path to get; any other is the body of a POST to /v1/filter.
local made = 0

function setup(thread)
  thread:set("place", made)
  made = made + 1
end

function init(arguments)
  requests = {}
  for line in io.lines(arguments[2]) do
    if line:sub(1, 1) == "/" then
      requests[#requests + 1] = wrk.format("GET", line)
    else
      requests[#requests + 1] = wrk.format("POST", "/v1/filter", nil, line)
    end
  end
  at = math.floor(#requests * place / tonumber(arguments[1]))
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    '{"requests":%d,"seconds":%.3f,"p50_ms":%.3f,"p99_ms":%.3f,"max_ms":%.3f,"errors":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3, latency.max / 1e3,
    e.connect + e.read + e.write + e.status + e.timeout))
end
