/** Tests alarms together with rules that raise them or react to them. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AlarmCause, AlarmForwarding } from '../../../src/services/alarms/contract.ts'
import { AppError } from '../../../src/kernel/errors.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import type { Storage } from '../../../src/storage/contract.ts'
import { alarmOf, bench, type Bench } from './support/bench-of-alarms.ts'

const cause: AlarmCause = { task: 'task-1', node: 'alarm', effect: 'task-1/1/1/0', trigger: 'hot', hops: 1 }

/** Receives the events of alarms as the engine does: in one commit with their writes. */
class Engine implements AlarmForwarding {
  readonly heard: { readonly source: string; readonly type: unknown; readonly hops: number }[] = []
  readonly #storage: Storage
  /** Errors for the next calls */
  failures: Error[] = []
  /** Returns the error for a call, if any; `calls`: how many calls the source has had */
  failing: (source: string, calls: number) => Error | undefined = () => undefined
  readonly #calls = new Map<string, number>()

  constructor(storage: Storage) {
    this.#storage = storage
  }

  readonly receive: AlarmForwarding['receive'] = async (message, { writes, hops }) => {
    const calls = (this.#calls.get(message.resource) ?? 0) + 1
    this.#calls.set(message.resource, calls)
    const failure = this.failures.shift() ?? this.failing(message.resource, calls)
    if (failure) throw failure
    await this.#storage.tenant('acme').commit(writes)
    this.heard.push({ source: message.resource, type: typeOf(message['eventtype']), hops })
  }
}

const typeOf = (type: unknown): string => String(type).split('.').at(-1) ?? ''

let storage: Storage
let engine: Engine
let alarms: Bench
let asked: AlarmCause[]
beforeEach(async () => {
  storage = openMemory()
  engine = new Engine(storage)
  asked = []
  alarms = await started()
})
afterEach(() => alarms.close())

let lives = 0
function started(): Promise<Bench> {
  const explain = async (by: AlarmCause): Promise<unknown> => {
    asked.push(by)
    if (by.node === 'away') throw new AppError('UNAVAILABLE', 'the store is unavailable')
    if (by.node === 'stopped') throw new AppError('CLOSED', 'the runner is closed')
    if (by.node === 'forgotten') throw new AppError('NOT_FOUND', 'Task not found')
    return { node: by.node, fired: { time: 5 } }
  }
  return bench({ storage, engine: () => engine, causes: { explain }, ids: `life${lives++}-` })
}

describe('an effect of a rule', () => {
  it('that is repeated counts once', async () => {
    const first = await alarms.api.raise(alarmOf(), { cause })
    expect(await alarms.api.raise(alarmOf(), { cause })).toEqual(first)
    expect(await alarms.api.raise(alarmOf(), { cause: { ...cause, effect: 'task-1/1/2/0' } })).toMatchObject({
      count: 2,
    })
    expect(await alarms.api.raise(alarmOf(), { cause })).toMatchObject({ count: 2 })
  })

  it('that was one of a hundred concurrent ones counts once when all are repeated', async () => {
    const all = () => {
      const effects = Array.from({ length: 100 }, (_, i) => `task-1/1/${i}/0`)
      return Promise.all(effects.map((effect) => alarms.api.raise(alarmOf(), { cause: { ...cause, effect } })))
    }
    await all()
    await all()
    expect(await alarms.api.list({})).toMatchObject({ total: 1, alarms: [{ count: 100 }] })
  })

  it('that is repeated after its alarm was cleared does not raise another alarm', async () => {
    const { id } = await alarms.api.raise(alarmOf(), { cause })
    await alarms.api.update(id, { status: 'CLEARED' })
    expect(await alarms.api.raise(alarmOf(), { cause })).toMatchObject({ id, status: 'CLEARED' })
    expect((await alarms.api.list({})).total).toBe(1)
  })

  it('that changed an alarm does not revert later changes when it is repeated', async () => {
    const { id } = await alarms.api.raise(alarmOf())
    await alarms.api.update(id, { status: 'ACKNOWLEDGED' }, { cause })
    await alarms.api.update(id, { status: 'ACTIVE' })
    expect(await alarms.api.update(id, { status: 'ACKNOWLEDGED' }, { cause })).toMatchObject({ status: 'ACTIVE' })
  })

  it('is rejected and reported after a chain of seventeen rules', async () => {
    const { id } = await alarms.api.raise(alarmOf(), { cause: { ...cause, hops: 16 } })
    const round = { cause: { ...cause, effect: 'other', hops: 17 } }
    const text = '17 rules in a row triggered each other, more than 16, the last one at node alarm of task task-1'
    const refused = { code: 'TOO_LARGE', message: expect.stringContaining(text) as unknown }
    await expect(alarms.api.raise(alarmOf(), round)).rejects.toMatchObject(refused)
    await expect(alarms.api.update(id, { status: 'CLEARED' }, round)).rejects.toMatchObject(refused)
    expect(await alarms.api.get(id)).toMatchObject({ count: 1, status: 'ACTIVE' })
    expect(alarms.log).toEqual([`an alarm was not changed: ${text}`, `an alarm was not changed: ${text}`])
  })
})

describe('the cause of an alarm', () => {
  it('is the explanation of the rules at that time, requested once', async () => {
    const { id } = await alarms.api.raise(alarmOf(), { cause })
    await alarms.api.raise(alarmOf(), { cause: { ...cause, effect: 'later' } })
    const answer = await alarms.ask('GET', `/alarm/alarms/${id}/why`)
    expect(answer.json()).toEqual({
      alarm: id,
      raisedBy: 'tester',
      cause,
      explanation: { node: 'alarm', fired: { time: 5 } },
      heldBack: [],
    })
    expect(asked).toEqual([cause])
  })

  it('is only the task and the node when the rules have no explanation any more', async () => {
    const { id } = await alarms.api.raise(alarmOf(), { cause: { ...cause, node: 'forgotten' } })
    expect(await alarms.api.why(id)).toMatchObject({ cause: { node: 'forgotten' }, explanation: null })
    expect(alarms.log).toEqual(['the explanation of an alarm by task task-1 could not be read: Task not found'])
  })

  it.each([
    ['while the store is unavailable', 'away', 'UNAVAILABLE'],
    ['when the rules have stopped', 'stopped', 'CLOSED'],
  ])('is required %s: the effect is rejected and will be repeated', async (_when, node, code) => {
    await expect(alarms.api.raise(alarmOf(), { cause: { ...cause, node } })).rejects.toMatchObject({ code })
    expect((await alarms.api.list({})).total).toBe(0)
  })

  it('is null when no rule raised the alarm', async () => {
    const { id } = await alarms.api.raise(alarmOf())
    expect(await alarms.api.why(id)).toEqual({
      alarm: id,
      raisedBy: 'tester',
      cause: null,
      explanation: null,
      heldBack: [],
    })
  })
})

describe('the engine', () => {
  it('receives every event in order, with the number of rules in its chain', async () => {
    const { id } = await alarms.api.raise(alarmOf(), { cause: { ...cause, hops: 3 } })
    await alarms.api.raise(alarmOf())
    await alarms.api.update(id, { status: 'CLEARED' }, { cause: { ...cause, effect: 'x', hops: 7 } })
    await alarms.service.idle()
    expect(engine.heard).toEqual([
      { source: 'boiler-1', type: 'AlarmRaised', hops: 3 },
      { source: 'boiler-1', type: 'EventOccuredAgain', hops: 0 },
      { source: 'boiler-1', type: 'AlarmUpdated', hops: 7 },
    ])
  })

  it('receives after a restart the events that it missed, and none twice', async () => {
    await alarms.api.raise(alarmOf({ source: { id: 'heard' } }))
    await alarms.service.idle()
    await alarms.service.stop()
    // an alarm is raised between the stop and the start of rules and alarms
    await alarms.api.raise(alarmOf({ source: { id: 'missed' } }))
    expect(engine.heard.map(({ source }) => source)).toEqual(['heard'])
    await alarms.close()
    alarms = await started()
    await alarms.service.idle()
    expect(engine.heard.map(({ source }) => source)).toEqual(['heard', 'missed'])
  })

  it('receives an event again after it rejected it for lack of room', async () => {
    engine.failures = [new AppError('TOO_LARGE', 'full'), new AppError('CLOSED', 'closed')]
    await alarms.api.raise(alarmOf({ source: { id: 'one' } }))
    await alarms.service.idle()
    expect(engine.heard).toEqual([])
    await alarms.api.raise(alarmOf({ source: { id: 'two' } }))
    await alarms.service.idle()
    expect(engine.heard.map(({ source }) => source)).toEqual(['one', 'two'])
  })

  it('receives no event after a rejected one until that one is accepted, even after a crash', async () => {
    await alarms.service.stop()
    for (const id of ['one', 'two', 'three', 'four']) await alarms.api.raise(alarmOf({ source: { id } }))
    const full = (): Error => new AppError('TOO_LARGE', 'full')
    // `two` is rejected; there is room again at once, but the next attempt fails as well
    engine.failing = (source, calls) => (source === 'two' && calls <= 2 ? full() : undefined)
    await alarms.close()
    alarms = await started()
    await alarms.service.idle()
    expect(engine.heard.map(({ source }) => source)).toEqual(['one'])
    await alarms.close()
    alarms = await started()
    await alarms.service.idle()
    expect(engine.heard.map(({ source }) => source)).toEqual(['one', 'two', 'three', 'four'])
  })

  it('receives the events after an invalid one once, in order', async () => {
    await alarms.service.stop()
    for (const id of ['one', 'two', 'three', 'four']) await alarms.api.raise(alarmOf({ source: { id } }))
    engine.failing = (source) => (source === 'two' ? new AppError('VALIDATION', 'no such thing') : undefined)
    await alarms.close()
    alarms = await started()
    await alarms.service.idle()
    expect(engine.heard.map(({ source }) => source)).toEqual(['one', 'three', 'four'])
  })

  it('does not receive an event again that it rejected as invalid', async () => {
    engine.failures = [new AppError('VALIDATION', 'no such thing')]
    await alarms.api.raise(alarmOf({ source: { id: 'one' } }))
    await alarms.api.raise(alarmOf({ source: { id: 'two' } }))
    await alarms.service.idle()
    expect(engine.heard.map(({ source }) => source)).toEqual(['two'])
    expect(alarms.log).toEqual(['the engine rejected alarm event 1: no such thing'])
  })
})
