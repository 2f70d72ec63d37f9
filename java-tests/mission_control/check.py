#!/usr/bin/env python3
"""Reads --report=jfr by the parser of JDK Mission Control, and compares with `jfr print` of the JDK.

usage: check.py SOURCES BUILD JDK
The parser comes from Maven Central by Maven. It shares no code with the JDK's reader.
exit codes: 0 both have the same samples, as many as the trace has ticks · 1 they do not · 77 not verified: no Maven,
or it gets no parser
"""
import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

PARSER = "9.1.1"
SKIPPED = 77
POM = f"""<project><modelVersion>4.0.0</modelVersion>
<groupId>jtrace</groupId><artifactId>parser</artifactId><version>1</version>
<dependencies><dependency><groupId>org.openjdk.jmc</groupId><artifactId>flightrecorder</artifactId>
<version>{PARSER}</version></dependency></dependencies></project>
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, timeout=300, **options).stdout


def get_parser(folder):
    """The parser's jars as a class path; None where Maven does not get them."""
    if shutil.which("mvn") is None:
        return None
    (folder / "pom.xml").write_text(POM)
    try:
        run("mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={folder}/jars", cwd=folder)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None
    return ":".join(str(jar) for jar in (folder / "jars").glob("*.jar"))


def by_mission_control(jdk, parser, source, recording):
    counts = collections.Counter()
    for line in run(jdk / "bin/java", "-cp", parser, source, recording).splitlines():
        count, kind, thread, top = line.split("\t")
        counts[kind, thread, top] += int(count)
    return counts


def by_jdk(jdk, recording):
    kinds = "jdk.ExecutionSample,jdk.NativeMethodSample"
    printed = run(jdk / "bin/jfr", "print", "--json", "--events", kinds, "--stack-depth", 1, recording)
    counts = collections.Counter()
    for event in json.loads(printed)["recording"]["events"]:
        values = event["values"]
        thread = values["sampledThread"]
        frames = (values["stackTrace"] or {"frames": []})["frames"]
        method = frames[0]["method"] if frames else None
        top = f"{method['type']['name']}.{method['name']}" if method else ""
        name = thread["osName"] if thread["javaName"] is None else thread["javaName"]
        counts[event["type"], name, top.replace("/", ".")] += 1
    return counts


def ticks_of(post, trace):
    head, *rows = run(post, "--report=threads", "--format=csv", trace).splitlines()
    column = head.split(",").index("ticks")
    return sum(int(row.split(",")[column]) for row in rows)


def main(sources, build, jdk):
    with tempfile.TemporaryDirectory(prefix="jtrace-jmc-") as name:
        work = pathlib.Path(name)
        parser = get_parser(work)
        if parser is None:
            print("not verified: Maven does not get the parser of JDK Mission Control")
            return SKIPPED
        trace, recording = work / "trace.bin", work / "samples.jfr"
        run(jdk / "bin/java", f"-agentpath:{build}/lib/libjtrace.so=mode=samples,interval=2ms,out={trace}", "-cp",
            f"{build}/java-tests/classes", "Fib", 34, 20)
        run(build / "bin/jtrace-post", "--report=jfr", "-o", recording, trace)
        theirs = by_mission_control(jdk, parser, sources / "java-tests/mission_control/ReadRecording.java", recording)
        ours = by_jdk(jdk, recording)
        ticks = ticks_of(build / "bin/jtrace-post", trace)
    print(f"{sum(theirs.values())} samples of {len(theirs)} kinds, {ticks} ticks")
    for key in sorted(set(theirs) | set(ours)):
        if theirs[key] != ours[key]:
            print(f"{key}: {theirs[key]} by Mission Control, {ours[key]} by the JDK")
    return 0 if theirs == ours and sum(theirs.values()) == ticks > 0 else 1


if __name__ == "__main__":
    sys.exit(main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:])))
