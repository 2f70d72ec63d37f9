// Routines and arcs of two traces, before and after. No DOM here.
import { type Arc, arcsOf } from '../arcs.ts';
import type { DiffData } from './data.ts';
import type { Comparison, DiffMeasure } from './model.ts';

export interface Pair {
  readonly before: number;
  readonly after: number;
}

export interface RoutineChange {
  readonly name: number;
  readonly state: string; // a letter, as in DiffData
  readonly significant: boolean; // of the self samples
  readonly self: Pair;
  readonly total: Pair;
  readonly calls: Pair;
}

export function deltaIn({ before, after }: Pair): number {
  return after - before;
}

function callsOf(data: DiffData): { before: number[]; after: number[] } {
  const calls = data.measures.find(({ name, is_metric }) => name === 'calls' && !is_metric);
  const none = new Array<number>(data.routines.length).fill(0);
  return { before: calls?.self_before ?? none, after: calls?.self_after ?? none };
}

// In the order of --report=diff.
export function routineChanges({ data }: Comparison, { columns }: DiffMeasure): RoutineChange[] {
  const calls = callsOf(data);
  return data.routines.map((_, name) => ({
    name,
    state: data.changes[name],
    significant: data.significant[name] === '1',
    self: { before: columns.self_before[name], after: columns.self_after[name] },
    total: { before: columns.total_before[name], after: columns.total_after[name] },
    calls: { before: calls.before[name], after: calls.after[name] },
  }));
}

export interface ArcChange {
  readonly other: number; // the caller or callee
  readonly recursive: boolean;
  readonly total: Pair;
  readonly calls: Pair;
}

function paired(before: readonly Arc[], after: readonly Arc[]): ArcChange[] {
  const key = ({ other, recursive }: Arc) => `${other} ${recursive}`;
  const old = new Map(before.map((arc) => [key(arc), arc]));
  return after
    .map((arc) => {
      const was = old.get(key(arc))!; // both sides have the same nodes
      return {
        other: arc.other,
        recursive: arc.recursive,
        total: { before: was.total, after: arc.total },
        calls: { before: was.calls, after: arc.calls },
      };
    })
    .sort(
      (a, b) =>
        Math.abs(deltaIn(b.total)) - Math.abs(deltaIn(a.total)) ||
        Math.max(b.total.before, b.total.after) - Math.max(a.total.before, a.total.after) ||
        a.other - b.other,
    );
}

// The greatest changes first.
export function arcChanges({ before, after }: Comparison, measure: DiffMeasure, name: number): { callers: ArcChange[]; callees: ArcChange[] } {
  const was = arcsOf(before, measure.before, name);
  const is = arcsOf(after, measure.after, name);
  return { callers: paired(was.callers, is.callers), callees: paired(was.callees, is.callees) };
}
