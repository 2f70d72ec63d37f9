# What a product asks of the loader, for its checks.

# dynamic_entries(FILE KINDS RESULT): the values of the entries whose kind matches the regular expression KINDS,
# each in quotes: an empty one is an element of the list too.
function(dynamic_entries file kinds result)
  execute_process(COMMAND ${READELF} --dynamic --wide ${file} OUTPUT_VARIABLE dynamic
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "\\((${kinds})\\)[^[\n]*\\[[^]\n]*\\]" entries "${dynamic}")
  list(TRANSFORM entries REPLACE ".*\\[(.*)\\]" "'\\1'")
  set(${result} "${entries}" PARENT_SCOPE)
endfunction()
