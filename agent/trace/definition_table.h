// The definitions of a trace except threads: strings, classes, routines and methods by number.
//
// A file defines only what its records name (DefineRoutine and similar): most methods are never
// called. The data of unloaded classes is forgotten (Forget), because a program that keeps loading
// classes would otherwise fill the memory. Numbers of classes, routines and methods are valid for
// the life of the JVM, those of strings for one file. Not synchronised: RecordEncoder's mutex
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

// Numbers for the things that a trace defines, by their keys.

// `Key`: hashable, equal for the same thing. Numbers begin at 1 and are never reused.
template <typename Key>
class KeyNumbers {
 public:
  struct Entry {
    Key key;
    bool is_defined = false;  // the current file defines it
  };

  // The key's number, and whether it is new.
  std::pair<uint32_t, bool> Add(const Key& key) {
    const auto [entry, is_new] = numbers_.try_emplace(key, last_ + 1);
    if (is_new) entries_.emplace(++last_, Entry{key});
    return {entry->second, is_new};
  }
  uint32_t Find(const Key& key) const {
    const auto found = numbers_.find(key);
    return found != numbers_.end() ? found->second : 0;
  }
  // Null if there is none, or it was erased.
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
  // A file begins that defines nothing yet. `change` may change each key; the new keys must be
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
//
// Not synchronised: RecordEncoder's mutex guards it.
class StringTable {
 public:
  struct Interned {
    uint32_t id = 0;
    bool is_new = false;
  };
  // "" is 0.
  Interned Intern(absl::string_view text);
  // 0: unknown, or "".
  uint32_t Find(absl::string_view text) const;
  absl::string_view Text(uint32_t id) const;

  // A definition starts or stops using the string.
  void Use(uint32_t id);
  void Release(uint32_t id);

  // Numbers the strings 1, 2, 3 … without holes, in the order of their numbers so far. Returns the
  // new number of each old one.
  absl::flat_hash_map<uint32_t, uint32_t> Renumber();
  // By number, from 1 on: after Renumber, before anything else.
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

// A routine that probes count besides the methods that have them.
struct RoutineInfo {
  uint32_t class_id = 0;
  absl::string_view name = {};
  absl::string_view descriptor = {};
  proto::Routine::Kind kind = proto::Routine::METHOD;
  proto::Routine::Cost cost = proto::Routine::UNCLASSIFIED;
  uint32_t cycles = 0;
  uint32_t millicycles_per_element = 0;
};

// The same, found by its number. The table owns the texts.
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
  // Definitions are written there; null: nowhere. `into` must outlive that use.
  void DefineInto(proto::Chunk* into) { into_ = into; }
  // Approximate bytes of everything written into chunks.
  size_t bytes() const { return bytes_; }

  // A string that an event uses, not a definition.
  uint32_t String(absl::string_view text);
  // A string of a definition that is kept elsewhere, until Release.
  uint32_t UsedString(absl::string_view text);
  void Release(uint32_t string) { strings_.Release(string); }

  uint32_t Class(absl::string_view binary_name, uint32_t loader);
  // Code of a loader other than the class's own names the class: it is never forgotten.
  void KeepClass(uint32_t class_id) { kept_classes_.insert(class_id); }
  uint32_t Routine(const RoutineInfo& info);
  uint32_t Method(uint32_t class_id, absl::string_view name, absl::string_view descriptor);
  // The number as a routine of a method by its number; 0: it has none.
  uint32_t RoutineOf(uint32_t method);

  // False for a routine that is a site or unknown.
  bool IsMethod(uint32_t routine);

  // The routines of classes that are not forgotten, in any order.
  void ForEachRoutine(absl::FunctionRef<void(uint32_t, const RoutineText&)> visit);

  // A record names the number, so its file has to define it. A method's routine is defined with it.
  void DefineClass(uint32_t id);
  void DefineRoutine(uint32_t id);
  void DefineMethod(uint32_t id);
  // The set of labels with that number (LabelSets).
  void DefineLabels(uint32_t id, const Labels& labels);
  // All METHODs of these classes that have numbers as routines.
  void DefineRoutinesOf(const absl::flat_hash_set<uint32_t>& classes);

  // Forgets these classes, all classes of these loaders, and their members. No record may name them
  // from here on. The time is proportional to everything known.
  std::vector<ForgottenClass> Forget(const absl::flat_hash_set<uint32_t>& classes,
                                     const absl::flat_hash_set<uint32_t>& loaders);

  // The chunk begins a file: all strings are written into it, other definitions when records name
  // them. Strings are renumbered: returns the new number of each.
  absl::flat_hash_map<uint32_t, uint32_t> BeginFile(proto::Chunk& chunk);

  // The greatest number of a routine so far.
  uint32_t last_routine() const { return routines_.last(); }
  size_t classes() const { return classes_.size(); }

 private:
  using ClassKey = std::pair<uint32_t, uint32_t>;              // name, loader
  using MethodKey = std::tuple<uint32_t, uint32_t, uint32_t>;  // class, name, descriptor
  // class, name, descriptor, kind, cost, cycles, millicycles for each element
  using RoutineKey = std::tuple<uint32_t, uint32_t, uint32_t, int, int, uint32_t, uint32_t>;

  // The strings of a new key are in use from now on.
  template <typename Key>
  uint32_t Number(KeyNumbers<Key>& known, const Key& key);
  // The key, if the file does not define it yet; `is_defined` from now on.
  template <typename Key>
  const Key* ToDefine(KeyNumbers<Key>& known, uint32_t id);
  template <typename Key>
  void ForgetMembers(KeyNumbers<Key>& known, const absl::flat_hash_set<uint32_t>& classes);

  StringTable strings_;
  KeyNumbers<ClassKey> classes_;
  KeyNumbers<RoutineKey> routines_;
  KeyNumbers<MethodKey> methods_;
  absl::flat_hash_set<uint32_t> kept_classes_;
  absl::flat_hash_set<uint32_t> defined_labels_;  // in this file
  proto::Chunk* into_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace jtrace::trace
