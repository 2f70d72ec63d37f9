#include "agent/events/io.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <limits.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "agent/base/clock.h"
#include "agent/events/boot_call.h"
#include "agent/jvm/env.h"
#include "agent/jvm/environment.h"
#include "agent/jvm/loaded_classes.h"
#include "agent/signal_safe/own_work.h"
#include "proto/trace_format.h"

namespace jtrace::events {
namespace {

std::string SignatureOf(jvmtiEnv* env, jclass klass) {
  jvm::Allocated<char> signature(env);
  if (env->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE) return "";
  return signature.get();
}

// "Ljava/io/FileInputStream;"
bool IsClassOf(const IoNative& native, absl::string_view signature) {
  return absl::ConsumePrefix(&signature, "L") && absl::ConsumeSuffix(&signature, ";") &&
         signature == native.class_name;
}

bool HasClass(jvmtiEnv* env, jmethodID method, const IoNative& native) {
  jclass klass = nullptr;
  return env->GetMethodDeclaringClass(method, &klass) == JVMTI_ERROR_NONE &&
         IsClassOf(native, SignatureOf(env, klass));
}

// The JDK's function; null if its library is not loaded, or has none.
void* FindOriginal(const IoNative& native) {
  void* const library = dlopen(std::string(LibraryOf(native)).c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* const function = dlsym(library, SymbolOf(native).c_str());
  dlclose(library);
  return function;
}

// Of a class of the JDK, and not of a program's class of the same name.
bool IsOfBootLoader(jvmtiEnv* env, jclass klass) {
  jobject loader = nullptr;
  return env->GetClassLoader(klass, &loader) == JVMTI_ERROR_NONE && loader == nullptr;
}

void ReplaceIn(JNIEnv* jni, jclass klass, size_t number) {
  const IoNative& native = IoNatives()[number];
  std::atomic<void*>& original = OriginalOf(number);
  if (original.load() != nullptr) return;
  void* const function = FindOriginal(native);
  if (function == nullptr) return;
  original.store(function);
  const JNINativeMethod method = {const_cast<char*>(native.method),
                                  const_cast<char*>(native.descriptor), native.replacement};
  // The JDK has no such native.
  if (jni->RegisterNatives(klass, &method, 1) != JNI_OK) jni->ExceptionClear();
}

// Where a native has its descriptor: in the field `fd` of the object, or in an argument.
enum class Place : uint8_t { kField, kArgument, kSecondArgument };
// How many bytes it has read or written.
enum class Bytes : uint8_t { kResult, kOneIfResult, kOne, kThirdArgument, kFourthArgument, kNone };

constexpr size_t kSlots = 2;
constinit std::array<std::atomic<IoListener*>, kSlots> g_listeners = {};

// The field `fd` of a class, looked up once; null if it has none.
class DescriptorField {
 public:
  jfieldID Of(JNIEnv* jni, const char* class_name, const char* type) {
    jfieldID field = field_.load(std::memory_order_relaxed);
    if (field != nullptr) return field;
    const jclass klass = jni->FindClass(class_name);
    if (klass != nullptr) field = jni->GetFieldID(klass, "fd", type);
    jni->DeleteLocalRef(klass);
    if (field == nullptr) jni->ExceptionClear();
    field_.store(field, std::memory_order_relaxed);
    return field;
  }

 private:
  std::atomic<jfieldID> field_{nullptr};
};
constinit DescriptorField g_number;  // FileDescriptor.fd

int NumberOf(JNIEnv* jni, jobject descriptor) {
  if (descriptor == nullptr) return -1;
  const jfieldID field = g_number.Of(jni, "java/io/FileDescriptor", "I");
  return field == nullptr ? -1 : jni->GetIntField(descriptor, field);
}

template <size_t native>
int OfField(JNIEnv* jni, jobject object) {
  static constinit DescriptorField stream;
  const jfieldID field = stream.Of(jni, IoNatives()[native].class_name, "Ljava/io/FileDescriptor;");
  if (field == nullptr) return -1;
  const jobject descriptor = jni->GetObjectField(object, field);
  const int number = NumberOf(jni, descriptor);
  jni->DeleteLocalRef(descriptor);
  return number;
}

void ReportBegin(JNIEnv* jni, const IoCall& call) {
  for (const std::atomic<IoListener*>& listener : g_listeners) {
    IoListener* const it = listener.load(std::memory_order_acquire);
    if (it != nullptr) it->Began(jni, call);
  }
}

void ReportEnd(JNIEnv* jni, IoCall& call) {
  call.end_ns = MonotonicNanos();
  for (const std::atomic<IoListener*>& listener : g_listeners) {
    IoListener* const it = listener.load(std::memory_order_acquire);
    if (it != nullptr) it->Ended(jni, call);
  }
}

bool HasListener() {
  for (const std::atomic<IoListener*>& listener : g_listeners) {
    if (listener.load(std::memory_order_relaxed) != nullptr) return true;
  }
  return false;
}

// Results below -1 say that the call must wait or was interrupted (sun.nio.ch.IOStatus).
constexpr int64_t BytesOf(Bytes bytes, int64_t result) {
  if (bytes == Bytes::kNone || result < -1) return result < -1 ? -1 : 0;
  if (bytes == Bytes::kOneIfResult) return result >= 0 ? 1 : 0;
  return result == -1 ? 0 : result;
}

template <size_t native, IoKind kind, Place place, Bytes bytes, typename Result,
          typename... Arguments>
struct Replacement {
  using Function = Result (*)(JNIEnv*, jobject, Arguments...);

  static int DescriptorOf(JNIEnv* jni, jobject self, Arguments... arguments) {
    if constexpr (place == Place::kField) {
      return OfField<native>(jni, self);
    } else {
      return NumberOf(jni,
                      std::get < place == Place::kArgument ? 0 : 1 > (std::tuple(arguments...)));
    }
  }

  // What a call without a result has written, if it did not fail.
  static int64_t Requested(Arguments... arguments) {
    if constexpr (bytes == Bytes::kThirdArgument) {
      return std::get<2>(std::tuple(arguments...));
    } else if constexpr (bytes == Bytes::kFourthArgument) {
      return std::get<3>(std::tuple(arguments...));
    } else {
      return 1;
    }
  }

  static Result JNICALL Call(JNIEnv* jni, jobject self, Arguments... arguments) {
    const auto original =
        reinterpret_cast<Function>(OriginalOf(native).load(std::memory_order_acquire));
    if (!HasListener()) return original(jni, self, arguments...);
    IoCall call = {.kind = kind};
    signal_safe::AsOwn([&] {
      // The descriptor of a connection that is not accepted yet is not known.
      if (kind != IoKind::kAccept) call.fd = DescriptorOf(jni, self, arguments...);
      call.begin_ns = MonotonicNanos();
      ReportBegin(jni, call);
    });
    if constexpr (std::is_void_v<Result>) {
      original(jni, self, arguments...);
      signal_safe::AsOwn([&] {
        call.bytes = jni->ExceptionCheck() ? -1 : Requested(arguments...);
        ReportEnd(jni, call);
      });
    } else {
      const Result result = original(jni, self, arguments...);
      signal_safe::AsOwn([&] {
        const bool failed = jni->ExceptionCheck() != JNI_FALSE;
        call.bytes = failed ? -1 : BytesOf(bytes, result);
        if constexpr (kind == IoKind::kAccept) {
          if (call.bytes >= 0) call.fd = NumberOf(jni, std::get<1>(std::tuple(arguments...)));
        }
        ReportEnd(jni, call);
      });
      return result;
    }
  }
};

template <size_t native, IoKind kind, Place place, Bytes bytes, typename Result,
          typename... Arguments>
void* Replace() {
  return reinterpret_cast<void*>(
      &Replacement<native, kind, place, bytes, Result, Arguments...>::Call);
}

// Calls on an address: (FileDescriptor, address, length), and with a position.
template <size_t native, IoKind kind>
void* OnAddress() {
  return Replace<native, kind, Place::kArgument, Bytes::kResult, jint, jobject, jlong, jint>();
}
template <size_t native, IoKind kind>
void* AtPosition() {
  return Replace<native, kind, Place::kArgument, Bytes::kResult, jint, jobject, jlong, jint,
                 jlong>();
}
template <size_t native, IoKind kind>
void* OnVector() {
  return Replace<native, kind, Place::kArgument, Bytes::kResult, jlong, jobject, jlong, jint>();
}
template <size_t native>
void* ReadsArray() {
  return Replace<native, IoKind::kRead, Place::kField, Bytes::kResult, jint, jbyteArray, jint,
                 jint>();
}
template <size_t native>
void* ReadsByte() {
  return Replace<native, IoKind::kRead, Place::kField, Bytes::kOneIfResult, jint>();
}
template <size_t native, typename... More>
void* WritesArray() {
  return Replace<native, IoKind::kWrite, Place::kField, Bytes::kThirdArgument, void, jbyteArray,
                 jint, jint, More...>();
}
template <size_t native, typename... More>
void* WritesByte() {
  return Replace<native, IoKind::kWrite, Place::kField, Bytes::kOne, void, jint, More...>();
}

constexpr char kIn[] = "java/io/FileInputStream";
constexpr char kOut[] = "java/io/FileOutputStream";
constexpr char kRandom[] = "java/io/RandomAccessFile";
constexpr char kFile[] = "sun/nio/ch/FileDispatcherImpl";  // until 18, of sockets too
constexpr char kUnixFile[] = "sun/nio/ch/UnixFileDispatcherImpl";
constexpr char kUnix[] = "sun/nio/ch/UnixDispatcher";
constexpr char kSocket[] = "sun/nio/ch/SocketDispatcher";
constexpr char kDatagram[] = "sun/nio/ch/DatagramDispatcher";
constexpr char kAddress[] = "(Ljava/io/FileDescriptor;JI)I";
constexpr char kPosition[] = "(Ljava/io/FileDescriptor;JIJ)I";
constexpr char kVector[] = "(Ljava/io/FileDescriptor;JI)J";
constexpr char kArray[] = "([BII)I";
constexpr char kAccepts[] =
    "(Ljava/io/FileDescriptor;Ljava/io/FileDescriptor;[Ljava/net/InetSocketAddress;)I";

const IoNative kNatives[] = {
    {kIn, "read0", "()I", ReadsByte<0>()},
    {kIn, "readBytes", kArray, ReadsArray<1>()},
    {kOut, "write", "(IZ)V", WritesByte<2, jboolean>()},
    {kOut, "writeBytes", "([BIIZ)V", WritesArray<3, jboolean>()},
    {kRandom, "read0", "()I", ReadsByte<4>()},
    {kRandom, "readBytes", kArray, ReadsArray<5>()},
    {kRandom, "readBytes0", kArray, ReadsArray<6>()},
    {kRandom, "write0", "(I)V", WritesByte<7>()},
    {kRandom, "writeBytes", "([BII)V", WritesArray<8>()},
    {kRandom, "writeBytes0", "([BII)V", WritesArray<9>()},
    {kFile, "read0", kAddress, OnAddress<10, IoKind::kRead>()},
    {kFile, "pread0", kPosition, AtPosition<11, IoKind::kRead>()},
    {kFile, "readv0", kVector, OnVector<12, IoKind::kRead>()},
    {kFile, "write0", kAddress, OnAddress<13, IoKind::kWrite>()},
    {kFile, "pwrite0", kPosition, AtPosition<14, IoKind::kWrite>()},
    {kFile, "writev0", kVector, OnVector<15, IoKind::kWrite>()},
    {kUnixFile, "read0", kAddress, OnAddress<16, IoKind::kRead>()},
    {kUnixFile, "pread0", kPosition, AtPosition<17, IoKind::kRead>()},
    {kUnixFile, "readv0", kVector, OnVector<18, IoKind::kRead>()},
    {kUnixFile, "write0", kAddress, OnAddress<19, IoKind::kWrite>()},
    {kUnixFile, "pwrite0", kPosition, AtPosition<20, IoKind::kWrite>()},
    {kUnixFile, "writev0", kVector, OnVector<21, IoKind::kWrite>()},
    {kUnix, "read0", kAddress, OnAddress<22, IoKind::kRead>()},
    {kUnix, "readv0", kVector, OnVector<23, IoKind::kRead>()},
    {kUnix, "write0", kAddress, OnAddress<24, IoKind::kWrite>()},
    {kUnix, "writev0", kVector, OnVector<25, IoKind::kWrite>()},
    {kSocket, "read0", kAddress, OnAddress<26, IoKind::kRead>()},
    {kSocket, "readv0", kVector, OnVector<27, IoKind::kRead>()},
    {kSocket, "write0", kAddress, OnAddress<28, IoKind::kWrite>()},
    {kSocket, "writev0", kVector, OnVector<29, IoKind::kWrite>()},
    {kDatagram, "read0", kAddress, OnAddress<30, IoKind::kRead>()},
    {kDatagram, "readv0", kVector, OnVector<31, IoKind::kRead>()},
    {kDatagram, "write0", kAddress, OnAddress<32, IoKind::kWrite>()},
    {kDatagram, "writev0", kVector, OnVector<33, IoKind::kWrite>()},
    {"sun/nio/ch/Net", "connect0", "(ZLjava/io/FileDescriptor;Ljava/net/InetAddress;I)I",
     Replace<34, IoKind::kConnect, Place::kSecondArgument, Bytes::kNone, jint, jboolean, jobject,
             jobject, jint>()},
    {"sun/nio/ch/Net", "accept", kAccepts,
     Replace<35, IoKind::kAccept, Place::kArgument, Bytes::kNone, jint, jobject, jobject,
             jobjectArray>()},
    {"sun/nio/ch/ServerSocketChannelImpl", "accept0", kAccepts,
     Replace<36, IoKind::kAccept, Place::kArgument, Bytes::kNone, jint, jobject, jobject,
             jobjectArray>()},
    {"java/net/SocketInputStream", "socketRead0", "(Ljava/io/FileDescriptor;[BIII)I",
     Replace<37, IoKind::kRead, Place::kArgument, Bytes::kResult, jint, jobject, jbyteArray, jint,
             jint, jint>()},
    {"java/net/SocketOutputStream", "socketWrite0", "(Ljava/io/FileDescriptor;[BII)V",
     Replace<38, IoKind::kWrite, Place::kArgument, Bytes::kFourthArgument, void, jobject,
             jbyteArray, jint, jint>()},
};
constexpr size_t kCount = std::size(kNatives);
constinit std::array<std::atomic<void*>, kCount> g_originals = {};

struct KindCode {
  Code code;
  trace::LimitedEvent event;
  uint32_t minor;
};
// By IoKind.
constexpr std::array<KindCode, kIoKinds> kCodes = {{
    {Code::kRead, trace::LimitedEvent::kRead, format::kIoRead},
    {Code::kWrite, trace::LimitedEvent::kWrite, format::kIoWrite},
    {Code::kConnect, trace::LimitedEvent::kConnect, format::kIoConnect},
    {Code::kAccept, trace::LimitedEvent::kAccept, format::kIoAccept},
}};

// Becomes connected to another, by the call.
bool HasPeer(const IoCall& call) {
  return call.kind == IoKind::kConnect || call.kind == IoKind::kAccept;
}

const KindCode& CodeOf(const IoCall& call) { return kCodes[static_cast<size_t>(call.kind)]; }

// The call that a thread is in. `thread`: its number in the trace; 0: without a record.
struct OpenCall {
  bool has_begun = false;
  uint32_t thread = 0;
};
thread_local OpenCall t_call;

std::string InetName(const void* address, int family, in_port_t port) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  inet_ntop(family, address, text.data(), text.size());
  const bool is_wide = family == AF_INET6;
  return absl::StrCat(is_wide ? "[" : "", text.data(), is_wide ? "]:" : ":", ntohs(port));
}

// The JDK's sockets are of IPv6, their peers mostly of IPv4.
std::string NameOf(const sockaddr_in6& peer) {
  if (!IN6_IS_ADDR_V4MAPPED(&peer.sin6_addr)) {
    return InetName(&peer.sin6_addr, AF_INET6, peer.sin6_port);
  }
  return InetName(&peer.sin6_addr.s6_addr[12], AF_INET, peer.sin6_port);
}

// Empty: it has no peer.
std::string PeerName(int fd) {
  sockaddr_storage peer = {};
  socklen_t size = sizeof(peer);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return "";
  switch (peer.ss_family) {
    case AF_INET: {
      const auto& inet = reinterpret_cast<const sockaddr_in&>(peer);
      return InetName(&inet.sin_addr, AF_INET, inet.sin_port);
    }
    case AF_INET6:
      return NameOf(reinterpret_cast<const sockaddr_in6&>(peer));
    case AF_UNIX: {
      const size_t length = size - offsetof(sockaddr_un, sun_path);
      const auto& path = reinterpret_cast<const sockaddr_un&>(peer).sun_path;
      return absl::StrCat("unix:", length == 0 ? "" : std::string(path, strnlen(path, length)));
    }
    default:
      return "";
  }
}

}  // namespace

void IoCalls::Bound(JNIEnv*, jthread, jmethodID method, void* address, void** replacement) {
  jvm::Allocated<char> name(env_);
  jvm::Allocated<char> descriptor(env_);
  if (env_->GetMethodName(method, name.out(), descriptor.out(), nullptr) != JVMTI_ERROR_NONE) {
    return;
  }
  const auto natives = IoNatives();
  for (size_t i = 0; i < natives.size(); ++i) {
    if (std::string_view(name.get()) != natives[i].method ||
        std::string_view(descriptor.get()) != natives[i].descriptor ||
        address == natives[i].replacement || !HasClass(env_, method, natives[i])) {
      continue;
    }
    OriginalOf(i).store(address);
    *replacement = natives[i].replacement;
    return;
  }
}

// Natives that are bound already, or will be at their next call.
void IoCalls::ReplaceBound(JNIEnv* jni) {
  const jvm::LocalFrame frame(jni);
  const auto natives = IoNatives();
  jvm::ForEachLoaded(env_, [&](jclass klass) {
    const std::string signature = SignatureOf(env_, klass);
    for (size_t i = 0; i < natives.size(); ++i) {
      if (!IsClassOf(natives[i], signature)) continue;
      if (!IsOfBootLoader(env_, klass)) return;
      ReplaceIn(jni, klass, i);
    }
  });
}

absl::Status IoCalls::Replace() {
  if (is_replaced_) return absl::OkStatus();
  JNIEnv* jni = nullptr;
  jvmtiEventCallbacks callbacks = {};
  callbacks.NativeMethodBind = jvm::kCallback<&IoCalls::Bound>;
  if (env_ == nullptr) env_ = jvm::NewEnvironment(vm_, this, callbacks);
  if (env_ == nullptr || vm_->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_1_8) != JNI_OK) {
    return absl::InternalError("no environment of the JVM's tool interface");
  }
  jvmtiCapabilities wanted = {};
  wanted.can_generate_native_method_bind_events = 1;
  if (const jvmtiError error = env_->AddCapabilities(&wanted); error != JVMTI_ERROR_NONE) {
    return jvm::ToStatus(env_, error, "AddCapabilities");
  }
  const jvmtiEvent event = JVMTI_EVENT_NATIVE_METHOD_BIND;
  if (absl::Status status = jvm::EnableEvents(env_, {&event, 1}); !status.ok()) return status;
  absl::Status status = CallFromBootClass(jni, [&] { ReplaceBound(jni); });
  is_replaced_ = status.ok();
  return status;
}

