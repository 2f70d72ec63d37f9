#include "postproc/reader/agent_blocks.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "postproc/reader/agent_trees.h"
#include "postproc/support/strings.h"
#include "postproc/support/wrap.h"

namespace jtrace::postproc {
namespace {

// As the agent has them at most.
constexpr uint64_t kMostCounters = 1u << 24;

// Of a place (proto::MethodCounters).
constexpr uint32_t kKindMask = 3;
constexpr int kKindBits = 2;
constexpr uint32_t kArrivals = 1;
constexpr uint32_t kSplit = 3;
constexpr uint32_t kEntry = kArrivals;  // arrivals at 0
constexpr std::array<char, 4> kLetters = {'b', 'f', 't', 's'};

std::string ToHex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

// The counter of the method's calls, if it has one.
std::optional<uint32_t> EntryCounter(const proto::MethodCounters& method) {
  uint32_t counter = method.first_counter();
  for (const uint32_t place : method.place()) {
    if (place == kEntry) return counter;
    counter += (place & kKindMask) != kSplit ? 1 : 0;
  }
  return std::nullopt;
}

}  // namespace

void AgentBlocks::Add(const proto::Chunk& chunk) {
  classes_.insert(classes_.end(), chunk.class_code().begin(), chunk.class_code().end());
  methods_.insert(methods_.end(), chunk.method_counters().begin(), chunk.method_counters().end());
  for (const proto::BlockCounts& counts : chunk.block_counts()) {
    uint32_t counter = 0;
    for (int i = 0; i < std::min(counts.counter_size(), counts.count_size()); ++i) {
      counter += static_cast<uint32_t>(counts.counter(i));
      if (counter >= kMostCounters) break;
      if (counts_.size() <= counter) counts_.resize(counter + 1);
      counts_[counter] = counts.count(i);
    }
  }
  // Only at the end, in one or more parts.
  open_.insert(open_.end(), chunk.open_activations().begin(), chunk.open_activations().end());
}

uint64_t AgentBlocks::CountOf(uint32_t counter) const {
  return counter < counts_.size() ? counts_[counter] : 0;
}

absl::flat_hash_map<uint32_t, int64_t> AgentBlocks::CallsLeft(AgentTrees& trees) const {
  absl::flat_hash_map<uint32_t, int64_t> calls;
  for (const uint32_t id : trees.node_order()) {
    const TreeNode& node = *trees.FindNode(id);
    int64_t& sum = calls[node.routine];
    sum = WrapAdd(sum, node.counts.calls.value_or(0));
  }
  for (const AgentTrees::FlatCount& count : trees.flat()) {
    int64_t& sum = calls[count.routine];
    sum = WrapAdd(sum, static_cast<int64_t>(count.calls));
  }
  for (const proto::MethodCounters& method : methods_) {
    const std::optional<uint32_t> entries = EntryCounter(method);
    if (!entries) continue;
    int64_t& sum = calls[method.routine()];
    sum = WrapSub(sum, static_cast<int64_t>(CountOf(*entries)));
  }
  return calls;
}

std::vector<std::string> AgentBlocks::ArgsOf(const proto::MethodCounters& method,
                                             std::string routine, int64_t calls) const {
  std::vector<std::string> args = {StrCat("code=", method.class_code()),
                                   StrCat("method=", method.method()), std::move(routine)};
  uint32_t counter = method.first_counter();
  if (!EntryCounter(method)) args.push_back(StrCat("calls=", calls));
  for (const uint32_t place : method.place()) {
    const uint32_t kind = place & kKindMask;
    std::string text = StrCat(std::string_view(&kLetters[kind], 1), place >> kKindBits);
    if (kind != kSplit) StrAppend(&text, "=", CountOf(counter++));
    args.push_back(std::move(text));
  }
  for (const proto::OpenActivations& open : open_) {
    if (open.class_code() != method.class_code() || open.method() != method.method()) continue;
    args.push_back(StrCat("o", open.bci(), "=", open.count()));
  }
  return args;
}

void AgentBlocks::ForEach(AgentTrees& trees, absl::FunctionRef<std::string(uint32_t)> class_name,
                          absl::FunctionRef<std::string(uint32_t)> routine_name, Emit emit) const {
  if (methods_.empty()) return;
  const absl::flat_hash_map<uint32_t, int64_t> calls = CallsLeft(trees);
  for (const proto::ClassCode& code : classes_) {
    emit("class-code",
         {StrCat("code=", code.id()), class_name(code.class_id()), ToHex(code.code())});
  }
  for (const proto::MethodCounters& method : methods_) {
    const auto found = calls.find(method.routine());
    emit("blocks",
         ArgsOf(method, routine_name(method.routine()), found != calls.end() ? found->second : 0));
  }
}

}  // namespace jtrace::postproc
