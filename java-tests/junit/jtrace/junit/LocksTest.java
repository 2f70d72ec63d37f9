package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Requests and releases of locks by call path (S3.26); CasesTest compares their totals. */
final class LocksTest {
  private static final String LOCKS = "java.util.concurrent.locks.";

  private static Jvm.Result run(String options, String... arguments) {
    Jvm.Result run = new Jvm().agent(options).arguments(arguments).run("cases.Locks");
    assertEquals(0, run.exit(), run.err());
    assertEquals(List.of(), run.foreignErrors());
    return run;
  }

  /** Calls of `routine` directly by that method of cases.Locks. */
  private static long calls(Report arcs, String method, String routine) {
    long calls = 0;
    for (Map<String, String> row : arcs.rows()) {
      if (!row.get("row").equals("parent") || !row.get("self").equals(routine)) continue;
      // With sites=on: "cases.Locks.block(Object,int):25 > [monitorenter]".
      String caller = row.get("name").replaceFirst(":[0-9]+ > .*", "");
      if (caller.equals("cases.Locks." + method)) calls += Long.parseLong(row.get("calls"));
    }
    return calls;
  }

  private static void checkArcs(Jvm.Result run) {
    Report arcs = run.report("--report=arcflow");
    for (String event : List.of("[monitorenter]", "[monitorexit]")) {
      assertEquals(1_000, calls(arcs, "block(Object,int)", event), event);
      assertEquals(700, calls(arcs, "method(int)", event), event);
      assertEquals(300, calls(arcs, "throwing(Object)", event), event);
      assertEquals(300, calls(arcs, "throwingMethod()", event), event);
      assertEquals(50, calls(arcs, "nested(int)", event), event);
    }
    // OwnLock inherits both.
    assertEquals(400, calls(arcs, "locks(Lock)", LOCKS + "ReentrantLock.lock()"));
    assertEquals(800, calls(arcs, "locks(Lock)", LOCKS + "ReentrantLock.unlock()"));
    assertEquals(400, calls(arcs, "locks(Lock)", LOCKS + "ReentrantReadWriteLock$WriteLock.lock()"));
    assertEquals(400, calls(arcs, "stamped(StampedLock)", LOCKS + "StampedLock.writeLock()"));
  }

  @Test
  void countsAreByCallPath() {
    checkArcs(run("mode=events,codes=+lock"));
    checkArcs(run("mode=merged,codes=+lock,sites=on", "-Xcomp"));
    checkArcs(run("mode=events,codes=+lock,clock=tsc", "-Xint"));
    checkArcs(run("mode=events,codes=+lock,blocks=on", "-Xverify:all"));
  }

  /** A method that was left by an exception has released its monitor, also without a tree. */
  @Test
  void flatCountsAreComplete() {
    Report flat = run("mode=events,record=flat,codes=+lock", "-Xverify:all").report("--report=flat");
    assertEquals(2_350, flat.sum("calls", "[monitorenter]"));
    assertEquals(2_350, flat.sum("calls", "[monitorexit]"));
  }

  /** With a log each request and each release has its time, and so has each lock(). */
  @Test
  void logsHaveARecordOfEach() {
    Jvm.Result run = run("mode=events,record=log,clock=tsc,codes=+lock");
    long requests = 0;
    long releases = 0;
    long locks = 0;
    for (String line : Report.text(run.trace(), "--report=dump").lines().toList()) {
      String[] fields = line.split("\t");
      if (fields.length < 4 || !fields[2].startsWith("enter")) continue;
      requests += fields[3].equals("[monitorenter]") ? 1 : 0;
      releases += fields[3].equals("[monitorexit]") ? 1 : 0;
      locks += fields[3].equals(LOCKS + "ReentrantReadWriteLock$WriteLock.lock()") ? 1 : 0;
    }
    assertEquals(2_350, requests);
    assertEquals(2_350, releases);
    assertEquals(400, locks);
  }

  @Test
  void withoutTheCodeThereAreNone() {
    Report flat = run("mode=events").report("--report=flat");
    assertEquals(0, flat.sum("calls", "[monitorenter]"));
    assertEquals(0, flat.sum("calls", LOCKS + "ReentrantLock.lock()"));
    assertTrue(flat.sum("calls", "cases.Locks.method(int)") == 700);
  }
}
