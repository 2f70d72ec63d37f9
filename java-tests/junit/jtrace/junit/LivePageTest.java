package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code jtrace web}: the page of a running JVM. */
final class LivePageTest {
  private static final String STEP = "Attached.step(long)";

  private static LiveJvm recorded() {
    LiveJvm jvm = new LiveJvm(1, "-agentpath:" + Setup.AGENT + "=serve");
    jvm.jtrace("start", "--probes", "out=live.bin", "include=Attached::work;Attached::step");
    return jvm;
  }

  /** Two requests have growing counts; the last ones are those of the report on the whole trace. */
  @Test
  void countsGrowAndEndAsTheReportHasThem() throws Exception {
    try (LiveJvm jvm = recorded();
        LivePage page = new LivePage(jvm)) {
      jvm.ask("work 1000");
      long first = page.untilCalls(STEP, 1000).number("serial");
      jvm.ask("work 500");
      LivePage.Answer second = page.untilCalls(STEP, 1500);
      assertTrue(second.number("serial") > first);
      assertEquals("live", second.text("state"));
      assertEquals(Long.parseLong(jvm.pid()), second.number("pid"));
      // Recorded until the JVM ends, after the last request.
      jvm.ask("work 7");
      assertEquals(0, jvm.end());
      LivePage.Answer last = page.untilState("ended");
      assertEquals(1507, last.calls(STEP));
      Report flat = Report.of(jvm.folder.resolve("live.bin"), "--report=flat");
      assertEquals(flat.sum("calls", STEP), last.calls(STEP));
      assertEquals(flat.sum("calls", "Attached.work(long)"), last.calls("Attached.work(long)"));
      assertTrue(
          Files.readString(jvm.folder.resolve("web.txt")).contains("JVM " + jvm.pid() + " has ended"));
      assertEquals(0, page.interrupt());
    }
  }

  /** A stop leaves the last data, and a later recording is shown. */
  @Test
  void aStopIsSaidAndTheNextRecordingShown() throws Exception {
    try (LiveJvm jvm = recorded();
        LivePage page = new LivePage(jvm)) {
      jvm.ask("work 1000");
      jvm.jtrace("stop");
      LivePage.Answer stopped = page.untilState("stopped");
      assertEquals("no recording runs; begin one with start", stopped.text("message"));
      assertEquals(1000, stopped.calls(STEP));
      jvm.jtrace("resume");
      jvm.ask("work 321");
      assertEquals("live", page.untilCalls(STEP, 321).text("state"));
      assertEquals(0, page.interrupt());
      assertEquals(0, jvm.end());
    }
  }

  private static void check(LivePage page, int status, String... request) {
    LivePage.Answer answer = page.send(request);
    assertEquals(status, answer.status(), String.join("; ", request));
    if (status != 200) assertFalse(answer.body().contains("\"data\""), answer.body());
    assertTrue(answer.headers().contains("Cache-Control: no-store"), answer.headers());
    assertTrue(answer.headers().contains("Referrer-Policy: no-referrer"), answer.headers());
    assertFalse(answer.headers().contains("Access-Control"), answer.headers());
  }

  @Test
  void strangersGetNoData() throws Exception {
    try (LiveJvm jvm = recorded();
        LivePage page = new LivePage(jvm)) {
      String get = "GET /data HTTP/1.1";
      String host = page.host();
      String token = page.authorization();
      assertTrue(page.token.matches("[0-9a-f]{64}"), page.token);
      check(page, 200, get, host, token);
      check(page, 200, "HEAD /data HTTP/1.1", host, token);
      check(page, 200, get, "Host: localhost:" + page.url.getPort(), token);
      check(page, 403, get, host);
      check(page, 403, get, host, token.substring(0, token.length() - 1));
      check(page, 403, get, host, token + "0");
      check(page, 403, get, host, "Authorization: Bearer ");
      check(page, 403, "GET /data?token=" + page.token + " HTTP/1.1", host);
      check(page, 403, get, "Host: evil.example:" + page.url.getPort(), token);
      check(page, 403, get, "Host: 127.0.0.1", token);
      check(page, 403, get, host, host, token);
      check(page, 403, get, token);
      check(page, 403, "GET /other HTTP/1.1", host);
      check(page, 404, "GET /other HTTP/1.1", host, token);
      check(page, 405, "POST /data HTTP/1.1", host, token, "Content-Length: 0");
      check(page, 405, "OPTIONS /data HTTP/1.1", host, "Origin: http://evil.example");
      check(page, 405, "DELETE / HTTP/1.1", host, token);
      check(page, 400, "not http");
      check(page, 400, get, host, token, "X: " + "x".repeat(10_000));
      assertEquals(0, page.interrupt());
      assertEquals(0, jvm.end());
    }
  }

