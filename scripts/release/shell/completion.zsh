# Offers the words of $2, lines WORD or WORD<TAB>MEANING, as what $1 says.
@P@_offer() {
  local line word
  local -a closed open
  for line in "${(@f)2}"; do
    [[ -n $line ]] || continue
    word=${line%%$'\t'*}
    word=${word//:/\\:}
    [[ $line != *$'\t'?* ]] || word+=:${line#*$'\t'}
    # A blank would part an option from its value.
    if [[ ${line%%$'\t'*} == *= ]]; then open+=("$word"); else closed+=("$word"); fi
  done
  _describe -t ${1// /-} $1 open -S '' -- closed
}

# Pids, with main classes. $1: the command itself
@P@_jvms() {
  local pid state main
  local -a jvms
  while read -r pid state main; do
    [[ $pid != [0-9]* ]] || jvms+=("$pid:$main")
  done < <(_call_program jvms $1 list 2>/dev/null)
  _describe -t jvms JVM jvms
}

# $1: command and option
@P@_value() {
  local separator=$(@P@_separator $1) all=$(@P@_words $1)
  [[ -z $separator ]] || compset -P "*$separator"
  @P@_offer value "${(F)${(f)all}:#<FILE>}"
  [[ $'\n'$all$'\n' != *$'\n<FILE>\n'* ]] || _files
}

@P@() {
  local command jvm word takes option
  local -i i
  for ((i = 2; i < CURRENT; i++)); do
    word=${words[i]}
    takes=" $(@P@_takes "$command") "
    if [[ $word == -- && $takes == *' program '* ]]; then
      words=("${(@)words[i + 1,-1]}")
      ((CURRENT -= i))
      _normal
      return
    elif [[ " $(@P@_apart) " == *" $word "* ]]; then
      if ((++i == CURRENT)); then
        @P@_value "$command $word"
        return
      fi
    elif [[ $word == -* ]]; then
      continue
    elif [[ -z $command && -n $(@P@_commands) ]]; then
      command=$word
    elif [[ -z $jvm ]]; then
      jvm=$word
    fi
  done
  takes=" $(@P@_takes "$command") "
  if [[ $PREFIX == -* && $PREFIX != *=* ]]; then
    @P@_offer option "$(@P@_options "$command")"
  elif [[ -z $command && -n $(@P@_commands) ]]; then
    @P@_offer command "$(@P@_commands)"
  elif [[ $takes == *' jvm '* && -z $jvm ]]; then
    @P@_jvms $words[1]
  elif [[ $PREFIX == *=* ]]; then
    option=${PREFIX%%\=*}=
    compset -P "$option"
    @P@_value "$command $option"
  elif [[ $takes == *' files '* ]]; then
    _files
  elif [[ $takes == *' agent '* ]]; then
    @P@_offer 'option of the agent' "$(@P@_agent)"
    [[ $takes != *' program '* ]] || compadd -- --
  else
    @P@_offer option "$(@P@_options "$command")"
  fi
}

@P@ "$@"
