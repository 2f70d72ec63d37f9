"""Programs with many call paths or much code that runs briefly, from Maven Central, for wide.py."""

import dataclasses
import glob
import os
import subprocess

KOTLIN = "org.jetbrains.kotlin:kotlin-compiler-embeddable:2.0.21"
KOTLINC = ["-Xss8m", "-cp", "jars/*", "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib", "-no-reflect"]
# What Spark reads of the JDK by reflection.
SPARK_OPENS = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in (
    "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util",
    "java.util.concurrent", "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs", "sun.security.action",
    "sun.util.calendar")]
# Writes when it begins to end, so that what follows can be measured.
ENDS = """
public class Ends {
  public static void main(String[] a) throws Throwable {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      try {
        java.nio.file.Files.writeString(java.nio.file.Path.of("end"), "" + System.currentTimeMillis());
      } catch (java.io.IOException e) {
        throw new java.io.UncheckedIOException(e);
      }
    }));
    Class.forName(a[0]).getMethod("main", String[].class)
        .invoke(null, (Object) java.util.Arrays.copyOfRange(a, 1, a.length));
  }
}
"""


@dataclasses.dataclass
class Program:
    """`arguments`: the main class and what follows it; `is_wide`: its trace has millions of paths."""

    name: str
    artifacts: list
    file: str
    source: str
    arguments: list
    is_wide: bool = False
    options: list = dataclasses.field(default_factory=list)

    def prepare(self, jdk, folder):
        """Makes the folder that it runs in: its jars and its compiled source."""
        os.mkdir(folder)
        dependencies = "".join(
            "<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version></dependency>"
            % tuple(artifact.split(":")) for artifact in self.artifacts)
        for path, text in [("pom.xml", "<project><modelVersion>4.0.0</modelVersion><groupId>wide</groupId>"
                            f"<artifactId>wide</artifactId><version>1</version><dependencies>{dependencies}"
                            "</dependencies></project>\n"),
                           (self.file, self.source), ("Ends.java", ENDS)]:
            with open(os.path.join(folder, path), "w", encoding="utf-8") as out:
                out.write(text)
        run = lambda *words: subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL)
        run("mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={folder}/jars")
        sources = [path for path in ["Ends.java", self.file] if path.endswith(".java")]
        run(f"{jdk}/bin/javac", "-parameters", "-cp", "jars/*", "-d", ".", *sources)
        if self.file.endswith(".kt") and self.name != "kotlinc":
            jars = ":".join(os.path.relpath(jar, folder) for jar in glob.glob(f"{folder}/jars/kotlin*.jar"))
            run(f"{jdk}/bin/java", *KOTLINC, "-cp", jars, "-d", ".", self.file)

    def command(self, jdk, agent):
        """In its folder; `agent`: options of the JVM."""
        return [f"{jdk}/bin/java", *agent, *self.options, "-Xss8m", "-cp", "jars/*:.", "Ends", *self.arguments]


# Each class has generated methods, and the last function a type to infer for each of its lines.
KOTLIN_SOURCE = "package wide\n" + "\n".join(
    f"data class D{i}(val a: Int, val b: String, val c: List<D{max(i - 1, 0)}>)" for i in range(40)
) + "\nfun all() = listOf(\n" + ",\n".join(
    f"  listOf({i}).map {{ D{i % 40}(it, \"$it\", emptyList()) }}.filter {{ it.a > 0 }}.associateBy {{ it.b }}"
    for i in range(60)) + ")\n"
