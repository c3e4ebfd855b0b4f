import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import type { FiredEvent } from '../../../src/core/engine/events.ts'
import type { Rule, Sensor } from '../../../src/core/rule/rule.ts'
import { simulate } from '../../../src/index.ts'
import { runs } from '../../support/arbitraries/runs.ts'
import { startBuiltins } from '../../support/builtin-task.ts'
import { sensorPlug } from '../../support/make-plug.ts'
import { is, trigger } from '../../support/rule-writing.ts'

const MINUTE = 60_000

const off = (more: Partial<Sensor>, label = 'off'): Sensor => ({
  label,
  name: 'condition',
  resource: 'r',
  properties: { condition: 'temperature - setpoint > 3' },
  ...more,
})
const ruleOf = (...sensors: readonly Sensor[]): Rule => ({
  sensors: [...sensors],
  actuators: [{ label: 'a', name: 'log', properties: { message: 'off' } }],
  triggers: [trigger('off', 'a', is('True'))],
  task: { type: 'reactive' },
})

describe('hold', () => {
  it.each<[Record<string, string> | undefined, number, string[]]>([
    [undefined, 59_999, ['59999 True']],
    [undefined, 60_000, []],
    [{ setpoint: '2h' }, 120 * MINUTE - 1, ['7199999 True']],
    [{ setpoint: '2h' }, 120 * MINUTE, []],
    [{ setpoint: '10s' }, 9_999, ['9999 True']],
    [{ setpoint: '10s' }, 10_000, []],
  ])('%j: a setpoint that is %i ms old leads to %j', async (hold, age, states) => {
    const t = await startBuiltins(ruleOf(off({ ...(hold && { hold }) })))
    t.send({ setpoint: 20 })
    t.clock.advanceTo(age)
    t.send({ temperature: 25 })
    expect(t.states('off')).toEqual(states)
  })

  it('lasts from the message of the value, over other messages', async () => {
    const t = await startBuiltins(ruleOf(off({ hold: { setpoint: '1h' } })))
    t.send({ setpoint: 20 })
    for (const minute of [20, 40, 59, 60]) {
      t.clock.advanceTo(minute * MINUTE)
      t.send({ temperature: 20 + minute })
    }
    expect(t.states('off').map((one) => one.split(' ')[0])).toEqual(['1200000', '2400000', '3540000'])
  })

  it.each([null, Number.NaN])('keeps the value when a message has %j in its place', async (setpoint) => {
    const t = await startBuiltins(ruleOf(off({ hold: { setpoint: '1h' } })))
    t.send({ setpoint: 20 })
    t.send({ setpoint, temperature: 25 })
    t.clock.advanceTo(10 * MINUTE)
    t.send({ temperature: 26 })
    expect(t.states('off')).toEqual(['0 True', '600000 True'])
  })

  it('changes nothing for other sensors of the resource', async () => {
    const t = await startBuiltins(ruleOf(off({ hold: { setpoint: '1h' } }), off({}, 'other')))
    t.send({ setpoint: 20 })
    t.clock.advanceTo(2 * MINUTE)
    t.send({ temperature: 25 })
    expect([t.states('off'), t.states('other')]).toEqual([['120000 True'], []])
  })

  it('is kept per member of a group', async () => {
    const group = { resources: ['x', 'y'] }
    const { resource: _, ...sensor } = off({ group, hold: { setpoint: '1h' } })
    const rule: Rule = { ...ruleOf(sensor), triggers: [{ ...trigger('off', 'a', is('True')), each: true }] }
    const messages = [
      { resource: 'x', timestamp: 0, setpoint: 20 },
      { resource: 'y', timestamp: MINUTE, setpoint: 90 },
      { resource: 'x', timestamp: 10 * MINUTE, temperature: 25 },
      { resource: 'y', timestamp: 11 * MINUTE, temperature: 25 },
    ]
    const { events } = await simulate(rule, { messages, plugs: builtins })
    const fired = events.flatMap((event) => (event.type === 'fired' && event.node === 'a' ? [event.time] : []))
    expect(fired).toEqual([10 * MINUTE])
  })

  it('is listed with the time of the value in the why of a firing', async () => {
    const messages = [
      { resource: 'r', timestamp: 1000, setpoint: 20 },
      { resource: 'r', timestamp: 3_000_000, temperature: 25 },
    ]
    const { events } = await simulate(ruleOf(off({ hold: { setpoint: '1h' } })), { messages, plugs: builtins })
    const [fired] = events.filter((event): event is FiredEvent => event.type === 'fired')
    expect(fired?.why?.sensors[0]).toMatchObject({ carried: { setpoint: { time: 1000 } } })
  })
})

