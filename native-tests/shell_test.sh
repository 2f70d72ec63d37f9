#!/usr/bin/env bash
# Completion and manual pages that a release has: made from the help, equal for one SOURCE_DATE_EPOCH, complete.
# Usage: shell_test.sh BUILD_FOLDER JAVA
set -euo pipefail
build=$1
java=$2
generator=$(cd "$(dirname "$0")/.." && pwd)/scripts/release/shell.py

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "shell_test: $1" >&2
  exit 1
}
export SOURCE_DATE_EPOCH=1700000000 LC_ALL=C.UTF-8
python3 "$generator" "$work/out" --build="$build" --java="$java"
python3 "$generator" "$work/again" --build="$build" --java="$java"
diff -r "$work/out" "$work/again" || fail "two runs differ"
share=$work/out/share

# A command that lists two JVMs.
mkdir "$work/bin"
cat >"$work/bin/jtrace" <<'END'
#!/bin/sh
[ "$1" = list ] && printf '%s\n' '4711     -          org.acme.Server --port=1' '4822     recording  app.jar'
END
chmod +x "$work/bin/jtrace"
export PATH=$work/bin:$PATH

# complete_in_bash LINE: sets COMPREPLY for the cursor at its end; bash parts words at blanks, = and :.
complete_in_bash() {
  local word rest=$1 pattern='^([^[:space:]=:]+|[=:]+|[[:space:]]+)'
  COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=()
  while [[ $rest =~ $pattern ]]; do
    word=${BASH_REMATCH[1]}
    rest=${rest#"$word"}
    [[ $word == [[:space:]]* ]] || COMP_WORDS+=("$word")
  done
  [[ $1 != *' ' ]] || COMP_WORDS+=('')
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  local function=_${COMP_WORDS[0]}
  "${function//-/_}"
}

# in_bash LINE WORDS…: these are offered, and no other; with + as the first word, others may be as well.
in_bash() {
  local line=$1 word found
  shift
  complete_in_bash "$line"
  found=" ${COMPREPLY[*]-} "
  if [[ $1 == + ]]; then
    shift
    for word; do [[ $found == *" $word "* ]] || fail "bash: '$line' offers no $word:$found"; done
  elif [[ $found != " $* " ]]; then
    fail "bash: '$line' offers$found, not $*"
  fi
}
for program in jtrace jtrace-post; do
  # shellcheck disable=SC1090
  source "$share/bash-completion/completions/$program"
  complete -p "$program" >/dev/null || fail "bash: no completion of $program"
done
in_bash 'jtrace ' run env start stop resume report web dump status metrics hook mark fleet ship list
in_bash 'jtrace sta' start status
in_bash 'jtrace --' --help --version
in_bash 'jtrace stop ' 4711 4822
in_bash 'jtrace start -d 30 48' 4822
COMP_TYPE=63 in_bash 'jtrace stop ' '4711  org.acme.Server --port=1' '4822  app.jar'
in_bash 'jtrace list ' ''
in_bash 'jtrace start 4711 m' mode= memory= maxdepth= metrics=
in_bash 'jtrace start 4711 mode=' merged events samples
in_bash 'jtrace env mode=s' samples
in_bash 'jtrace run clock=tsc timer=perf:cpu-c' cpu-clock
in_bash 'jtrace run clock=tsc timer=perf:page' page-faults
in_bash "jtrace env metrics='alloc.bytes;exc" 'alloc.bytes;exceptions'
in_bash 'jtrace run ' + mode= codes= --
in_bash 'jtrace run --op' --open
in_bash 'jtrace run --report=fla' flat
in_bash 'jtrace run -- bas' + bash
in_bash 'jtrace report 4711 --report=tree,fl' tree,flat
in_bash 'jtrace metrics 4711 --format=' text json prometheus
in_bash 'jtrace-post --report=f' findings flat functions function
in_bash 'jtrace-post --format=' text csv json
in_bash 'jtrace-post --metric=alloc.b' alloc.bytes
(COMP_WORDBREAKS=' ' && in_bash 'jtrace env mode=s' mode=samples)

# in_fish LINE WORD…
in_fish() {
  local line=$1 word
  shift
  fish --no-config -c "source $share/fish/vendor_completions.d/jtrace.fish
    source $share/fish/vendor_completions.d/jtrace-post.fish
    complete -C \"$line\"" >"$work/offered" 2>&1
  for word; do
    cut -f 1 "$work/offered" | grep -qxF -e "$word" || fail "fish: '$line' offers no $word: $(cat "$work/offered")"
  done
}
# in_zsh LINE WORD…: what zsh shows for TABs in a terminal, within 20 seconds.
in_zsh() {
  local line=$1 word
  shift
  zsh -f "$work/zsh_tab" "$share/zsh/vendor-completions" "$line" "$@" >"$work/offered" 2>&1
  for word; do
    grep -qF -e "$word" "$work/offered" || fail "zsh: '$line' offers no $word: $(cat "$work/offered")"
  done
}
cat >"$work/zsh_tab" <<'END'
zmodload zsh/zpty
zpty tab zsh -f -i
zpty -w tab "PS1=; stty columns 200 rows 90; LISTMAX=0; fpath=($1 \$fpath); autoload -U compinit; compinit -u -D"
zpty -w tab "zstyle ':completion:*' list-prompt ''; print READY"
zpty -r tab got '*READY*READY*'
zpty -w -n tab "$2"$'\t\t'
shown=
for (( tries = 0; tries < 200; tries++ )); do
  while zpty -r -t tab got; do shown+=$got; done
  missing=0
  for word in "${@:3}"; do [[ $shown == *$word* ]] || missing=1; done
  (( missing )) || break
  sleep 0.1
done
print -r -- "$shown"
zpty -d tab
END
if command -v fish >/dev/null; then
  fish -n "$share"/fish/vendor_completions.d/*.fish
  in_fish 'jtrace ' run start list
  in_fish 'jtrace stop ' 4711 4822
  in_fish 'jtrace start 4711 m' mode= metrics=
  in_fish 'jtrace start 4711 mode=' mode=merged mode=events mode=samples
  in_fish 'jtrace env metrics=alloc.bytes\;exc' 'metrics=alloc.bytes;exceptions'
  in_fish "jtrace env out=$work/b" "out=$work/bin/"
  in_fish 'jtrace run --op' --open
  in_fish 'jtrace run -- bas' bash
  in_fish 'jtrace report 4711 --report=tree,fl' --report=tree,flat
  in_fish 'jtrace-post --report=fl' --report=flat
  in_fish "jtrace-post $work/b" "$work/bin/"
else
  echo "not verified: fish"
fi
if command -v zsh >/dev/null; then
  for program in jtrace jtrace-post; do zsh -n "$share/zsh/vendor-completions/_$program"; done
  in_zsh 'jtrace ' run start list
  in_zsh 'jtrace stop ' 4711 org.acme.Server 4822
  in_zsh 'jtrace start 4711 mode=' merged events samples
  in_zsh 'jtrace report 4711 --report=tree,fl' tree,flat
  in_zsh 'jtrace-post --format=' text csv json
else
  echo "not verified: zsh"
fi

# Every option and name of the help is in the page.
"$build/bin/jtrace" --help >"$work/jtrace.help"
"$build/bin/jtrace-post" --help >"$work/jtrace-post.help"
"$java" "-agentpath:$build/lib/libjtrace.so=help" -version 2>>"$work/jtrace.help"
for program in jtrace jtrace-post; do
  page=$share/man/man1/$program.1
  grep -q '^\.TH JTRACE.* 1 2023\\-11\\-14 ' "$page" || fail "$page has not the date of SOURCE_DATE_EPOCH"
  if ! command -v groff >/dev/null; then
    echo "not verified: groff"
    continue
  fi
  groff -man -Kutf8 -Tutf8 -ww -P -cbou "$page" >"$work/page" 2>"$work/warnings"
  [[ ! -s $work/warnings ]] || fail "warnings of groff: $(cat "$work/warnings")"
  for heading in NAME SYNOPSIS DESCRIPTION OPTIONS 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
    grep -qx "$heading" "$work/page" || fail "$program.1 has no $heading"
  done
  grep -oE '^  [^ ]+' "$work/$program.help" | sort -u >"$work/names"
  (($(wc -l <"$work/names") > 20)) || fail "the help of $program lists nothing"
  while read -r name; do
    # Codes have their names first; rows with two options have a line each.
    grep -qE "^ +${name//[^a-zA-Z0-9=-]/.}( |$)" "$work/page" || [[ $name == 0x* && $(<"$work/page") == *"$name,"* ]] ||
      [[ $name == *, && $(<"$work/page") == *"${name%,}"* ]] || fail "$program.1 lacks $name"
  done <"$work/names"
done
if command -v groff >/dev/null; then
  groff -man -Kutf8 -Tutf8 -P -cbou "$share/man/man1/jtrace.1" >"$work/page"
  for words in 'Values of stack=' 'appframe' 'Values of timer=' 'context-switches'; do
    grep -qF -e "$words" "$work/page" || fail "jtrace.1 lacks $words"
  done
fi
# No help has such a line yet: a dot or a quote first is a request to roff.
PYTHONPATH=$(dirname "$generator"):$(dirname "$generator")/.. python3 -B -c '
from shell.man import text
assert text(".so x") == r"\&.so x", text(".so x")
assert text("\x27br -o \\n") == r"\(aqbr \-o \en", text("\x27br -o \\n")' || fail "text is not escaped for roff"

code=0
python3 "$generator" "$work/none" --nothing >"$work/usage" 2>&1 || code=$?
[[ $code == 2 && ! -e $work/none ]] && grep -q '^shell.py: error: unrecognized arguments: --nothing' "$work/usage" ||
  fail "an unknown option is accepted"
