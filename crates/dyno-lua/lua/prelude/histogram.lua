-- `sysbench.histogram`: counts of values in buckets whose bounds grow by a constant factor.
local format, log, exp, floor, max, min = string.format, math.log, math.exp, math.floor, math.max, math.min

local WIDTH = 40

local histogram = {}
local meta = { __index = histogram }

function histogram:update(value)
  -- The nearest bucket; values outside count in the first or last one.
  local at = floor((log(value) - self.first) * self.per_log + 0.5)
  at = max(0, min(self.size - 1, at))
  self.counts[at] = (self.counts[at] or 0) + 1
end

function histogram:print()
  local most = 0
  for _, count in pairs(self.counts) do
    most = max(most, count)
  end
  if most == 0 then
    return
  end
  print("       value  ------------- distribution ------------- count")
  for at = 0, self.size - 1 do
    local count = self.counts[at]
    if count then
      local bar = string.rep("*", floor(count / most * WIDTH + 0.5))
      print(format("%12.3f |%-40s %d", exp(at / self.per_log + self.first), bar, count))
    end
  end
end

sysbench.histogram = {
  new = function(size, low, high)
    if type(size) ~= "number" or type(low) ~= "number" or type(high) ~= "number" or size < 2 or low <= 0 or high <= low then
      error("histogram.new(size, min, max) needs a size of at least 2 and 0 < min < max", 2)
    end
    local first = log(low)
    return setmetatable({
      size = floor(size), first = first, per_log = (floor(size) - 1) / (log(high) - first), counts = {},
    }, meta)
  end,
}
