;; A CPU-bound Clojure program: persistent maps, lazy sequences, multimethods, regular expressions.
;; Prints the milliseconds of each round.
(defmulti area :shape)
(defmethod area :circle [{r :r}] (* 3 r r))
(defmethod area :square [{a :a}] (* a a))

(defn words [n]
  (map #(str "w" (mod (* % 7919) 257)) (range n)))

(defn round []
  (let [counts (frequencies (words 4000))
        shapes (map #(if (even? %) {:shape :circle :r %} {:shape :square :a %}) (range 3000))
        sorted (sort-by val > counts)
        text (apply str (interpose " " (words 800)))]
    (+ (reduce + (map area shapes))
       (count (re-seq #"w1\d+" text))
       (val (first sorted)))))

(dotimes [i (Integer/parseInt (or (first *command-line-args*) "60"))]
  (let [start (System/nanoTime)]
    (round)
    (println (format "iter %d %.1f ms" i (/ (- (System/nanoTime) start) 1e6)))))
