// The definitions of a trace except threads: strings, classes, routines, methods and label sets.
//
// A file defines only what its records name (DefineRoutine and similar): most methods are never
// called. The data of unloaded classes is forgotten (Forget), because a program that keeps loading
// classes would otherwise fill the memory. Numbers of classes, routines and methods are valid until
// the class is unloaded, those of strings for one file. Not synchronised: RecordEncoder's mutex
// guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "agent/trace/label_sets.h"
#include "trace.pb.h"

namespace jtrace::trace {

// Numbers for the things that a trace defines, by their keys. `Key`: hashable, equal for the same
// thing. Numbers begin at 1 and are never reused.
template <typename Key>
class IdTable {
 public:
  struct Entry {
    Key key;
    bool is_defined = false;  // the current file defines it
  };

  // Returns the key's number, and whether it is new.
  std::pair<uint32_t, bool> Add(const Key& key) {
    const auto [entry, is_new] = numbers_.try_emplace(key, last_ + 1);
    if (is_new) entries_.emplace(++last_, Entry{key});
    return {entry->second, is_new};
  }
  uint32_t Find(const Key& key) const {
    const auto found = numbers_.find(key);
    return found != numbers_.end() ? found->second : 0;
  }
  // Returns null if no entry has that number any more.
  Entry* Get(uint32_t number) {
    const auto found = entries_.find(number);
    return found != entries_.end() ? &found->second : nullptr;
  }

  // `condition` receives number and key.
  template <typename Condition>
  void EraseIf(Condition condition) {
    absl::erase_if(entries_, [&](const auto& entry) {
      if (!condition(entry.first, entry.second.key)) return false;
      numbers_.erase(entry.second.key);
      return true;
    });
  }
  template <typename Action>
  void ForEach(Action action) const {
    for (const auto& [number, entry] : entries_) action(number, entry.key);
  }
  // Begins a file that defines nothing yet. `change` may change each key; the new keys must be
  // distinct.
  template <typename Change>
  void BeginFile(Change change) {
    numbers_.clear();
    for (auto& [number, entry] : entries_) {
      change(entry.key);
      entry.is_defined = false;
      numbers_.emplace(entry.key, number);
    }
  }

  uint32_t last() const { return last_; }
  size_t size() const { return entries_.size(); }

 private:
  uint32_t last_ = 0;
  absl::flat_hash_map<Key, uint32_t> numbers_;
  absl::flat_hash_map<uint32_t, Entry> entries_;
};

// Strings of a trace by number. A string that definitions use is forgotten with the last of them;
// others are kept. A forgotten string that occurs again gets a new number.
class StringTable {
 public:
  struct Interned {
    uint32_t id = 0;
    bool is_new = false;
  };
  // Returns the text's number, and whether it is new. The number of "" is 0.
  Interned Intern(absl::string_view text);
  // Returns 0 for an unknown text and for "".
  uint32_t Find(absl::string_view text) const;
  absl::string_view Text(uint32_t id) const;

  // A definition starts or stops using the string.
  void Use(uint32_t id);
  void Release(uint32_t id);

  // Numbers the strings 1, 2, 3 … without holes, in the order of their numbers so far. Returns the
  // new number of each old one.
  absl::flat_hash_map<uint32_t, uint32_t> Renumber();
  // Returns the texts by number, from 1 on. The numbers must have no holes: call Renumber first.
  std::vector<absl::string_view> All() const;

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string text;
    uint32_t uses = 0;
  };

  uint32_t last_ = 0;
  absl::flat_hash_map<uint32_t, std::unique_ptr<Entry>> entries_;
  absl::flat_hash_map<absl::string_view, uint32_t> ids_;  // of the entries' texts
};

// A routine: a method with probes, or a site in one that probes count; a site may have a cost.
struct RoutineInfo {
  uint32_t class_id = 0;
  absl::string_view name = {};
  absl::string_view descriptor = {};
  proto::Routine::Kind kind = proto::Routine::METHOD;
  proto::Routine::Cost cost = proto::Routine::UNCLASSIFIED;
  uint32_t cycles = 0;
  uint32_t millicycles_per_element = 0;
};

