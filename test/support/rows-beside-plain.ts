/** Runs one rule on the same messages with and without rows. */
import { expect } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import { CoreEngine } from '../../src/core/engine/engine.ts'
import type { LiveTask } from '../../src/core/engine/live-task.ts'
import { definePlug, VirtualClock, type Rule } from '../../src/index.ts'
import { actPlug } from './act-plug.ts'
import { generate } from './generate.ts'
import { rowOf } from './row-of.ts'
import { scale } from './scale-plug.ts'

export type Values = Readonly<Record<string, unknown>>

/** Reads a number that may be missing. */
const optional = definePlug({
  name: 'optional',
  version: '1.0.0',
  kind: 'sensor',
  states: ['Low', 'High'],
  parameters: [],
  input: { value: { type: 'double' }, limit: { type: 'double', mandatory: true } },
  output: { value: { type: 'double' } },
  calculates: { rawData: { value: 'value + 1' }, states: { High: 'value > limit' }, otherwise: 'Low' },
  execute({ properties: { value, limit } }) {
    return { state: value === undefined || value > limit ? 'High' : 'Low', rawData: { value: (value ?? 0) + 1 } }
  },
})

/**
 * Plays messages a second apart to a rule, with or without rows. `looksAfter`: number of messages after which the task
 * is read.
 */
async function played(rule: Rule, messages: readonly Values[], hasRows: boolean, looksAfter: number) {
  const clock = new VirtualClock(0)
  const fired: string[] = []
  const act = actPlug(fired)
  const engine = new CoreEngine({
    plugs: [...builtins, scale, optional, act],
    scheduler: clock,
    ids: () => 'unused',
    seed: 1,
    generate,
    // an executor with simulated latency has no rows
    ...(!hasRows && { latency: () => 0 }),
  })
  const task = (await engine.start(rule, { id: 't' })) as LiveTask
  for (const [i, values] of messages.entries()) {
    clock.advanceTo(clock.now() + 1000)
    engine.receive({ resource: 'r', ...values })
    if (i + 1 === looksAfter) task.save()
  }
  const { counts } = engine
  const hasRow = rowOf(task) !== undefined
  const { rows, why } = engine.stats()
  const did = { fired, saved: JSON.stringify(task.save()), explained: task.explain('act'), counts }
  await engine.close()
  return { did, hasRow, rows, why, fired }
}

/** Expects the same result with rows as without; returns what rows did. */
export async function asPlain(rule: Rule, messages: readonly Values[], looksAfter = -1) {
  const plain = await played(rule, messages, false, looksAfter)
  const rows = await played(rule, messages, true, looksAfter)
  expect(rows.did).toEqual(plain.did)
  return rows
}

/** Messages after which a task is a row. */
export const START = [
  { a: 1, b: 1 },
  { a: 2, b: 2 },
  { a: 3, b: 3 },
]
