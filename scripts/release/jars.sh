#!/usr/bin/env bash
# The jars as a Maven repository: each with its POM, sources, Javadoc and checksums.
# Usage: scripts/release/jars.sh VERSION FOLDER_OF_JARS REPOSITORY      in a clone: 0.1.0 build/jar build/maven
# SOURCE_DATE_EPOCH: the time of the files in the jars; by default the changelog's.
set -euo pipefail
version=$1
jars=$2
repository=$3
cd "$(dirname "$0")/../.."
readonly jdk=/usr/lib/jvm/java-17-openjdk-amd64/bin java=/usr/share/java
: "${SOURCE_DATE_EPOCH:=$(stat -c %Y CHANGELOG.md)}"
date=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# dependency GROUP ARTIFACT VERSION
dependency() {
  printf '    <dependency>\n      <groupId>%s</groupId>\n      <artifactId>%s</artifactId>\n' "$1" "$2"
  printf '      <version>%s</version>\n%s    </dependency>\n' "$3" "${4:+      <scope>$4</scope>
}"
}

# pom NAME DESCRIPTION DEPENDENCIES PACKAGING
pom() {
  cat <<END
<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>jtrace</groupId>
  <artifactId>$1</artifactId>
  <version>$version</version>
  <packaging>$4</packaging>
  <name>$1</name>
  <description>$2</description>
  <licenses>
    <license>
      <name>Apache-2.0</name>
      <url>https://www.apache.org/licenses/LICENSE-2.0.txt</url>
    </license>
  </licenses>
  <dependencies>
$3
  </dependencies>
</project>
END
}

# artifact NAME SOURCES CLASSPATH DESCRIPTION DEPENDENCIES [PACKAGING]
artifact() {
  local name=$1 sources=$2 classpath=$3
  local folder=$repository/jtrace/$name/$version base
  base=$folder/$name-$version
  mkdir -p "$folder"
  cp "$jars/$name.jar" "$base.jar"
  "$jdk/jar" --create --date="$date" --file "$base-sources.jar" -C "agent/api/$sources" jtrace
  "$jdk/javadoc" -quiet -encoding UTF-8 -notimestamp -Xdoclint:none --release 17 -d "$work/$name" -cp "$classpath" \
    $(find "agent/api/$sources" -name '*.java' | sort)
  "$jdk/jar" --create --date="$date" --file "$base-javadoc.jar" -C "$work/$name" .
  pom "$name" "$4" "$5" "${6:-jar}" >"$base.pom"
  local file
  for file in "$base"*; do
    sha1sum <"$file" | cut -d ' ' -f 1 >"$file.sha1"
    sha256sum <"$file" | cut -d ' ' -f 1 >"$file.sha256"
  done
}

api=$(dependency jtrace jtrace-api "$version")
artifact jtrace-api java "" "Queries of the jtrace agent by the program that it traces" ""
artifact jtrace-junit5 junit5 \
  "$jars/jtrace-api.jar:$java/junit-jupiter-api.jar:$java/junit-platform-commons.jar:$java/opentest4j.jar:$java/apiguardian-api.jar" \
  "Limits of allocations, processor time and calls in JUnit 5 tests" \
  "$api
$(dependency org.junit.jupiter junit-jupiter-api 5.9.1 provided)"
artifact jtrace-jmh jmh "$jars/jtrace-api.jar:$(dirname "$jars")/agent/api/jmh-stub" "A profiler for JMH" \
  "$api
$(dependency org.openjdk.jmh jmh-core 1.37 provided)"

# A jtrace-maven-plugin.jar is there if Maven's packages were when CMake ran.
if [[ -e $jars/jtrace-maven-plugin.jar ]]; then
  artifact jtrace-maven-plugin maven \
    "$java/maven-plugin-api-3.x.jar:$java/maven-core-3.x.jar:$java/maven-model-3.x.jar:$java/maven-artifact-3.x.jar" \
    "Records the tests of a build with jtrace, and checks the trace" \
    "$(dependency org.apache.maven maven-plugin-api 3.8.7 provided)
$(dependency org.apache.maven maven-core 3.8.7 provided)" maven-plugin
else
  echo "jars: no jtrace-maven-plugin.jar in $jars; scripts/setup.sh maven, then build again" >&2
fi
