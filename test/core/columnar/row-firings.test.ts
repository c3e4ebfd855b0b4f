/** What fired, read part by part from batches of events: the same as the events say, whichever way messages took. */
import { describe, expect, it } from 'vitest'
import {
  createEngine,
  definePlug,
  VirtualClock,
  type EventFilter,
  type Firing,
  type Message,
  type Rule,
} from '../../../src/index.ts'
import { builtins } from '../../../plugins/index.ts'

const plugs = [...builtins, definePlug({ name: 'act', version: '1.0.0', kind: 'actuator', execute: () => undefined })]

function sensor(label: string, parameter: string, threshold: number) {
  return { label, resource: 'r', name: 'streamingDataSensor', properties: { parameter, threshold } }
}

function ruleOf(limit: number, invocationPolicy = 0): Rule {
  return {
    sensors: [sensor('warm', 'a', limit), sensor('damp', 'b', 20)],
    relations: [{ label: 'both', type: 'AND', parentLabels: ['warm', 'damp'], combinations: [['Above', 'Above']] }],
    actuators: [{ label: 'acts', name: 'act' }],
    triggers: [{ sourceLabel: 'both', destinationLabel: 'acts', statesTrigger: ['TRUE'], invocationPolicy }],
  }
}

/** The same, whose sensor runs the other one. */
function chained(limit: number): Rule {
  const rule = ruleOf(limit)
  return { ...rule, triggers: [{ sourceLabel: 'warm', destinationLabel: 'damp' }, ...(rule.triggers ?? [])] }
}

/** The same with other labels. */
function renamed(limit: number): Rule {
  const { triggers = [], ...rule } = ruleOf(limit)
  return {
    ...rule,
    actuators: [{ label: 'does', name: 'act' }],
    triggers: triggers.map((trigger) => ({ ...trigger, destinationLabel: 'does' })),
  }
}

const MESSAGES = Array.from({ length: 300 }, (_, i): Message => ({ resource: 'r', a: (i * 7) % 41, b: (i * 11) % 43 }))

const CALM = MESSAGES.map((message, i): Message => ({ ...message, a: i % 60 < 50 ? 30 : 5 }))

/** All that is said of it without its whole why. */
function partsOf({ time, at, task, invocation, node, source, effect, why }: Firing) {
  const said = why && { trigger: why.trigger, sensors: why.sensors, gates: why.gates, via: why.via, input: why.input }
  return { time, at, task, invocation, node, source, effect, why: said }
}

/** `calm`: values that stay for a while; some of the messages come two at a time, which rows do not take. */
async function read(rules: readonly Rule[], isPlain: boolean, filter: EventFilter, calm = false) {
  const clock = new VirtualClock(0)
  const engine = createEngine({ plugs, scheduler: clock, seed: 1, ...(isPlain && { latency: () => 0 }) })
  for (const [i, rule] of rules.entries()) await engine.start(rule, { id: `t${i}` })
  const atOnce: unknown[] = []
  const later: (() => unknown)[] = []
  const events: unknown[] = []
  engine.eventBatches(filter).subscribe((batch) => {
    later.push(() => [batch.firings().map(partsOf), JSON.stringify(batch.firings())])
    if (later.length % 3 === 0) atOnce.push(batch.firings().map(partsOf))
    events.push(...[...batch].filter(({ type }) => type === 'fired'))
  })
  for (const [i, message] of (calm ? CALM : MESSAGES).entries()) {
    clock.advanceTo(clock.now() + 5)
    engine.receive(calm && i % 25 === 24 ? [{ ...message, a: 5 }, message] : message)
  }
  const { plain, rows, vectorized } = engine.stats()
  await engine.close()
  return { events, atOnce, later: later.map((one) => one()), taken: { plain, rows, vectorized } }
}

const twenty = Array.from({ length: 20 }, (_, i) => i)

describe('firings of a batch of events', () => {
  it.each([
    ['one row', [ruleOf(15)], {}],
    ['many rows in one pass', twenty.map((i) => ruleOf(15 + i)), { types: ['fired'] }],
    [
      'rows in one pass whose labels differ',
      twenty.map((i) => (i % 3 ? ruleOf(15 + i) : renamed(15 + i))),
      { types: ['fired'] },
    ],
    ['rows of two forms', [ruleOf(15), ...twenty.map((i) => ruleOf(10 + i)), chained(20)], { types: ['fired'] }],
    ['sensors that run others', [chained(20), chained(30)], { types: ['fired'] }],
    ['rows that cool down', [ruleOf(10, 0.02)], { types: ['fired', 'held'] }],
    ['whoever wants no whys', [ruleOf(15), chained(20)], { types: ['fired'], why: false }],
    ['a subscriber to one task', [ruleOf(15), ruleOf(10), ruleOf(12)], { types: ['fired'], tasks: ['t1'] }],
    ['whoever wants nothing that fires', [ruleOf(15)], { types: ['held', 'data'] }],
  ] as const)('are those of its events: %s', async (_, rules, filter: EventFilter) => {
    const own = await read(rules, false, filter)
    const plain = await read(rules, true, filter)
    expect(own.later.map((one) => JSON.parse((one as [unknown, string])[1]) as unknown).flat()).toEqual(own.events)
    expect(own.events).toEqual(plain.events)
    expect(own.atOnce).toEqual(plain.atOnce)
    expect(own.later).toEqual(plain.later)
    expect(own.taken.plain).toBeLessThan(own.taken.rows + own.taken.vectorized)
  })

  it('share the parts of whys about equal states', async () => {
    const clock = new VirtualClock(0)
    const engine = createEngine({ plugs, scheduler: clock })
    for (const i of twenty) await engine.start(ruleOf(-i), { id: `t${i}` })
    const lists = new Set<unknown>()
    let count = 0
    engine.eventBatches({ types: ['fired'] }).subscribe((batch) => {
      count += batch.length
      // Their first messages tasks take on their full states.
      if (count > 200) for (const { why } of batch.firings()) lists.add(why?.sensors).add(why?.trigger).add(why?.gates)
    })
    for (let i = 0; i < 100; i++) engine.receive({ resource: 'r', a: 5, b: 30 })
    await engine.close()
    expect(count).toBe(2000)
    expect(lists.size).toBe(3)
  })
})
