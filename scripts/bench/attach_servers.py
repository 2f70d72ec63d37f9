"""The servers of attach.py: each prints "answered N" in every second, or its client does."""

import contextlib
import os
import re
import socket
import subprocess

from warmup_programs import TOMCAT, compiled
from wide_programs import Program

# What each server below does for a request, and how it begins: "port N", then a line a second.
COUNTS = """
  static final java.util.concurrent.atomic.AtomicLong answered = new java.util.concurrent.atomic.AtomicLong();
  static String page(String q) {
    var text = new StringBuilder();
    for (int i = 0; i < 50; i++) text.append(q).append(String.format("%05d", i)).append('\\n');
    answered.incrementAndGet();
    return text.toString();
  }
  static void count(int port) throws InterruptedException {
    System.out.println("port " + port);
    for (long last = 0, now; ; last = now) {
      Thread.sleep(1000);
      now = answered.get();
      System.out.println("answered " + (now - last));
    }
  }
"""
TOMCAT_SOURCE = """
import javax.servlet.http.*;
import org.apache.catalina.startup.Tomcat;
public class Answers {""" + COUNTS + """
  public static class Page extends HttpServlet {
    @Override protected void doGet(HttpServletRequest request, HttpServletResponse response) throws java.io.IOException {
      response.getWriter().print(page(request.getParameter("q")));
    }
  }
  public static void main(String[] arguments) throws Exception {
    var tomcat = new Tomcat();
    tomcat.setBaseDir(".");
    tomcat.setPort(0);
    tomcat.getConnector().setProperty("maxThreads", "10");
    tomcat.getConnector().setProperty("maxKeepAliveRequests", "-1");
    var context = tomcat.addContext("", new java.io.File(".").getAbsolutePath());
    Tomcat.addServlet(context, "page", new Page());
    context.addServletMappingDecoded("/", "page");
    tomcat.start();
    count(tomcat.getConnector().getLocalPort());
  }
}
"""
VERTX_SOURCE = """
package com.acme.pages;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
public class Answers {""" + COUNTS + """
  public static void main(String[] arguments) throws Exception {
    var vertx = Vertx.vertx();
    var router = Router.router(vertx);
    router.get("/").handler(context -> context.response().end(page(context.request().getParam("q"))));
    count(vertx.createHttpServer().requestHandler(router).listen(0).toCompletionStage().toCompletableFuture().get()
        .actualPort());
  }
}
"""
SPRING_SOURCE = """
package com.acme.shop;
import jakarta.persistence.*;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.servlet.context.ServletWebServerApplicationContext;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.web.bind.annotation.*;
@SpringBootApplication
public class Answers {""" + COUNTS + """
  public static void main(String[] a) throws Exception {
    var context = (ServletWebServerApplicationContext) SpringApplication.run(Answers.class, "--server.port=0",
        "--logging.level.root=off", "--spring.main.banner-mode=off", "--server.tomcat.max-keep-alive-requests=-1");
    for (int i = 0; i < 100; i++) context.getBean(Items.class).save(new Item(i * 7 % 100));
    count(context.getWebServer().getPort());
  }
}
@Entity class Item {
  @Id @GeneratedValue Long id;
  int price;
  Item() {}
  Item(int price) { this.price = price; }
}
interface Items extends JpaRepository<Item, Long> { java.util.List<Item> findByPriceLessThan(int price); }
@RestController class Api {
  final Items items;
  Api(Items items) { this.items = items; }
  @GetMapping("/") public String some(@RequestParam String q) {
    return Answers.page(q + items.findByPriceLessThan(20).size());
  }
}
"""
# The broker is a program of its own; this is its client.
KAFKA_SOURCE = """
package com.acme.sends;
import java.util.Properties;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.serialization.*;
public class Sends {""" + COUNTS + """
  public static void main(String[] arguments) throws Exception {
    var properties = new Properties();
    properties.put("bootstrap.servers", "localhost:" + arguments[0]);
    properties.put("acks", "1");
    var producer = new KafkaProducer<>(properties, new ByteArraySerializer(), new StringSerializer());
    producer.send(new ProducerRecord<>("sends", "first")).get();
    var sender = new Thread(() -> {
      while (true) {
        producer.send(new ProducerRecord<>("sends", "a record of some length, as many have"),
            (metadata, error) -> answered.incrementAndGet());
      }
    });
    sender.setDaemon(true);
    sender.start();
    count(Integer.parseInt(arguments[0]));
  }
}
"""
KAFKA_SETTINGS = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@localhost:{controller}
listeners=PLAINTEXT://localhost:{port},CONTROLLER://localhost:{controller}
controller.listener.names=CONTROLLER
log.dirs={folder}/logs
offsets.topic.replication.factor=1
log.segment.bytes=33554432
log.retention.bytes=67108864
log.retention.check.interval.ms=3000
"""
PROGRAMS = {
    "vertx": Program("vertx", ["io.vertx:vertx-web:5.0.7"], "Answers.java", VERTX_SOURCE, ["com.acme.pages.Answers"]),
    "spring": Program("spring", ["org.springframework.boot:spring-boot-starter-web:3.3.5",
                                 "org.springframework.boot:spring-boot-starter-data-jpa:3.3.5",
                                 "com.h2database:h2:2.2.224"], "Answers.java", SPRING_SOURCE,
                      ["com.acme.shop.Answers"]),
    "kafka": Program("kafka", ["org.apache.kafka:kafka_2.13:4.0.0"], "Sends.java", KAFKA_SOURCE,
                     ["com.acme.sends.Sends"]),
}
NAMES = ["tomcat", *PROGRAMS]


class Named:
    def __init__(self, name):
        self.name = name


def free_port():
    with contextlib.closing(socket.socket()) as it:
        it.bind(("localhost", 0))
        return it.getsockname()[1]


class Server:
    """`process`: the server, under load; `counter`: the process that prints; all of them are in `processes`."""

    def __init__(self, name, jdk, folder, agent):
        self.folder, self.processes = f"{folder}/server", []
        if name == "tomcat":
            os.mkdir(self.folder)
            with open(f"{self.folder}/Answers.java", "w", encoding="utf-8") as file:
                file.write(TOMCAT_SOURCE)
            compiled(f"{jdk}/bin/java", TOMCAT, Named(self.folder))
            path, main = ":".join([*TOMCAT, self.folder]), "Answers"
        else:
            PROGRAMS[name].prepare(jdk, self.folder)
            path, main = "jars/*:.", PROGRAMS[name].arguments[0]
        java = [f"{jdk}/bin/java", "-cp", path]
        if name == "kafka":
            port = self.start_kafka(java, agent)
            self.counter = self.start(*java, main, str(port))
            self.port_of_counter()
            return
        self.process = self.counter = self.start(java[0], *agent, *java[1:], main)
        self.start("ab", "-q", "-k", "-c", "10", "-t", "600", "-n", "100000000",
                   f"http://127.0.0.1:{self.port_of_counter()}/?q=abc")

    def start(self, *command):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                   cwd=self.folder)
        self.processes.append(process)
        return process

    def start_kafka(self, java, agent):
        port = free_port()
        with open(f"{self.folder}/server.properties", "w", encoding="utf-8") as file:
            file.write(KAFKA_SETTINGS.format(port=port, controller=free_port(), folder=self.folder))
        subprocess.run([*java, "kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c",
                        "server.properties"], cwd=self.folder, check=True, capture_output=True)
        self.process = self.start(java[0], *agent, *java[1:], "kafka.Kafka", "server.properties")
        return port

    def port_of_counter(self):
        for line in self.counter.stdout:
            if found := re.match(r"port (\d+)", line):
                return found.group(1)
        raise SystemExit("attach: the server ended")

    def has_ended(self):
        return any(process.poll() is not None for process in self.processes)

    def end(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()
