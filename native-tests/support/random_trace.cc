#include "native-tests/support/random_trace.h"

#include <map>
#include <sstream>
#include <vector>

#include "native-tests/support/random.h"

namespace jtrace::testing {
namespace {

const std::vector<std::string>& RoutineNames() {
  static const std::vector<std::string> names = {"A",   "B", "C", "x.D.run()", "std::map<A, B> >",
                                                 "main"};
  return names;
}

}  // namespace

const std::vector<std::string>& RandomMetrics() {
  static const std::vector<std::string> metrics = {"alloc.bytes", "user.hits"};
  return metrics;
}

namespace {

std::string RandomFrame(Random& random) {
  static const std::vector<std::string> prefixes = {
      "", "", "", "J:", "C:", "I:", "V:", "K:", "N:libc.so!", "N:"};
  return random.Pick(prefixes) + random.Pick(RoutineNames());
}

std::string Frames(Random& random, uint64_t most) {
  std::string frames;
  for (uint64_t left = random.Below(most + 1); left > 0; --left)
    frames += "\t" + RandomFrame(random);
  return frames;
}

// The suffix of "sample": a state and a weight.
std::string Weight(Random& random) {
  std::string suffix = random.OneIn(5) ? ".parked" : "";
  if (random.OneIn(3)) suffix += "*" + std::to_string(random.Below(5));
  return suffix;
}

// `count` fields.
std::string Path(Random& random, uint64_t count) {
  std::string path;
  for (; count > 0; --count) path += "\t" + random.Pick(RoutineNames());
  return path;
}

std::string NodeKeys(Random& random) {
  static const std::vector<std::string> keys = {"calls", "calls_jitted", "base",
                                                "off",   "alloc.bytes",  "user.hits"};
  std::string pairs;
  for (const std::string& key : keys) {
    if (random.OneIn(2)) {
      pairs += (pairs.empty() ? "" : ",") + key + "=" + std::to_string(random.Below(20));
    }
  }
  if (random.OneIn(3)) {
    const uint64_t min = random.Below(9);
    pairs += (pairs.empty() ? "min=" : ",min=") + std::to_string(min) +
             ",max=" + std::to_string(min + random.Below(9));
  }
  return pairs.empty() ? "calls=1" : pairs;
}

std::string RandomHook(Random& random) {
  static const std::vector<std::string> kinds = {"count", "unwind", "time"};
  std::string op = "hook\t" + RandomFrame(random) + "\t" + random.Pick(kinds) + "\t";
  if (!random.OneIn(4)) op += RandomFrame(random);
  op += "\tcalls=" + std::to_string(random.Below(90));
  if (random.OneIn(2)) {
    const uint64_t min = random.Below(9);
    op += ",timed=" + std::to_string(random.Below(3)) +
          ",total=" + std::to_string(random.Below(5000)) + ",min=" + std::to_string(min) +
          ",max=" + std::to_string(min + random.Below(900));
  }
  op += Path(random, random.Below(4));
  for (uint64_t jumped = random.Below(3); jumped > 0; --jumped) {
    op += "\tN:libc.so [tail call]!" + random.Pick(RoutineNames());
  }
  return op;
}

std::string RandomOp(Random& random) {
  static const std::vector<std::string> kinds = {"", ".i", ".j"};
  switch (random.Below(14)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return "enter" + random.Pick(kinds) + "\t" + random.Pick(RoutineNames());
    case 4:
    case 5:
    case 6:
      return "exit" + random.Pick(kinds) + "\t" + random.Pick(RoutineNames());
    case 7:
      if (random.OneIn(4)) return "session-loss\tvalue=" + std::to_string(random.Below(1000));
      return random.OneIn(2) ? "on" : "off";
    case 8: {
      const uint64_t depth = random.Below(4);
      return "sample-at" + Weight(random) + "\t" + std::to_string(depth) + Path(random, depth) +
             Frames(random, 6);
    }
    case 9:
      if (random.OneIn(2)) return "unwind" + Frames(random, 5);
      return "node\t" + NodeKeys(random) + Path(random, 1 + random.Below(4));
    case 10:
      return "metric\t" + random.Pick(RandomMetrics()) + "\t" +
             std::to_string(static_cast<int64_t>(random.Below(40)) - 10);
    case 11:
      return RandomHook(random);
    default:
      return "sample" + Weight(random) + Frames(random, 8);
  }
}

}  // namespace

std::string RandomTextTrace(uint64_t seed) {
  Random random(seed);
  static const std::vector<std::string> threads = {"main", "worker", "a\\tb\\\\c"};
  std::map<std::string, uint64_t> times;
  std::string trace = "# jtrace-text 1 unit=us\n";
  for (uint64_t left = 1 + random.Below(60); left > 0; --left) {
    const std::string& thread = random.Pick(threads);
    uint64_t& time = times[thread];
    time += random.Below(8);
    const std::string begin = std::to_string(time) + "\t" + thread + "\t";
    const std::string op = RandomOp(random);
    if (op.starts_with("sample") && random.OneIn(3)) {
      trace += begin + "place\t" + std::to_string(random.Below(65'536)) + "\n";
    }
    trace += begin + op + "\n";
  }
  return trace;
}

namespace {

// The first field that may have a place; none: no field of this op.
size_t FirstPlaced(const std::vector<std::string>& fields) {
  constexpr size_t kNone = ~size_t{0};
  if (fields.size() < 3) return kNone;
  const std::string& op = fields[2];
  if (op.starts_with("sample-at") || op == "node") return 4;
  if (op.starts_with("sample") || op == "unwind") return 3;
  return op == "hook" ? 7 : kNone;
}

std::string RandomPlace(Random& random) {
  if (random.OneIn(3)) return "";
  const std::string number = std::to_string(1 + random.Below(3));
  return (random.OneIn(3) ? "\\@" : "\\:") + number;
}

}  // namespace

std::string WithCallPlaces(const std::string& trace, uint64_t seed) {
  Random random(seed);
  std::string placed;
  std::istringstream lines(trace);
  for (std::string line; std::getline(lines, line); placed += "\n") {
    std::vector<std::string> fields;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, '\t');) fields.push_back(field);
    for (size_t i = 0; i < fields.size(); ++i) {
      placed += (i == 0 ? "" : "\t") + fields[i];
      const bool is_jump = fields[i].find("[tail call]") != std::string::npos;
      if (i >= FirstPlaced(fields) && !is_jump) placed += RandomPlace(random);
    }
  }
  return placed;
}

}  // namespace jtrace::testing
