#!/usr/bin/env bash
# Plants the faults of native-tests/faults/ one at a time in a copy of the committed tree (in
# build-faults/) and reports which of them the tests catch; fails unless all are caught.
# Usage: scripts/faults.sh [--list] [--compile] [--no-baseline] [--sample=N] [--here] [PATTERN…]
#   PATTERN        only faults whose names contain this; may have * and ?
#                  S3.17: those of this row of docs/FEATURES.md
#   --list         only lists the faults and the tests that should catch them
#   --compile      only compiles what each fault touches, in build/: no test runs
#   --no-baseline  does not first run the tests without a fault
#   --sample=N     only N of them; the same tree always gets the same ones
#   --here         in this folder and its build/, which have no uncommitted changes: nothing is built twice
set -euo pipefail
cd "$(dirname "$0")/.."

root=$PWD/build-faults
source=$root/source
build=$source/build
logs=$root/logs
jobs=$(nproc)

list=false
compile=false
baseline=true
here=false
sample=
patterns=()
for argument in "$@"; do
  case $argument in
    --list) list=true ;;
    --compile) compile=true ;;
    --no-baseline) baseline=false ;;
    --here) here=true ;;
    --sample=[1-9]*) sample=${argument#*=} ;;
    -*)
      sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' scripts/faults.sh >&2
      exit 2
      ;;
    *) patterns+=("$argument") ;;
  esac
done

die() {
  echo "faults: $*" >&2
  exit 1
}

# header FILE FIELD: the value of a field before a patch's diff.
header() { sed -n "/^diff --git /q; s/^$2: *//p" "$1"; }