absl::Status IoCalls::Listen(IoUse use, IoListener& listener) {
  if (absl::Status status = Replace(); !status.ok()) return status;
  SetListener(static_cast<size_t>(use), &listener);
  return absl::OkStatus();
}

void IoCalls::Ignore(IoUse use) { SetListener(static_cast<size_t>(use), nullptr); }

std::span<const IoNative> IoNatives() { return kNatives; }

std::atomic<void*>& OriginalOf(size_t native) { return g_originals[native]; }

void SetListener(size_t slot, IoListener* listener) {
  g_listeners[slot].store(listener, std::memory_order_release);
}

std::string_view LibraryOf(const IoNative& native) {
  const std::string_view name = native.class_name;
  if (name.starts_with("java/io/")) return "libjava.so";
  return name.starts_with("java/net/") ? "libnet.so" : "libnio.so";
}

// No part of these names has a character that JNI escapes.
std::string SymbolOf(const IoNative& native) {
  std::string symbol = "Java_";
  for (const char c : std::string_view(native.class_name)) symbol += c == '/' ? '_' : c;
  return symbol + "_" + native.method;
}

std::string NameOfDescriptor(int fd) {
  if (fd < 0) return "";
  std::array<char, PATH_MAX> path;
  const ssize_t length =
      readlink(absl::StrCat("/proc/self/fd/", fd).c_str(), path.data(), path.size());
  if (length <= 0) return "";
  std::string name(path.data(), static_cast<size_t>(length));
  if (!absl::StartsWith(name, "socket:")) return name;
  const std::string peer = PeerName(fd);
  return peer.empty() ? name : peer;
}

