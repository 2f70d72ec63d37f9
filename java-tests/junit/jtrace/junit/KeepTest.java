package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** keep=: the oldest files that a recording has ended are removed, and no others. */
final class KeepTest {
  private static final String STEP = "Attached.step(long)";

  private static void start(LiveJvm jvm, String loop, String keep) {
    jvm.jtrace("start", "--probes", "out=%n.bin", loop, keep, "include=Attached::step");
  }

  /** Makes 100 calls and begins the next file; the size of the ended one. */
  private static long endFile(LiveJvm jvm) throws IOException {
    jvm.ask("work 100");
    Path ended = Path.of(jvm.jtrace("dump").strip());
    assertEquals(100, Report.of(ended, "--report=flat").sum("calls", STEP), ended.toString());
    return Files.size(ended);
  }

  private static Path file(LiveJvm jvm, int number) {
    return jvm.folder.resolve(number + ".bin");
  }

  /** Of the files 1.bin to LAST.bin those that are there. */
  private static List<Integer> numbers(LiveJvm jvm, int last) {
    return IntStream.rangeClosed(1, last)
        .filter(number -> Files.exists(file(jvm, number)))
        .boxed()
        .toList();
  }

  private static TreeSet<String> names(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  /** By number, with files of others beside them whose names are nearly the same. */
  @Test
  void theNewestFilesStayAndTheirNumberIsReported() throws IOException {
    List<String> others = List.of("0.bin", "01.bin", "1.bin.bak", "2.bi", "x3.bin", "4.bin.part");
    try (LiveJvm jvm = new LiveJvm(0)) {
      for (String other : others) Files.writeString(jvm.folder.resolve(other), "somebody's");
      start(jvm, "loop=1h", "keep=3");
      long removed = 0;
      for (int number = 1; number <= 8; number++) {
        long size = endFile(jvm);
        if (number <= 5) removed += size;
      }
      assertEquals(List.of(6, 7, 8, 9), numbers(jvm, 9));
      String status = jvm.jtrace("status");
      assertTrue(status.contains("\nended     3 files ("), status);
      assertTrue(status.contains("removed by keep=: 5 ("), status);
      assertFalse(status.contains("\nloss"), status);
      String stopped = jvm.jtrace("stop");
      assertTrue(stopped.contains(" 5 older files ("), stopped);
      assertEquals(List.of(6, 7, 8, 9), numbers(jvm, 9));
      Losses losses = Losses.of(file(jvm, 9));
      assertEquals("info", losses.get("loop.dropped").severity());
      assertEquals(5, losses.get("loop.dropped").count());
      assertEquals(removed, losses.get("loop.dropped_bytes").count());
      for (String other : others) assertTrue(names(jvm.folder).contains(other), other);
      assertEquals(0, jvm.end());
    }
  }

  @Test
  void theEndedFilesTakeNoMoreThanTheirBound() throws IOException {
    final int files = 9;
    try (LiveJvm jvm = new LiveJvm(0)) {
      start(jvm, "loop=1h", "keep=1GB");
      long size = endFile(jvm);
      jvm.jtrace("stop");
      long bound = 5 * size / 2 | 1;
      start(jvm, "loop=1h", "keep=" + bound + "B"); // numbers go on: 3.bin
      long[] sizes = new long[files + 3];
      for (int number = 3; number < files + 3; number++) {
        sizes[number] = endFile(jvm);
        List<Integer> kept = numbers(jvm, number).stream().filter(each -> each > 2).toList();
        int oldest = kept.get(0);
        assertEquals(IntStream.rangeClosed(oldest, number).boxed().toList(), kept, "the newest");
        long sum = IntStream.rangeClosed(oldest, number).mapToLong(each -> sizes[each]).sum();
        assertTrue(sum <= bound, sum + " of " + bound);
        assertTrue(oldest == 3 || sum + sizes[oldest - 1] > bound, "one more would fit");
      }
      assertFalse(Files.exists(file(jvm, 3)), "nothing was removed: the test has no power");
      jvm.jtrace("stop");
      assertEquals(List.of(1, 2), numbers(jvm, 2), "files of another recording stay");
      assertEquals(0, jvm.end());
    }
  }

  /** Files that end by themselves, from the start of the JVM on. */
  @Test
  void filesOfASecondAreBounded() throws Exception {
    String options = "mode=samples,loop=1s,keep=2,out=%n.bin";
    try (LiveJvm jvm = new LiveJvm(1, "-agentpath:" + Setup.AGENT + "=" + options)) {
      LiveJvm.await(() -> Files.exists(file(jvm, 5)));
      assertEquals(0, jvm.end());
      List<Integer> all = numbers(jvm, 1000);
      int last = all.get(all.size() - 1);
      assertEquals(List.of(last - 2, last - 1, last), all);
      assertEquals(last - 3, Losses.of(file(jvm, last)).get("loop.dropped").count());
      assertTrue(jvm.errors().contains(" " + (last - 3) + " older files ("), jvm.errors());
      for (int number : all) Report.text(file(jvm, number), "--report=summary");
    }
  }

  /** A lock as `jtrace ship` has it on a file that it delivers. */
  @Test
  void aLockedFileStays() throws Exception {
    try (LiveJvm jvm = new LiveJvm(0)) {
      start(jvm, "loop=1h", "keep=2");
      endFile(jvm);
      Process holder =
          new ProcessBuilder("flock", "-n", file(jvm, 1).toString(), "sh", "-c", "echo held; cat")
              .start();
      assertEquals("held", holder.inputReader().readLine());
      for (int number = 2; number <= 4; number++) endFile(jvm);
      assertEquals(List.of(1, 4, 5), numbers(jvm, 5));
      holder.outputWriter().close();
      assertEquals(0, holder.waitFor());
      endFile(jvm);
      assertEquals(List.of(4, 5, 6), numbers(jvm, 6));
      jvm.jtrace("stop");
      assertEquals(3, Losses.of(file(jvm, 6)).get("loop.dropped").count());
    }
  }

  /** The shipper takes what was ended, and never the file that is written. */
  @Test
  void aShipperTakesEndedFilesOnly() throws Exception {
    Path tables = Files.createTempDirectory("jtrace-tables");
    try (LiveJvm jvm = new LiveJvm(0)) {
      start(jvm, "loop=1h", "keep=3");
      for (int number = 1; number <= 3; number++) endFile(jvm);
      List<String> ship =
          List.of(Setup.COMMAND.toString(), "ship", jvm.folder.toString(), "--once",
              "--to=parquet:" + tables);
      Jvm.Result shipped = Jvm.execute(ship, null);
      assertEquals(0, shipped.exit(), shipped.err());
      Path taken = jvm.folder.resolve("shipped");
      assertEquals(new TreeSet<>(List.of("1.bin", "2.bin", "3.bin")), names(taken));
      assertEquals(List.of(4), numbers(jvm, 4), "it is being written");
      // Those that it took do not count.
      for (int number = 4; number <= 6; number++) endFile(jvm);
      assertEquals(List.of(4, 5, 6, 7), numbers(jvm, 7));
      endFile(jvm);
      assertEquals(List.of(5, 6, 7, 8), numbers(jvm, 8));
      assertEquals(new TreeSet<>(List.of("1.bin", "2.bin", "3.bin")), names(taken));
      jvm.jtrace("stop");
      assertEquals(1, Losses.of(file(jvm, 8)).get("loop.dropped").count());
    }
  }

  @Test
  void withoutLoopItNamesTheRemedy() {
    Jvm.Result run = new Jvm().agent("keep=1GB").run("Attached");
    assertEquals(1, run.exit());
    assertEquals("", run.out());
    assertEquals(
        "jtrace: option 'keep': bounds the ended files of loop=, which is missing; add loop=1m\n",
        run.err());
  }
}
