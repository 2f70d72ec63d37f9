// The tree of two traces for a flame graph. Frame numbers are the profile's node numbers.
import type { FlameSource } from '../flame/source.ts';
import type { Comparison, DiffMeasure, Width } from './model.ts';

export class DiffSource implements FlameSource {
  readonly rootLabel = 'all threads';
  private sorted = new Map<number, readonly number[]>();
  private values: Float64Array;

  constructor(
    private comparison: Comparison,
    readonly measure: DiffMeasure,
    readonly width: Width,
  ) {
    this.values = measure[width].total;
  }

  value(node: number): number {
    return this.values[node];
  }

  children(node: number): readonly number[] {
    let children = this.sorted.get(node);
    if (children === undefined) {
      children = this.comparison.after
        .children(node)
        .filter((child) => this.value(child) > 0)
        .sort((a, b) => this.value(b) - this.value(a) || a - b);
      this.sorted.set(node, children);
    }
    return children;
  }

  parent(node: number): number {
    return this.comparison.after.parent[node];
  }

  name(node: number): number {
    return node === 0 ? -1 : this.comparison.after.name[node];
  }

  before(): string {
    return '';
  }

  after(): string {
    return '';
  }

  // Hatched: paths of one trace only.
  sampled(node: number): boolean {
    return this.comparison.onlyIn(node) !== undefined;
  }

  profileNode(node: number): number {
    return node === 0 ? -1 : node;
  }

  size(node: number): number {
    return this.comparison.after.end[node] - node;
  }

  address(node: number): string {
    return node === 0 ? '' : `${node}`;
  }

  locate(address: string): number {
    const node = /^\d+$/.test(address) ? Number(address) : 0;
    return node < this.comparison.after.nodeCount ? node : 0;
  }
}
