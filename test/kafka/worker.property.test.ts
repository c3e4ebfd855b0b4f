/** Any kills, freezes, rebalances and aborted transactions: states and outputs equal a plain fold over the input. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../support/arbitraries/runs.ts'
import type { MemoryBroker } from './memory-broker.ts'
import { limitRule, on } from './plant.ts'
import { act, run, tasks } from './random-life.ts'

async function equal(...args: Parameters<typeof run>): Promise<MemoryBroker> {
  const { broker, lived, plain } = await run(...args)
  expect(lived).toEqual(plain)
  return broker
}

/** Counts by hand when the value went above the limit. */
function crossings(broker: MemoryBroker, resource: string, limit: number): number {
  let [count, isAbove] = [0, false]
  let newest = 0
  for (const { key, value, headers } of broker.all('in')) {
    if (key !== resource || headers?.['rx-kind'] !== undefined || value === '{') continue
    const message = JSON.parse(value ?? '') as { value: number; timestamp: number }
    if (message.timestamp < newest) continue
    newest = message.timestamp
    if (message.value > limit && !isAbove) count++
    isAbove = message.value > limit
  }
  return count
}

// Holds FOLD-1, FOLD-2, WORKER-1, WORKER-2, WORKER-3
describe('workers that are killed, frozen and rebalanced', () => {
  it('end in the states and outputs of a plain fold over the input, in order of offsets', async () => {
    await fc.assert(
      fc.asyncProperty(tasks, fc.array(act, { minLength: 10, maxLength: 60 }), async (list, acts) => {
        await equal(list, acts)
      }),
      runs(200),
    )
  })

  it('raise as many alarms as a count by hand', async () => {
    const list = [{ id: 't0', rule: limitRule(5), settings: on('r1') }]
    const kept = fc.array(
      act.filter((one) => one.do !== 'change'),
      { minLength: 20, maxLength: 60 },
    )
    await fc.assert(
      fc.asyncProperty(kept, async (acts) => {
        const broker = await equal(list, acts)
        expect(broker.all('alarms')).toHaveLength(crossings(broker, 'r1', 5))
      }),
      runs(100),
    )
  })

  it.each([
    ['members are not fenced', (broker: MemoryBroker) => void (broker.isFencing = false)],
    ['offsets are committed early', (broker: MemoryBroker) => void (broker.commitsEarly = true)],
  ])('differ from it if %s', async (_, spoil) => {
    const check = fc.asyncProperty(tasks, fc.array(act, { minLength: 40, maxLength: 60 }), async (list, acts) => {
      await equal(list, acts, spoil)
    })
    expect((await fc.check(check, { numRuns: 60, endOnFailure: true })).failed).toBe(true)
  })
})
