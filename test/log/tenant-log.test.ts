/** Units on their way: many are under way at once, and each is applied and followed in its turn (LOG-1 to LOG-5). */
import fc from 'fast-check'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type LogInput, type NewEntry, TenantLog } from '../../src/log/tenant-log.ts'
import type { CollectionSpec, Store, Write } from '../../src/storage/contract.ts'
import { openMemory } from '../../src/storage/memory/open-memory.ts'
import { SlowStore, withCommit } from '../services/rules/durable/support/slow-store.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { deferred } from '../support/deferred.ts'

const THINGS: CollectionSpec<object> = { name: 'things', version: 1, fields: {} }

const jump = (at: number): LogInput => ({ k: 'jump', at })

/** A log whose units are inputs alone. */
function queueOf(store: Store, apply: (input: LogInput, position: number) => unknown = () => undefined) {
  const log = new TenantLog(store)
  log.attach({ apply, settled: () => undefined }, 0)
  const add = (inputs: readonly LogInput[], writes: readonly Write[] = []) =>
    log.add({ entries: inputs.map((input): NewEntry => ({ body: { ...input }, input })), writes })
  return { log, add }
}

describe('inputs', () => {
  it('are handed to the store at once, and applied in the order in which they came', async () => {
    const slow = new SlowStore([9, 1, 1])
    const applied: number[] = []
    const { log: queue, add } = queueOf(slow.store, ({ at }) => applied.push(at))
    const all = [1, 2, 3].map((at) => add([jump(at)]))
    expect([slow.underWay, queue.size, queue.horizon, queue.lastAt]).toEqual([3, 3, 1, 3])
    await Promise.all(all)
    expect(applied).toEqual([1, 2, 3])
    await queue.idle()
    expect([queue.size, queue.horizon, queue.lastAt]).toEqual([0, Infinity, -Infinity])
  })

  it('are on their way until they are applied, and hold up those behind them until then', async () => {
    const gate = deferred()
    const applied: number[] = []
    const { log: queue, add } = queueOf(openMemory().tenant('acme'), ({ at }) => {
      applied.push(at)
      return at === 1 ? gate.promise : undefined
    })
    const order: string[] = []
    const first = add([{ k: 'later', at: 1 }]).then(() => order.push(`first ${queue.has('later')}`))
    const second = add([jump(2)]).then(() => order.push('second'))
    await turn()
    expect([applied, queue.has('later'), queue.has('jump'), queue.horizon]).toEqual([[1], true, true, 1])
    gate.resolve()
    await Promise.all([first, second])
    expect([order, applied]).toEqual([
      ['first false', 'second'],
      [1, 2],
    ])
  })

  it('whose application fails are refused, and those after them are applied', async () => {
    const { add } = queueOf(openMemory().tenant('acme'), ({ at }) => {
      if (at === 1) throw new Error('not applied')
      return at === 2 ? Promise.reject(new Error('not applied later')) : at
    })
    const all = await Promise.allSettled([1, 2, 3].map((at) => add([jump(at)])))
    expect(all).toMatchObject([
      { reason: { message: 'not applied' } },
      { reason: { message: 'not applied later' } },
      { value: { answers: [3] } },
    ])
  })

  it('of one unit are applied one after the other, all of them when one of them fails', async () => {
    const store = openMemory().tenant('acme')
    const applied: number[] = []
    const { log: queue, add } = queueOf(store, (_input, position) => {
      applied.push(position)
      return position === 2 ? Promise.reject(new Error('the second')) : position
    })
    const own = store.log('messages').appending([{}])
    await expect(add([jump(1), jump(1), jump(1)], [own])).rejects.toThrow('the second')
    expect(await add([jump(2), jump(2)], [own])).toEqual({ answers: [4, 5], results: [2] })
    expect([applied, queue.size]).toEqual([[1, 2, 3, 4, 5], 0])
  })

  it('are refused when a hundred thousand wait', async () => {
    const never = deferred<never>()
    const { add } = queueOf(withCommit(openMemory().tenant('acme'), () => never.promise))
    for (let i = 0; i < 100_000; i++) void add([jump(i)])
    await expect(add([jump(0)])).rejects.toMatchObject({ code: 'TOO_LARGE' })
  })
})

