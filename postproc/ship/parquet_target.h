// --to=parquet:OUT: the tables of `jtrace fleet`.
#pragma once

#include <string>

#include "postproc/ship/converter.h"
#include "postproc/ship/target.h"

namespace jtrace::ship {

// Each trace has files of its own, named by its run: converted again, it replaces them.
class ParquetTarget : public Target {
 public:
  ParquetTarget(std::string folder, Converter converter);

  // Removes what a conversion that was killed left behind.
  absl::Status Open() override;
  Delivery Deliver(const SealedTrace& trace, StopSignal& stop) override;
  const std::string& name() const override { return name_; }
  const std::string& key() const override { return key_; }

 private:
  const std::string folder_;
  const Converter converter_;
  const std::string name_;
  const std::string key_;
};

}  // namespace jtrace::ship
