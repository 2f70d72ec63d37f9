// The native half of Stress: code that is mapped, runs and is unmapped again.
#include <dlfcn.h>
#include <jni.h>

extern "C" JNIEXPORT void JNICALL Java_Stress_callOnce(JNIEnv* env, jclass, jstring library) {
  const char* const path = env->GetStringUTFChars(library, nullptr);
  if (path == nullptr) return;
  void* const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  env->ReleaseStringUTFChars(library, path);
  if (handle == nullptr) {
    env->FatalError(dlerror());
    return;
  }
  using Spin = unsigned(unsigned);
  if (auto* const spin = reinterpret_cast<Spin*>(dlsym(handle, "walker_payload_spin"))) spin(20000);
  dlclose(handle);
}
