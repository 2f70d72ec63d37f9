#include "agent/trace/definition_table.h"

#include <algorithm>
#include <utility>

namespace jtrace::trace {
namespace {

// The approximate size of a definition in a serialised chunk; only for sealing in time.
constexpr size_t kDefinitionBytes = 8;

// A routine or a method by class, name and descriptor.
template <typename Key, typename Definition>
void SetMember(uint32_t id, const Key& key, Definition& definition) {
  definition.set_id(id);
  definition.set_class_id(std::get<0>(key));
  definition.set_name(std::get<1>(key));
  definition.set_descriptor(std::get<2>(key));
}

// Calls the action with the number of each string in a key.
template <typename Action>
void ForEachString(std::pair<uint32_t, uint32_t>& key, Action action) {
  action(key.first);
}
template <typename... Rest, typename Action>
void ForEachString(std::tuple<uint32_t, uint32_t, uint32_t, Rest...>& key, Action action) {
  action(std::get<1>(key));
  action(std::get<2>(key));
}

}  // namespace

uint32_t DefinitionTable::String(absl::string_view text) {
  const auto [id, is_new] = strings_.Intern(text);
  if (!is_new || into_ == nullptr) return id;
  if (into_->string_size() == 0) into_->set_first_string(id);
  into_->add_string(std::string(text));
  bytes_ += text.size() + 2;
  return id;
}

uint32_t DefinitionTable::RetainString(absl::string_view text) {
  const uint32_t id = String(text);
  strings_.Use(id);
  return id;
}

template <typename Key>
uint32_t DefinitionTable::Number(IdTable<Key>& known, const Key& key) {
  const auto [id, is_new] = known.Add(key);
  if (is_new) {
    Key used = key;
    ForEachString(used, [this](uint32_t string) { strings_.Use(string); });
  }
  return id;
}

uint32_t DefinitionTable::Class(absl::string_view binary_name, uint32_t loader) {
  return Number(classes_, {String(binary_name), loader});
}

uint32_t DefinitionTable::Routine(const RoutineInfo& info) {
  return Number(routines_, {info.class_id, String(info.name), String(info.descriptor), info.kind,
                            info.cost, info.cycles, info.millicycles_per_element});
}

uint32_t DefinitionTable::Method(uint32_t class_id, absl::string_view name,
                                 absl::string_view descriptor) {
  return Number(methods_, {class_id, String(name), String(descriptor)});
}

uint32_t DefinitionTable::RoutineOf(uint32_t method) {
  if (routines_.size() == 0) return 0;
  const auto* const entry = methods_.Get(method);
  if (entry == nullptr) return 0;
  const auto [class_id, name, descriptor] = entry->key;
  return routines_.Find(
      {class_id, name, descriptor, proto::Routine::METHOD, proto::Routine::UNCLASSIFIED, 0, 0});
}

bool DefinitionTable::IsMethod(uint32_t routine) {
  const auto* const entry = routines_.Get(routine);
  return entry != nullptr && std::get<3>(entry->key) == proto::Routine::METHOD;
}

void DefinitionTable::ForEachRoutine(absl::FunctionRef<void(uint32_t, const RoutineText&)> visit) {
  routines_.ForEach([&](uint32_t id, const RoutineKey& key) {
    const auto [class_id, name, descriptor, kind, cost, cycles, of_element] = key;
    const auto* of_class = classes_.Get(class_id);
    if (of_class == nullptr) return;
    visit(id, {strings_.Text(of_class->key.first), strings_.Text(name), strings_.Text(descriptor),
               static_cast<proto::Routine::Kind>(kind)});
  });
}

template <typename Key>
const Key* DefinitionTable::BeginDefinition(IdTable<Key>& known, uint32_t id) {
  auto* entry = known.Get(id);
  if (entry == nullptr || entry->is_defined || into_ == nullptr) return nullptr;
  entry->is_defined = true;
  bytes_ += kDefinitionBytes;
  return &entry->key;
}

void DefinitionTable::DefineClass(uint32_t id) {
  const ClassKey* key = BeginDefinition(classes_, id);
  if (key == nullptr) return;
  proto::ClassDef& definition = *into_->add_class_def();
  definition.set_id(id);
  definition.set_name(key->first);
  definition.set_loader(key->second);
}

void DefinitionTable::DefineRoutine(uint32_t id) {
  const RoutineKey* key = BeginDefinition(routines_, id);
  if (key == nullptr) return;
  DefineClass(std::get<0>(*key));
  proto::Routine& definition = *into_->add_routine();
  SetMember(id, *key, definition);
  definition.set_kind(static_cast<proto::Routine::Kind>(std::get<3>(*key)));
  definition.set_cost(static_cast<proto::Routine::Cost>(std::get<4>(*key)));
  definition.set_cycles(std::get<5>(*key));
  definition.set_millicycles_per_element(std::get<6>(*key));
}

void DefinitionTable::DefineMethod(uint32_t id) {
  const MethodKey* key = BeginDefinition(methods_, id);
  if (key == nullptr) return;
  const auto [class_id, name, descriptor] = *key;
  DefineClass(class_id);
  SetMember(id, *key, *into_->add_method());
  // A method with probes is in scope, even if none of its calls was counted.
  DefineRoutine(routines_.Find(
      {class_id, name, descriptor, proto::Routine::METHOD, proto::Routine::UNCLASSIFIED, 0, 0}));
}

void DefinitionTable::DefineLabels(uint32_t id, const Labels& labels) {
  if (into_ == nullptr || !defined_labels_.insert(id).second) return;
  proto::LabelSet& definition = *into_->add_label_set();
  definition.set_id(id);
  for (const auto& [key, value] : labels) {
    definition.add_key(String(key));
    definition.add_value(String(value));
  }
  bytes_ += kDefinitionBytes;
}

void DefinitionTable::DefineRoutinesOf(const absl::flat_hash_set<uint32_t>& classes) {
  std::vector<uint32_t> ids;
  routines_.ForEach([&](uint32_t id, const RoutineKey& key) {
    if (std::get<3>(key) == proto::Routine::METHOD && classes.contains(std::get<0>(key))) {
      ids.push_back(id);
    }
  });
  std::sort(ids.begin(), ids.end());  // neighbours are similar, so they compress well
  for (const uint32_t id : ids) DefineRoutine(id);
}

std::vector<ForgottenClass> DefinitionTable::Forget(const absl::flat_hash_set<uint32_t>& classes,
                                                    const absl::flat_hash_set<uint32_t>& loaders) {
  std::vector<ForgottenClass> forgotten;
  absl::flat_hash_set<uint32_t> ids;
  classes_.ForEach([&](uint32_t id, const ClassKey& key) {
    const auto [name, loader] = key;
    if (!classes.contains(id) && !loaders.contains(loader)) return;
    if (kept_classes_.contains(id)) return;
    forgotten.push_back({id, loader, std::string(strings_.Text(name))});
    ids.insert(id);
  });
  ForgetMembers(routines_, ids);
  ForgetMembers(methods_, ids);
  classes_.EraseIf([&](uint32_t id, const ClassKey& key) {
    if (!ids.contains(id)) return false;
    strings_.Release(key.first);
    return true;
  });
  return forgotten;
}

template <typename Key>
void DefinitionTable::ForgetMembers(IdTable<Key>& known,
                                    const absl::flat_hash_set<uint32_t>& classes) {
  known.EraseIf([&](uint32_t, Key key) {
    if (!classes.contains(std::get<0>(key))) return false;
    ForEachString(key, [this](uint32_t string) { strings_.Release(string); });
    return true;
  });
}

absl::flat_hash_map<uint32_t, uint32_t> DefinitionTable::BeginFile(proto::Chunk& chunk) {
  auto renumbered = strings_.Renumber();
  const auto renumber = [&](auto& key) {
    ForEachString(key, [&](uint32_t& string) { string = renumbered.at(string); });
  };
  classes_.BeginFile(renumber);
  routines_.BeginFile(renumber);
  methods_.BeginFile(renumber);
  defined_labels_.clear();
  chunk.set_first_string(1);
  for (const absl::string_view text : strings_.All()) chunk.add_string(std::string(text));
  return renumbered;
}

StringTable::Interned StringTable::Intern(absl::string_view text) {
  if (text.empty()) return {};
  if (const auto found = ids_.find(text); found != ids_.end()) return {found->second, false};
  auto entry = std::make_unique<Entry>(Entry{.text = std::string(text)});
  ids_.emplace(entry->text, ++last_);
  entries_.emplace(last_, std::move(entry));
  return {last_, true};
}

uint32_t StringTable::Find(absl::string_view text) const {
  const auto found = ids_.find(text);
  return found != ids_.end() ? found->second : 0;
}

absl::string_view StringTable::Text(uint32_t id) const {
  const auto found = entries_.find(id);
  return found != entries_.end() ? absl::string_view(found->second->text) : "";
}

void StringTable::Use(uint32_t id) {
  if (const auto found = entries_.find(id); found != entries_.end()) ++found->second->uses;
}

void StringTable::Release(uint32_t id) {
  const auto found = entries_.find(id);
  if (found == entries_.end() || --found->second->uses != 0) return;
  ids_.erase(found->second->text);
  entries_.erase(found);
}

absl::flat_hash_map<uint32_t, uint32_t> StringTable::Renumber() {
  std::vector<std::pair<uint32_t, std::unique_ptr<Entry>>> old;
  old.reserve(entries_.size());
  for (auto& [id, entry] : entries_) old.emplace_back(id, std::move(entry));
  std::sort(old.begin(), old.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  entries_.clear();
  last_ = 0;
  absl::flat_hash_map<uint32_t, uint32_t> renumbered = {{0, 0}};
  for (auto& [id, entry] : old) {
    renumbered[id] = ++last_;
    ids_[entry->text] = last_;
    entries_.emplace(last_, std::move(entry));
  }
  return renumbered;
}

std::vector<absl::string_view> StringTable::All() const {
  std::vector<absl::string_view> texts(entries_.size());
  for (const auto& [id, entry] : entries_) texts[id - 1] = entry->text;
  return texts;
}

}  // namespace jtrace::trace
