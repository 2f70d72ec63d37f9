# cmake -DREADELF=… -DFILE=… -P CheckPortable.cmake: fails if FILE needs more of a system than a C library of
# version 2.31, or defines for others what those libraries define that it contains.
cmake_policy(VERSION 3.25)
set(newest 2.31)
execute_process(COMMAND ${READELF} --dynamic --wide ${FILE} OUTPUT_VARIABLE dynamic
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*" needed "${dynamic}")
foreach(entry IN LISTS needed)
  string(REGEX REPLACE ".*\\[(.*)\\]" "\\1" library "${entry}")
  if(NOT library MATCHES "^(libc\\.so\\.6|libm\\.so\\.6|libpthread\\.so\\.0|libdl\\.so\\.2|librt\\.so\\.1|ld-linux-x86-64\\.so\\.2)$")
    message(FATAL_ERROR "${FILE} needs ${library}, which a system may lack")
  endif()
endforeach()

execute_process(COMMAND ${READELF} --dyn-syms --wide ${FILE} OUTPUT_VARIABLE symbols
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^ \n]+@+GLIBC_[0-9.]+" imports "${symbols}")
foreach(import IN LISTS imports)
  string(REGEX REPLACE ".*GLIBC_" "" version "${import}")
  if(version VERSION_GREATER newest)
    message(FATAL_ERROR "${FILE} needs ${import}; C libraries of version ${newest} do not have it")
  endif()
endforeach()

# Another library could bind these, or bring its own for FILE: both must not meet.
string(REGEX MATCHALL "(GLOBAL|WEAK|UNIQUE) [^\n]*[ ](_Unwind_|__cxa_|__gxx_|_ZSt|_ZNSt|_ZNKSt|_Zn[wa]|_Zd[la]|_ZN4absl|_ZN6google|ZSTD_|Zydis|inflate|deflate)[^\n]*"
       shared "${symbols}")
foreach(symbol IN LISTS shared)
  # The C library's own.
  if(NOT symbol MATCHES "__cxa_(finalize|atexit|thread_atexit_impl)@GLIBC")
    message(FATAL_ERROR "${FILE} shares a symbol with other libraries: ${symbol}")
  endif()
endforeach()
