#include "postproc/export/counted_packages.h"

#include <algorithm>

#include "postproc/lines/selected_methods.h"
#include "postproc/report/line_cells.h"

namespace jtrace::postproc {

CountedPackages PackagesOf(const ReportInput& input) {
  CountedPackages packages;
  for (const MethodLines* method : SelectedMethods(input)) {
    const std::string package(PackageOf(method->class_name));
    packages[package][method->class_name].push_back(method);
  }
  return packages;
}

Methods MethodsOf(const CountedClasses& classes) {
  Methods all;
  for (const auto& [name, methods] : classes) all.insert(all.end(), methods.begin(), methods.end());
  return all;
}

Methods OfOneFile(const Methods& methods) {
  const auto first = std::find_if(methods.begin(), methods.end(),
                                  [](const MethodLines* method) { return !method->is_part; });
  const std::string path = SourcePath(**(first == methods.end() ? methods.begin() : first));
  Methods same;
  for (const MethodLines* method : methods) {
    if (!method->is_part || SourcePath(*method) == path) same.push_back(method);
  }
  return same;
}

std::string_view PlainName(const MethodLines& method) {
  return std::string_view(method.name).substr(0, method.name.find('('));
}

std::string_view SignatureOf(const MethodLines& method) {
  if (!method.descriptor.empty()) return method.descriptor;
  return std::string_view(method.name).substr(PlainName(method).size());
}

bool HasRun(const MethodLines& method) {
  return method.calls > 0 ||
         std::any_of(method.lines.begin(), method.lines.end(),
                     [](const LineCounts& line) { return line.executions > 0; });
}

std::string AsFolder(std::string_view name) {
  std::string folder(name);
  std::replace(folder.begin(), folder.end(), '.', '/');
  return folder;
}

}  // namespace jtrace::postproc
