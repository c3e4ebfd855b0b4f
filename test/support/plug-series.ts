import type { Plug } from '../../src/core/plug/plug.ts'
import { runPlug, type Ran } from './plug-context.ts'

/** Runs a plug repeatedly, keeping its memory as an engine would; the memory passes through JSON as in a restart. */
export function runSeries(
  plug: Plug,
  properties: Record<string, unknown>,
  messages: readonly Record<string, unknown>[],
  timeOf: (index: number) => number = (index) => index,
): readonly Ran[] {
  let internalState: unknown
  return messages.map((message, index) => {
    const ran = runPlug(plug, { properties, message, internalState, now: timeOf(index) })
    if (ran.internalState !== undefined) internalState = JSON.parse(JSON.stringify(ran.internalState))
    return ran
  })
}

/** Same for messages with one value `v` each; returns the states. */
export function statesOf(plug: Plug, properties: Record<string, unknown>, values: readonly unknown[]): unknown[] {
  return runSeries(
    plug,
    properties,
    values.map((v) => ({ v })),
  ).map(({ state }) => state)
}
