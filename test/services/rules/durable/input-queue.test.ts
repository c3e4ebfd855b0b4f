/** Inputs on their way: many units are under way at once, and each is applied in its turn (INPUT-1 to INPUT-4). */
import fc from 'fast-check'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Input } from '../../../../src/services/rules/durable/input.ts'
import { InputQueue } from '../../../../src/services/rules/durable/input-queue.ts'
import type { CollectionSpec, Store } from '../../../../src/storage/contract.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import { deferred } from '../../../support/deferred.ts'
import { SlowStore, withCommit } from './support/slow-store.ts'
import { runs } from '../../../support/arbitraries/runs.ts'

const THINGS: CollectionSpec<object> = { name: 'things', version: 1, fields: {} }

const jump = (at: number): Input => ({ k: 'jump', at })

function queueOf(store: Store, apply: (input: Input, position: number) => unknown = () => undefined): InputQueue {
  return new InputQueue(store, { apply, settled: () => undefined })
}

describe('inputs', () => {
  it('are handed to the store at once, and applied in the order in which they came', async () => {
    const slow = new SlowStore([9, 1, 1])
    const applied: number[] = []
    const queue = queueOf(slow.store, ({ at }) => applied.push(at))
    const all = [1, 2, 3].map((at) => queue.add([jump(at)]))
    expect([slow.underWay, queue.size, queue.horizon, queue.lastAt]).toEqual([3, 3, 1, 3])
    await Promise.all(all)
    expect(applied).toEqual([1, 2, 3])
    await queue.idle()
    expect([queue.size, queue.horizon, queue.lastAt]).toEqual([0, Infinity, -Infinity])
  })

  it('are on their way until they are applied, and hold up those behind them until then', async () => {
    const gate = deferred()
    const applied: number[] = []
    const queue = queueOf(openMemory().tenant('acme'), ({ at }) => {
      applied.push(at)
      return at === 1 ? gate.promise : undefined
    })
    const order: string[] = []
    const first = queue.add([{ k: 'later', at: 1, p: 'p' }]).then(() => order.push(`first ${queue.has('later')}`))
    const second = queue.add([jump(2)]).then(() => order.push('second'))
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
    const queue = queueOf(openMemory().tenant('acme'), ({ at }) => {
      if (at === 1) throw new Error('not applied')
      return at === 2 ? Promise.reject(new Error('not applied later')) : at
    })
    const all = await Promise.allSettled([1, 2, 3].map((at) => queue.add([jump(at)])))
    expect(all).toMatchObject([
      { reason: { message: 'not applied' } },
      { reason: { message: 'not applied later' } },
      { value: { given: [3] } },
    ])
  })

  it('of one unit are applied one after the other, all of them when one of them fails', async () => {
    const store = openMemory().tenant('acme')
    const applied: number[] = []
    const queue = queueOf(store, (_input, position) => {
      applied.push(position)
      return position === 2 ? Promise.reject(new Error('the second')) : position
    })
    const own = store.log('messages').appending(0, [{}])
    await expect(queue.add([jump(1), jump(1), jump(1)], [own])).rejects.toThrow('the second')
    expect(await queue.add([jump(2), jump(2)], [own])).toEqual({ given: [4, 5], results: [2] })
    expect([applied, queue.size]).toEqual([[1, 2, 3, 4, 5], 0])
  })

  it('are refused when a hundred thousand wait', async () => {
    const never = deferred<never>()
    const queue = queueOf(withCommit(openMemory().tenant('acme'), () => never.promise))
    for (let i = 0; i < 100_000; i++) void queue.add([jump(i)])
    await expect(queue.add([jump(0)])).rejects.toMatchObject({ code: 'TOO_LARGE' })
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
          const queue: InputQueue = queueOf(slow.store, ({ at }, position) => {
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
            else if (one.kind === 'writes') note(slow.store.commit([messages.appending(0, [at])]), true)
            else if (one.kind === 'bad') note(queue.add([jump(at)], [messages.appending(0, [Number.NaN])]), false)
            else if (one.kind === 'add') {
              const inputs = Array.from({ length: 1 + one.more }, () => jump(at))
              const writes = Array.from({ length: one.writes }, () => messages.appending(0, [at]))
              note(queue.add(inputs, writes), true)
              expected.push(...inputs.map((input) => input.at))
            } else {
              const putting = inner.collection(THINGS).putting(`thing${one.id}`, {}, 'absent')
              note(queue.add([jump(at)], [putting]), !made.has(one.id))
              if (!made.has(one.id)) expected.push(at)
              made.add(one.id)
            }
          }
          expect(await Promise.all(outcomes)).toEqual(expectedOutcomes)
          await queue.idle()
          expect(applied).toEqual(expected.map((at, i) => ({ at, position: i + 1 })))
          const entries = await inner.log('rule_inputs').read(0, 0)
          expect(entries.map(({ body }) => body)).toEqual(expected.map(jump))
          expect([queue.size, queue.horizon]).toEqual([0, Number.POSITIVE_INFINITY])
        },
      ),
      runs(500),
    )
  })
})
