#!/usr/bin/env bash
# The bytecode instructions that a deterministic program executes are the same in each run, on each JDK, interpreted and
# compiled: ecj compiles a file against one class library. Ten runs on the first JDK, four on each other. So are those of
# each call path, in four runs on each JDK. ecj keeps type bindings in a table by their identity hashes, which the JVM
# makes at random: 45 instructions more or less. -XX:hashCode=2 makes them all equal.
# Usage: equal_instructions_test.sh BUILD ECJ_JAR SOURCE PACK_CLASSES JDK_HOME…
set -euo pipefail
build=$1 ecj=$2 source=$3 pack=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The class library of the first JDK, as a jar: ecj reads no modules, whose order depends on the JDK.
"$1/bin/java" -cp "$pack" Pack extract "$work/in.pack"
python3 - "$work" <<'END'
import pathlib, struct, sys, zipfile
work = pathlib.Path(sys.argv[1])
data, at = (work / "in.pack").read_bytes(), 0
def take():
    global at
    size = struct.unpack_from(">I", data, at)[0]
    at += 4 + size
    return data[at - size:at]
with zipfile.ZipFile(work / "library.jar", "w") as jar:
    while at < len(data):
        name, content = take().decode(), take()
        if name.startswith("java.base/") and name.endswith(".class") and not name.endswith("module-info.class"):
            jar.writestr(zipfile.ZipInfo(name.split("/", 1)[1]), content)
END

# run OPTIONS JDK_HOME FLAG…: records ecj's own classes
run() {
  local options=$1 jdk=$2
  shift 2
  "$jdk/bin/java" "$@" -XX:+UnlockExperimentalVMOptions -XX:hashCode=2 -Djdt.compiler.useSingleThread=true \
    -Duser.language=en -Duser.country=US -Dfile.encoding=UTF-8 \
    "-agentpath:$build/lib/libjtrace.so=mode=events,$options,log=none,include=org.eclipse.**,out=$work/trace.bin" \
    -cp "$ecj" org.eclipse.jdt.internal.compiler.batch.Main -8 -bootclasspath "$work/library.jar" -nowarn -proc:none \
    -d none "$source" >&2
}

# count JDK_HOME FLAG…: instructions executed in ecj's own classes
count() {
  run record=flat,blocks=on "$@"
  "$build/bin/jtrace-post" --report=lines --format=csv "$work/trace.bin" |
    python3 -c 'import csv, sys; print(sum(int(row["instructions"]) for row in csv.DictReader(sys.stdin)))'
}

# count_paths JDK_HOME FLAG…: instructions by call path, a path with some a line, in $work/paths
count_paths() {
  run blocks=paths,memory=2g "$@"
  "$build/bin/jtrace-post" --report=collapsed --metric=bytecodes "$work/trace.bin" | sort >"$work/paths"
}

expected=$(count "$1")
((expected > 1000000)) || {
  echo "only $expected instructions were counted" >&2
  exit 1
}
first=$1
for jdk in "$@"; do
  runs=("" "-Xint" "-XX:-TieredCompilation" "-XX:TieredStopAtLevel=1")
  [[ $jdk == "$first" ]] && runs+=("" "" "" "-Xint" "-XX:-TieredCompilation")
  for flag in "${runs[@]}"; do
    found=$(count "$jdk" ${flag:+"$flag"})
    [[ $found == "$expected" ]] || {
      echo "$jdk $flag: $found instructions, $expected before" >&2
      exit 1
    }
  done
done
for jdk in "$@"; do
  for flag in "" "-Xint" "-XX:-TieredCompilation" "-XX:TieredStopAtLevel=1"; do
    count_paths "$jdk" ${flag:+"$flag"}
    [[ -e $work/expected ]] || mv "$work/paths" "$work/expected"
    [[ ! -e $work/paths ]] || cmp "$work/expected" "$work/paths" || {
      echo "$jdk $flag: other instructions by call path than before" >&2
      diff "$work/expected" "$work/paths" | head -20 >&2
      exit 1
    }
    rm -f "$work/paths"
  done
done
found=$(awk '{ sum += $NF } END { printf "%d", sum }' "$work/expected")
[[ $found == "$expected" ]] || {
  echo "$found instructions over all call paths, $expected by line" >&2
  exit 1
}
echo "$expected instructions in each run, on $(wc -l <"$work/expected") call paths"
