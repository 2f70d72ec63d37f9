-- Who calls the wanted routine: a whole name, one without parameters, or a class.
WITH ticks AS (
  SELECT DISTINCT run_id, CAST(interval_ns AS DECIMAL(38, 0)) AS tick_ns FROM runs
), wanted AS (
  SELECT n.routine_id, MIN(n.routine) AS routine
  FROM routines n CROSS JOIN params p
  WHERE n.routine = p.routine OR n.class = p.routine
     OR SUBSTR(n.routine, 1, LENGTH(p.routine) + 1) = CONCAT(p.routine, '(')
  GROUP BY n.routine_id
), sums AS (
  SELECT a.caller_id, a.callee_id, a.service,
         CAST(SUM(a.calls) AS BIGINT) AS calls,
         SUM(a.cum_ticks * k.tick_ns) AS sampled_total_ns,
         COUNT(DISTINCT a.run_id) AS runs,
         COUNT(DISTINCT a.host) AS hosts
  FROM arcs a JOIN wanted w ON a.callee_id = w.routine_id JOIN ticks k ON a.run_id = k.run_id
  GROUP BY a.caller_id, a.callee_id, a.service
), names AS (
  SELECT s.caller_id, MIN(n.routine) AS routine
  FROM (SELECT DISTINCT caller_id FROM sums) s JOIN routines n ON s.caller_id = n.routine_id
  GROUP BY s.caller_id
)
SELECT s.service, s.calls,
       CAST(CASE WHEN s.sampled_total_ns > 9223372036854775807 THEN 9223372036854775807
                 ELSE s.sampled_total_ns END AS BIGINT) AS sampled_total_ns,
       s.runs, s.hosts, COALESCE(f.routine, '[thread]') AS caller,
       w.routine AS callee
FROM sums s JOIN wanted w ON s.callee_id = w.routine_id LEFT JOIN names f ON s.caller_id = f.caller_id
ORDER BY s.calls DESC, COALESCE(s.sampled_total_ns, 0) DESC, s.service, caller, callee
