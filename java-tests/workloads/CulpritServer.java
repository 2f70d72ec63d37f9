import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

/**
 * A server with ten workers whose catalogue compiles a pattern for each of its 2,000 items at each
 * request. It requests itself, as often as the argument says.
 */
public final class CulpritServer {
  private CulpritServer() {}

  static final class Catalog {
    private final List<String> items = new ArrayList<>();

    Catalog() {
      for (int i = 0; i < 2000; i++) items.add("item " + i + " of the catalogue");
    }

    int count(String word) {
      int found = 0;
      for (String item : items) if (matches(item, word)) found++;
      return found;
    }

    // The culprit: the pattern is the same for all items.
    private static boolean matches(String item, String word) {
      return Pattern.compile(".*\\b(" + word + "|" + word + "s)\\b.*[a-z]+").matcher(item).matches();
    }
  }

  static final class CatalogHandler {
    private final Catalog catalog = new Catalog();

    void doGet(HttpExchange exchange) throws IOException {
      int found = catalog.count(exchange.getRequestURI().getQuery());
      byte[] answer = ("found " + found + "\n").getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(200, answer.length);
      exchange.getResponseBody().write(answer);
      exchange.close();
    }
  }

  private static int request(int port, int number) throws IOException {
    HttpURLConnection connection =
        (HttpURLConnection)
            new URL("http://127.0.0.1:" + port + "/?" + number).openConnection();
    try (InputStream in = connection.getInputStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).startsWith("found ") ? 1 : 0;
    }
  }

  public static void main(String[] args) throws Exception {
    int requests = Integer.parseInt(args[0]);
    AtomicInteger workers = new AtomicInteger();
    ExecutorService pool =
        Executors.newFixedThreadPool(
            10, work -> new Thread(work, "http-exec-" + workers.incrementAndGet()));
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", new CatalogHandler()::doGet);
    server.setExecutor(pool);
    server.start();
    int answered = 0;
    for (int i = 0; i < requests; i++) answered += request(server.getAddress().getPort(), i);
    server.stop(0);
    pool.shutdown();
    System.out.println(answered);
  }
}
