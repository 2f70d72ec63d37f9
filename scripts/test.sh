#!/usr/bin/env bash
# Installs missing packages, builds, and runs tests: GoogleTest through CTest, JUnit 5 for Java.
# Usage: scripts/test.sh [TIER…] | scripts/test.sh --only REGEX
#   default      all C++ tests, every Java test on the build's JDK, a smoke test on each other JDK found
#   release      what users download is built, and tried alone here and in Debian 11; needs root
#   checks       the sources' format, an eighth of them linted, 20 planted faults: the tree's hash says which
#   jdks         every Java test on each other JDK found
#   asan, tsan   the tests that run without a JVM, under ASan and UBSan, and under TSan
#   sanitizers   both
#   slow         the long forms: longer programs, every clock and record=, whole JDKs rewritten,
#                the page in a browser, a minute of scripts/chaos.py; on the build's JDK
#   slow-jdks    the same on each other JDK found
#   fuzz         each fuzzer for 30 s (JTRACE_FUZZ_SECONDS) from its corpus
#   stress       walker, clock, wait and metric tests while each processor stalls for 30 to 600 ms
#   containers   programs where containers lack something; needs root and namespaces
#   maven        builds of the project of docs/MAVEN.md by Maven and Gradle, from Debian's packages and without network;
#                exports read by JDK Mission Control
#   programs     Tomcat, Spring, fop, PlantUML, Groovy and Maven from Debian's packages: the known culprit of each is
#                in the first screen
#   fleet        tables of real runs, read by DuckDB, PyArrow and Spark from npm and PyPI; the queries' answers; jtrace
#                ship and an OpenTelemetry collector, which are killed at random
#   aarch64      the tests that run without a JVM, in qemu, and the counts of programs in a JVM there
#   all          all of these
#   jvms         the release on every JVM of Debian 11 to sid, against a counting agent (scripts/jvms.py);
#                by hand only
#   jvms --slice=I/N               a part of it
#   broken       the release on the same JVMs, with each entry of their tables about themselves broken
#                (scripts/broken_jvms.py); by hand only
#   jvms --only RELEASE[,RELEASE…] every Java test on runtimes that scripts/jdks.sh gets
#   --only REGEX only the CTest tests whose names match, and only the targets that they need
# JTRACE_TIMES=cold or warm: the tiers' times are written into CONTRIBUTING.md.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly tiers=(default release checks jdks asan tsan slow slow-jdks fuzz stress containers maven programs fleet aarch64)
readonly by_hand=(jvms broken)
jobs=$(nproc)
# In a new build folder. Large batches take less time, because everything is compiled once.
export JTRACE_BATCH=${JTRACE_BATCH:-48}

usage() {
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' scripts/test.sh
}

# What users download. One root of Debian 11 is what it is built for and tried in.
run_release() {
  scripts/setup.sh release
  scripts/roots.sh sysroot bullseye openjdk-17-jre-headless
  scripts/release.sh
  scripts/release/check.sh "$@"
}

# The faults are planted in this folder if it has nothing that is not committed, as in CI: it is built already.
run_checks() {
  scripts/setup.sh dev
  scripts/format.sh --check
  scripts/lint.sh --part-of=8
  local here=--here
  [[ -z $(git status --porcelain --untracked-files=no) ]] || here=
  scripts/faults.sh --sample=20 --no-baseline ${here:+"$here"}
}

# It in other systems. JTRACE_SLICE: a part of the matrix.
run_matrix() {
  run_release all
  scripts/setup.sh test
  scripts/build.sh release jtrace_java_tests
  scripts/jvms.py --table ${JTRACE_SLICE+"$JTRACE_SLICE"}
}

run_broken() {
  scripts/release.sh products
  scripts/build.sh release jtrace_broken_jvm jtrace_java_tests
  scripts/broken_jvms.py
}

# JTRACE_JVMS: the releases, separated by commas.
run_jvms() {
  [[ -n ${JTRACE_JVMS-} ]] || {
    run_matrix
    return
  }
  local releases
  IFS=, read -ra releases <<<"$JTRACE_JVMS"
  scripts/setup.sh jvms
  scripts/jdks.sh "${releases[@]}"
  scripts/build.sh release
  run_ctest -LE slow -R "[jJ]dk-?($(IFS='|' && echo "${releases[*]}"))([.]|\$)"
}

