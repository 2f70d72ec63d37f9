// Prints the list of what is read of the JVM (agent/jvm/hotspot/vm_table_entries.h): section, kind,
// type and field with a tab between; with --parts the sections' texts.
#include <cstdio>
#include <string_view>

#include "agent/jvm/hotspot/vm_table_entries.h"

namespace {

using jtrace::jvm::LayoutSection;
using jtrace::jvm::VmTableEntry;

constexpr const char* kKinds[] = {"field", "static", "size", "constant", "longconstant"};

void Print(std::string_view text, char end) {
  std::printf("%.*s%c", static_cast<int>(text.size()), text.data(), end);
}

void PrintParts() {
  for (int i = 0; i < jtrace::jvm::kLayoutSectionCount; ++i) {
    const auto& text = jtrace::jvm::TextOf(static_cast<LayoutSection>(i));
    Print(text.name, '\t');
    Print(text.verified, '\t');
    Print(text.without, '\n');
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--parts") {
    PrintParts();
    return 0;
  }
  for (const VmTableEntry& read : jtrace::jvm::VmTableEntries()) {
    Print(jtrace::jvm::TextOf(read.section).name, '\t');
    Print(kKinds[static_cast<int>(read.kind)], '\t');
    Print(read.type, '\t');
    Print(read.field, '\n');
  }
  return 0;
}
