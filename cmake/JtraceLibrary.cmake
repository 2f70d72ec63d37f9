# Every build checks that includes go downwards (cmake/layers.txt): 0.2 s.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_custom_target(jtrace_layers ALL
  COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/scripts/layers.py check
  VERBATIM)

# jtrace_library(NAME SOURCES … [PUBLIC LIBS…] [PRIVATE LIBS…]): the library of a folder, whose public libraries
# are lower layers of cmake/layers.txt.
function(jtrace_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  add_dependencies(${name} jtrace_layers)
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC jtrace_abseil ${ARG_PUBLIC} PRIVATE jtrace_warnings ${ARG_PRIVATE})
  if(JTRACE_UNITY)
    target_precompile_headers(${name} REUSE_FROM jtrace_headers)
  endif()
endfunction()

# jtrace_handler_library(NAME SYMBOLS FILE SOURCES … [USES …] [ABSEIL …]): a library whose functions run in signal
# handlers or probes, and the libraries of this kind that it uses.
# FILE lists the functions that they may call; the object code is checked at every build. The sources cannot include
# Abseil, except where ABSEIL names the parts of it that functions outside of handlers use.
function(jtrace_handler_library name)
  cmake_parse_arguments(ARG "" "SYMBOLS" "SOURCES;USES;ABSEIL" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  if(NOT ARG_ABSEIL)
    target_include_directories(${name} BEFORE PRIVATE ${CMAKE_SOURCE_DIR}/cmake/no_abseil)
  endif()
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  # One compiler run a source: a build after a change here takes seconds.
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  target_compile_options(${name} PRIVATE -fno-exceptions -fno-rtti -fno-threadsafe-statics)
  target_link_libraries(${name} PUBLIC ${ARG_USES} ${ARG_ABSEIL} PRIVATE jtrace_warnings)
  set(used)
  foreach(library ${ARG_USES})
    list(APPEND used $<TARGET_FILE:${library}>)
  endforeach()
  if(NOT JTRACE_SANITIZE AND NOT JTRACE_FUZZ)
    add_custom_command(
      TARGET ${name} POST_BUILD
      COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/scripts/check_hot_symbols.py
              --nm ${CMAKE_NM} --allowed ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_SYMBOLS} $<TARGET_FILE:${name}> ${used}
      VERBATIM)
  endif()
endfunction()
