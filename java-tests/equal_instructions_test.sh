#!/usr/bin/env bash
# The bytecode instructions that a deterministic program executes are the same in each run, on each JDK, interpreted and
# compiled: ecj compiles a file against one class library. Ten runs on the first JDK, four on each other.
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

# count JDK_HOME FLAG…: instructions executed in ecj's own classes
count() {
  local jdk=$1
  shift
  "$jdk/bin/java" "$@" -Djdt.compiler.useSingleThread=true -Duser.language=en -Duser.country=US -Dfile.encoding=UTF-8 \
    "-agentpath:$build/lib/libjtrace.so=mode=events,record=flat,blocks=on,log=none,include=org.eclipse.**,out=$work/trace.bin" \
    -cp "$ecj" org.eclipse.jdt.internal.compiler.batch.Main -8 -bootclasspath "$work/library.jar" -nowarn -proc:none \
    -d none "$source" >&2
  "$build/bin/jtrace-post" --report=lines --format=csv "$work/trace.bin" |
    python3 -c 'import csv, sys; print(sum(int(row["instructions"]) for row in csv.DictReader(sys.stdin)))'
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
echo "$expected instructions in each run"
