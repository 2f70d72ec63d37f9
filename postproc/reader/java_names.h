// The form of Java routines: "pkg.Outer$Inner.method(int,String)" (FORMATS §1).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/model/ids.h"
#include "postproc/model/string_pool.h"

namespace jtrace::postproc {

// A routine's identity.
struct JavaRoutine {
  std::string_view class_name;  // with dots
  std::string_view name;
  std::string_view descriptor;  // JVMS §4.3.3
  uint32_t loader = 0;          // 0: the boot loader
};

// Drops the parts that differ from run to run: "a.B$$Lambda$14/0x0000000800c03000" and
// "a.B$$Lambda+0x00007f" become "a.B$$Lambda", a hidden "a.B/0x800c" becomes "a.B".
std::string NormalizeClassName(std::string_view name);

// Parameter types joined by commas: "int,String" or, qualified, "int,java.lang.String". An invalid
// descriptor is left unchanged.
struct DescriptorText {
  std::string parameters;
  std::string result;
};
DescriptorText DescribeTypes(std::string_view descriptor, bool qualified);

// Gives every identity a unique name: the simple form; if several share it, with the return type
// ("…:int"), then with qualified types, then with the loader (" [loader 2]").
class JavaNames {
 public:
  // The index of an identity, the same for equal ones.
  uint32_t Intern(const JavaRoutine& routine);
  // Call once, when all are interned.
  void AssignNames();
  const std::string& Name(uint32_t index) const { return names_[index]; }
  const JavaRoutine& routine(uint32_t index) const { return routines_[index]; }
  size_t size() const { return routines_.size(); }

 private:
  using PartId = Id<struct NamePartTag>;

  StringPool<PartId> parts_;  // routines share classes, names and descriptors
  std::vector<JavaRoutine> routines_;
  std::vector<std::string> names_;
  absl::flat_hash_map<std::tuple<PartId, PartId, PartId, uint32_t>, uint32_t> index_;
};

}  // namespace jtrace::postproc
