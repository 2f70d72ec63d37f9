# cmake -DREADELF=… -DFILE=… [-DEXPORTS=A;B] -P CheckExceptions.cmake: fails if FILE could take part in
# exceptions of another library. The functions that throw and unwind must be libgcc_s's, by version
# (GCC_…): other libraries define the same names (libunwind does), and if FILE loaded one of them, the
# loader would find it before libgcc_s for every library that it resolves after FILE. EXPORTS: the names
# that FILE defines for others; empty: any.
cmake_policy(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/DynamicSection.cmake)
dynamic_entries(${FILE} NEEDED needed)
list(FILTER needed INCLUDE REGEX "^'lib.*unwind")
if(needed)
  message(FATAL_ERROR "${FILE} loads ${needed}, which defines the functions that throw exceptions")
endif()

execute_process(COMMAND ${READELF} --dyn-syms --wide ${FILE} OUTPUT_VARIABLE symbols
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " UND _Unwind_[^\n]*" unwinders "${symbols}")
foreach(symbol IN LISTS unwinders)
  if(NOT symbol MATCHES "@GCC_")
    message(FATAL_ERROR "${FILE} imports${symbol} from any library that defines it, not from libgcc_s")
  endif()
endforeach()

if(EXPORTS)
  string(REGEX MATCHALL " (GLOBAL|WEAK|UNIQUE) +[A-Z]+ +(ABS|[0-9]+) [^\n]+" exports "${symbols}")
  list(TRANSFORM exports REPLACE ".* " "")
  foreach(name IN LISTS EXPORTS)
    if(NOT name IN_LIST exports)
      message(FATAL_ERROR "${FILE} does not export ${name}")
    endif()
  endforeach()
  foreach(name IN LISTS exports)
    if(NOT name IN_LIST EXPORTS)
      message(FATAL_ERROR "${FILE} exports ${name}, which is not in exports.map")
    endif()
  endforeach()
endif()
