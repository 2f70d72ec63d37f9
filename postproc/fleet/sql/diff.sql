-- What a run costs before and after, by routine: calls are exact; the difference of self time has a 95 % interval from
-- 200 resamples of the runs (bootstrap: how often a run is drawn follows from a hash of its id, so that every engine
-- and every call draws alike). Calls are of all runs, times of those that have a clock or samples. Below five of these
-- on a side there is no interval: resamples of so few runs would say that anything is certain.
WITH sides AS (
  SELECT DISTINCT run_id,
         CASE WHEN mode = 'events' THEN NULL ELSE CAST(interval_ns AS DECIMAL(38, 0)) END AS tick_ns,
         CASE WHEN p.compare_by = 'version' AND r.version = p.before_value THEN 0
              WHEN p.compare_by = 'version' AND r.version = p.after_value THEN 1
              WHEN p.compare_by = 'day' AND r.day = p.before_value THEN 0
              WHEN p.compare_by = 'day' AND r.day = p.after_value THEN 1 END AS side
  FROM runs r CROSS JOIN params p
), clocked AS (
  SELECT DISTINCT run_id FROM arcs WHERE base_ns IS NOT NULL
), chosen_runs AS (
  SELECT s.run_id, s.tick_ns, s.side, CASE WHEN s.tick_ns IS NULL AND c.run_id IS NULL THEN 0 ELSE 1 END AS timed
  FROM sides s LEFT JOIN clocked c ON s.run_id = c.run_id
  WHERE s.side IS NOT NULL
), sizes AS (
  SELECT CAST(SUM(CASE WHEN side = 0 THEN 1 ELSE 0 END) AS BIGINT) AS runs_before,
         CAST(SUM(CASE WHEN side = 1 THEN 1 ELSE 0 END) AS BIGINT) AS runs_after,
         CAST(SUM(CASE WHEN side = 0 THEN timed ELSE 0 END) AS BIGINT) AS timed_before,
         CAST(SUM(CASE WHEN side = 1 THEN timed ELSE 0 END) AS BIGINT) AS timed_after
  FROM chosen_runs
), per_run AS (
  SELECT a.callee_id AS routine_id, r.run_id, r.side, r.timed,
         SUM(a.calls) AS calls,
         SUM(COALESCE(CAST(a.base_ns AS DECIMAL(38, 0)), a.base_ticks * r.tick_ns, 0)) AS time_ns
  FROM arcs a JOIN chosen_runs r ON a.run_id = r.run_id
  GROUP BY a.callee_id, r.run_id, r.side, r.timed
), sums AS (
  SELECT routine_id,
         CAST(SUM(CASE WHEN side = 0 THEN calls ELSE 0 END) AS BIGINT) AS calls_before,
         CAST(SUM(CASE WHEN side = 1 THEN calls ELSE 0 END) AS BIGINT) AS calls_after,
         CAST(SUM(CASE WHEN side = 0 THEN time_ns ELSE 0 END) AS DOUBLE) AS time_before,
         CAST(SUM(CASE WHEN side = 1 THEN time_ns ELSE 0 END) AS DOUBLE) AS time_after
  FROM per_run GROUP BY routine_id
), means AS (
  SELECT s.routine_id, s.calls_before, s.calls_after,
         CAST(s.calls_before AS DOUBLE) / z.runs_before AS calls_a_run_before,
         CAST(s.calls_after AS DOUBLE) / z.runs_after AS calls_a_run_after,
         CASE WHEN z.timed_before > 0 THEN s.time_before / z.timed_before END AS ns_before,
         CASE WHEN z.timed_after > 0 THEN s.time_after / z.timed_after END AS ns_after,
         CASE WHEN CAST(s.calls_before AS DECIMAL(38, 0)) * z.runs_after
                   = CAST(s.calls_after AS DECIMAL(38, 0)) * z.runs_before THEN 0 ELSE 1 END AS calls_differ
  FROM sums s CROSS JOIN sizes z
  WHERE z.runs_before > 0 AND z.runs_after > 0
), ranked AS (
  SELECT means.*,
         ROW_NUMBER() OVER (ORDER BY ABS(COALESCE(ns_after - ns_before, 0)) DESC,
                                     ABS(calls_a_run_after - calls_a_run_before) DESC, routine_id) AS place
  FROM means
), chosen AS (
  SELECT ranked.* FROM ranked CROSS JOIN params WHERE place <= params.top
), digits AS (
  SELECT d FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS t(d)
), resamples AS (
  SELECT a.d + 10 * b.d + 100 * c.d AS sample FROM digits a CROSS JOIN digits b CROSS JOIN digits c WHERE c.d < 2
), seeds AS (
  SELECT r.run_id, r.side, s.sample,
         (ABS(r.run_id % 2147483647) + (CAST(s.sample AS BIGINT) + 1) * 40692) % 2147483647 AS seed
  FROM chosen_runs r CROSS JOIN resamples s
  WHERE r.timed = 1
), squares AS (
  SELECT run_id, side, sample, ((seed * seed) % 2147483647 + sample + 1) % 2147483647 AS seed FROM seeds
), hashes AS (
  SELECT run_id, side, sample, CAST((seed * seed) % 2147483647 AS DOUBLE) / 2147483647.0 AS share FROM squares
), weights AS (
  SELECT run_id, side, sample,
         CASE WHEN share < 0.36787944 THEN 0 WHEN share < 0.73575888 THEN 1 WHEN share < 0.91969860 THEN 2
              WHEN share < 0.98101184 THEN 3 WHEN share < 0.99634015 THEN 4 ELSE 5 END AS weight
  FROM hashes
), totals AS (
  SELECT sample,
         CAST(SUM(CASE WHEN side = 0 THEN weight ELSE 0 END) AS DOUBLE) AS before_weight,
         CAST(SUM(CASE WHEN side = 1 THEN weight ELSE 0 END) AS DOUBLE) AS after_weight
  FROM weights GROUP BY sample
), drawn AS (
  SELECT p.routine_id, w.sample,
         CAST(SUM(CASE WHEN p.side = 0 THEN p.time_ns * w.weight ELSE 0 END) AS DOUBLE) AS before_time,
         CAST(SUM(CASE WHEN p.side = 1 THEN p.time_ns * w.weight ELSE 0 END) AS DOUBLE) AS after_time
  FROM per_run p JOIN chosen c ON p.routine_id = c.routine_id JOIN weights w ON p.run_id = w.run_id AND p.side = w.side
  GROUP BY p.routine_id, w.sample
), differences AS (
  SELECT d.routine_id, d.after_time / t.after_weight - d.before_time / t.before_weight AS difference,
         ROW_NUMBER() OVER (PARTITION BY d.routine_id
                            ORDER BY d.after_time / t.after_weight - d.before_time / t.before_weight) AS place,
         COUNT(*) OVER (PARTITION BY d.routine_id) AS samples
  FROM drawn d JOIN totals t ON d.sample = t.sample
  WHERE t.before_weight > 0 AND t.after_weight > 0
), intervals AS (
  SELECT routine_id,
         MAX(CASE WHEN place <= samples * 0.025 OR place = 1 THEN difference END) AS least,
         MIN(CASE WHEN place > samples * 0.975 OR place = samples THEN difference END) AS greatest
  FROM differences CROSS JOIN sizes z
  WHERE z.timed_before >= 5 AND z.timed_after >= 5
  GROUP BY routine_id
)
SELECT c.place, z.runs_before, z.runs_after, z.timed_before, z.timed_after, c.calls_before, c.calls_after,
       c.calls_a_run_before, c.calls_a_run_after, c.calls_differ, c.ns_before, c.ns_after,
       c.ns_after - c.ns_before AS difference_ns, i.least AS least_ns, i.greatest AS greatest_ns,
       CASE WHEN i.least > 0 THEN 'slower' WHEN i.greatest < 0 THEN 'faster' ELSE 'unknown' END AS verdict,
       MIN(n.routine) AS routine
FROM chosen c CROSS JOIN sizes z LEFT JOIN intervals i ON c.routine_id = i.routine_id
  JOIN routines n ON c.routine_id = n.routine_id
GROUP BY c.place, z.runs_before, z.runs_after, z.timed_before, z.timed_after, c.calls_before, c.calls_after,
         c.calls_a_run_before, c.calls_a_run_after, c.calls_differ, c.ns_before, c.ns_after, i.least, i.greatest
ORDER BY c.place
