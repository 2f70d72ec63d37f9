// Reads pprof profiles: the wire format, and the tables of profile.proto.
#include "native-tests/support/export_readers.h"
#include "native-tests/support/wire_format.h"

namespace jtrace::testing {
namespace {

// By the public field numbers of profile.proto.
class PprofReader {
 public:
  PprofFile Read(std::string_view gzipped) {
    const std::string bytes = Gunzip(gzipped);
    const std::vector<WireField> fields = Fields(bytes);
    for (const WireField& it : fields) {
      if (it.number == 6) texts_.emplace_back(it.bytes);
    }
    if (texts_.empty() || !texts_[0].empty()) Mistake("string 0 is not empty");
    for (const WireField& it : fields) Table(it);
    for (const WireField& it : fields) {
      if (it.number == 2) Sample(it.bytes);
    }
    return std::move(file_);
  }

 private:
  struct Location {
    uint64_t mapping = 0;
    uint64_t function = 0;
    uint64_t line = 0;
  };
  struct Function {
    std::string name;
    std::string file;
  };

  void Mistake(const std::string& text) { file_.mistakes.push_back(text); }

  std::string Text(uint64_t number) {
    if (number < texts_.size()) return texts_[number];
    Mistake("no such string");
    return "";
  }

  std::pair<std::string, std::string> ValueType(std::string_view bytes) {
    std::pair<std::string, std::string> type;
    for (const WireField& it : Fields(bytes)) {
      (it.number == 1 ? type.first : type.second) = Text(it.value);
    }
    return type;
  }

  void Table(const WireField& it) {
    const auto number = static_cast<int64_t>(it.value);
    if (it.number == 1) file_.types.push_back(ValueType(it.bytes));
    if (it.number == 3) Mapping(it.bytes);
    if (it.number == 4) ReadLocation(it.bytes);
    if (it.number == 5) ReadFunction(it.bytes);
    if (it.number == 9) file_.time_ns = number;
    if (it.number == 10) file_.duration_ns = number;
    if (it.number == 11) file_.period_type = ValueType(it.bytes);
    if (it.number == 12) file_.period = number;
    if (it.number == 13) {
      for (const uint64_t text : Numbers(it)) file_.comments.push_back(Text(text));
    }
    if (it.number == 14) file_.default_type = Text(it.value);
  }

  void Mapping(std::string_view bytes) {
    uint64_t id = 0;
    std::string name;
    for (const WireField& it : Fields(bytes)) {
      if (it.number == 1) id = it.value;
      if (it.number == 5) name = Text(it.value);
    }
    if (id == 0 || !mappings_.emplace(id, name).second) Mistake("bad mapping id");
  }

  void ReadLocation(std::string_view bytes) {
    uint64_t id = 0;
    Location location;
    for (const WireField& it : Fields(bytes)) {
      if (it.number == 1) id = it.value;
      if (it.number == 2) location.mapping = it.value;
      if (it.number != 4) continue;
      for (const WireField& line : Fields(it.bytes)) {
        if (line.number == 1) location.function = line.value;
        if (line.number == 2) location.line = line.value;
      }
    }
    if (id == 0 || !locations_.emplace(id, location).second) Mistake("bad location id");
  }

  void ReadFunction(std::string_view bytes) {
    uint64_t id = 0;
    Function function;
    for (const WireField& it : Fields(bytes)) {
      if (it.number == 1) id = it.value;
      if (it.number == 2) function.name = Text(it.value);
      if (it.number == 4) function.file = Text(it.value);
    }
    if (id == 0 || !functions_.emplace(id, function).second) Mistake("bad function id");
  }

  void Sample(std::string_view bytes) {
    std::vector<uint64_t> locations;
    std::vector<uint64_t> values;
    std::string thread;
    std::vector<std::string> labels;
    for (const WireField& it : Fields(bytes)) {
      const std::vector<uint64_t> numbers = it.number < 3 ? Numbers(it) : std::vector<uint64_t>();
      if (it.number == 1) locations.insert(locations.end(), numbers.begin(), numbers.end());
      if (it.number == 2) values.insert(values.end(), numbers.begin(), numbers.end());
      if (it.number == 3) labels.push_back(Label(it.bytes, thread));
    }
    if (locations.empty()) Mistake("a sample without a stack");
    if (values.size() != file_.types.size()) return Mistake("values and types differ in number");
    const std::vector<std::string> path = Path(thread, locations, false);
    const std::vector<std::string> lines = Path(thread, locations, true);
    for (size_t i = 0; i < values.size(); ++i) {
      const auto value = static_cast<int64_t>(values[i]);
      if (value == 0) continue;
      file_.values[file_.types[i].first][path] += value;
      file_.values_by_line[file_.types[i].first][lines] += value;
      for (const std::string& label : labels) file_.labelled[label][file_.types[i].first] += value;
    }
  }

  std::string Label(std::string_view bytes, std::string& thread) {
    std::string key;
    std::string value;
    for (const WireField& it : Fields(bytes)) {
      if (it.number == 1) key = Text(it.value);
      if (it.number == 2) value = Text(it.value);
      if (it.number == 3) value = std::to_string(static_cast<int64_t>(it.value));
    }
    if (key == "thread") thread = value;
    ++file_.labels[key][value];
    return key + "=" + value;
  }

  std::vector<std::string> Path(const std::string& thread, const std::vector<uint64_t>& leaf_first,
                                bool with_lines) {
    std::vector<std::string> path = {thread};
    for (auto id = leaf_first.rbegin(); id != leaf_first.rend(); ++id) {
      const auto location = locations_.find(*id);
      if (location == locations_.end() || mappings_.count(location->second.mapping) == 0 ||
          functions_.count(location->second.function) == 0) {
        Mistake("a stack refers to nothing");
        continue;
      }
      const Function& function = functions_[location->second.function];
      if (known_.insert({*id, true}).second) {
        file_.functions.push_back(
            {function.name, function.file, mappings_[location->second.mapping]});
      }
      if (function.file == "[threads]") continue;
      const uint64_t line = location->second.line;
      path.push_back(function.name + (with_lines && line > 0 ? ":" + std::to_string(line) : ""));
    }
    return path;
  }

  PprofFile file_;
  std::vector<std::string> texts_;
  std::map<uint64_t, std::string> mappings_;
  std::map<uint64_t, Location> locations_;
  std::map<uint64_t, Function> functions_;
  std::map<uint64_t, bool> known_;
};

}  // namespace

PprofFile ParsePprof(std::string_view gzipped) { return PprofReader().Read(gzipped); }

}  // namespace jtrace::testing
