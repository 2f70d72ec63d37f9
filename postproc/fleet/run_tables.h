// The rows of one run in each table.
#pragma once

#include "postproc/fleet/fleet_tree.h"
#include "postproc/fleet/run_facts.h"
#include "postproc/parquet/file.h"
#include "postproc/report/report.h"

namespace jtrace::postproc::fleet {

void AddRun(const ReportInput& input, const RunFacts& facts, const Labels& labels,
            parquet::Table& runs);
void AddNodes(const RunFacts& facts, const FleetTree& tree, parquet::Table& nodes);
void AddArcs(const RunFacts& facts, const FleetTree& tree, parquet::Table& arcs);
void AddSamples(const ReportInput& input, const RunFacts& facts, const FleetTree& tree,
                parquet::Table& samples);
void AddThreads(const ReportInput& input, const RunFacts& facts, parquet::Table& threads);
void AddMetrics(const ReportInput& input, const RunFacts& facts, const FleetTree& tree,
                parquet::Table& metrics);
void AddClasses(const ReportInput& input, const RunFacts& facts, parquet::Table& classes);
void AddLosses(const ReportInput& input, const RunFacts& facts, parquet::Table& losses);

}  // namespace jtrace::postproc::fleet