# ctest on the release build; the arguments select tests.
run_ctest() {
  ctest --test-dir build --output-on-failure -j "$jobs" --no-tests=error "$@"
}

has_tests() {
  [[ $(ctest --test-dir build -N "$@" | sed -n 's/^Total Tests: *//p') != 0 ]]
}

# Tests of JDKs that are not installed are reported as not verified; that is not a failure.
run_on_other_jdks() {
  if has_tests "$@"; then
    run_ctest "$@"
  else
    echo "not verified: there is no other JDK in /usr/lib/jvm or JAVA_HOME"
  fi
}

run_sanitizer() {
  scripts/build.sh "$1"
  ctest --test-dir "build-$1" --output-on-failure -j "$jobs" --no-tests=error
}

# The number after the last "$1: " in a fuzzer's log.
last_number() {
  sed -n "s/.*$1: *\([0-9]\+\).*/\1/p" "$2" | tail -n 1
}

# The words of the fuzzer $1's dictionary. Command lines have the names of the generated pages, too.
write_words() {
  local own=native-tests/fuzz/dictionaries/$1.dict
  [[ ! -f $own ]] || cat "$own"
  [[ $1 != options ]] || grep -ohE '`[-a-z.]+=?' docs/OPTIONS.md docs/REPORTS.md | sort -u | sed 's/`\(.*\)/"\1"/'
}

# Runs the fuzzer $1 for $2 seconds and prints its line of the table, or the end of its log.
run_fuzzer() {
  local name=$1 log=build-fuzz/$1.log before
  local words=build-fuzz/$1.dict
  # The entropic schedule uses more time than most targets.
  local command=("build-fuzz/tests/jtrace_${name}_fuzzer" -timeout=20 -rss_limit_mb=4096
    -entropic=0 -print_final_stats=1 "-artifact_prefix=build-fuzz/$name-")
  write_words "$name" >"$words"
  [[ ! -s $words ]] || command+=("-dict=$words")
  mkdir -p "build-fuzz/corpus/$name"
  if ! "${command[@]}" -runs=0 "native-tests/fuzz/corpus/$name" >"$log" 2>&1; then
    tail -n 50 "$log"
    return 1
  fi
  before=$(last_number cov "$log")
  if ! "${command[@]}" -max_total_time="$2" "build-fuzz/corpus/$name" \
    "native-tests/fuzz/corpus/$name" >"$log" 2>&1; then
    tail -n 50 "$log"
    return 1
  fi
  printf '%-14s %11s %13s %12s %11s\n' "$name" "$(last_number number_of_executed_units "$log")" \
    "$before" "$(last_number cov "$log")" "$(last_number new_units_added "$log")"
}

# JTRACE_FUZZ_SECONDS: the time of each fuzzer. A failing input is kept in build-fuzz/NAME-….
run_fuzzers() {
  local name failed=false
  scripts/build.sh fuzz jtrace_fuzzers
  printf '%-14s %11s %13s %12s %11s\n' fuzzer executions 'edges before' 'edges after' 'new inputs'
  while read -r name; do
    run_fuzzer "$name" "${JTRACE_FUZZ_SECONDS:-30}" || failed=true
  done <build-fuzz/fuzzers.txt
  ! $failed
}

run_stress() {
  scripts/build.sh release
  local stall
  if ! python3 scripts/stall.py --check; then
    echo "not verified: stalling processors needs real-time priority (root, or CAP_SYS_NICE)"
    return 0
  fi
  python3 scripts/stall.py &
  stall=$!
  # shellcheck disable=SC2064  # the value of now, not of later
  trap "kill $stall 2>/dev/null || true" EXIT
  local code=0
  run_ctest -L stress -LE 'jdks|slow' || code=$?
  kill "$stall" || code=1 # it ended early and printed why
  wait "$stall" 2>/dev/null || true
  trap - EXIT
  return "$code"
}

run_containers() {
  scripts/build.sh release
  # It prints what is missing; the cases that need no root run in any case.
  python3 java-tests/containers/run.py --check || echo "only the cases without root and namespaces run"
  run_ctest -L containers
}

