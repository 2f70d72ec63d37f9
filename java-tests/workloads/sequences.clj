; CPU-bound Clojure: lazy sequences, persistent maps and sorting.
; Argument: rounds. Prints CPU milliseconds, a line a round.
(def thread-bean (java.lang.management.ManagementFactory/getThreadMXBean))

(defn collatz [n]
  (loop [n n steps 0]
    (cond (= n 1) steps
          (even? n) (recur (quot n 2) (inc steps))
          :else (recur (inc (* 3 n)) (inc steps)))))

(defn work []
  (let [longest (reduce max (map collatz (range 1 6000)))
        groups (group-by #(mod % 97) (filter odd? (range 60000)))
        sums (reduce-kv (fn [m k v] (assoc m k (reduce + v))) {} groups)
        words (frequencies (map #(str "w" (mod (* % %) 613)) (range 20000)))]
    (+ longest (count sums) (count (sort-by val words)))))

(dotimes [_ (Integer/parseInt (first *command-line-args*))]
  (let [start (.getCurrentThreadCpuTime thread-bean)]
    (work)
    (println (format "%.1f" (/ (- (.getCurrentThreadCpuTime thread-bean) start) 1e6)))))
