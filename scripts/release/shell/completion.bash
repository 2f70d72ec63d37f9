# Adds the words of stdin, lines WORD or WORD<TAB>MEANING, that begin with what is typed; $1 stands before each.
@P@_offer() {
  local line candidate
  while IFS= read -r line; do
    candidate=$1${line%%$'\t'*}
    if [[ $candidate == "$plain"* ]]; then COMPREPLY+=("${candidate:${#kept}}"); fi
  done
}

# bash reads names of files itself: it knows about ~ and quotes.
@P@_files() {
  compopt -o default 2>/dev/null
}

# Pids, with main classes where bash lists them and inserts none (COMP_TYPE).
@P@_jvms() {
  local pid state main described=()
  while read -r pid state main; do
    if [[ $pid == [0-9]* && $pid == "$plain"* ]]; then
      COMPREPLY+=("$pid")
      described+=("$pid  $main")
    fi
  done < <("${COMP_WORDS[0]/#\~/$HOME}" list 2>/dev/null)
  if [[ ${#described[@]} -gt 1 && ${COMP_TYPE:-9} == @(33|63|64) ]]; then COMPREPLY=("${described[@]}"); fi
}

# $1: the option, $2: what is typed before its value
@P@_value() {
  local separator given=$2
  separator=$(@P@_separator "$command $1")
  if [[ -n $separator && $plain == *"$separator"* ]]; then given=${plain%"$separator"*}$separator; fi
  @P@_offer "$given" < <(@P@_words "$command $1" | grep -vx '<FILE>')
  if @P@_words "$command $1" | grep -qx '<FILE>'; then @P@_files; fi
}

# The program after --: its own completion, where the package bash-completion is loaded. $1: its place in `before`.
@P@_program() {
  local i
  if declare -F _command_offset >/dev/null; then
    for ((i = 1; i < COMP_CWORD; i++)); do
      if [[ ${COMP_WORDS[i]} == -- ]]; then break; fi
    done
    _command_offset $((i + 1))
    return
  fi
  if ((${#before[@]} == $1)); then mapfile -t COMPREPLY < <(compgen -c -- "$plain"); fi
  @P@_files
}

# Sets what is typed: before, the words before the last one; plain, the last one without quotes; kept, the part of it
# that bash leaves as it is, because it takes = and : for ends of words.
@P@_split() {
  local line=${COMP_LINE:0:COMP_POINT} typed=
  read -ra before <<<"$line"
  if [[ $line != *[[:space:]] ]]; then
    typed=${before[-1]}
    unset 'before[-1]'
  fi
  plain=${typed//[\'\"]/}
  if [[ $typed == *[\'\"]* ]]; then
    kept=${typed%[\'\"]*}
    kept=${kept//[\'\"]/}
  elif [[ $COMP_WORDBREAKS == *:* && $plain == *[=:]* ]]; then
    kept=${plain%"${plain##*[=:]}"}
  elif [[ $COMP_WORDBREAKS == *=* && $plain == *=* ]]; then
    kept=${plain%"${plain##*=}"}
  fi
}

# Sets command and jvm from the words before. Returns 1 if something else has completed the word.
@P@_read() {
  local i apart
  apart=" $(@P@_apart) "
  for ((i = 1; i < ${#before[@]}; i++)); do
    if [[ ${before[i]} == -- && " $(@P@_takes "$command") " == *" program "* ]]; then
      @P@_program $((i + 1))
      return 1
    elif [[ $apart == *" ${before[i]} "* ]]; then
      if ((++i == ${#before[@]})); then
        @P@_value "${before[-1]}" ""
        return 1
      fi
    elif [[ ${before[i]} == -* ]]; then
      continue
    elif [[ -z $command && -n $(@P@_commands) ]]; then
      command=${before[i]}
    elif [[ -z $jvm ]]; then
      jvm=${before[i]}
    fi
  done
}

@P@() {
  local before=() plain= kept= command= jvm= takes
  COMPREPLY=()
  @P@_split
  @P@_read || return 0
  takes=" $(@P@_takes "$command") "
  if [[ $plain == -* && $plain != *=* ]]; then
    @P@_offer "" < <(@P@_options "$command")
  elif [[ -z $command && -n $(@P@_commands) ]]; then
    @P@_offer "" < <(@P@_commands)
  elif [[ $takes == *" jvm "* && -z $jvm ]]; then
    @P@_jvms
  elif [[ $plain == *=* ]]; then
    @P@_value "${plain%%=*}=" "${plain%%=*}="
  elif [[ $takes == *" files "* ]]; then
    @P@_files
  elif [[ $takes == *" agent "* ]]; then
    @P@_offer "" < <(@P@_agent)
    if [[ $takes == *" program "* ]]; then @P@_offer "" <<<"--"; fi
  else
    @P@_offer "" < <(@P@_options "$command")
  fi
  if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
  return 0
}
complete -F @P@ @PROGRAM@
