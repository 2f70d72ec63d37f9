package jtrace.junit;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;

/** {@code jtrace web} on a JVM, and requests to it as any program may send them. */
final class LivePage implements AutoCloseable {
  private static final long PATIENCE_S = 60;
  private static final int PATIENCE_MS = 60_000;

  /** What one request was answered. */
  record Answer(int status, String headers, String body) {
    String text(String member) {
      Matcher match = Pattern.compile("\"" + member + "\":\"([^\"]*)\"").matcher(body);
      return match.find() ? match.group(1) : "";
    }

    long number(String member) {
      Matcher match = Pattern.compile("\"" + member + "\":(\\d+)").matcher(body);
      return match.find() ? Long.parseLong(match.group(1)) : 0;
    }

    /** The page's data; "" if the answer has none. */
    String data() {
      try (var in =
          new GZIPInputStream(
              new ByteArrayInputStream(Base64.getDecoder().decode(text("data"))))) {
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
      } catch (IOException e) {
        return "";
      }
    }

    /** Calls of a routine over all threads; 0 if the data does not have it. */
    long calls(String routine) {
      String data = data();
      Matcher names = Pattern.compile("\"routines\":\\[(\"(?:.*?)\")\\]").matcher(data);
      Matcher counts = Pattern.compile("\"flat\":\\{\"calls\":\\[([0-9,]*)\\]").matcher(data);
      if (!names.find() || !counts.find()) return 0;
      int at = Arrays.asList(names.group(1).split("(?<=\"),(?=\")")).indexOf("\"" + routine + "\"");
      return at < 0 ? 0 : Long.parseLong(counts.group(1).split(",")[at]);
    }
  }

  final URI url;
  final String token;
  private final Process process;

  LivePage(LiveJvm jvm, String... options) {
    List<String> command =
        new ArrayList<>(List.of(Setup.COMMAND.toString(), "web", jvm.pid()));
    command.addAll(Arrays.asList(options));
    try {
      process =
          new ProcessBuilder(command)
              .redirectError(jvm.folder.resolve("web.txt").toFile())
              .start();
      BufferedReader out = process.inputReader();
      String line = out.readLine();
      if (line == null) throw new AssertionError("jtrace web ends with " + process.waitFor());
      url = URI.create(line);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    token = url.getFragment().substring("token=".length());
  }

  Socket connect() throws IOException {
    Socket socket = new Socket(url.getHost(), url.getPort());
    socket.setSoTimeout(PATIENCE_MS);
    return socket;
  }

  /** Sends lines as they are, and an empty one behind them. */
  Answer send(String... lines) {
    try (Socket socket = connect()) {
      String request = String.join("\r\n", lines) + "\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      String all = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      int end = all.indexOf("\r\n\r\n");
      if (end < 0) throw new AssertionError("no answer: " + all);
      return new Answer(
          Integer.parseInt(all.split(" ")[1]), all.substring(0, end), all.substring(end + 4));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  String host() {
    return "Host: " + url.getAuthority();
  }

  String authorization() {
    return "Authorization: Bearer " + token;
  }

  Answer data(long after) {
    return send("GET /data?after=" + after + " HTTP/1.1", host(), authorization());
  }

  /** Requests newer data until a routine has so many calls. */
  Answer untilCalls(String routine, long calls) {
    Answer answer = data(0);
    for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_S);
        answer.calls(routine) != calls;
        answer = data(answer.number("serial"))) {
      if (System.nanoTime() > end) {
        throw new AssertionError(answer.calls(routine) + " calls, not " + calls);
      }
    }
    return answer;
  }

  Answer untilState(String state) throws InterruptedException {
    Answer answer = data(0);
    for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_S);
        !answer.text("state").equals(state);
        answer = data(0)) {
      if (System.nanoTime() > end) throw new AssertionError(answer.text("state"));
      Thread.sleep(20);
    }
    return answer;
  }

  /** Ctrl-C; the exit code. */
  int interrupt() throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start().waitFor();
    if (!process.waitFor(PATIENCE_S, TimeUnit.SECONDS)) throw new AssertionError("does not end");
    return process.exitValue();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
