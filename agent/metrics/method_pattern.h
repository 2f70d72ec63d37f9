// Names of methods as people write them: "com.acme.Cache::load", "java.sql.*::execute*(String)".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/scope_filter.h"

namespace jtrace::metrics {

// A pattern as in include= (common/scope_filter.h), which may end in parameter types in
// parentheses, by their full or simple names. Immutable: any thread.
class MethodPattern {
 public:
  // In characters. To find the name nearest to a longer pattern would take too long.
  static constexpr size_t kLongest = 1000;
  // Returns the pattern, or InvalidArgument with an example of one.
  static absl::StatusOr<MethodPattern> Parse(absl::string_view text);

  // Returns the class that the pattern names, "java.sql.Statement"; "" if it names none or several.
  const std::string& class_name() const { return class_name_; }

  // `class_name`: binary, "java.lang.String"; `descriptor`: of the class file.
  bool Matches(absl::string_view class_name, absl::string_view method,
               absl::string_view descriptor) const;

 private:
  MethodPattern(std::string class_name, classfile::ScopeFilter filter,
                std::optional<std::vector<std::string>> parameters)
      : class_name_(std::move(class_name)),
        filter_(std::move(filter)),
        parameters_(std::move(parameters)) {}

  std::string class_name_;
  classfile::ScopeFilter filter_;
  std::optional<std::vector<std::string>> parameters_;
};

// Returns the one of `names` ("com.acme.Cache::load") that is nearest to `pattern`: one of the same
// class, if there are any. "": `names` is empty.
std::string NearestMethod(absl::string_view pattern, const std::vector<std::string>& names);

// Returns "com.acme.Cache.load(String,int)".
std::string MethodText(absl::string_view class_name, absl::string_view method,
                       absl::string_view descriptor);

}  // namespace jtrace::metrics
