// Reads OpenTelemetry's profiles, by the public field numbers of its profiles.proto (version 1.9).
#include "native-tests/support/export_readers.h"
#include "native-tests/support/wire_format.h"

namespace jtrace::testing {
namespace {

class OtlpReader {
 public:
  OtlpFile Read(std::string_view bytes) {
    for (const WireField& it : Fields(bytes)) {
      if (it.number == 2) ReadDictionary(it.bytes);
    }
    for (const WireField& it : Fields(bytes)) {
      if (it.number == 1) ReadResource(it.bytes);
    }
    return std::move(file_);
  }

 private:
  void Mistake(const std::string& text) { file_.mistakes.push_back(text); }

  // An entry of a table, or the empty one.
  std::string_view At(const std::vector<std::string_view>& table, uint64_t number) {
    if (number < table.size()) return table[number];
    Mistake("number " + std::to_string(number) + " of a table of " + std::to_string(table.size()));
    return {};
  }

  uint64_t NumberIn(std::string_view message, uint32_t field) const {
    for (const WireField& it : Fields(message)) {
      if (it.number == field) return it.value;
    }
    return 0;
  }

  void ReadDictionary(std::string_view bytes) {
    for (const WireField& it : Fields(bytes)) {
      if (it.number < 8) tables_[it.number].push_back(it.bytes);
    }
    for (int i = 1; i < 8; ++i) {
      if (tables_[i].empty()) Mistake("table " + std::to_string(i) + " is empty");
      // A link of zeros has its zeros written, as the description advises.
      if (i != 4 && !tables_[i].empty() && !tables_[i][0].empty()) {
        Mistake("table " + std::to_string(i) + " begins with something");
      }
    }
  }

  std::string Text(uint64_t number) { return std::string(At(tables_[5], number)); }

  void ReadResource(std::string_view bytes) {
    for (const WireField& it : Fields(bytes)) {
      if (it.number == 1) {
        for (const WireField& attribute : Fields(it.bytes)) ReadResourceAttribute(attribute.bytes);
      }
      if (it.number != 2) continue;
      for (const WireField& part : Fields(it.bytes)) {
        if (part.number == 1) file_.scope = std::string(Fields(part.bytes).at(0).bytes);
        if (part.number == 2) ReadProfile(part.bytes);
      }
    }
  }

  static std::string Value(std::string_view any) {
    const WireField value = Fields(any).at(0);
    return value.has_bytes ? std::string(value.bytes) : std::to_string(value.value);
  }

  void ReadResourceAttribute(std::string_view bytes) {
    std::string key;
    for (const WireField& it : Fields(bytes)) {
      if (it.number == 1) key = std::string(it.bytes);
      if (it.number == 2) file_.resource[key] = Value(it.bytes);
    }
  }

  std::pair<std::string, std::string> ValueType(std::string_view bytes) {
    return {Text(NumberIn(bytes, 1)), Text(NumberIn(bytes, 2))};
  }

  void ReadProfile(std::string_view bytes) {
    OtlpFile::Profile profile;
    for (const WireField& it : Fields(bytes)) {
      if (it.number == 1) profile.type = ValueType(it.bytes);
      if (it.number == 2) ReadSample(it.bytes, profile);
      if (it.number == 3) profile.time_ns = static_cast<int64_t>(it.value);
      if (it.number == 4) profile.duration_ns = static_cast<int64_t>(it.value);
      if (it.number == 5) profile.period_type = ValueType(it.bytes);
      if (it.number == 6) profile.period = static_cast<int64_t>(it.value);
      if (it.number == 7) profile.id = std::string(it.bytes);
    }
    file_.profiles.push_back(std::move(profile));
  }

  void ReadSample(std::string_view bytes, OtlpFile::Profile& profile) {
    const std::map<std::string, std::string> attributes = AttributesOf(bytes);
    const auto thread = attributes.find("thread.name");
    std::vector<std::string> path = {thread == attributes.end() ? "" : thread->second};
    const std::vector<std::string> frames = Stack(At(tables_[7], NumberIn(bytes, 1)));
    path.insert(path.end(), frames.rbegin(), frames.rend());
    size_t values = 0;
    for (const WireField& it : Fields(bytes)) {
      if (it.number != 4) continue;
      for (const uint64_t value : Numbers(it)) {
        ++values;
        profile.values[path] += static_cast<int64_t>(value);
        for (const auto& [key, text] : attributes) {
          profile.labelled[key + "=" + text] += static_cast<int64_t>(value);
        }
      }
    }
    if (values != 1) Mistake("a sample has " + std::to_string(values) + " values");
  }

  std::map<std::string, std::string> AttributesOf(std::string_view sample) {
    std::map<std::string, std::string> attributes;
    for (const WireField& it : Fields(sample)) {
      if (it.number != 2) continue;
      for (const uint64_t number : Numbers(it)) {
        const std::string_view attribute = At(tables_[6], number);
        const std::string key = Text(NumberIn(attribute, 1));
        if (attributes.count(key) != 0) Mistake("a sample has " + key + " twice");
        for (const WireField& part : Fields(attribute)) {
          if (part.number == 2) attributes[key] = Value(part.bytes);
        }
      }
    }
    return attributes;
  }

  // Leaf first, without frames of threads.
  std::vector<std::string> Stack(std::string_view stack) {
    std::vector<std::string> frames;
    for (const WireField& it : Fields(stack)) {
      for (const uint64_t number : Numbers(it)) {
        const std::string_view location = At(tables_[2], number);
        if (number == 0) Mistake("a stack has location 0");
        for (const WireField& part : Fields(location)) {
          if (part.number == 3) AddFrame(part.bytes, location, frames);
        }
      }
    }
    return frames;
  }

  void AddFrame(std::string_view line, std::string_view location,
                std::vector<std::string>& frames) {
    const std::string_view function = At(tables_[3], NumberIn(line, 1));
    const std::string name = Text(NumberIn(function, 1));
    file_.modules[name] = Text(NumberIn(At(tables_[1], NumberIn(location, 1)), 4));
    if (Text(NumberIn(function, 3)) == "[threads]") return;
    const uint64_t number = NumberIn(line, 2);
    frames.push_back(number == 0 ? name : name + ":" + std::to_string(number));
  }

  OtlpFile file_;
  std::vector<std::string_view> tables_[8];  // by field number of the dictionary
};

}  // namespace

OtlpFile ParseOtlp(std::string_view bytes) { return OtlpReader().Read(bytes); }

}  // namespace jtrace::testing
