#!/bin/sh
# Tries a release with its own files and a JVM, and nothing else: each kind of recording, a JVM that runs already, jars,
# a golden trace. What does not hold ends it.
# Usage: try.sh FOLDER JAVA [no-kernel]
#   FOLDER      what scripts/release/check.sh put there: jtrace/ (the tarball), tried.jar, Tried.java, …
#   no-kernel   this system refuses perf events: no frames of the kernel
set -eu
cd "$1"
java=$2 kernel=${3-}
PATH=$PWD/jtrace/bin:$PATH
agent=$PWD/jtrace/lib/libjtrace.so

fail() {
  echo "release check: $1" >&2
  exit 1
}

# has FILE REGEX
has() {
  grep -Eq -- "$2" "$1" || {
    head -n 20 "$1" >&2
    fail "$1 has no line that matches $2"
  }
}

# record NAME OPTIONS WORDS REPORT…: a trace of what tried.jar does for these words, and the report NAME of it.
record() {
  name=$1 options=$2 words=$3
  shift 3
  # shellcheck disable=SC2086  # words
  "$java" "-agentpath:$agent=out=$name.bin,$options" -jar tried.jar $words 2>"$name.err" ||
    fail "$name: the program fails: $(tail -n 3 "$name.err")"
  jtrace-post "$@" "$name.bin" >"$name" || fail "$name: no report"
}

# fib(15): 1,973 calls, 987 of them return at once.
jtrace run --report=flat -- "$java" -jar tried.jar fib 15 >run 2>run.err || fail "jtrace run: $(tail -n 1 run.err)"
has run '(^| )1,973 .*Tried\.fib\(int\)'

record lines mode=events,blocks=on "fib 15" --report=lines --format=csv
has lines '^Tried,fib\(int\),[0-9]+,987,'
jtrace-post --report=source --source=. lines.bin >source || fail "no annotated source"
has source '^ *987 .*\? n$'
# Calls are timed once the writer has seen where they return to.
record hook 'hook=libjava.so!handleRead:time' 'reads 500 sleep 500 reads 500' --report=hooks --format=csv
has hook ',time,main,Tried\.reads\(int\),[^,]*,1000,[1-9][0-9]*,'
record samples mode=samples "kernel 400" --report=flat
has samples 'Tried\.inKernel\(int\)'
# Ten samples or more of a thread that sleeps.
record wall timer=wall "sleep 600" --report=tree --format=csv
has wall '^main,.*,[1-9][0-9]+,[0-9]+,event,Tried\.main\(String\[\]\),'
if [ "$kernel" != no-kernel ]; then
  record kernel timer=perf:cpu-clock "kernel 400"
  has kernel '% +[0-9.]+ m?s +kernel$'
fi

# until_true COMMAND…: half a minute at most.
until_true() {
  tries=0
  until "$@"; do
    [ $((tries += 1)) -lt 60 ] || fail "a JVM that runs: never true: $*"
    sleep 0.5
  done
}

counts_fib() {
  jtrace report "$pid" --report=flat >live && grep -Eq "$counted" live
}

counted='(^| )[1-9][0-9,]* .*Tried\.fib\(int\)'
rm -f done ready
"$java" -jar tried.jar until done >ready 2>until.err &
pid=$!
until_true grep -qs ready ready
jtrace start "$pid" --probes "out=$PWD/live.bin" >start 2>&1 || fail "jtrace start: $(cat start)"
until_true counts_fib
jtrace stop "$pid" >stop 2>&1 || fail "jtrace stop: $(cat stop)"
touch done
wait "$pid" || fail "the program fails after jtrace stop"
jtrace-post --report=flat live.bin >stopped || fail "no report after jtrace stop"
has stopped "$counted"

# The jar of the Maven repository, and the test that was compiled with it.
"$java" "-agentpath:$agent=out=api.bin,metrics=alloc.bytes" -cp "maven/jtrace-api.jar:." UsesApi >api 2>&1 ||
  fail "jtrace-api.jar: $(cat api)"
jtrace-post --report=flat --format=csv fig18a.jtxt | cut -d, -f1-4,10 | cmp - fig26.csv || fail "the golden trace differs"
