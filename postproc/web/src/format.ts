// Numbers for people. The same words as in jtrace-post's text reports.

const kGrouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

export function formatCount(value: number): string {
  return kGrouped.format(value);
}

// "1 thread", "2 threads", "0 threads".
export function counted(value: number, noun: string): string {
  return `${formatCount(value)} ${noun}${value === 1 ? '' : 's'}`;
}

// Three significant digits, or four from 1000 on.
function significant(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

export function formatNanoseconds(ns: number): string {
  const size = Math.abs(ns);
  if (size < 1e3) return `${Math.round(ns)} ns`;
  if (size < 1e6) return `${significant(ns / 1e3)} µs`;
  if (size < 1e9) return `${significant(ns / 1e6)} ms`;
  return `${size < 1e12 ? significant(ns / 1e9) : formatCount(ns / 1e9)} s`;
}

// A time in the trace's unit; nsPerUnit 0: clock ticks without a length.
export function formatTime(value: number, nsPerUnit: number): string {
  return nsPerUnit > 0 ? formatNanoseconds(value * nsPerUnit) : formatCount(value);
}

export function formatTicks(value: number, tickNs: number): string {
  return tickNs > 0 ? formatNanoseconds(value * tickNs) : formatCount(value);
}

export function formatBytes(value: number): string {
  const size = Math.abs(value);
  if (size < 1e3) return `${formatCount(value)} B`;
  if (size < 1e6) return `${significant(value / 1e3)} kB`;
  if (size < 1e9) return `${significant(value / 1e6)} MB`;
  return `${significant(value / 1e9)} GB`;
}

export function formatPercent(part: number, whole: number): string {
  if (whole === 0) return '–';
  const percent = (100 * part) / whole;
  if (percent !== 0 && Math.abs(percent) < 0.01) return '<0.01 %';
  return `${percent.toFixed(percent >= 9.995 || percent === 0 ? 1 : 2)} %`;
}
