#include "agent/events/io_natives.h"

#include <array>
#include <iterator>
#include <tuple>
#include <type_traits>

#include "agent/base/clock.h"
#include "agent/signal_safe/agent_work_scope.h"

namespace jtrace::events {
namespace {

// Where a native has its descriptor: in the field `fd` of the object, or in an argument.
enum class Place : uint8_t { kField, kArgument, kSecondArgument };
// Which result or argument says how many bytes a native has read or written.
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
constinit DescriptorField g_number;  // FileDescriptor.fd, an int

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

  // Returns the bytes that a call without a result has written, if it did not fail.
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
    signal_safe::RunAsAgent([&] {
      // The descriptor of a connection that is not accepted yet is not known.
      if (kind != IoKind::kAccept) call.fd = DescriptorOf(jni, self, arguments...);
      call.begin_ns = MonotonicNanos();
      ReportBegin(jni, call);
    });
    if constexpr (std::is_void_v<Result>) {
      original(jni, self, arguments...);
      signal_safe::RunAsAgent([&] {
        call.bytes = jni->ExceptionCheck() ? -1 : Requested(arguments...);
        ReportEnd(jni, call);
      });
    } else {
      const Result result = original(jni, self, arguments...);
      signal_safe::RunAsAgent([&] {
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

// Natives with the arguments (FileDescriptor, address, length), and others with a position.
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

}  // namespace

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

}  // namespace jtrace::events
