package app

inline fun twice(f: () -> Unit) {
  f()
  f()
}

fun main(args: Array<String>) {
  val box = Box(0)
  repeatTimes(10) {
    box.update { it + 1 }
  }
  twice { box.update { v -> v * 2 } }
  val names = listOf("a", "b", "c").map { it + it }
  if (args.size > 5) {
    repeatTimes(3) { println(it) }
  }
  println(names.joinToString() + box.value)
}