describe('default', () => {
  it('counts where no value is known, or null arrives', async () => {
    const t = await startBuiltins(ruleOf(off({ default: { setpoint: 30 } })))
    t.send({ temperature: 31 })
    t.send({ temperature: 34 })
    t.send({ temperature: 34, setpoint: null })
    t.send({ temperature: 34, setpoint: 33 })
    expect(t.states('off')).toEqual(['0 False', '0 True', '0 True', '0 False'])
  })

  it('follows the end of a hold', async () => {
    const t = await startBuiltins(ruleOf(off({ hold: { setpoint: '1h' }, default: { setpoint: 0 } })))
    t.send({ setpoint: 30 })
    t.clock.advanceTo(59 * MINUTE)
    t.send({ temperature: 20 })
    t.clock.advanceTo(61 * MINUTE)
    t.send({ temperature: 20 })
    expect(t.states('off')).toEqual([`${59 * MINUTE} False`, `${61 * MINUTE} True`])
  })

  it('appears in all values of the message', async () => {
    const seen: unknown[] = []
    const look = sensorPlug('look', ['Seen'], ({ streamData }) => {
      seen.push({ ...streamData })
      return { state: 'Seen' }
    })
    const sensor: Sensor = {
      label: 'look',
      name: 'look',
      resource: 'r',
      default: { setpoint: 30 },
      hold: { pump: '1h' },
    }
    const messages = [
      { resource: 'r', timestamp: 0, pump: true },
      { resource: 'r', timestamp: 30 * MINUTE, temperature: 25, setpoint: null },
    ]
    await simulate({ sensors: [sensor], task: { type: 'reactive' } }, { messages, plugs: [look] })
    expect(seen).toEqual([
      { resource: 'r', timestamp: 0, pump: true, setpoint: 30 },
      { resource: 'r', timestamp: 30 * MINUTE, temperature: 25, pump: true, setpoint: 30 },
    ])
  })
})

interface Step {
  readonly wait: number
  readonly values: { readonly temperature?: number | null; readonly setpoint?: number | null }
  readonly restarts: boolean
}

const value = fc.option(fc.constantFrom<number | null>(10, 20, 30, null), { nil: undefined })
const steps = fc.array(
  fc.record({
    wait: fc.constantFrom(0, 30, 59, 60, 61, 600, 3599, 3600),
    values: fc
      .record({ temperature: value, setpoint: value })
      .map((one) => Object.fromEntries(Object.entries(one).filter(([, each]) => each !== undefined))),
    restarts: fc.boolean(),
  }),
  { maxLength: 25 },
) as fc.Arbitrary<readonly Step[]>

const choice = fc.record(
  { hold: fc.constantFrom(30, 600, 3600), other: fc.constantFrom(60, 3600), default: fc.constantFrom(0, 50) },
  { requiredKeys: [] },
)

describe('random messages', () => {
  it('with restarts show the states of a fold over the known values', async () => {
    await fc.assert(
      fc.asyncProperty(choice, steps, async ({ hold, other, default: fallback }, list) => {
        const sensor = off({
          ...(hold !== undefined && { hold: { setpoint: `${hold}s` } }),
          ...(fallback !== undefined && { default: { setpoint: fallback } }),
        })
        const rule = ruleOf(sensor, off({ ...(other !== undefined && { hold: { setpoint: `${other}s` } }) }, 'other'))
        let t = await startBuiltins(rule)
        let now = 0
        const known = new Map<string, { value: number | null; at: number }>()
        const lastKnown = new Map<string, { value: number; at: number }>()
        const read = (name: string, seconds: number | undefined): number | undefined => {
          const found = seconds === undefined ? known.get(name) : lastKnown.get(name)
          if (found === undefined || found.value === null) return undefined
          return now < found.at + (seconds ?? 60) * 1000 || found.at === now ? found.value : undefined
        }
        const expected: string[] = []
        for (const { wait, values, restarts } of list) {
          t.clock.advanceTo((now += wait * 1000))
          if (restarts) t = await t.restart()
          t.send(values)
          for (const [name, one] of Object.entries(values)) {
            known.set(name, { value: one, at: now })
            if (one !== null) lastKnown.set(name, { value: one, at: now })
          }
          if (Object.keys(values).length === 0) continue
          const [temperature, setpoint] = [read('temperature', undefined), read('setpoint', hold) ?? fallback]
          if (temperature !== undefined && setpoint !== undefined)
            expected.push(`${now} ${temperature - setpoint > 3 ? 'True' : 'False'}`)
        }
        expect(t.states('off')).toEqual(expected)
      }),
      runs(300),
    )
  })
})
