# Headers that nearly every source of the cold code includes, compiled once for all libraries: parsing
# Abseil's and the standard library's headers is half of a cold build. Sources still include what they
# use. agent/signal_safe does not use it, because it must not depend on Abseil.
if(NOT JTRACE_UNITY)
  return()
endif()

file(WRITE ${CMAKE_BINARY_DIR}/headers/empty.cc "")
add_library(jtrace_headers OBJECT ${CMAKE_BINARY_DIR}/headers/empty.cc)
set_target_properties(jtrace_headers PROPERTIES UNITY_BUILD OFF)
target_link_libraries(jtrace_headers PRIVATE jtrace_warnings jtrace_abseil)
target_precompile_headers(jtrace_headers PRIVATE
  <algorithm> <array> <atomic> <chrono> <cstdint> <cstring> <filesystem> <fstream> <functional> <map>
  <memory> <mutex> <optional> <ostream> <set> <span> <sstream> <string> <string_view> <thread> <tuple>
  <utility> <vector>
  <absl/container/btree_map.h> <absl/container/flat_hash_map.h> <absl/container/flat_hash_set.h>
  <absl/functional/function_ref.h> <absl/status/statusor.h> <absl/strings/str_cat.h>
  <absl/strings/str_format.h> <absl/strings/str_join.h> <absl/strings/str_split.h>
  <absl/synchronization/mutex.h> <absl/time/clock.h> <absl/types/span.h>)
