"""A server that takes profiles, and can be as bad as servers are; and what OTLP messages say."""
import collections
import gzip
import http.server
import struct
import threading
import time
import urllib.parse


def fields(message):
    """(number, value) of a protobuf message: numbers, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        tag = varint()
        kind = tag & 7
        if kind == 0:
            yield tag >> 3, varint()
        elif kind == 1:
            yield tag >> 3, struct.unpack_from("<Q", message, at)[0]
            at += 8
        elif kind == 2:
            size = varint()
            yield tag >> 3, message[at:at + size]
            at += size
        else:
            raise ValueError(f"wire type {kind}")


def parts(message, *path):
    """The submessages at a path of field numbers."""
    found = [message]
    for number in path:
        found = [value for outer in found for field, value in fields(outer) if field == number]
    return found


def profiles_of(body):
    """[(start in ns, type's number, id in hex)] of an OTLP request."""
    found = []
    for profile in parts(body, 1, 2, 2):
        values = dict(fields(profile))
        found.append((values[3], dict(fields(values[1])).get(1, 0), values[7].hex()))
    return found


def attributes_of(body):
    """Attributes of the resource: texts."""
    found = {}
    for attribute in parts(body, 1, 1, 1):
        values = dict(fields(attribute))
        text = dict(fields(values[2])).get(1)
        if text is not None:
            found[values[1].decode()] = text.decode()
    return found


Request = collections.namedtuple("Request", "path query headers body answer time")


class Receiver:
    """`misbehave(number)`: how to answer that request: None: well; a code; ("code", headers); "reset"; seconds."""

    def __init__(self, misbehave=lambda number: None, port=0):
        self.requests = []
        self.misbehave = misbehave
        self.lock = threading.Lock()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                receiver.take(self)

            def log_message(self, *arguments):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                pass  # a client that was killed

        self.server = Server(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05})
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def take(self, handler):
        size = int(handler.headers["Content-Length"])
        body = handler.rfile.read(size)
        if len(body) < size:
            return  # killed meanwhile
        with self.lock:
            behaviour = self.misbehave(len(self.requests))
            place = urllib.parse.urlsplit(handler.path)
            code, headers = behaviour if isinstance(behaviour, tuple) else (behaviour, {})
            if behaviour is None or isinstance(behaviour, float):
                code = 200
            if handler.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            self.requests.append(Request(place.path, dict(urllib.parse.parse_qsl(place.query)), dict(handler.headers),
                                         body, code, time.monotonic()))
        if isinstance(behaviour, float):
            time.sleep(behaviour)
        if code == "reset":
            handler.connection.setsockopt(1, 13, struct.pack("ii", 1, 0))  # SO_LINGER: a reset instead of an end
            handler.connection.close()
            handler.close_connection = True
            return
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    def taken(self, path):
        return [it for it in self.requests if it.answer == 200 and it.path == path]