# Tests that do not pass in qemu's user mode: it has no perf events, no vdso, files of its own in /proc/self, paths that
# it looks up in the root first, and more memory than the limits allow; it cannot start another program of its
# processor, as death tests do. SamplerTest wants whole stacks, and HookRowsTest's one a hook.
readonly not_in_qemu='^KernelReadings[.]|^LimitsTest[.]|SamplerTest[.]|^InputFileTest[.]ATraceMayNameOnlyFiles$'\
'|^ModuleScannerTest[.]KnowsItsOwnExecutableAndTheVdso$|^ServerTest[.](AMissingThread|AnswersWhenNoDesc|ListensAgain)'\
'|^HostileRootTest[.](LinksLead|OldKernels)|^HookRowsTest[.]RowsLeftInAHandler'

# Another processor's build, in qemu's user mode.
run_aarch64() {
  if ! scripts/setup.sh aarch64 || ! scripts/roots.sh aarch64; then
    echo "not verified: aarch64 needs packages of Debian, and root or sudo to unpack them"
    return 0
  fi
  scripts/build.sh aarch64
  echo "not verified in qemu: $not_in_qemu"
  ctest --test-dir build-aarch64 --output-on-failure -j "$jobs" --no-tests=error --timeout 600 -E "$not_in_qemu"
  scripts/build.sh release jtrace_agent jtrace-post
  python3 scripts/compare_processors.py
}

run_maven() {
  if ! scripts/setup.sh maven; then
    echo "not verified: Maven and its plugins need packages of Debian, and root or sudo to install them"
    return 0
  fi
  scripts/build.sh release jtrace_agent jtrace-post jtrace-maven-plugin jtrace-junit5 jtrace-jmh
  run_ctest -L maven
}

run_programs() {
  scripts/setup.sh programs || echo "not all programs could be installed: the tests of the others run"
  # In a new folder a build of the products alone has no tests.
  cmake --preset release -DBUILD_TESTING=ON >/dev/null
  scripts/build.sh release jtrace_agent jtrace-post
  run_ctest -L programs
}

run_fleet() {
  scripts/setup.sh test
  local part
  for part in test collector spark; do
    scripts/fleet.sh "$part" || echo "not verified: scripts/fleet.sh $part could not get its packages"
  done
  cmake --preset release -DBUILD_TESTING=ON >/dev/null
  scripts/build.sh release jtrace_agent jtrace-post jtrace jtrace_java_tests parquet_samples perturb_traces
  run_ctest -L fleet
}

run_tier() {
  case $1 in
    default)
      scripts/build.sh release
      run_ctest -LE 'jdks|slow|containers$|maven|programs|fleet'
      ;;
    release) run_release ;;
    checks) run_checks ;;
    jdks)
      scripts/build.sh release
      run_on_other_jdks -L jdks -LE slow
      ;;
    asan) run_sanitizer asan-ubsan ;;
    tsan) run_sanitizer tsan ;;
    slow)
      scripts/build.sh release
      scripts/build.sh release jtrace_benches
      run_ctest -L slow -LE jdks
      ;;
    slow-jdks)
      scripts/build.sh release
      run_on_other_jdks -L slow -L jdks
      ;;
    fuzz) run_fuzzers ;;
    stress) run_stress ;;
    containers) run_containers ;;
    maven) run_maven ;;
    programs) run_programs ;;
    fleet) run_fleet ;;
    aarch64) run_aarch64 ;;
    jvms) run_jvms ;;
    broken) run_broken ;;
  esac
}

