// Reports on line profiles that tests make by hand.
#pragma once

#include <string>
#include <vector>

#include "postproc/lines/line_profile.h"

namespace jtrace::testing {

// A trace of nothing but a thread.
inline constexpr char kNoCalls[] = "# jtrace-text 1 unit=us\n0\tmain\tmetric\tx\t1\n";

// What jtrace-post with these arguments writes about `trace` if `lines` are its counts of lines. An
// error of the command line, or of what it selects, as "error: …".
std::string LineReport(const postproc::LineProfile& lines, std::vector<std::string> args,
                       const std::string& trace = kNoCalls);

// The text of --report=diff of two traces without calls and with these counts of lines.
std::string LineDiffText(const postproc::LineProfile& before, const postproc::LineProfile& after);

// A method of these lines, with their sums.
postproc::MethodLines Method(const std::string& class_name, const std::string& name,
                             const std::string& source_file, uint64_t calls,
                             std::vector<postproc::LineCounts> lines);
// A line of one instruction for each time that each of its blocks ran.
postproc::LineCounts Line(int32_t line, std::vector<uint64_t> blocks, uint32_t branches = 0,
                          uint32_t branches_taken = 0);

// The example of the annotated listing: primes below 1,000. prime is called 999 times and finds 168
// primes; main prints these and their number.
postproc::LineProfile PrimesProfile();
// Its source, primes/Primes.java.
std::string PrimesSource();
// A trace of its calls.
std::string PrimesTrace();

}  // namespace jtrace::testing
