/** Tests which subscribers receive which events: by type, by task, singly or in batches. */
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { CoreEngine } from '../../../src/core/engine/engine.ts'
import { definePlug, VirtualClock, type EngineEvent, type EventBatch, type Rule } from '../../../src/index.ts'

const RULE: Rule = {
  sensors: [{ label: 's', name: 'streamingDataSensor', resource: '$', properties: { parameter: 'a', threshold: 10 } }],
  actuators: [{ label: 'act', name: 'act' }],
  triggers: [{ sourceLabel: 's', destinationLabel: 'act', statesTrigger: ['Above'] }],
  task: { type: 'reactive', resource: 'r' },
}

const MESSAGE = ['data', 'result', 'state', 'fired', 'result']

/** Two tasks that have processed two messages each. */
async function running() {
  const reported: string[] = []
  const order: string[] = []
  const act = definePlug({ name: 'act', version: '1.0.0', kind: 'actuator', execute: () => void order.push('call') })
  const engine = new CoreEngine({
    plugs: [...builtins, act],
    scheduler: new VirtualClock(0),
    ids: () => 't',
    seed: 1,
    logger: { warn: (text) => reported.push(text), error: (text) => reported.push(text) },
  })
  const send = (a = 20) => engine.receive({ resource: 'r', a })
  for (const id of ['a', 'b']) await engine.start(RULE, { id })
  for (let i = 0; i < 2; i++) send()
  order.length = 0
  return { engine, send, reported, order }
}

const told = (events: readonly EngineEvent[]) => events.map(({ task, type }) => `${task} ${type}`)
const ofBoth = (types: readonly string[]) => ['a', 'b'].flatMap((task) => types.map((type) => `${task} ${type}`))

describe('events by type and task', () => {
  it('are all of them without a filter', async () => {
    const { engine, send } = await running()
    const all: EngineEvent[] = []
    const more: EngineEvent[] = []
    engine.events$.subscribe((event) => all.push(event))
    engine.events().subscribe((event) => more.push(event))
    send()
    expect(told(all)).toEqual(ofBoth(MESSAGE))
    expect(more).toEqual(all)
  })

  it('are those of the types and tasks that are requested', async () => {
    const { engine, send } = await running()
    const seen: Record<string, EngineEvent[]> = { fired: [], some: [], b: [], firedOfB: [] }
    engine.fired$.subscribe((event) => seen['fired']?.push(event))
    engine.events({ types: ['state', 'fired'] }).subscribe((event) => seen['some']?.push(event))
    engine.events({ tasks: ['b'] }).subscribe((event) => seen['b']?.push(event))
    engine.events({ tasks: ['b', 'c'], types: ['fired'] }).subscribe((event) => seen['firedOfB']?.push(event))
    send()
    send(5)
    expect(told(seen['fired'] ?? [])).toEqual(['a fired', 'b fired'])
    expect(told(seen['some'] ?? [])).toEqual([...ofBoth(['state', 'fired']), ...ofBoth(['state'])])
    const calm = ['data', 'result', 'state']
    expect(told(seen['b'] ?? [])).toEqual([...MESSAGE, ...calm].map((type) => `b ${type}`))
    expect(told(seen['firedOfB'] ?? [])).toEqual(['b fired'])
  })

  it('are empty for an empty list of types or tasks', async () => {
    const { engine, send } = await running()
    let count = 0
    engine.events({ types: [] }).subscribe(() => count++)
    engine.events({ tasks: [] }).subscribe(() => count++)
    engine.eventBatches({ types: [] }).subscribe(() => count++)
    send()
    expect(count).toBe(0)
  })

  it('rejects all unknown types at once', async () => {
    const { engine } = await running()
    const types = ['fire', 'fired', 'states'] as never
    const refused = expect.objectContaining({
      code: 'VALIDATION',
      message: expect.stringContaining('fire, states') as string,
    }) as Error
    expect(() => engine.events({ types })).toThrow(refused)
    expect(() => engine.eventBatches({ types })).toThrow(refused)
  })
})

describe('batches of events', () => {
  it('contain the events of one input in all tasks, after it is processed', async () => {
    const { engine, send, order } = await running()
    const batches: EventBatch[] = []
    engine.events({ types: ['fired'], tasks: ['b'] }).subscribe(() => order.push('fired'))
    engine.eventBatches().subscribe((batch) => {
      order.push('batch')
      batches.push(batch)
    })
    send()
    send(5)
    expect(order).toEqual(['call', 'fired', 'call', 'batch', 'batch'])
    expect(batches.map(({ length }) => length)).toEqual([10, 6])
    const [first] = batches
    expect(told([...(first ?? [])])).toEqual(ofBoth(MESSAGE))
    expect(first?.count('result')).toBe(4)
    expect(first?.count('held')).toBe(0)
    expect(first?.at(3)).toMatchObject({ type: 'fired', task: 'a' })
    expect(first?.at(10)).toBeUndefined()
    expect(first?.at(-1)).toBeUndefined()
  })

  it('contain only filtered events, and are omitted when empty', async () => {
    const { engine, send } = await running()
    const lengths: number[] = []
    engine.eventBatches({ types: ['fired'], tasks: ['a'] }).subscribe(({ length }) => lengths.push(length))
    send(5)
    send()
    expect(lengths).toEqual([1])
  })

  it('exclude an input that a subscriber sends', async () => {
    const { engine, send } = await running()
    const seen: string[] = []
    engine.eventBatches({ types: ['data'], tasks: ['a'] }).subscribe((batch) => {
      const event = batch.at(0)
      const a = event?.type === 'data' ? event.values['a'] : undefined
      seen.push(`begins ${String(a)}`)
      if (a === 1) send(2)
      seen.push(`ends ${String(a)}`)
    })
    send(1)
    expect(seen).toEqual(['begins 1', 'ends 1', 'begins 2', 'ends 2'])
  })

  it('are completed with the engine, and a throwing subscriber is reported', async () => {
    const { engine, send, reported } = await running()
    let isOver = false
    engine.eventBatches().subscribe({
      next: () => {
        throw new Error('no time')
      },
      complete: () => (isOver = true),
    })
    send()
    expect(reported.at(-1)).toContain('no time')
    await engine.close()
    expect(isOver).toBe(true)
  })
})
