/** Events of messages that rows take, told together: counted at once, made when they are read. */
import { describe, expect, it } from 'vitest'
import {
  createEngine,
  definePlug,
  VirtualClock,
  type EventBatch,
  type EventType,
  type Message,
  type Rule,
} from '../../../src/index.ts'
import { builtins } from '../../../plugins/index.ts'

const TYPES = ['data', 'state', 'gate', 'fired', 'held', 'result'] as const

function ruleOf(limit: number, policy: number): Rule {
  return {
    sensors: [
      { label: 'warm', resource: 'r', name: 'streamingDataSensor', properties: { parameter: 'a', threshold: limit } },
      { label: 'damp', resource: 'r', name: 'streamingDataSensor', properties: { parameter: 'b', threshold: 20 } },
    ],
    relations: [{ label: 'both', type: 'AND', parentLabels: ['warm', 'damp'], combinations: [['Above', 'Above']] }],
    actuators: [{ label: 'acts', name: 'act' }],
    triggers: [{ sourceLabel: 'both', destinationLabel: 'acts', statesTrigger: ['TRUE'], invocationPolicy: policy }],
  }
}

/** The same with a sensor that runs the other: two lists fire in one message. */
function inTurn(rule: Rule): Rule {
  return { ...rule, triggers: [{ sourceLabel: 'warm', destinationLabel: 'damp' }, ...(rule.triggers ?? [])] }
}

/** Messages in which values and firings come and go. */
const MESSAGES = Array.from({ length: 500 }, (_, i): Message => {
  return { resource: 'r', a: (i * 7) % 41, b: (i * 11) % 43, i }
})

/** What somebody heard of all messages, in one go and when all is over; and which way they took. */
async function heard(tasks: number, policy: number, isPlain: boolean, types?: readonly EventType[], why = true) {
  const clock = new VirtualClock(0)
  const act = definePlug({
    name: 'act',
    version: '1.0.0',
    kind: 'actuator',
    execute: (context) => {
      const i = Number(context.streamValue('i'))
      if (i === 60 || i === 120) throw new Error('tired')
      return i % 3 === 0 ? { message: `acted at ${i}` } : undefined
    },
  })
  const engine = createEngine({
    plugs: [...builtins, act],
    scheduler: clock,
    ids: () => 'unused',
    seed: 1,
    ...(isPlain && { latency: () => 0 }),
  })
  for (let i = 0; i < tasks; i++) {
    const rule = ruleOf(15 + i, policy)
    await engine.start(why ? rule : inTurn(rule), { id: `t${i}` })
  }
  const batches: EventBatch[] = []
  const atOnce: string[] = []
  engine.eventBatches({ ...(types && { types }), why }).subscribe((batch) => {
    batches.push(batch)
    if (batches.length % 2 === 0) atOnce.push(JSON.stringify([...batch]))
  })
  for (const message of MESSAGES) {
    clock.advanceTo(clock.now() + 5)
    engine.receive(message)
  }
  const took = engine.stats()
  await engine.close()
  const counts = batches.map((batch) => [batch.length, ...TYPES.map((type) => batch.count(type))])
  return { counts, atOnce, events: batches.map((batch) => JSON.stringify([...batch])), took }
}

// Holds RECORD-1, RECORD-2
describe('events of messages that rows take', () => {
  it.each([
    ['one row', 1, 0],
    ['a row that cools down', 1, 0.02],
    ['some rows, one after the other', 5, 0],
    ['many rows in one pass', 20, 0],
    ['what fires in one row', 1, 0, ['fired']],
    ['what a row that cools down holds back', 1, 0.02, ['held']],
    ['what fires or is held back in some rows', 5, 0.02, ['fired', 'held']],
    ['what fires in many rows', 20, 0, ['fired']],
  ] as const)('are those that the plain executor tells: %s', async (_, tasks, policy, types?: readonly EventType[]) => {
    const rows = await heard(tasks, policy, false, types)
    const plain = await heard(tasks, policy, true, types)
    expect(rows.counts).toEqual(plain.counts)
    expect(rows.events).toEqual(plain.events)
    expect(rows.atOnce).toEqual(plain.atOnce)
    const { vectorized, rows: inRows } = rows.took
    expect(tasks < 8 ? inRows : vectorized).toBeGreaterThan(100 * tasks)
  })

  it.each([
    ['one row', 1, 0, ['fired']],
    ['a row that cools down, to who hears of that', 1, 0.02, ['fired', 'held']],
    ['a row that cools down, to who does not', 1, 0.02, ['fired']],
    ['some rows', 5, 0.02, ['fired']],
  ] as const)('are the same without their whys: %s', async (_, tasks, policy, types) => {
    const rows = await heard(tasks, policy, false, types, false)
    const plain = await heard(tasks, policy, true, types, false)
    expect(rows.counts).toEqual(plain.counts)
    expect(rows.events).toEqual(plain.events)
    expect(rows.atOnce).toEqual(plain.atOnce)
    expect(rows.took.rows).toBeGreaterThan(100 * tasks)
  })

  it('are told at once to who wants them so, beside who takes them together', async () => {
    const clock = new VirtualClock(0)
    const act = definePlug({ name: 'act', version: '1.0.0', kind: 'actuator', execute: () => undefined })
    const engine = createEngine({ plugs: [...builtins, act], scheduler: clock })
    for (let i = 0; i < 20; i++) await engine.start(ruleOf(15 + i, 0), { id: `t${i}` })
    const [atOnce, together]: [string[], string[]] = [[], []]
    engine.eventBatches({ types: ['fired'] }).subscribe((batch) => {
      for (const event of batch) together.push(JSON.stringify(event))
    })
    const send = () => {
      for (const message of MESSAGES) {
        clock.advanceTo(clock.now() + 5)
        engine.receive(message)
      }
    }
    send()
    const before = together.length
    const subscription = engine.fired$.subscribe((event) => void atOnce.push(JSON.stringify(event)))
    send()
    subscription.unsubscribe()
    send()
    await engine.close()
    expect(atOnce.length).toBeGreaterThan(100)
    expect(together.slice(before, before + atOnce.length)).toEqual(atOnce)
    expect(together.length).toBeGreaterThan(before + atOnce.length)
  })
})
