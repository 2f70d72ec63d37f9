#!/usr/bin/env python3
"""Measures programs with millions of call paths: the end of a recording, and each report of jtrace-post.

kotlinc compiles a file, JRuby documents 1,200 classes, and a Spring Boot program starts, each under `mode=merged`; `mvn`
fetches them. Printed are the paths, the writer's processor time and the samples lost; then the processor time and the
greatest memory of each report, medians of the rounds, of these traces, of made ones of 1.2, 3 and 6.3 million paths, and
with --huge of one of 60 million.
Usage: scripts/bench.sh wide [--rounds N] [--huge] [TRACE…]      with TRACE: only these
"""

import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

from paired import AGENT, ROOT, default_jdk

POST = os.path.join(ROOT, "build/bin/jtrace-post")
MAKER = os.path.join(ROOT, "build/bench/wide_trace")
REPORTS = ["summary", "headline", "flat", "arcflow", "overview", "tree", "tree,csv", "html", "pprof"]
# Each class has generated methods, and the last function a type to infer for each of its lines.
KOTLIN_SOURCE = "package wide\n" + "\n".join(
    f"data class D{i}(val a: Int, val b: String, val c: List<D{max(i - 1, 0)}>)" for i in range(40)
) + "\nfun all() = listOf(\n" + ",\n".join(
    f"  listOf({i}).map {{ D{i % 40}(it, \"$it\", emptyList()) }}.filter {{ it.a > 0 }}.associateBy {{ it.b }}"
    for i in range(60)) + ")\n"
# Documents 1,200 classes that it writes before.
RUBY_SOURCE = r"""
require "rdoc"
Dir.mkdir("in")
40.times do |i|
  File.write("in/c#{i}.rb", (0...30).map { |k| <<~CLASS }.join)
    # Class #{k} of #{i}, with *bold* text.
    class C#{i}x#{k} < Struct.new(:a, :b)
      # See {link}[rdoc:C#{i}x0] and
      # * one
      # * two
      def m#{k}(x, y = [1, {z: x}], *rest, &block)
        case x when Integer then y.map { |it| it * #{k} } else "a\#{x}b" end
      end
      attr_reader :r#{k}
    end
  CLASS
end
RDoc::RDoc.new.document(["-q", "-o", "out", "in"])
"""
# Starts with a data base, a repository and a web server, and ends.
SPRING_SOURCE = """
package com.acme.shop;
import jakarta.persistence.*;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.web.bind.annotation.*;
@SpringBootApplication
public class Shop {
  public static void main(String[] a) { SpringApplication.run(Shop.class, "--server.port=0").close(); }
}
@Entity class Item { @Id @GeneratedValue Long id; String name; int price; }
interface Items extends JpaRepository<Item, Long> { java.util.List<Item> findByPriceLessThan(int price); }
@RestController class Api {
  final Items items;
  Api(Items items) { this.items = items; }
  @GetMapping("/items") public long count() { return items.count(); }
}
"""
# The artifacts of each program, one source, and what follows "java -cp jars/*:.".
PROGRAMS = {
    "kotlinc": (["org.jetbrains.kotlin:kotlin-compiler-embeddable:2.0.21"], "Wide.kt", KOTLIN_SOURCE,
                ["org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib", "-no-reflect", "-cp",
                 "jars/kotlin-stdlib-2.0.21.jar", "-d", "out.jar", "Wide.kt"]),
    "JRuby": (["org.jruby:jruby-complete:9.4.8.0"], "wide.rb", RUBY_SOURCE, ["org.jruby.Main", "wide.rb"]),
    "Spring Boot": (["org.springframework.boot:spring-boot-starter-web:3.3.5",
                     "org.springframework.boot:spring-boot-starter-data-jpa:3.3.5", "com.h2database:h2:2.2.224"],
                    "Shop.java", SPRING_SOURCE, ["com.acme.shop.Shop"]),
}


def pom(artifacts):
    dependencies = "".join("<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version></dependency>"
                           % tuple(artifact.split(":")) for artifact in artifacts)
    return ("<project><modelVersion>4.0.0</modelVersion><groupId>wide</groupId><artifactId>wide</artifactId>"
            f"<version>1</version><dependencies>{dependencies}</dependencies></project>\n")


def record(name, jdk, folder):
    """Its trace."""
    artifacts, file, source, arguments = PROGRAMS[name]
    os.mkdir(folder)
    for path, text in [("pom.xml", pom(artifacts)), (file, source)]:
        with open(os.path.join(folder, path), "w") as out:
            out.write(text)
    run = lambda *words: subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
    run("mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={folder}/jars")
    if file.endswith(".java"):
        run(f"{jdk}/bin/javac", "-parameters", "-cp", "jars/*", "-d", ".", file)
    trace = os.path.join(folder, "wide.bin")
    run(f"{jdk}/bin/java", f"-agentpath:{AGENT}=out={trace},log=none", "-Xss8m", "-cp", "jars/*:.", *arguments)
    return trace


def command(report, trace):
    report, _, form = report.partition(",")
    options = [] if report == "overview" else [f"--report={report}"]
    return [POST, "--width=120", *options, *(["--format=csv"] if form else []), trace]


def measure(arguments):
    """The seconds of processor time, and the megabytes of memory."""
    pid = os.posix_spawn(arguments[0], arguments, os.environ,
                         file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
                                       (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"wide: {' '.join(arguments)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * resource.getpagesize() / 4096 * 1024 / 1e6


def about(trace):
    text = subprocess.run([POST, "--report=summary", trace], capture_output=True, text=True, check=True).stdout
    nodes = re.search(r"in ([\d,]+) nodes?", text)
    writer = re.search(r"writer ([\d.]+ \S+) CPU", text)
    lost = re.search(r"([\d,]+) samples? lost", text)
    return (f"{nodes.group(1) if nodes else '?'} paths, {os.path.getsize(trace) / 1e6:.1f} MB"
            + (f"; writer {writer.group(1)}, {lost.group(1) if lost else 0} samples lost" if writer else ""))


def table(name, trace, rounds):
    print(f"\n{name}: {about(trace)}")
    for report in REPORTS:
        figures = [measure(command(report, trace)) for _ in range(rounds)]
        seconds = statistics.median(it[0] for it in figures)
        print(f"| `{report}` | {seconds:.2f} s | {max(it[1] for it in figures):.0f} MB |", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--huge", action="store_true")
    parser.add_argument("traces", nargs="*")
    options = parser.parse_args()
    for trace in options.traces:
        table(os.path.basename(trace), trace, options.rounds)
    if options.traces:
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in PROGRAMS:
            if shutil.which("mvn"):
                table(name, record(name, default_jdk(), os.path.join(folder, name)), options.rounds)
            else:
                print(f"{name}: *not verified*, as mvn is not installed")
        for nodes in [1_200_000, 3_000_000, 6_300_000] + ([60_000_000] if options.huge else []):
            trace = os.path.join(folder, "made.bin")
            subprocess.run([MAKER, str(nodes), trace], check=True)
            table(f"made, {nodes:,}", trace, options.rounds)


if __name__ == "__main__":
    main()
