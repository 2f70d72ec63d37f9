package app

inline fun repeatTimes(n: Int, body: (Int) -> Unit) {
  var i = 0
  while (i < n) {
    body(i)
    i++
  }
}

class Box(var value: Int) {
  inline fun update(f: (Int) -> Int) {
    value = f(value)
  }
}
