# cmake -DREADELF=… -DFILE=… -P CheckRpath.cmake: fails if FILE looks for shared libraries anywhere but
# beside itself. An empty element of a run path means the current folder, which anybody may have written.
cmake_policy(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/DynamicSection.cmake)
dynamic_entries(${FILE} "R(UN)?PATH" paths)
foreach(path IN LISTS paths)
  if(NOT path MATCHES "^'\\$ORIGIN/[^:]+(:\\$ORIGIN/[^:]+)*'$")
    message(FATAL_ERROR "${FILE} looks for libraries in ${path}, not only in folders below \$ORIGIN")
  endif()
endforeach()
