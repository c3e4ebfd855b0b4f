/** States of rows outside of generated code. */
import type { BatchShape } from './batch-shape.ts'
import type { SensorSteps } from './computed-sensors.ts'
import { AFTER, BEFORE, type Layout, TIME } from './row-layout.ts'
import type { RowStore } from './row-store.ts'

/** What a row showed becomes what it showed before; nodes that had changed have their state since the last message. */
export function shift({ ints, nums, gateBits }: RowStore, shape: BatchShape, layout: Layout, d: number): void {
  const before = ints[2 * d + BEFORE] ?? 0
  const after = ints[2 * d + AFTER] ?? 0
  const changed = before ^ after
  if (changed === 0) return
  const last = nums[d + TIME] ?? 0
  const since = d + layout.since
  for (const { slot, shift: at, mask } of shape.sensors) if (changed & (mask << at)) nums[since + slot] = last
  const keyMask = 2 ** shape.keyBits - 1
  const gates = (gateBits[before & keyMask] ?? 0) ^ (gateBits[after & keyMask] ?? 0)
  for (let g = 0; g < shape.gates; g++) if (gates & (1 << g)) nums[since + shape.sensors.length + g] = last
  ints[2 * d + BEFORE] = after
}

/** The state index of a comparison: `at` is the place of its first cut. */
export function stateOf(steps: SensorSteps, value: number, nums: ArrayLike<number>, at: number): number {
  for (let i = 0; i < steps.cuts; i++) {
    const cut = nums[at + i] ?? 0
    if (value < cut) return steps.states[2 * i] ?? 0
    if (value === cut) return steps.states[2 * i + 1] ?? 0
  }
  return steps.states[2 * steps.cuts] ?? 0
}
