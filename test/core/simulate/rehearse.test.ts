import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import { recordOf } from '../../../src/core/engine/event-batch.ts'
import type { EngineEvent, EventType } from '../../../src/core/engine/events.ts'
import type { Generate } from '../../../src/core/engine/executor.ts'
import { Preparer } from '../../../src/core/engine/prepare.ts'
import type { Rule } from '../../../src/core/rule/rule.ts'
import type { Message } from '../../../src/core/task/origin.ts'
import { rehearse } from '../../../src/core/simulate/rehearse.ts'
import { generate } from '../../support/generate.ts'
import { actuatorPlug, sensorPlug } from '../../support/make-plug.ts'
import { runs } from '../../support/arbitraries/runs.ts'

const count = sensorPlug('count', ['Even', 'Odd'], (context) => {
  const { internalState } = context
  const times = typeof internalState === 'number' ? internalState + 1 : 0
  return context.streamValue('a') === 3 ? undefined : { state: times % 2 === 0 ? 'Even' : 'Odd', internalState: times }
})
const note = actuatorPlug('note', (context) => {
  if (context.streamValue('a') === 7) throw new Error('broken')
  return context.streamValue('a') === 6 ? Promise.resolve({ message: 'later' }) : { message: 'noted' }
})
const preparer = new Preparer(createRegistry([...builtins, count, note]))

const sensor = fc.constantFrom<NonNullable<Rule['sensors']>[number]>(
  { label: '', name: 'streamingDataSensor', resource: 'r', properties: { parameter: 'a', threshold: 4 } },
  { label: '', name: 'hysteresis', resource: 'r', properties: { value: 'a', enter: 6, leave: 3 } },
  { label: '', name: 'condition', resource: 'r', properties: { condition: 'a + b > 7' } },
  { label: '', name: 'count', resource: 'r' },
)
const STATES: Readonly<Record<string, readonly string[]>> = {
  streamingDataSensor: ['Above', 'Below'],
  hysteresis: ['On', 'Off'],
  condition: ['True', 'False'],
  count: ['Even', 'Odd'],
}
const trigger = fc.record({
  from: fc.nat(2),
  to: fc.nat(1),
  state: fc.nat(1),
  kind: fc.constantFrom('begins', 'ends', 'statesTrigger'),
  invocationPolicy: fc.constantFrom(0, 0, 3),
})
const settings = fc.record({
  resetObservations: fc.boolean(),
  type: fc.constantFrom('reactive' as const, 'reactive' as const, 'periodic' as const),
  duplicates: fc.constantFrom('take' as const, 'drop' as const),
})
const rule: fc.Arbitrary<Rule> = fc
  .tuple(fc.array(sensor, { minLength: 1, maxLength: 3 }), fc.array(trigger, { minLength: 1, maxLength: 4 }), settings)
  .map(([sensors, triggers, { type, ...task }]) => ({
    sensors: sensors.map((one, i) => ({ ...one, label: `s${i}` })),
    actuators: [0, 1].map((i) => ({ label: `a${i}`, name: 'note' })),
    triggers: triggers.map(({ from, to, state, kind, invocationPolicy }) => {
      const source = from % sensors.length
      const states = [STATES[sensors[source]?.name ?? '']?.[state] ?? '']
      return { sourceLabel: `s${source}`, destinationLabel: `a${to}`, [kind]: states, invocationPolicy }
    }),
    task: { ...task, type, ...(type === 'periodic' && { frequency: 60_000 }) },
  }))

const rarely = <T>(usual: fc.Arbitrary<T>, ...odd: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 20, arbitrary: usual }, { weight: 1, arbitrary: fc.constantFrom(...odd) })

const messages: fc.Arbitrary<readonly Message[]> = fc
  .array(
    fc.record({
      a: rarely<unknown>(fc.nat(8), null, 'warm', '5', { low: 1 }, undefined),
      b: rarely<unknown>(fc.nat(8), undefined),
      wait: rarely(fc.constantFrom(1_000, 1_000, 2_000, 5_000), 90_000, 0, -4_000),
    }),
    { minLength: 10, maxLength: 60 },
  )
  .map((steps) => {
    let time = 10_000
    return steps.map(({ wait, ...values }): Message => {
      const known = Object.entries(values).filter(([, value]) => value !== undefined)
      return { resource: 'r', timestamp: (time += wait), ...Object.fromEntries(known) }
    })
  })

interface Given {
  readonly rules: readonly Rule[]
  readonly all: readonly Message[]
  readonly since: number
  /** undefined: all types of events */
  readonly types: readonly EventType[] | undefined
}

// Holds EXECUTOR-1
describe('a rehearsal with rows', () => {
  let inRows = 0

  it('has the result of a rehearsal one message after the other', async () => {
    const rehearsed = async (given: Given, code?: Generate) => {
      const { rules, all, since, types } = given
      const [first, compareWith, ...variants] = rules.map((one) => ({ rule: one, preparer }))
      if (first === undefined) throw new Error('a rule is required')
      const events: EngineEvent[] = []
      const result = await rehearse(first, {
        plugs: [],
        messages: all,
        from: 0,
        since,
        compareWith,
        variants,
        onEvents: (batch) => {
          if (recordOf(batch)?.kind !== undefined) inRows++
          expect(batch.count('fired')).toBe([...batch].filter(({ type }) => type === 'fired').length)
          for (const event of batch) if (types?.includes(event.type) !== false) events.push(event)
        },
        ...(types && { types }),
        ...(code && { generate: code }),
      })
      return { result, events: JSON.stringify(events) }
    }
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          rules: fc.array(rule, { minLength: 1, maxLength: 4 }),
          all: messages,
          since: fc.constantFrom(0, 0, 20_000),
          types: fc.constantFrom(undefined, ['fired' as const], ['fired' as const, 'held' as const]),
        }),
        async (given) => {
          expect(await rehearsed(given, generate)).toEqual(await rehearsed(given))
        },
      ),
      runs(300),
    )
    expect(inRows).toBeGreaterThan(process.env['EXECUTOR'] === 'plain' ? -1 : runs(300).numRuns)
  })
})
