// Which classes and methods get probes: the options `include=` and `exclude=`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace jtrace::classfile {

// A pattern is one of (`*` inside a name matches any characters of that name)
//
//     pkg.**        every class of the package and of those below it
//     pkg.*         every class of the package
//     pkg.Class     that class (not the ones nested in it: `pkg.Class$*`)
//     pkg.Class::method, pkg.Class.method     the methods of that name
//     *             every class that is in scope without any option
//
// Exclusion wins. Without an inclusion everything is in scope except the JDK. Only a pattern whose
// package is spelled out (`java.util.*`) brings a JDK class into scope. jtrace's own classes and
// those that the probe itself runs through are never in scope.
//
// Immutable after construction and so usable from any thread.
class ScopeFilter {
 public:
  // The default scope.
  ScopeFilter();

  // Each element may hold several patterns separated by `;`. What `also` matches is in scope
  // besides, whatever the others say.
  // Errors: InvalidArgument that names the pattern.
  static absl::StatusOr<ScopeFilter> Create(absl::Span<const std::string> include,
                                            absl::Span<const std::string> exclude,
                                            absl::Span<const std::string> also = {});

  // Every class, the JDK and the probe's own callees too: for tests of the rewriter.
  static ScopeFilter Everything();

  enum class ClassScope { kNone, kSomeMethods, kAllMethods };

  // `class_name` in internal form (`java/lang/String`).
  ClassScope ScopeOf(std::string_view class_name) const;
  bool MayMatchClass(std::string_view class_name) const {
    return ScopeOf(class_name) != ClassScope::kNone;
  }
  bool Includes(std::string_view class_name, std::string_view method_name) const;

  // Would the class be in scope if the probe itself did not run through it? False for jtrace's
  // own.
  bool IsExempt(std::string_view class_name) const;

  // Is this class one of jtrace's?
  static bool IsOwnClass(std::string_view class_name);

  // Is this class the JDK's own, as the default scope sees it?
  static bool IsJdkClass(std::string_view class_name);

 private:
  struct Pattern {
    std::string class_glob;   // internal form; `**` crosses packages, `*` does not
    std::string method_glob;  // empty: all methods
    bool names_package = false;

    bool Matches(std::string_view class_name, std::string_view method_name) const;
  };
  static absl::Status Add(std::string_view text, std::vector<Pattern>& patterns);
  static absl::StatusOr<std::vector<Pattern>> Compile(absl::Span<const std::string> lists);
  static bool Matches(const Pattern& pattern, std::string_view class_name);
  bool IsAlso(std::string_view class_name, std::string_view method_name) const;
  ClassScope ScopeByPatterns(std::string_view class_name) const;

  std::vector<Pattern> include_;
  std::vector<Pattern> exclude_;
  std::vector<Pattern> also_;
  bool everything_ = false;
};

}  // namespace jtrace::classfile
