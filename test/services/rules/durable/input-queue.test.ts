/** What arrives in one turn is committed together; who waits for what. */
import fc from 'fast-check'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/kernel/errors.ts'
import type { Input } from '../../../../src/services/rules/durable/input.ts'
import { InputQueue } from '../../../../src/services/rules/durable/input-queue.ts'
import type { CollectionSpec, Store } from '../../../../src/storage/contract.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import { SlowStore, withCommit } from './support/slow-store.ts'
import { runs } from '../../../support/arbitraries/runs.ts'

const THINGS: CollectionSpec<object> = { name: 'things', version: 1, fields: {} }

const jump = (at: number): Input => ({ k: 'jump', at })

function queueOf(store: Store, apply: (input: Input, position: number) => unknown = () => undefined): InputQueue {
  return new InputQueue(store, { apply, settled: () => undefined })
}

describe('writes without an input', () => {
  it('are answered after their commit, while inputs of it are still applied', async () => {
    const store = openMemory().tenant('acme')
    let open: () => void = () => undefined
    const gate = new Promise<void>((resolve) => (open = resolve))
    const queue = queueOf(store, () => gate)
    const log = store.log('messages')
    const order: string[] = []
    const before = queue.addWrites(1, [log.appending(0, [{ n: 1 }])]).then(({ results }) => order.push(`${results[0]}`))
    const input = queue
      .add({ k: 'jump', at: 1 }, [log.appending(0, [{ n: 2 }])])
      .then(({ results }) => order.push(`input ${results[0]}`))
    const after = queue.addWrites(1, [log.appending(0, [{ n: 3 }])]).then(({ results }) => order.push(`${results[0]}`))
    await Promise.all([before, after])
    expect(order).toEqual(['1', '3'])
    open()
    await input
    expect(order).toEqual(['1', '3', 'input 2'])
    await queue.idle()
    expect(queue.size).toBe(0)
  })
})

describe('commits', () => {
  it('do not wait for one another, and are applied in their order', async () => {
    const slow = new SlowStore([9, 1, 1])
    const applied: number[] = []
    const queue = queueOf(slow.store, ({ at }) => applied.push(at))
    const all: Promise<unknown>[] = []
    for (const at of [1, 2, 3]) {
      all.push(queue.addAll(at, [jump(at), jump(at)], []))
      await turn()
    }
    expect(slow.underWay).toBe(3)
    expect(queue.isIdle).toBe(false)
    await Promise.all(all)
    expect(applied).toEqual([1, 1, 2, 2, 3, 3])
    await queue.idle()
    expect(queue.isIdle).toBe(true)
  })

  it('are few at a time, and what comes meanwhile goes together', async () => {
    const slow = new SlowStore([50])
    const queue = queueOf(slow.store)
    const all: Promise<unknown>[] = []
    for (let at = 0; at < 20; at++) {
      all.push(queue.addAll(at, [jump(at)], []))
      await turn()
    }
    await Promise.all(all)
    expect([slow.most, slow.commits]).toEqual([4, 5])
  })

  it('that may be refused are under way alone', async () => {
    const slow = new SlowStore([3, 3, 3])
    const queue = queueOf(slow.store)
    const all = [queue.addAll(1, [jump(1)], [])]
    expect(slow.underWay).toBe(1)
    await turn()
    all.push(queue.addAll(2, [jump(2)], [slow.inner.collection(THINGS).putting('a', {}, 'absent')]))
    await turn()
    all.push(queue.addAll(3, [jump(3)], []))
    await Promise.all(all)
    expect([slow.most, slow.commits]).toEqual([1, 2])
    const later = queue.addAll(4, [jump(4)], [slow.inner.collection(THINGS).putting('b', {}, 'absent')])
    await turn()
    await Promise.all([later, queue.addAll(5, [jump(5)], [])])
    expect([slow.most, slow.commits]).toEqual([1, 4])
  })

  it('that are refused too late to be tried again in their place are refused whole', async () => {
    const { inner, store } = new SlowStore()
    const late = withCommit(store, async (writes) => {
      const isBad = writes.length === 3
      if (!isBad) return store.commit(writes)
      await turn()
      await turn()
      throw new AppError('TOO_LARGE', 'an entry is too large')
    })
    const applied: number[] = []
    const queue = queueOf(late, ({ at }) => applied.push(at))
    const append = () => [inner.log('messages').appending(0, [{}])]
    const outcome = Promise.allSettled([queue.add(jump(1), append()), queue.add(jump(2), append())])
    await turn()
    await turn()
    await queue.addAll(3, [jump(3)], [])
    expect((await outcome).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(applied).toEqual([3])
  })
})

describe('any sequence of inputs and writes', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('add' as const), writes: fc.nat(2) }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('addAll' as const), inputs: fc.integer({ min: 1, max: 3 }) }),
    },
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
            else if (one.kind === 'writes') note(queue.addWrites(at, [messages.appending(0, [at])]), true)
            else if (one.kind === 'bad') note(queue.add(jump(at), [messages.appending(0, [Number.NaN])]), false)
            else if (one.kind === 'addAll') {
              const inputs = Array.from({ length: one.inputs }, () => jump(at))
              note(queue.addAll(at, inputs, []), true)
              expected.push(...inputs.map((input) => input.at))
            } else if (one.kind === 'add') {
              note(
                queue.add(
                  jump(at),
                  Array.from({ length: one.writes }, () => messages.appending(0, [at])),
                ),
                true,
              )
              expected.push(at)
            } else {
              const putting = inner.collection(THINGS).putting(`thing${one.id}`, {}, 'absent')
              note(queue.add(jump(at), [putting]), !made.has(one.id))
              if (!made.has(one.id)) expected.push(at)
              made.add(one.id)
            }
          }
          expect(await Promise.all(outcomes)).toEqual(expectedOutcomes)
          await queue.idle()
          expect(applied).toEqual(expected.map((at, i) => ({ at, position: i + 1 })))
          const entries = await inner.log('rule_inputs').read(0, 0)
          expect(entries.map(({ body }) => body)).toEqual(expected.map(jump))
          expect([queue.size, queue.horizon, queue.isIdle]).toEqual([0, Number.POSITIVE_INFINITY, true])
        },
      ),
      runs(500),
    )
  })
})
