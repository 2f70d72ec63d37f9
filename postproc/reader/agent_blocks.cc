#include "postproc/reader/agent_blocks.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "absl/container/btree_map.h"
#include "postproc/reader/agent_trees.h"
#include "postproc/reader/definitions.h"
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

// As text traces have them at most.
int64_t ClampOpen(int64_t count) {
  return std::clamp(count, -StreamTime(~uint64_t{0}), StreamTime(~uint64_t{0}));
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
  for (const proto::OpenActivations& open : chunk.open_activations()) {
    if (open.class_code() == 0) {
      open_.clear();
    } else {
      open_.push_back(open);
    }
  }
  for (const proto::NodeBlocks& blocks : chunk.node_blocks()) AddNodes(blocks);
}

void AgentBlocks::AddNodes(const proto::NodeBlocks& blocks) {
  uint32_t node = 0, first = 0;
  int next = 0;
  const int entries =
      std::min({blocks.node_size(), blocks.first_counter_size(), blocks.counters_size()});
  for (int i = 0; i < entries; ++i) {
    node += static_cast<uint32_t>(blocks.node(i));
    first += static_cast<uint32_t>(blocks.first_counter(i));
    AtNode& at = nodes_[node];
    const uint32_t counters = blocks.counters(i);
    if (counters == 0) at.unkept = true;
    if (counters > static_cast<uint32_t>(blocks.count_size() - next)) return;
    if (counters == 0 || first >= kMostCounters) continue;
    at.codes[first].assign(blocks.count().begin() + next,
                           blocks.count().begin() + next + static_cast<int>(counters));
    next += static_cast<int>(counters);
  }
}

uint64_t AgentBlocks::CountOf(uint32_t counter) const {
  return counter < counts_.size() ? counts_[counter] : 0;
}