# The targets that the tests matching $1 need; all targets while CTest has no list of tests yet,
# because a GoogleTest program has to be built before it can list its tests.
targets_of() {
  ctest --test-dir build --show-only=json-v1 | python3 -c '
import json, os, re, sys
groups = {"junit": ["jtrace_agent", "jtrace-post", "jtrace", "jtrace_java_tests", "hooked_natives",
                    "malloc_counter", "own_allocator"],
          "walker": ["walker_agent", "walker_payload", "walker_programs"],
          "probes": ["probe_agent", "probe_programs"],
          "chaos": ["jtrace_agent", "jtrace-post", "jtrace", "jtrace_java_tests"],
          "containers": ["jtrace_agent", "jtrace-post", "jtrace", "jtrace_java_tests"],
          "maven": ["jtrace_agent", "jtrace-post", "jtrace-maven-plugin", "jtrace-junit5", "jtrace-jmh"],
          "programs": ["jtrace_agent", "jtrace-post"],
          "fleet": ["jtrace_agent", "jtrace-post", "jtrace", "jtrace_java_tests", "parquet_samples",
                    "perturb_traces"],
          "rewrite": ["jtrace-rewrite", "rewrite-test-classes"]}
targets = set()
for test in json.load(sys.stdin)["tests"]:
    labels = {l for p in test.get("properties", []) if p["name"] == "LABELS" for l in p["value"]}
    program = os.path.basename(test.get("command", [""])[0])
    kind = next((g for g in groups if g in labels or test["name"].startswith(g + ".")), None)
    if test["name"].endswith("_NOT_BUILT"):
        targets.add(test["name"][:-len("_NOT_BUILT")])  # only the program can list its tests
    elif not re.search(sys.argv[1], test["name"]):
        continue
    elif kind:
        targets.update(groups[kind])
    elif "/tests/" in test.get("command", [""])[0]:
        targets.add(program)
    else:
        targets.add("all")
for target in sorted(targets):
    print(target)' "$1"
}

run_only() {
  scripts/setup.sh test
  cmake --preset release -DBUILD_TESTING=ON >/dev/null
  local targets
  mapfile -t targets < <(targets_of "$1")
  if ((!${#targets[@]})) || [[ " ${targets[*]} " == *" all "* ]]; then
    targets=()
  fi
  scripts/build.sh release ${targets[@]+"${targets[@]}"}
  run_ctest -R "$1"
}

# Each tier once, in the order of the arguments; sanitizers and all mean several.
wanted=()
add() {
  local known
  for known in ${wanted[@]+"${wanted[@]}"}; do [[ $known == "$1" ]] && return 0; done
  wanted+=("$1")
}

while (($#)); do
  case $1 in
    --only)
      if [[ ${wanted[*]-} == jvms && $# == 2 ]]; then
        export JTRACE_JVMS=$2
        shift 2
        continue
      fi
      [[ $# == 2 && ${#wanted[@]} == 0 ]] || {
        echo "test: --only takes one regular expression and no tiers" >&2
        exit 2
      }
      run_only "$2"
      exit
      ;;
    --slice=*)
      [[ ${wanted[*]-} == jvms ]] || {
        echo "test: --slice belongs to the tier jvms" >&2
        exit 2
      }
      export JTRACE_SLICE=$1
      ;;
    -h | --help)
      usage
      exit
      ;;
    sanitizers)
      add asan
      add tsan
      ;;
    all) for tier in "${tiers[@]}"; do add "$tier"; done ;;
    *)
      known=false
      for tier in "${tiers[@]}" "${by_hand[@]}"; do [[ $1 == "$tier" ]] && known=true; done
      $known || {
        echo "test: unknown tier '$1'; tiers: ${tiers[*]} sanitizers all ${by_hand[*]}" >&2
        exit 2
      }
      add "$1"
      ;;
  esac
  shift
done
((${#wanted[@]})) || wanted=(default)

rows=()
failed=false
for tier in "${wanted[@]}"; do
  [[ -n ${JTRACE_TEST_CHILD-} ]] || echo "== tier $tier"
  begin=$SECONDS
  # A child process, so that set -e works in it: a function in a condition continues after an error.
  code=0
  if [[ -n ${JTRACE_TEST_CHILD-} ]]; then
    run_tier "$tier"
    exit
  fi
  JTRACE_TEST_CHILD=1 scripts/test.sh "$tier" || code=$?
  result=passed
  ((code == 0)) || {
    result=FAILED
    failed=true
  }
  rows+=("$tier" "$result" "$((SECONDS - begin))")
  [[ -z ${JTRACE_TIMES-} || $result != passed ]] || scripts/docs.py time "$JTRACE_TIMES" "$tier" $((SECONDS - begin))
done
echo
printf '%-10s %-7s %5s s\n' "${rows[@]}"
! $failed
