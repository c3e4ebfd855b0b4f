/** Random histories of writes and questions: the medium and the model must say the same all along. */
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Collection, Expectation, Storage, Store } from '../../../src/storage/contract.ts'
import { runs } from '../../support/arbitraries/runs.ts'
import { histories, type Guess, type Step } from './collection-arbitraries.ts'
import { CollectionModel } from './collection-model.ts'
import { failureOf, type Suite } from './medium.ts'
import { THINGS, type Thing } from './things.ts'

export function definesHistories(suite: Suite<Storage>): void {
  suite.fact('any history of writes and questions gives what the model gives', async ({ storage, tenant }) => {
    let count = 0
    await fc.assert(
      fc.asyncProperty(histories, async (steps) => {
        count += 1
        const store = storage.tenant(`${tenant}.${count}`)
        const things = store.collection(THINGS)
        const model = new CollectionModel()
        for (const step of steps) await take(step, store, things, model)
        expect(await things.find({})).toEqual(model.find({}))
        expect(await things.countBy('name')).toEqual(model.countBy('name'))
      }),
      runs(100),
    )
  })
}

async function take(step: Step, store: Store, things: Collection<Thing>, model: CollectionModel): Promise<void> {
  switch (step.kind) {
    case 'put': {
      const expected = expectation(model, step.id, step.guess)
      if (!model.fits(step.id, expected)) return refused(() => things.put(step.id, step.value, expected), [0])
      expect(model.put(step.id, step.value, await things.put(step.id, step.value, expected))).toBeUndefined()
      return
    }
    case 'delete': {
      const expected = expectation(model, step.id, step.guess)
      if (!model.fits(step.id, expected)) return refused(() => things.delete(step.id, expected), [0])
      expect(await things.delete(step.id, expected)).toBe(model.delete(step.id))
      return
    }
    case 'commit':
      return takeCommit(step.writes, store, things, model)
    case 'find': {
      const expected = model.find(step.query)
      expect(await things.find(step.query)).toEqual(expected)
      expect(await things.ids(step.query)).toEqual(expected.map((stored) => stored.id))
      const { where } = step.query
      expect(await things.count(where)).toBe(model.find({ ...(where && { where }), limit: Infinity }).length)
    }
  }
}

async function takeCommit(
  writes: readonly { readonly id: string; readonly value: Thing | undefined; readonly guess: Guess }[],
  store: Store,
  things: Collection<Thing>,
  model: CollectionModel,
): Promise<void> {
  const expected = writes.map((write) => expectation(model, write.id, write.guess))
  const unit = writes.map(({ id, value }, i) =>
    value === undefined ? things.deleting(id, expected[i]) : things.putting(id, value, expected[i]),
  )
  const misfits = writes.flatMap(({ id }, i) => (model.fits(id, expected[i] ?? 'any') ? [] : [i]))
  if (misfits.length > 0) return refused(() => store.commit(unit), misfits)
  const { results } = await store.commit(unit)
  expect(results).toHaveLength(writes.length)
  for (const [i, { id, value }] of writes.entries()) {
    const result = results[i] ?? Number.NaN
    if (value === undefined) expect(result).toBe(Number(model.delete(id)))
    else expect(model.put(id, value, result)).toBeUndefined()
  }
}

async function refused(act: () => unknown, places: readonly number[]): Promise<void> {
  const failure = await failureOf(act)
  expect([failure.code, failure.issues.map((issue) => issue.path)]).toEqual([
    'CONFLICT',
    places.map((place) => `/${place}`),
  ])
}

function expectation(model: CollectionModel, id: string, guess: Guess): Expectation {
  if (guess === 'any' || guess === 'absent') return guess
  const version = model.rows.get(id)?.version ?? (model.highest.get(id) ?? 0) + 1
  return guess === 'current' ? version : Math.max(1, version - 1)
}