# selected NAME ROWS
selected() {
  ((${#patterns[@]})) || return 0
  local pattern
  for pattern in "${patterns[@]}"; do
    [[ " $2 " == *" $pattern "* ]] && return 0
    # shellcheck disable=SC2053  # a pattern may have * and ?
    [[ $1 == *$pattern* ]] && return 0
  done
  return 1
}

shopt -s nullglob
faults=() # names
declare -A targets_of tests_of
for patch in native-tests/faults/*.patch; do
  name=$(basename "$patch" .patch)
  selected "$name" "$(header "$patch" Row)" || continue
  faults+=("$name")
  targets_of[$name]=$(header "$patch" Targets)
  tests_of[$name]=$(header "$patch" Caught-by)
done
((${#faults[@]})) || die "no fault matches: ${patterns[*]-}"
if [[ -n $sample ]]; then
  tree=$(git rev-parse 'HEAD^{tree}')
  mapfile -t faults < <(printf '%s\n' "${faults[@]}" | shuf -n "$sample" --random-source=<(yes "$tree"))
fi

patch_of() { echo "$PWD/native-tests/faults/$1.patch"; }

if $list; then
  for name in "${faults[@]}"; do
    printf '%s\n    %s\n    %s %s\n' "$name" "$(header "$(patch_of "$name")" Fault)" \
      "${tests_of[$name]}" "$(header "$(patch_of "$name")" Case)"
  done
  exit 0
fi

if $compile; then
  exec native-tests/faults/compile.py "${faults[@]}"
fi

# Unchanged files keep their times, so ninja builds only what differs; files that a fault had
# changed get new times, so everything built from them is built again.
clean_source() {
  if $here; then
    [[ -z $in_place ]] || git apply --reverse "$in_place"
    in_place=
    return
  fi
  git -C "$source" checkout --quiet --force --detach "$commit"
  git -C "$source" clean -fdq
}

# build LOG TARGET…
build() {
  cmake --build "$build" --target "${@:2}" -- --quiet >"$1" 2>&1
}

# matching REGEX: how many tests CTest would run.
matching() {
  ctest --test-dir "$build" -N -R "$1" | sed -n 's/^Total Tests: *//p'
}

# The tests in a log of CTest's that did not pass.
failed_in() {
  sed -n '/^The following tests FAILED:/,/^Errors while/s/^\s*[0-9]\+ - //p' "$1"
}

commit=$(git rev-parse HEAD)
echo "== the tree of $(git log -1 --format='%h %s')"
scripts/setup.sh
mkdir -p "$logs"
in_place= # the patch that is planted in this folder
if $here; then
  source=$PWD
  build=$PWD/build
  [[ -z $(git status --porcelain --untracked-files=no) ]] || die "--here: this folder has changes; commit them first"
fi
# A clone, not a worktree: it leaves nothing in this repository once its folder is deleted.
[[ -d $source/.git ]] || git clone --quiet --shared --no-checkout . "$source"
clean_source
(cd "$source" && cmake --preset release) >"$logs/configure.log" 2>&1 ||
  die "cannot configure; see $logs/configure.log"

declare -A is_target
while IFS= read -r target; do is_target[$target]=1; done \
  < <(ninja -C "$build" -t targets all | sed -n 's/: phony$//p')
declare -A wanted
for name in "${faults[@]}"; do
  for target in ${targets_of[$name]}; do
    [[ -z ${is_target[$target]-} ]] || wanted[$target]=1
  done
done
mapfile -t all_targets < <(printf '%s\n' "${!wanted[@]}" | sort)
((${#wanted[@]})) || die "none of the Targets of the faults exists"
echo "== building ${all_targets[*]}"
build "$logs/build.log" "${all_targets[@]}" || {
  tail -n 30 "$logs/build.log" >&2
  die "the tree does not build; see $logs/build.log"
}

if $baseline; then
  union=$(for name in "${faults[@]}"; do echo "${tests_of[$name]}"; done |
    sed '/^$/d' | sort -u | paste -sd '|')
  echo "== running $(matching "$union") tests without a fault"
  ctest --test-dir "$build" -R "$union" --output-on-failure -j "$jobs" --no-tests=error \
    >"$logs/baseline.log" 2>&1 || {
    failed_in "$logs/baseline.log" >&2
    die "tests fail without a fault; see $logs/baseline.log"
  }
fi

trap clean_source EXIT

# Plants a fault and leaves it there; sets `planted`, `result`, and `remark`, which explains the
# result.
try() {
  local name=$1 log=$2 code=0 count expected target
  local targets=() tests=${tests_of[$1]}
  read -ra targets <<<"${targets_of[$name]}"
  planted=false
  result=BROKEN
  remark=
  if ((!${#targets[@]})) || [[ -z $tests ]]; then
    remark="its Targets or Caught-by is missing"
    return
  fi
  for target in "${targets[@]}"; do
    [[ -n ${is_target[$target]-} ]] && continue
    remark="there is no target $target"
    return
  done
  if ! git -C "$source" apply "$(patch_of "$name")" >"$log" 2>&1; then
    remark="it does not apply"
    return
  fi
  planted=true
  in_place=$(patch_of "$name")
  if ! build "$log" "${targets[@]}"; then
    remark="it does not build; see $log"
    return
  fi
  count=$(matching "$tests")
  if [[ ${count:-0} == 0 ]]; then
    remark="no test matches"
    return
  fi
  ctest --test-dir "$build" -R "$tests" --output-on-failure -j "$jobs" >"$log" 2>&1 || code=$?
  # A test whose program was not built also fails, but has caught nothing.
  if ((code != 0 && code != 8)) || grep -q '\*\*\*Not Run  ' "$log"; then
    remark="ctest could not run all tests; see $log"
    return
  fi
  if ((code == 0)); then
    result="NOT CAUGHT"
    return
  fi
  result=caught
  expected=$(header "$(patch_of "$name")" Case)
  if ! { grep -v -e '^ *Start ' -e ' Passed ' "$log" | grep -F -- "$expected" >/dev/null; }; then
    remark="not by $expected; see $log"
  fi
}

rows=()
caught=0
number=0
for name in "${faults[@]}"; do
  number=$((number + 1))
  echo "== $number of ${#faults[@]}: $name"
  begin=$SECONDS
  try "$name" "$logs/$name.log"
  clean_source
  # Later faults need programs without this one. The compiler's cache makes the build short.
  if $planted; then
    read -ra targets <<<"${targets_of[$name]}"
    build "$logs/build.log" "${targets[@]}" || die "the tree no longer builds; see $logs/build.log"
  fi
  seconds=$((SECONDS - begin))
  [[ $result == caught ]] && caught=$((caught + 1))
  echo "   $result in $seconds s${remark:+: $remark}"
  rows+=("$name" "${tests_of[$name]}" "$result" "$seconds")
done

echo
printf '%-45s %-36s %-10s %7s\n' fault test result seconds "${rows[@]}"
echo
echo "$caught of ${#faults[@]} faults are caught"
((caught == ${#faults[@]}))