  /** Only in the live form may the page request something, and that from where it is. */
  @Test
  void thePageItselfHasNoData() throws Exception {
    try (LiveJvm jvm = recorded();
        LivePage page = new LivePage(jvm)) {
      LivePage.Answer answer = page.send("GET / HTTP/1.1", page.host());
      assertEquals(200, answer.status());
      assertTrue(answer.body().contains("id=\"profile\" data-live=\"true\"></script>"));
      assertTrue(answer.body().contains("form-action 'none'; connect-src 'self'\">"));
      assertTrue(
          answer.headers().contains("connect-src 'self'; frame-ancestors 'none'"), answer.headers());
      assertFalse(
          Report.text(jvm.folder.resolve("live.bin"), "--report=html").contains("connect-src"));
      assertEquals(0, page.interrupt());
      assertEquals(0, jvm.end());
    }
  }

  /** Connections that send nothing make room for others. */
  @Test
  void idleConnectionsKeepNobodyOut() throws Exception {
    try (LiveJvm jvm = recorded();
        LivePage page = new LivePage(jvm)) {
      List<Socket> idle = new ArrayList<>();
      try {
        for (int i = 0; i < 300; i++) {
          idle.add(page.connect());
          if (i % 50 == 0) assertEquals(200, page.data(0).status());
        }
        assertEquals(200, page.data(0).status());
        // The first ones are closed.
        assertEquals(-1, idle.get(0).getInputStream().read());
      } finally {
        for (Socket socket : idle) socket.close();
      }
      assertEquals(0, page.interrupt());
      assertEquals(0, jvm.end());
    }
  }

  private static String failure(LiveJvm jvm, String... options) {
    Jvm.Result result = jvm.tryJtrace("web", options);
    assertEquals("", result.out());
    assertTrue(result.exit() == 1 || result.exit() == 2);
    return result.err();
  }

  @Test
  void errorsNameTheRemedy() throws IOException, InterruptedException {
    try (LiveJvm jvm = new LiveJvm()) {
      String pid = jvm.pid();
      String none =
          "jtrace: JVM " + pid + " is not recording; begin with: jtrace start " + pid + "\n";
      assertEquals(none, failure(jvm));
      jvm.jtrace("metrics"); // loads the agent
      assertEquals(none, failure(jvm));
      assertEquals(
          "jtrace: '99999' is not a port; write --port=1024 to 65535\n",
          failure(jvm, "--port=99999"));
      assertEquals(
          "jtrace: web shows the page only, without '--report=flat'; see jtrace report\n",
          failure(jvm, "--report=flat"));
      jvm.jtrace("start", "out=live.bin");
      try (LivePage page = new LivePage(jvm)) {
        String port = Integer.toString(page.url.getPort());
        assertTrue(failure(jvm, "--port=" + port).endsWith("; choose another one with --port=\n"));
        assertEquals(0, page.interrupt());
        // The port is free at once.
        try (LivePage again = new LivePage(jvm, "--port=" + port)) {
          assertEquals(port, Integer.toString(again.url.getPort()));
          assertEquals(0, again.interrupt());
        }
      }
      assertEquals(0, jvm.end());
    }
  }
}
