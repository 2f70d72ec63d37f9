# cmake -DREADELF=… -DFILE=… -P CheckRpath.cmake: fails if FILE looks for shared libraries anywhere but
# beside itself. An empty element of a run path means the current folder, which anybody may have written.
execute_process(COMMAND ${READELF} --dynamic --wide ${FILE} OUTPUT_VARIABLE dynamic
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\\(R(UN)?PATH\\)[^[]*\\[[^]]*\\]" entries "${dynamic}")
foreach(entry IN LISTS entries)
  string(REGEX REPLACE ".*\\[(.*)\\]" "\\1" path "${entry}")
  if(NOT path MATCHES "^\\$ORIGIN/[^:]+(:\\$ORIGIN/[^:]+)*$")
    message(FATAL_ERROR "${FILE} looks for libraries in '${path}', not only in folders below \$ORIGIN")
  endif()
endforeach()
