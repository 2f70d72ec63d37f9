# cmake -DREADELF=… -DFILE=… [-DEXPORTS=A;B] -P CheckExceptions.cmake: fails if FILE could take part in
# exceptions of another library. What throws and unwinds is libgcc_s's, by its version (GCC_…): other
# libraries define the same names (libunwind does), and one of them, loaded by us, would come before
# libgcc_s for everybody whom the loader looks up after us. EXPORTS: the only names that FILE may define
# for others; empty: any name.
cmake_policy(VERSION 3.25)
execute_process(COMMAND ${READELF} --dynamic --wide ${FILE} OUTPUT_VARIABLE dynamic
                COMMAND_ERROR_IS_FATAL ANY)
if(dynamic MATCHES "\\(NEEDED\\)[^\n]*\\[(lib[^]]*unwind[^]]*)\\]")
  message(FATAL_ERROR "${FILE} loads ${CMAKE_MATCH_1}, which defines what exceptions are thrown by")
endif()

execute_process(COMMAND ${READELF} --dyn-syms --wide ${FILE} OUTPUT_VARIABLE symbols
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " UND _Unwind_[^\n]*" unwinders "${symbols}")
foreach(symbol IN LISTS unwinders)
  if(NOT symbol MATCHES "@GCC_")
    message(FATAL_ERROR "${FILE} takes${symbol} from any library that has one, not from libgcc_s")
  endif()
endforeach()

if(EXPORTS)
  string(REGEX MATCHALL " (GLOBAL|WEAK|UNIQUE) +[A-Z]+ +(ABS|[0-9]+) [^\n]+" exports "${symbols}")
  foreach(export IN LISTS exports)
    string(REGEX REPLACE ".* " "" name "${export}")
    if(NOT name IN_LIST EXPORTS)
      message(FATAL_ERROR "${FILE} exports ${name}, which exports.map does not name")
    endif()
  endforeach()
endif()
