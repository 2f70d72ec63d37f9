#include "postproc/fleet/schema.h"

namespace jtrace::postproc::fleet {
namespace {

using parquet::ColumnSpec;
using parquet::Type;

constexpr auto kBool = Type::kBoolean;
constexpr auto kInt = Type::kInt64;
constexpr auto kText = Type::kText;

constexpr ColumnSpec kRunColumns[] = {
    {"run_id", kInt},
    {"trace", kText},
    {"version", kText, true},
    {"container", kText, true},
    {"pid", kInt, true},
    {"start_ns", kInt, true},
    {"duration_ns", kInt, true},
    {"jvm", kText, true},
    {"command", kText, true},
    {"options", kText, true},
    {"mode", kText, true},
    {"record", kText, true},
    {"clock", kText, true},
    {"timer", kText, true},
    {"interval_ns", kInt, true},
    {"agent_version", kText, true},
    {"agent_cpu_ns", kInt, true},
    {"complete", kBool},
    {"schema_version", kInt},
};
constexpr ColumnSpec kRoutineColumns[] = {
    {"routine_id", kInt},        {"routine", kText}, {"class", kText, true}, {"method", kText},
    {"descriptor", kText, true}, {"kind", kText},    {"owner", kText},       {"probed", kBool},
};
constexpr ColumnSpec kPathColumns[] = {
    {"path_hi", kInt},         {"path_lo", kInt},          {"parent_hi", kInt, true},
    {"parent_lo", kInt, true}, {"routine_id", kInt, true}, {"depth", kInt},
    {"level", kInt},
};
constexpr ColumnSpec kNodeColumns[] = {
    {"run_id", kInt},        {"thread_group", kText}, {"path_hi", kInt},
    {"path_lo", kInt},       {"calls", kInt},         {"calls_jitted", kInt},
    {"base_ns", kInt, true}, {"cum_ns", kInt, true},  {"off_ns", kInt, true},
    {"base_ticks", kInt},    {"cum_ticks", kInt},
};
constexpr ColumnSpec kArcColumns[] = {
    {"run_id", kInt},        {"caller_id", kInt, true}, {"callee_id", kInt},
    {"outermost", kBool},    {"calls", kInt},           {"calls_jitted", kInt},
    {"base_ns", kInt, true}, {"cum_ns", kInt, true},    {"base_ticks", kInt},
    {"cum_ticks", kInt},
};
constexpr ColumnSpec kSampleColumns[] = {
    {"run_id", kInt},        {"thread_group", kText},  {"path_hi", kInt},
    {"path_lo", kInt},       {"state", kText},         {"function_id", kInt, true},
    {"module", kText, true}, {"blocker", kText, true}, {"samples", kInt},
    {"ticks", kInt},         {"labels", kText, true},
};
constexpr ColumnSpec kThreadColumns[] = {
    {"run_id", kInt},  {"thread_group", kText}, {"thread", kText},    {"tid", kInt, true},
    {"threads", kInt}, {"is_virtual", kBool},   {"is_daemon", kBool}, {"is_jvm", kBool},
    {"calls", kInt},   {"samples", kInt},       {"ticks", kInt},
};
constexpr ColumnSpec kMetricColumns[] = {
    {"run_id", kInt},  {"thread_group", kText}, {"path_hi", kInt}, {"path_lo", kInt},
    {"metric", kText}, {"unit", kText},         {"value", kInt},
};
constexpr ColumnSpec kClassColumns[] = {
    {"run_id", kInt},        {"class", kText},  {"methods", kInt, true},
    {"loads", kInt},         {"unloads", kInt}, {"first_load_ns", kInt, true},
    {"source", kText, true},
};
constexpr ColumnSpec kLossColumns[] = {
    {"run_id", kInt}, {"loss", kText}, {"severity", kText},
    {"losses", kInt}, {"what", kText}, {"advice", kText, true},
};

struct TableInfo {
  std::string_view name;
  absl::Span<const ColumnSpec> columns;
};

const TableInfo& InfoOf(TableId table) {
  static constexpr TableInfo kInfos[kTables] = {
      {"runs", kRunColumns},       {"routines", kRoutineColumns}, {"paths", kPathColumns},
      {"nodes", kNodeColumns},     {"arcs", kArcColumns},         {"samples", kSampleColumns},
      {"threads", kThreadColumns}, {"metrics", kMetricColumns},   {"classes", kClassColumns},
      {"losses", kLossColumns}};
  return kInfos[table];
}

}  // namespace

std::string_view TableName(TableId table) { return InfoOf(table).name; }

absl::Span<const ColumnSpec> ColumnsOf(TableId table) { return InfoOf(table).columns; }

std::string_view SqlType(Type type) {
  switch (type) {
    case Type::kBoolean:
      return "BOOLEAN";
    case Type::kInt64:
      return "BIGINT";
    case Type::kText:
      return "VARCHAR";
  }
  return "";
}

}  // namespace jtrace::postproc::fleet
