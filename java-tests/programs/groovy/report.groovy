// Sales by town. `town` compiles its pattern at each line: the planted culprit.
class Sales {
    static String town(String line) {
        java.util.regex.Pattern.compile('^([A-Z][a-z]+)(?:-[0-9]{1,3}|\\b)*;.*$').matcher(line).replaceAll('$1')
    }

    static Map<String, Integer> byTown(List<String> lines) {
        def sums = [:]
        for (line in lines) {
            def key = town(line)
            sums[key] = (sums[key] ?: 0) + line.tokenize(';')[1].toInteger()
        }
        sums
    }
}

def lines = (1..100000).collect { "Town${it % 7 ? '-' + it % 100 : ''};${it}".toString() }
println Sales.byTown(lines).size()
