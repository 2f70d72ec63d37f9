package programs;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import jtrace.api.JTrace;
import jtrace.api.Label;

/**
 * Burns time in methods under known labels: each line printed is "method=labels". With the argument
 * "files" it ends the file of its recording twice, and prints "file=path" of both.
 */
@SuppressWarnings("try") // labels are not used in their blocks
public final class Labelled {
  private static final long BURN_NANOS = 150_000_000;
  private static volatile long sink;

  private Labelled() {}

  private static void spin() {
    long end = System.nanoTime() + BURN_NANOS;
    long sum = sink;
    while (System.nanoTime() < end) {
      for (int i = 0; i < 10_000; i++) sum = sum * 31 + i;
      sink = sum;
    }
  }

  static void burnBefore() { spin(); }

  static void burnAcme() { spin(); }

  static void burnQuery() { spin(); }

  static void burnUmbrella() { spin(); }

  static void burnWithoutTenant() { spin(); }

  static void burnQueryAgain() { spin(); }

  static void burnAcmeAgain() { spin(); }

  static void burnAfter() { spin(); }

  static void burnChild() { spin(); }

  static void burnOther() { spin(); }

  static void burnPooled() { spin(); }

  static void burnReuse() { spin(); }

  static void burnInnerAlone() { spin(); }

  static void burnAfterInner() { spin(); }

  static void burnStrange() { spin(); }

  static void burnCut() { spin(); }

  static void burnV1() { spin(); }

  static void burnV2() { spin(); }

  static void burnV2Outer() { spin(); }

  static void burnV1After() { spin(); }

  static void burnVBare() { spin(); }

  static void burnCarrierAfter() { spin(); }

  static void burnFirst() { spin(); }

  static void burnSecond() { spin(); }

  /** Waits, which a wall clock samples. */
  static void waitAcme() { pause(300); }

  static void waitBare() { pause(300); }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Thread start(Runnable work) {
    Thread thread = new Thread(work);
    thread.start();
    return thread;
  }

  private static void expect(String method, String labels) {
    System.out.println(method + "=" + labels);
  }

  private static void nested() {
    burnBefore();
    expect("burnBefore", "");
    try (Label outer = JTrace.label("tenant", "acme")) {
      burnAcme();
      expect("burnAcme", "tenant=acme");
      try (Label inner = JTrace.label("kind", "query")) {
        burnQuery();
        expect("burnQuery", "kind=query,tenant=acme");
        try (Label same = JTrace.label("tenant", "umbrella")) {
          burnUmbrella();
          expect("burnUmbrella", "kind=query,tenant=umbrella");
        }
        try (Label none = JTrace.label("tenant", "")) {
          burnWithoutTenant();
          expect("burnWithoutTenant", "kind=query");
        }
        burnQueryAgain();
        expect("burnQueryAgain", "kind=query,tenant=acme");
      }
      VirtualThreads.join(start(Labelled::burnChild));
      expect("burnChild", "");
      burnAcmeAgain();
      expect("burnAcmeAgain", "tenant=acme");
      waitAcme();
      expect("waitAcme", "tenant=acme");
    }
    burnAfter();
    expect("burnAfter", "");
    waitBare();
    expect("waitBare", "");
  }

  private static void pooled() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(1);
    Future<?> first = pool.submit(() -> {
      try (Label label = JTrace.label("tenant", "pool")) {
        burnPooled();
      }
    });
    first.get();
    pool.submit(Labelled::burnReuse).get();
    pool.shutdown();
    expect("burnPooled", "tenant=pool");
    expect("burnReuse", "");
  }

  /** Closed in the wrong order, twice, and by another thread. */
  private static void misused() {
    Label outer = JTrace.label("a", "1");
    Label inner = JTrace.label("b", "2");
    VirtualThreads.join(start(outer::close));
    burnInnerAlone();
    expect("burnInnerAlone", "a=1,b=2");
    outer.close();
    inner.close();
    outer.close();
    burnAfterInner();
    expect("burnAfterInner", "");
  }

  private static void strange() {
    try (Label label = JTrace.label("path", "/a,b=\\\u00e9\ud83d\ude00")) {
      burnStrange();
    }
    expect("burnStrange", "path=/a\\,b=\\\\\u00e9\ud83d\ude00");
    try (Label label = JTrace.label("long", "x".repeat(255) + "\u00e9")) {
      burnCut();
    }
    expect("burnCut", "long=" + "x".repeat(255));
  }

  /** Each leaves its carrier between the labels. */
  private static void virtual() throws ReflectiveOperationException {
    Thread first = VirtualThreads.start(() -> {
      try (Label label = JTrace.label("tenant", "v1")) {
        pause(5);
        burnV1();
      }
      pause(5);
      burnV1After();
    });
    Thread second = VirtualThreads.start(() -> {
      try (Label outer = JTrace.label("tenant", "v2")) {
        burnV2Outer();
        pause(5);
        try (Label inner = JTrace.label("kind", "query")) {
          pause(5);
          burnV2();
        }
      }
    });
    Thread bare = VirtualThreads.start(() -> {
      pause(5);
      burnVBare();
    });
    for (Thread thread : new Thread[] {first, second, bare}) VirtualThreads.join(thread);
    VirtualThreads.join(VirtualThreads.start(Labelled::burnCarrierAfter));
    expect("burnV1", "tenant=v1");
    expect("burnV1After", "");
    expect("burnV2Outer", "tenant=v2");
    expect("burnV2", "kind=query,tenant=v2");
    expect("burnVBare", "");
    expect("burnCarrierAfter", "");
  }

  static void waitIdle() { pause(3_600_000); }

  /** Another thread waits all the time: with a wall clock its last sample is repeated. */
  private static void files() {
    Thread idle = new Thread(() -> {
      try (Label label = JTrace.label("tenant", "idle")) {
        waitIdle();
      }
    });
    idle.setDaemon(true);
    idle.start();
    try (Label label = JTrace.label("tenant", "acme")) {
      burnFirst();
      System.out.println("file=" + JTrace.dump().orElseThrow());
      burnSecond();
      System.out.println("file=" + JTrace.dump().orElseThrow());
    }
  }

  public static void main(String[] args) throws Exception {
    if (args.length > 0) {
      files();
      return;
    }
    Thread other = start(() -> {
      try (Label label = JTrace.label("tenant", "other")) {
        burnOther();
      }
    });
    nested();
    VirtualThreads.join(other);
    expect("burnOther", "tenant=other");
    pooled();
    misused();
    strange();
    if (Runtime.version().feature() >= 21) virtual();
  }
}
