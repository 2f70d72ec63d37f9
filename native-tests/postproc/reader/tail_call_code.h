// Code with known chains of calls, built twice: with symbols and stripped.
#pragma once

// The function that every leaf function calls.
using TailCallProbe = void (*)();

// In the order of the table.
enum TailCallEntry {
  kPlainOuter,     // calls leaf
  kOuter,          // calls middle, which jumps to leaf
  kImportOuter,    // calls jtrace_tail_exported by the linkage table, which jumps to leaf
  kPlainImport,    // calls jtrace_leaf_exported by the linkage table
  kIndirectOuter,  // calls middle by a pointer
  kSlotOuter,      // calls leaf by call *disp32(rax,rbp,8), whose last bytes are "call middle"
  kInnerOuter,     // calls the inside of middle
  kAliasOuter,     // calls another name of leaf
  kRecursive,      // calls itself, which jumps to leaf
  kColdOuter,      // calls spread, which jumps to spread.cold
  kColdTailOuter,  // calls to_spread, which jumps to spread, which jumps to spread.cold
  kPartOuter,      // calls parted, which jumps to parted.part.0
  kSignalled,      // begins with an instruction that raises SIGILL, two bytes; after "call middle"
  kMiddle,
  kLeaf,
  kExported,
  kLeafExported,
  kRecursiveFunction,
  kSpread,
  kSpreadCold,
  kToSpread,
  kParted,
  kPartedPart,
  kTailCallEntries,
};

struct TailCallCode {
  TailCallProbe probe;
  void* entries[kTailCallEntries];
};
