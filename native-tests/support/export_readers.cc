#include "native-tests/support/export_readers.h"

#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace jtrace::testing {
namespace {

// The line's text if it begins with `key`, else nothing.
bool After(const std::string& line, std::string_view key, std::string& rest) {
  if (line.compare(0, key.size(), key) != 0) return false;
  rest = line.substr(key.size());
  return true;
}

Costs ParseCosts(const std::string& text, size_t count) {
  Costs costs;
  std::istringstream in(text);
  for (int64_t cost = 0; in >> cost;) costs.push_back(cost);
  costs.resize(count);
  return costs;
}

void Add(Costs& sum, const Costs& costs) {
  sum.resize(costs.size());
  for (size_t i = 0; i < costs.size(); ++i) sum[i] += costs[i];
}

}  // namespace

std::string Gunzip(std::string_view bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, MAX_WBITS + 16) != Z_OK) throw std::runtime_error("inflateInit2");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  int result = Z_OK;
  while (result == Z_OK) {
    char buffer[4096];
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof buffer;
    result = inflate(&stream, Z_NO_FLUSH);
    out.append(buffer, sizeof buffer - stream.avail_out);
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END || stream.avail_in != 0) throw std::runtime_error("no gzip member");
  return out;
}

PathValues ParseCollapsed(std::string_view text) {
  PathValues values;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    const size_t space = line.rfind(' ');
    if (space == std::string::npos) throw std::runtime_error("no value: " + line);
    std::vector<std::string> path(1);
    for (const char c : line.substr(0, space)) {
      if (c == ';') {
        path.emplace_back();
      } else {
        path.back().push_back(c);
      }
    }
    size_t used = 0;
    const std::string number = line.substr(space + 1);
    values[path] += std::stoll(number, &used);
    if (used != number.size()) throw std::runtime_error("no number: " + line);
  }
  return values;
}

SpeedscopeFile ParseSpeedscope(std::string_view text) {
  using nlohmann::json;
  const json file = json::parse(text);
  SpeedscopeFile parsed;
  for (const json& profile : file.at("profiles")) {
    parsed.unit = profile.at("unit").get<std::string>();
    const json& samples = profile.at("samples");
    const json& weights = profile.at("weights");
    if (samples.size() != weights.size()) throw std::runtime_error("samples without weights");
    int64_t sum = 0;
    for (size_t i = 0; i < samples.size(); ++i) {
      std::vector<std::string> path;
      for (const json& frame : samples[i]) {
        path.push_back(file.at("shared").at("frames").at(frame.get<size_t>()).at("name"));
      }
      parsed.values[path] += weights[i].get<int64_t>();
      sum += weights[i].get<int64_t>();
    }
    if (profile.at("startValue") != 0 || profile.at("endValue") != sum) ++parsed.wrong_ends;
  }
  return parsed;
}

int CallgrindFile::Event(std::string_view name) const {
  const auto found = std::find(events.begin(), events.end(), name);
  return found == events.end() ? -1 : static_cast<int>(found - events.begin());
}

namespace {

class CallgrindReader {
 public:
  CallgrindFile Read(std::string_view text) {
    std::istringstream in{std::string(text)};
    for (std::string line; std::getline(in, line);) {
      if (line.empty() || line[0] == '#') continue;
      if (file_.events.empty() ? !Header(line) : !Body(line)) file_.mistakes.push_back(line);
    }
    return std::move(file_);
  }

 private:
  bool Header(const std::string& line) {
    std::string rest;
    if (After(line, "events: ", rest)) {
      std::istringstream names(rest);
      for (std::string name; names >> name;) file_.events.push_back(name);
    } else if (After(line, "desc: ", rest)) {
      file_.descriptions.push_back(rest);
    } else {
      return After(line, "version: ", rest) || After(line, "creator: ", rest) ||
             After(line, "pid: ", rest) || After(line, "cmd: ", rest) ||
             After(line, "positions: line", rest);
    }
    return true;
  }

  bool Body(const std::string& line) {
    std::string rest;
    const size_t events = file_.events.size();
    if (After(line, "summary: ", rest)) {
      file_.summary = ParseCosts(rest, events);
    } else if (After(line, "totals: ", rest)) {
      file_.totals = ParseCosts(rest, events);
    } else if (After(line, "ob=", rest)) {
      object_ = Name('o', rest);
    } else if (After(line, "fl=", rest)) {
      source_ = Name('f', rest);
    } else if (After(line, "fn=", rest)) {
      function_ = source_ + ":" + Name('n', rest);
      file_.objects[function_] = object_;
    } else if (After(line, "cob=", rest)) {
      callee_object_ = Name('o', rest);
    } else if (After(line, "cfi=", rest)) {
      callee_source_ = Name('f', rest);
    } else if (After(line, "cfn=", rest)) {
      callee_ = callee_source_ + ":" + Name('n', rest);
    } else if (After(line, "calls=", rest)) {
      calls_ = std::stoll(rest);
    } else if (line[0] >= '0' && line[0] <= '9') {
      size_t end = 0;
      const int64_t number = std::stoll(line, &end);
      Cost(number, ParseCosts(line.substr(end), events));
    } else {
      return false;
    }
    return true;
  }

  void Cost(int64_t line, const Costs& costs) {
    // Readers treat the costs of an arc with 0 calls as the caller's own.
    if (calls_ == 0) return Add(file_.self[function_], costs);
    for (CallgrindFile::Arc* arc :
         {&file_.arcs[{function_, callee_}], &file_.arcs_by_line[{function_, callee_, line}]}) {
      arc->calls += calls_;
      Add(arc->inclusive, costs);
    }
    calls_ = 0;
  }

  // "(3) name" or "(3)".
  std::string Name(char kind, const std::string& text) {
    const size_t end = text.find(')');
    std::string& name = names_[kind + text.substr(0, end)];
    if (text.size() > end + 2) {
      if (!name.empty()) file_.mistakes.push_back("named twice: " + text);
      name = text.substr(end + 2);
    }
    if (name.empty()) file_.mistakes.push_back("no name: " + text);
    return name;
  }

  CallgrindFile file_;
  std::map<std::string, std::string> names_;
  std::string object_, source_, function_, callee_object_, callee_source_, callee_;
  int64_t calls_ = 0;
};

}  // namespace

CallgrindFile ParseCallgrind(std::string_view text) { return CallgrindReader().Read(text); }

}  // namespace jtrace::testing