# Documents 1,200 classes that it writes before.
RUBY_SOURCE = r"""
require "fileutils"
require "rdoc"
FileUtils.mkdir_p("in")
FileUtils.rm_rf("out")
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
# Groups, joins and sorts 200,000 rows.
SPARK_SOURCE = """
package com.acme.rows;
import static org.apache.spark.sql.functions.*;
import org.apache.spark.sql.SparkSession;
public class Rows {
  public static void main(String[] a) {
    var spark = SparkSession.builder().master("local[2]").config("spark.ui.enabled", false)
        .config("spark.sql.shuffle.partitions", 4).getOrCreate();
    var rows = spark.range(200_000).withColumn("shop", col("id").mod(97)).withColumn("price", col("id").multiply(3));
    rows.createOrReplaceTempView("sold");
    var sums = spark.sql("select shop, sum(price) as total, count(*) as n from sold group by shop");
    sums.join(rows, "shop").where("price < 9000").orderBy(col("total").desc()).collectAsList();
    spark.stop();
  }
}
"""
# 100,000 questions to 20 actors, and their answers.
PEKKO_SOURCE = """
package com.acme.ping;
import java.util.ArrayList;
import org.apache.pekko.actor.typed.*;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
public class Ping {
  record Question(int number, ActorRef<Integer> asker) {}
  static Behavior<Question> worker() {
    return Behaviors.receive(Question.class).onMessage(Question.class, question -> {
      question.asker().tell(question.number() * 2);
      return Behaviors.same();
    }).build();
  }
  static Behavior<Integer> asker() {
    return Behaviors.setup(context -> {
      var workers = new ArrayList<ActorRef<Question>>();
      for (int i = 0; i < 20; i++) workers.add(context.spawn(worker(), "worker" + i));
      for (int i = 0; i < 100; i++) workers.get(i % 20).tell(new Question(i, context.getSelf()));
      int[] left = {100_000};
      return Behaviors.receive(Integer.class).onMessage(Integer.class, answer -> {
        if (--left[0] == 0) return Behaviors.stopped();
        workers.get(left[0] % 20).tell(new Question(left[0], context.getSelf()));
        return Behaviors.same();
      }).build();
    });
  }
  public static void main(String[] a) throws Exception {
    ActorSystem.create(asker(), "ping").getWhenTerminated().toCompletableFuture().get();
  }
}
"""
COROUTINES_SOURCE = """
package co
import kotlinx.coroutines.*
import kotlinx.coroutines.channels.*
import kotlinx.coroutines.flow.*
suspend fun twice(n: Int): Int { yield(); return n * 2 }
fun main() = runBlocking(Dispatchers.Default) {
  val results = Channel<Int>(64)
  val senders = (0 until 20).map { k -> launch { for (i in 0 until 20_000) results.send(twice(i + k)) } }
  launch { senders.forEach { it.join() }; results.close() }
  var sum = 0L
  for (result in results) sum += result
  println(sum + flow { for (i in 0 until 200_000) emit(i) }.map { it + 1 }.filter { it % 3 == 0 }.count())
}
"""
GROOVY_SOURCE = """
class Order { String name; int price; List<Integer> parts }
def orders = (1..20000).collect { new Order(name: "order $it", price: it * 7 % 1000, parts: (1..(it % 5 + 1)).toList()) }
def shops = orders.groupBy { it.price.intdiv(100) }
    .collectEntries { shop, some -> [shop, some.sum { it.parts.sum() * it.price }] }
println shops.sort { -it.value }.take(3).collect { "${it.key}: ${it.value}" }.join(", ")
println orders.findAll { it.name.endsWith("7") }*.price.inject(0) { sum, price -> sum + price }
"""

PROGRAMS = {program.name: program for program in [
    Program("kotlinc", [KOTLIN], "Wide.kt", KOTLIN_SOURCE,
            ["org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib", "-no-reflect", "-cp",
             "jars/kotlin-stdlib-2.0.21.jar", "-d", "out.jar", "Wide.kt"], is_wide=True),
    Program("JRuby", ["org.jruby:jruby-complete:9.4.8.0"], "wide.rb", RUBY_SOURCE, ["org.jruby.Main", "wide.rb"],
            is_wide=True),
    Program("Spark", ["org.apache.spark:spark-sql_2.13:3.5.8"], "Rows.java", SPARK_SOURCE, ["com.acme.rows.Rows"],
            is_wide=True, options=SPARK_OPENS),
    Program("Spring Boot", ["org.springframework.boot:spring-boot-starter-web:3.3.5",
                            "org.springframework.boot:spring-boot-starter-data-jpa:3.3.5",
                            "com.h2database:h2:2.2.224"], "Shop.java", SPRING_SOURCE, ["com.acme.shop.Shop"],
            is_wide=True),
    Program("Pekko", ["org.apache.pekko:pekko-actor-typed_2.13:1.1.3"], "Ping.java", PEKKO_SOURCE,
            ["com.acme.ping.Ping"]),
    Program("coroutines", [KOTLIN, "org.jetbrains.kotlinx:kotlinx-coroutines-core-jvm:1.8.1"], "Co.kt",
            COROUTINES_SOURCE, ["co.CoKt"]),
    Program("Groovy", ["org.apache.groovy:groovy:4.0.33"], "orders.groovy", GROOVY_SOURCE,
            ["groovy.ui.GroovyMain", "orders.groovy"]),
]}
