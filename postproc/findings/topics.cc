#include "postproc/findings/topics.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "postproc/model/frame_name.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

bool IsOfTopic(std::string_view name, const Topic& topic) {
  std::string_view pattern = topic.routine;
  if (ConsumeSuffix(pattern, "*")) return name.starts_with(pattern);
  return name == pattern || WithoutParameters(name) == pattern;
}

// By routine; null: none.
std::vector<const Topic*> TopicOfRoutines(const Facts& facts, absl::Span<const Topic> topics) {
  std::vector<const Topic*> found(facts.model().routine_count() + 1);
  for (uint32_t i = 1; i < found.size(); ++i) {
    const std::string_view name = facts.Name(RoutineId(i));
    const auto topic = std::find_if(topics.begin(), topics.end(),
                                    [&](const Topic& it) { return IsOfTopic(name, it); });
    if (topic != topics.end()) found[i] = &*topic;
  }
  return found;
}

// By routine: whether it is charged for what it calls.
std::vector<bool> Owners(const Facts& facts, TopicOwner whose) {
  std::vector<bool> owners(facts.model().routine_count() + 1);
  for (uint32_t i = 1; i < owners.size(); ++i) {
    const RoutineId routine(i);
    owners[i] = facts.code().IsProgram(routine) &&
                (whose == TopicOwner::kNearest ||
                 !WithoutParameters(facts.Name(routine)).ends_with(".<init>"));
  }
  return owners;
}

class UseCollector {
 public:
  UseCollector(const Facts& facts, std::vector<const Topic*> topics, std::vector<bool> owners)
      : facts_(facts),
        topics_(std::move(topics)),
        owners_(std::move(owners)),
        places_(facts.tree().size()) {}

  std::vector<TopicUse> Collect();

 private:
  // Of a node: the outermost node of a topic above it or itself, and who is charged for it.
  struct Place {
    NodeId topic;
    NodeId owner;
  };

  void Find(NodeId id);
  void Add(NodeId id);

  const Facts& facts_;
  const std::vector<const Topic*> topics_;
  const std::vector<bool> owners_;
  std::vector<Place> places_;
  absl::flat_hash_map<std::pair<RoutineId, RoutineId>, size_t> index_;
  std::vector<TopicUse> uses_;
  // By use and owner's node: for the heaviest one.
  absl::flat_hash_map<std::pair<size_t, NodeId>, int64_t> by_node_;
};

void UseCollector::Find(NodeId id) {
  Place& place = places_[id.value - 1];
  if (const NodeId parent = facts_.tree().parent(id)) place = places_[parent.value - 1];
  const RoutineId routine = facts_.tree().routine(id);
  if (!routine) return;
  if (topics_[routine.value] != nullptr) {
    if (!place.topic) place.topic = id;
  } else if (owners_[routine.value]) {
    place = {NodeId(), id};
  }
}

void UseCollector::Add(NodeId id) {
  const CallTree& tree = facts_.tree();
  const Place& place = places_[id.value - 1];
  if (!place.topic) return;
  const bool is_counted = place.topic == id && tree.origin(id) == NodeOrigin::kEvent;
  const int64_t calls = is_counted ? tree.calls(id) : 0;
  const int64_t time = facts_.Time(id);
  if (time == 0 && calls == 0) return;
  const RoutineId callee = tree.routine(place.topic);
  const RoutineId owner = place.owner ? tree.routine(place.owner) : RoutineId();
  const auto [entry, is_new] = index_.try_emplace({owner, callee}, uses_.size());
  if (is_new) uses_.push_back({.owner = owner, .callee = callee, .topic = topics_[callee.value]});
  TopicUse& use = uses_[entry->second];
  use.time = WrapAdd(use.time, time);
  use.calls = WrapAdd(use.calls, calls);
  if (!place.owner) return;
  int64_t& here = by_node_[{entry->second, place.owner}];
  here = WrapAdd(here, time != 0 ? time : calls);
  const auto most = use.heaviest ? by_node_.find({entry->second, use.heaviest}) : by_node_.end();
  if (most == by_node_.end() || here > most->second) use.heaviest = place.owner;
}

std::vector<TopicUse> UseCollector::Collect() {
  // Nodes follow their parents.
  for (uint32_t i = 1; i <= facts_.tree().size(); ++i) Find(NodeId(i));
  for (uint32_t i = 1; i <= facts_.tree().size(); ++i) Add(NodeId(i));
  std::sort(uses_.begin(), uses_.end(), [&](const TopicUse& a, const TopicUse& b) {
    return std::tuple(b.time, b.calls, a.callee.value, a.owner.value) <
           std::tuple(a.time, a.calls, b.callee.value, b.owner.value);
  });
  return std::move(uses_);
}

}  // namespace

std::vector<TopicUse> UsesOf(const Facts& facts, absl::Span<const Topic> topics, TopicOwner whose) {
  std::vector<const Topic*> of_routines = TopicOfRoutines(facts, topics);
  const bool is_any = std::any_of(of_routines.begin(), of_routines.end(),
                                  [](const Topic* topic) { return topic != nullptr; });
  if (!is_any) return {};
  return UseCollector(facts, std::move(of_routines), Owners(facts, whose)).Collect();
}

}  // namespace jtrace::postproc
