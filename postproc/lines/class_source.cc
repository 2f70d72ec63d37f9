#include "postproc/lines/class_source.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "common/visible_text.h"
#include "postproc/lines/merged_lines.h"

namespace jtrace::postproc {
namespace {

constexpr std::string_view kKotlin = "Kotlin";
constexpr std::string_view kKotlinCalls = "KotlinDebug";

std::string_view PackagePath(std::string_view internal_name) {
  const size_t slash = internal_name.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : internal_name.substr(0, slash);
}

std::string Plain(std::string_view modified) { return FromModifiedUtf8(std::string(modified)); }

std::string WithDots(std::string_view internal_name) {
  std::string name = Plain(internal_name);
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

}  // namespace

ClassSource::ClassSource(const classfile::ClassFile& file) : file_(file) {
  const std::string_view text = classfile::SourceDebugExtensionOf(file);
  if (text.empty()) return;
  map_ = classfile::SourceMap::Parse(text);
  // A map to the file that the class was compiled from says nothing new.
  if (map_.has_value() && map_->stratum() == "Java") map_.reset();
  if (map_.has_value() && map_->stratum() == kKotlin) {
    calls_ = classfile::SourceMap::ParseStratum(text, kKotlinCalls);
  }
}

void ClassSource::Place(MethodLines& method, std::vector<MethodLines>& parts,
                        InlinedLines& inlined) const {
  if (!map_.has_value()) return;
  if (map_->stratum() == kKotlin) {
    PlaceKotlin(method, inlined);
  } else {
    PlaceOthers(method, parts);
  }
}

int32_t ClassSource::ListedLine(int32_t line) const {
  if (!map_.has_value()) return line;
  const auto place = map_->At(line);
  if (!place.has_value()) return 0;
  if (map_->stratum() != kKotlin || IsOwn(*place, line)) return place->line;
  const auto call = calls_.has_value() ? calls_->At(line) : std::nullopt;
  return call.has_value() ? call->line : 0;
}

bool ClassSource::IsOwn(const classfile::SourceMap::Place& place, int32_t line) const {
  return place.line == line && place.file->name == classfile::SourceFileOf(file_) &&
         PackagePath(place.file->path) == PackagePath(file_.this_name);
}

// Inlined code has lines beyond those of the class's file. Its path is the class that declares it.
void ClassSource::PlaceKotlin(MethodLines& method, InlinedLines& inlined) const {
  std::vector<LineCounts> own;
  for (LineCounts& line : method.lines) {
    const auto place = map_->At(line.line);
    if (!place.has_value()) continue;
    if (IsOwn(*place, line.line)) {
      own.push_back(std::move(line));
      continue;
    }
    const auto call = calls_.has_value() ? calls_->At(line.line) : std::nullopt;
    line.line = place->line;
    inlined.Add(WithDots(place->file->path), Plain(place->file->name), line,
                {method.class_name, method.name, call.has_value() ? call->line : 0});
  }
  method.lines = std::move(own);
}

void ClassSource::PlaceOthers(MethodLines& method, std::vector<MethodLines>& parts) const {
  absl::btree_map<std::string, std::vector<LineCounts>> by_path;
  for (const LineCounts& line : method.lines) {
    const auto place = map_->At(line.line);
    if (!place.has_value()) continue;
    LineCounts& mapped = LineOf(by_path[Plain(place->file->path)], place->line);
    AddOther(line, mapped);
  }
  method.lines.clear();
  // The method is in the file that has most of it.
  const auto most = std::max_element(
      by_path.begin(), by_path.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  for (auto it = by_path.begin(); it != by_path.end(); ++it) {
    if (it == most) {
      method.source_path = it->first;
      method.lines = std::move(it->second);
      continue;
    }
    MethodLines part;
    part.class_name = method.class_name;
    part.name = method.name;
    part.is_part = true;
    part.source_path = it->first;
    part.lines = std::move(it->second);
    parts.push_back(std::move(part));
  }
}

}  // namespace jtrace::postproc