// A routine as ForEachRoutine passes it. The table owns the texts.
struct RoutineText {
  absl::string_view class_name;  // binary
  absl::string_view name;
  absl::string_view descriptor;
  proto::Routine::Kind kind;
};

// A class that DefinitionTable::Forget removed.
struct ForgottenClass {
  uint32_t id = 0;
  uint32_t loader = 0;
  std::string name;  // binary
};

class DefinitionTable {
 public:
  // Sets the chunk that gets definitions; null: none does. `into` must outlive its use.
  void DefineInto(proto::Chunk* into) { into_ = into; }
  // Approximate bytes of everything written into chunks.
  size_t bytes() const { return bytes_; }

  // Returns the number of a string that an event names, not a definition.
  uint32_t String(absl::string_view text);
  // Returns the number of a string that a definition outside this table uses until Release.
  uint32_t RetainString(absl::string_view text);
  void Release(uint32_t string) { strings_.Release(string); }

  uint32_t Class(absl::string_view binary_name, uint32_t loader);
  // Forget keeps the class from now on, because code of another loader names it.
  void KeepClass(uint32_t class_id) { kept_classes_.insert(class_id); }
  uint32_t Routine(const RoutineInfo& info);
  uint32_t Method(uint32_t class_id, absl::string_view name, absl::string_view descriptor);
  // Returns the routine number of a method; 0: it has none.
  uint32_t RoutineOf(uint32_t method);

  // Whether the routine is a method; false for a site and for an unknown number.
  bool IsMethod(uint32_t routine);

  // Visits the routines of classes that are not forgotten, in any order.
  void ForEachRoutine(absl::FunctionRef<void(uint32_t, const RoutineText&)> visit);

  // Defines what a record names, once a file. A method's routine is defined with the method.
  void DefineClass(uint32_t id);
  void DefineRoutine(uint32_t id);
  void DefineMethod(uint32_t id);
  // Defines the set of labels with that number (LabelSets).
  void DefineLabels(uint32_t id, const Labels& labels);
  // Defines all routines of these classes that are METHODs.
  void DefineRoutinesOf(const absl::flat_hash_set<uint32_t>& classes);

  // Forgets these classes, all classes of these loaders, and their members. No record may name them
  // from here on. The time is proportional to everything known.
  std::vector<ForgottenClass> Forget(const absl::flat_hash_set<uint32_t>& classes,
                                     const absl::flat_hash_set<uint32_t>& loaders);

  // Begins a file with this chunk and writes all strings into it; other definitions follow when
  // records name them. Renumbers the strings and returns the new number of each.
  absl::flat_hash_map<uint32_t, uint32_t> BeginFile(proto::Chunk& chunk);

  // The greatest number of a routine so far.
  uint32_t last_routine() const { return routines_.last(); }
  size_t classes() const { return classes_.size(); }

 private:
  using ClassKey = std::pair<uint32_t, uint32_t>;              // name, loader
  using MethodKey = std::tuple<uint32_t, uint32_t, uint32_t>;  // class, name, descriptor
  // class, name, descriptor, kind, cost, cycles, millicycles for each element
  using RoutineKey = std::tuple<uint32_t, uint32_t, uint32_t, int, int, uint32_t, uint32_t>;

  // Returns the key's number; a new key uses its strings from now on.
  template <typename Key>
  uint32_t Number(IdTable<Key>& known, const Key& key);
  // Returns the key, which the current file defines from now on; null: it defines it already, or
  // the number is unknown.
  template <typename Key>
  const Key* BeginDefinition(IdTable<Key>& known, uint32_t id);
  template <typename Key>
  void ForgetMembers(IdTable<Key>& known, const absl::flat_hash_set<uint32_t>& classes);

  StringTable strings_;
  IdTable<ClassKey> classes_;
  IdTable<RoutineKey> routines_;
  IdTable<MethodKey> methods_;
  absl::flat_hash_set<uint32_t> kept_classes_;
  absl::flat_hash_set<uint32_t> defined_labels_;  // in this file
  proto::Chunk* into_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace jtrace::trace