absl::flat_hash_map<uint32_t, int64_t> AgentBlocks::CallsLeft(AgentTrees& trees) const {
  absl::flat_hash_map<uint32_t, int64_t> calls;
  for (const uint32_t id : trees.node_order()) {
    const std::optional<TreeNode> node = trees.FindNode(id);
    int64_t& sum = calls[node->routine];
    sum = WrapAdd(sum, node->counts.calls.value_or(0));
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
                                             std::string routine, int64_t calls,
                                             const OpenList* open) const {
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
  if (open == nullptr) return args;
  for (const proto::OpenActivations* it : *open) {
    args.push_back(StrCat("o", it->bci(), "=", it->count()));
  }
  return args;
}

void AgentBlocks::ForEach(AgentTrees& trees, absl::FunctionRef<std::string(uint32_t)> class_name,
                          absl::FunctionRef<std::string(uint32_t)> routine_name, Emit emit) const {
  if (methods_.empty()) return;
  uint32_t number = 0;
  const absl::flat_hash_map<uint32_t, int64_t> calls = CallsLeft(trees);
  for (const proto::ClassCode& code : classes_) {
    emit("class-code",
         {StrCat("code=", code.id()), class_name(code.class_id()), ToHex(code.code())});
  }
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, OpenList> open_in;
  for (const proto::OpenActivations& it : open_) {
    open_in[{it.class_code(), it.method()}].push_back(&it);
  }
  for (const proto::MethodCounters& method : methods_) {
    const auto found = calls.find(method.routine());
    const auto open = open_in.find({method.class_code(), method.method()});
    std::vector<std::string> args =
        ArgsOf(method, routine_name(method.routine()), found != calls.end() ? found->second : 0,
               open != open_in.end() ? &open->second : nullptr);
    ++number;
    if (method.by_path()) args.push_back(StrCat("path=", number));
    emit("blocks", args);
  }
}

// ---- By call path ---------------------------------------------------------------------------

void AgentBlocks::FinishPaths(AgentTrees& trees) {
  placed_.resize(methods_.size());
  for (size_t i = 0; i < methods_.size(); ++i) {
    if (methods_[i].by_path()) by_routine_[methods_[i].routine()].push_back(i);
  }
  for (const proto::OpenActivations& open : open_) {
    if (open.node() != 0) open_at_[open.node()].push_back(&open);
  }
  for (const auto& [node, at] : nodes_) {
    // The counts of a node that was dropped are those of another one now.
    if (!trees.FindNode(node).has_value() && trees.ThreadOf(node).has_value()) continue;
    for (const auto& [first, counts] : at.codes) {
      const size_t end = std::min<size_t>(first + counts.size(), kMostCounters);
      if (counts_.size() < end) counts_.resize(end);
      for (size_t i = first; i < end; ++i) counts_[i] += counts[i - first];
    }
  }
}

NodeBlocks AgentBlocks::BlocksAt(uint32_t id, size_t method, const CodeCounts* counted) const {
  const proto::MethodCounters& counters = methods_[method];
  NodeBlocks blocks;
  blocks.code = static_cast<uint32_t>(method + 1);
  size_t next = 0;
  for (int place = 0; counted != nullptr && place < counters.place_size(); ++place) {
    if ((counters.place(place) & kKindMask) == kSplit) continue;
    if (next == counted->size()) break;
    const uint64_t count = (*counted)[next++];
    if (count != 0) blocks.counts.emplace_back(place, StreamCount(count));
  }
  if (const auto open = open_at_.find(id); open != open_at_.end()) {
    for (const proto::OpenActivations* it : open->second) {
      if (it->class_code() != counters.class_code() || it->method() != counters.method()) continue;
      blocks.open.emplace_back(it->bci(), ClampOpen(it->count()));
    }
  }
  return blocks;
}

void AgentBlocks::Place(size_t method, const NodeBlocks& blocks) {
  Placed& placed = placed_[method];
  placed.calls = WrapAdd(placed.calls, blocks.calls);
  placed.counts.resize(static_cast<size_t>(methods_[method].place_size()));
  for (const auto& [place, count] : blocks.counts) {
    placed.counts[place] = WrapAdd(placed.counts[place], count);
  }
  for (const auto& [bci, count] : blocks.open) placed.open.emplace_back(bci, count);
}

std::vector<NodeBlocks> AgentBlocks::PathsOf(uint32_t id, const TreeNode& node) {
  std::vector<NodeBlocks> all;
  const auto methods = by_routine_.find(node.routine);
  if (methods == by_routine_.end()) return all;
  const auto found = nodes_.find(id);
  if (found != nodes_.end() && found->second.unkept) return all;
  // Calls that no counter of the node has are those of the code that does not count them.
  int64_t calls = node.counts.calls.value_or(0);
  size_t uncounted = methods_.size();
  for (const size_t method : methods->second) {
    const CodeCounts* counted = nullptr;
    if (found != nodes_.end()) {
      const auto code = found->second.codes.find(methods_[method].first_counter());
      if (code != found->second.codes.end()) counted = &code->second;
    }
    all.push_back(BlocksAt(id, method, counted));
    if (!EntryCounter(methods_[method])) uncounted = all.size() - 1;
    for (const auto& [place, count] : all.back().counts) {
      if (methods_[method].place(static_cast<int>(place)) == kEntry) calls = WrapSub(calls, count);
    }
  }
  if (uncounted < all.size()) all[uncounted].calls = calls;
  std::erase_if(all, [](const NodeBlocks& it) { return it.empty(); });
  for (const NodeBlocks& it : all) Place(it.code - 1, it);
  return all;
}

std::vector<std::pair<uint32_t, NodeBlocks>> AgentBlocks::WithoutPath(AgentTrees& trees) const {
  std::vector<std::pair<uint32_t, NodeBlocks>> all;
  if (!has_paths()) return all;
  const absl::flat_hash_map<uint32_t, int64_t> calls = CallsLeft(trees);
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, absl::btree_map<uint32_t, int64_t>> open_in;
  for (const proto::OpenActivations& it : open_) {
    int64_t& count = open_in[{it.class_code(), it.method()}][it.bci()];
    count = WrapAdd(count, ClampOpen(it.count()));
  }
  for (size_t i = 0; i < methods_.size(); ++i) {
    const proto::MethodCounters& method = methods_[i];
    if (!method.by_path()) continue;
    const Placed& placed = placed_[i];
    NodeBlocks rest;
    rest.code = static_cast<uint32_t>(i + 1);
    const auto found = calls.find(method.routine());
    if (!EntryCounter(method) && found != calls.end()) {
      rest.calls = WrapSub(found->second, placed.calls);
    }
    uint32_t counter = method.first_counter();
    for (int place = 0; place < method.place_size(); ++place) {
      if ((method.place(place) & kKindMask) == kSplit) continue;
      const int64_t known = placed.counts.empty() ? 0 : placed.counts[static_cast<size_t>(place)];
      const int64_t count = WrapSub(StreamCount(CountOf(counter++)), known);
      if (count != 0) rest.counts.emplace_back(place, count);
    }
    absl::btree_map<uint32_t, int64_t>& open = open_in[{method.class_code(), method.method()}];
    for (const auto& [bci, count] : placed.open) open[bci] = WrapSub(open[bci], count);
    for (const auto& [bci, count] : open) {
      if (count != 0) rest.open.emplace_back(bci, count);
    }
    if (!rest.empty()) all.emplace_back(method.routine(), std::move(rest));
  }
  return all;
}

}  // namespace jtrace::postproc
