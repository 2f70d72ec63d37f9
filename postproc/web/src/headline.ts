// The words of the headline, as --report=headline has them. No DOM here.
import type { Consumer, HeavyMethod } from './data.ts';
import { counted, formatBytes, formatCount, formatPercent, formatTime } from './format.ts';
import type { Profile } from './model.ts';
import { shortName } from './names.ts';

const kLabels: Record<string, string> = {
  program: 'program',
  jdk: 'JDK',
  jtrace: 'jtrace itself',
  native: 'native code',
  vm: 'JVM',
  kernel: 'kernel',
  unknown: 'unknown',
  jit: 'JIT compiler',
  collector: 'garbage collector',
  other: "JVM's other threads",
};
const kLeastShare = 0.0005; // of the whole: less is not shown
const kGoodPart = 0.2; // of a method's own
const kMostParts = 3;
const kMostCallers = 4;

export interface ConsumerRow {
  readonly label: string;
  readonly amount: number;
  readonly about: string; // its greatest parts
}

// Greatest first.
export function consumerRows({ data }: Profile): ConsumerRow[] {
  const { consumers, whole, probe_compilation: ofProbes } = data.headline;
  const isShown = (amount: number) => amount >= kLeastShare * whole;
  const about = ({ name, parts }: Consumer) =>
    name === 'jtrace'
      ? 'mostly its probes: mode=samples records without them'
      : name === 'jit' && ofProbes > 0
        ? `estimated ${formatPercent(ofProbes, whole)} for the probes, which mode=samples does not need`
        : parts
            .filter(([, amount]) => isShown(amount))
            .slice(0, kMostParts)
            .map(([part, amount]) => `${part} ${formatPercent(amount, whole)}`)
            .join(', ');
  return consumers
    .filter(({ amount }) => isShown(amount))
    .map((consumer) => ({
      label: kLabels[consumer.name] ?? consumer.name,
      amount: consumer.amount,
      about: about(consumer),
    }))
    .sort((a, b) => b.amount - a.amount);
}

// A number of the headline's measure, which may be one that the page does not switch to.
export function headlineFormat(profile: Profile): (value: number) => string {
  const { measure: id } = profile.data.headline;
  const measure = profile.measures.find((each) => each.id === id);
  if (measure !== undefined) return measure.format;
  return id === 'off' ? (value) => formatTime(value, profile.data.ns_per_unit) : formatCount;
}

export interface MethodRow {
  readonly routine: number;
  readonly value: number; // for the bar
  readonly text: string;
  readonly about: string; // what it calls, and who calls it
}

function about(profile: Profile, method: HeavyMethod): string {
  const words: string[] = [];
  const { callee, of_callee: part, own, callers } = method;
  if (callee >= 0 && part >= kGoodPart * own) {
    words.push(`→ ${shortName(profile.text(callee))} ${formatPercent(part, own)}`);
  }
  for (const caller of callers.slice(0, kMostCallers)) words.push(`← ${shortName(profile.text(caller))}`);
  if (callers.length > kMostCallers) words.push('…');
  return words.join(' ');
}

function rows(profile: Profile, methods: readonly HeavyMethod[], most: number, value: (method: HeavyMethod) => number, text: (method: HeavyMethod) => string): MethodRow[] {
  return methods
    .filter(({ routine }) => routine >= 0)
    .slice(0, most)
    .map((method) => ({
      routine: method.routine,
      value: value(method),
      text: text(method),
      about: about(profile, method),
    }));
}

const kMostMethods = 5;

export function heaviestRows(profile: Profile): MethodRow[] {
  const { heaviest, whole } = profile.data.headline;
  const format = headlineFormat(profile);
  const text = ({ own, calls }: HeavyMethod) =>
    `${format(own)} · ${formatPercent(own, whole)}${calls > 0 ? ` · ${counted(calls, 'call')}` : ''}`;
  return rows(profile, heaviest, kMostMethods, ({ own }) => own, text);
}

export function calledRows(profile: Profile): MethodRow[] {
  const { called } = profile.data.headline;
  return rows(profile, called, kMostMethods, ({ calls }) => calls, ({ calls }) => counted(calls, 'call'));
}

export function allocatingRows(profile: Profile): MethodRow[] {
  const { allocates } = profile.data.headline;
  return rows(profile, allocates, kMostMethods, ({ own }) => own, ({ own }) => formatBytes(own));
}
