// The addresses of a profile's nodes (Profile.addressOf) in a live page, where nodes change their
// numbers with each refresh.
export interface Addresses {
  readonly of: Int32Array; // by node
  readonly at: ReadonlyMap<number, number>; // by address: the node
  // What views chose by themselves and keep, by address (Profile.kept).
  readonly kept: Map<string, readonly number[]>;
}