describe('units', () => {
  it('are followed in the order of the log when all before them are applied, those without inputs among them', async () => {
    const slow = new SlowStore([9, 1, 1, 1])
    const gate = deferred()
    const { log, add } = queueOf(slow.store, () => gate.promise)
    const heard: string[] = []
    log.followOthers(({ first, last }) => heard.push(`others ${first}-${last}`))
    const kept = (name: string, count: number): Promise<unknown> =>
      log.add({
        entries: Array.from({ length: count }, () => ({ body: { k: 'data' } })),
        followed: ({ first, last }) => heard.push(`${name} ${first}-${last}`),
      })
    const all = [kept('a', 2), add([jump(1)]), kept('b', 1), kept('nothing', 0)]
    expect([log.size, log.horizon]).toEqual([1, 1])
    await all[0]
    await turn()
    expect([heard, log.position]).toEqual([['a 1-2'], 3])
    gate.resolve()
    await Promise.all(all)
    expect([heard, log.position, log.horizon]).toEqual([['a 1-2', 'others 3-3', 'b 4-4', 'nothing 0-0'], 4, Infinity])
  })

  it('that are refused have no followers, and delay no others', async () => {
    const { log } = queueOf(openMemory().tenant('acme'))
    const heard: string[] = []
    const bad = log.add({ entries: [{ body: 1n as never }], followed: () => heard.push('bad') })
    const good = log.add({ entries: [{ body: {} }], followed: () => heard.push('good') })
    await expect(bad).rejects.toMatchObject({ code: 'VALIDATION' })
    await good
    expect(heard).toEqual(['good'])
  })

  it('whose inputs cannot be applied are in the log, and followed', async () => {
    const { log } = queueOf(openMemory().tenant('acme'), () => {
      throw new Error('not applied')
    })
    const heard: number[] = []
    const input = jump(1)
    const unit = log.add({ entries: [{ body: { ...input }, input }], followed: ({ last }) => heard.push(last) })
    await expect(unit).rejects.toThrow('not applied')
    expect(heard).toEqual([1])
  })
})

describe('any sequence of inputs and writes', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('add' as const), writes: fc.nat(2), more: fc.nat(2) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('putting' as const), id: fc.nat(2) }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'bad' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'writes' as const }) },
    { weight: 3, arbitrary: fc.constant({ kind: 'turn' as const }) },
  )

  it('ends as if one had been committed after the other', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 60 }),
        fc.array(fc.nat(4), { maxLength: 40 }),
        async (steps, turns) => {
          const slow = new SlowStore(turns)
          const { inner } = slow
          const applied: { readonly at: number; readonly position: number }[] = []
          const { log: queue, add } = queueOf(slow.store, ({ at }, position) => {
            expect(queue.horizon, 'time may not pass it').toBe(at)
            applied.push({ at, position })
            return at % 5 === 0 ? turn() : undefined
          })
          const messages = inner.log('messages')
          const made = new Set<number>()
          const expected: number[] = []
          const outcomes: Promise<boolean>[] = []
          const expectedOutcomes: boolean[] = []
          const note = (adding: Promise<unknown>, isGood: boolean): void => {
            outcomes.push(
              adding.then(
                () => true,
                () => false,
              ),
            )
            expectedOutcomes.push(isGood)
          }
          for (const [at, one] of steps.entries()) {
            if (one.kind === 'turn') await turn()
            else if (one.kind === 'writes') note(slow.store.commit([messages.appending([at])]), true)
            else if (one.kind === 'bad') note(add([jump(at)], [messages.appending([1n as never])]), false)
            else if (one.kind === 'add') {
              const inputs = Array.from({ length: 1 + one.more }, () => jump(at))
              const writes = Array.from({ length: one.writes }, () => messages.appending([at]))
              note(add(inputs, writes), true)
              expected.push(...inputs.map((input) => input.at))
            } else {
              const putting = inner.collection(THINGS).putting(`thing${one.id}`, {}, 'absent')
              note(add([jump(at)], [putting]), !made.has(one.id))
              if (!made.has(one.id)) expected.push(at)
              made.add(one.id)
            }
          }
          expect(await Promise.all(outcomes)).toEqual(expectedOutcomes)
          await queue.idle()
          expect(applied).toEqual(expected.map((at, i) => ({ at, position: i + 1 })))
          const entries = await inner.log('log').read(0)
          expect(entries.map(({ body }) => body)).toEqual(expected.map(jump))
          expect([queue.size, queue.horizon]).toEqual([0, Number.POSITIVE_INFINITY])
        },
      ),
      runs(500),
    )
  })
})