void IoRecords::Start(const CodeSet& codes) {
  bool is_wanted = false;
  for (const KindCode& kind : kCodes) is_wanted |= codes.Has(kind.code);
  if (!is_wanted) return;
  const absl::Status status = calls_.Listen(IoUse::kRecords, *this);
  if (status.ok()) return;
  losses_.Add("events.io", Severity::kWarning, 1,
              absl::StrCat("kind of event that this JVM does not offer: reads and writes (",
                           status.message(), ")"));
}

void IoRecords::Began(JNIEnv* jni, const IoCall& call) {
  OpenCall& open = t_call;
  open = {.has_begun = true};
  const uint64_t now = clock_.Since(call.begin_ns);
  jthread thread = nullptr;
  if (!limits_.Count(CodeOf(call).event, now) ||
      calls_.env()->GetCurrentThread(&thread) != JVMTI_ERROR_NONE) {
    return;
  }
  const jvm::ThreadNumbers numbers = threads_.FindRunning(jni, thread).numbers;
  jni->DeleteLocalRef(thread);
  open.thread = numbers.number != 0 ? numbers.number : threads_.NumberOfJava(numbers.java_tid);
  // A peer is known afterwards.
  const std::string name = HasPeer(call) ? "" : NameOfDescriptor(call.fd);
  encoder_.AddEvent({.time_ns = now,
                     .thread = open.thread,
                     .major = format::kIo,
                     .minor = CodeOf(call).minor,
                     .text = name});
}

void IoRecords::Ended(JNIEnv*, const IoCall& call) {
  const OpenCall open = std::exchange(t_call, OpenCall());
  if (!open.has_begun) return;  // before the recording
  limits_.Ended(CodeOf(call).event, call.end_ns - call.begin_ns);
  if (open.thread == 0) return;
  const std::string name = HasPeer(call) ? NameOfDescriptor(call.fd) : "";
  encoder_.AddEvent({.time_ns = clock_.Since(call.end_ns),
                     .thread = open.thread,
                     .major = format::kIo,
                     .minor = CodeOf(call).minor | format::kEnd,
                     .value = call.bytes,
                     .text = name});
}

}  // namespace jtrace::events
