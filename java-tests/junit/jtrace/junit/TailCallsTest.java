package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Native functions that reports put between two frames, because they ended in a jump. The code of
 * each, as binutils read it, must have a jump to the inner frame, directly or through others.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class TailCallsTest {
  private static final String LIBJVM = Setup.JDK.resolve("lib/server/libjvm.so").toString();
  private static final String FRAME = "V:libjvm.so!";
  private static final String TAIL_CALL = "V:libjvm.so [tail call]!";
  private static final String COLD = " [clone .cold]";
  private static final int MOST_PAIRS = 40;
  private static final int MOST_JUMPS = 3;
  private static final Pattern SYMBOL =
      Pattern.compile("([0-9a-f]+)(?: ([0-9a-f]+))? [tTwW] (.*)");
  private static final Pattern JUMP =
      Pattern.compile("\\s(?:bnd |notrack )*j[a-z]+\\s+(\\*|[0-9a-f]+)(.*)");

  private record Pair(String jumper, String callee) {}

  private record Range(long start, long end) {
    boolean holds(long address) {
      return address >= start && address < end;
    }
  }

  /** Targets of jumps; `isOpen`: some targets are unknown or in other files. */
  private record Jumps(Set<Long> targets, boolean isOpen) {}

  private final Map<String, List<Range>> functions = new HashMap<>();
  private final TreeMap<Long, String> names = new TreeMap<>();
  private final Map<String, Jumps> jumps = new HashMap<>();

  @ParameterizedTest
  @EnumSource(Timer.class)
  void insertedFramesJumpToTheFramesInside(Timer timer) {
    Jvm.Result run =
        new Jvm().agent(timer, "mode=samples,interval=1ms").classpath("h2.jar").run("H2W", "1");
    assertEquals(0, run.exit(), run.err());
    if (functions.isEmpty()) readSymbols();
    assumeTrue(functions.size() > 10_000, LIBJVM + " is stripped");
    List<Pair> pairs = pairs(run.report("--report=samples"));
    assertTrue(pairs.size() >= 10, "only " + pairs.size() + " different tail calls");
    List<Pair> wrong = pairs.stream().filter(pair -> !leadsTo(pair, MOST_JUMPS)).toList();
    assertEquals(List.of(), wrong);
    long direct = pairs.stream().filter(pair -> jumpsTo(pair)).count();
    assertTrue(direct * 2 > pairs.size(), direct + " jump of " + pairs);
  }

  private static List<Pair> pairs(Report samples) {
    Set<Pair> pairs = new LinkedHashSet<>();
    for (Map<String, String> row : samples.rows()) {
      String[] frames = row.get("stack").split(" > (?=[JCINVK]:|\\[)");
      for (int i = 0; i + 1 < frames.length; i++) {
        if (frames[i].startsWith(TAIL_CALL) && frames[i + 1].startsWith(FRAME)) {
          String jumper = frames[i].substring(TAIL_CALL.length());
          pairs.add(new Pair(jumper, frames[i + 1].substring(FRAME.length())));
        }
      }
    }
    return pairs.stream().limit(MOST_PAIRS).toList();
  }

  private boolean jumpsTo(Pair pair) {
    List<Range> callee = functions.getOrDefault(pair.callee(), List.of());
    return jumpsOf(pair.jumper()).targets().stream()
        .anyMatch(target -> callee.stream().anyMatch(range -> range.holds(target)));
  }

  private boolean leadsTo(Pair pair, int most) {
    if (jumpsTo(pair)) return true;
    Jumps jumps = jumpsOf(pair.jumper());
    if (jumps.isOpen() || most == 1) return jumps.isOpen();
    return jumps.targets().stream()
        .map(this::nameAt)
        .distinct()
        .anyMatch(name -> leadsTo(new Pair(name, pair.callee()), most - 1));
  }

  private String nameAt(long address) {
    Map.Entry<Long, String> at = names.floorEntry(address);
    return at == null ? "" : at.getValue();
  }

  private void readSymbols() {
    for (String line : output("nm", "-C", "-S", "--defined-only", LIBJVM)) {
      Matcher symbol = SYMBOL.matcher(line);
      if (!symbol.matches()) continue;
      long start = Long.parseLong(symbol.group(1), 16);
      String name = symbol.group(3).replaceAll("(?<=>) (?=>)", "");
      // Rarely executed code of a function is elsewhere, and belongs to it.
      if (name.endsWith(COLD)) name = name.substring(0, name.length() - COLD.length());
      // Assembly may have no sizes: only its entry is known.
      long size = symbol.group(2) == null ? 1 : Long.parseLong(symbol.group(2), 16);
      functions.computeIfAbsent(name, key -> new ArrayList<>()).add(new Range(start, start + size));
      names.put(start, name);
    }
  }

  /** Jumps that leave the function; several functions may have the name. */
  private Jumps jumpsOf(String name) {
    return jumps.computeIfAbsent(name, this::readJumps);
  }

  private Jumps readJumps(String name) {
    List<Range> ranges = functions.getOrDefault(name, List.of());
    Set<Long> targets = new HashSet<>();
    boolean isOpen = false;
    for (Range range : ranges) {
      for (String line :
          output(
              "objdump",
              "-d",
              "--no-show-raw-insn",
              "--start-address=" + range.start(),
              "--stop-address=" + range.end(),
              LIBJVM)) {
        Matcher jump = JUMP.matcher(line);
        if (!jump.find()) continue;
        if (jump.group(1).equals("*") || jump.group(2).contains("@plt")) {
          isOpen = true;
          continue;
        }
        long target = Long.parseLong(jump.group(1), 16);
        if (ranges.stream().noneMatch(own -> own.holds(target))) targets.add(target);
      }
    }
    return new Jumps(targets, isOpen);
  }

  private static List<String> output(String... command) {
    Jvm.Result result = Jvm.execute(List.of(command), null);
    assertEquals(0, result.exit(), result.err());
    return result.out().lines().toList();
  }
}
