/** Tests that waiting calls are merged into one, and that none suffers from another's failure. */
import { expect, it } from 'vitest'
import type { ModelCall } from '../../../src/services/models/driver.ts'
import { CallBatcher } from '../../../src/services/models/call-batcher.ts'
import { deferred } from '../../support/deferred.ts'

const call = (...instances: number[]): ModelCall => ({ operation: 'predict', instances })
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function batcher(send?: (call: ModelCall) => Promise<ModelCall['instances']>) {
  const sent: ModelCall['instances'][] = []
  const made = new CallBatcher({
    breathe: nextTurn,
    send: (one) => {
      sent.push(one.instances)
      return send === undefined ? Promise.resolve(one.instances) : send(one)
    },
  })
  return { made, sent }
}

it('calls of one turn form one batch, and each receives its own part', async () => {
  const { made, sent } = batcher()
  expect(await Promise.all([made.call(call(1)), made.call(call(2, 3)), made.call(call(4))])).toEqual([[1], [2, 3], [4]])
  expect(sent).toEqual([[1, 2, 3, 4]])
})

it('calls that arrive during a batch form the next one', async () => {
  const first = deferred<void>()
  const { made, sent } = batcher(async ({ instances }) => {
    if (instances[0] === 1) await first.promise
    return instances
  })
  const one = made.call(call(1))
  await nextTurn()
  const others = [made.call(call(2)), made.call(call(3))]
  await nextTurn()
  expect(sent).toEqual([[1]])
  first.resolve()
  expect(await Promise.all([one, ...others])).toEqual([[1], [2], [3]])
  expect(sent).toEqual([[1], [2, 3]])
})

it('calls with different options are in separate batches', async () => {
  const { made, sent } = batcher()
  const probabilities: ModelCall = { ...call(2), probabilities: true }
  await Promise.all([made.call(call(1)), made.call(probabilities), made.call(call(3))])
  expect(sent).toEqual([[1, 3], [2]])
})

it('a failing call does not fail the others', async () => {
  const { made, sent } = batcher(({ instances }) =>
    instances.includes(2) ? Promise.reject(new Error('two')) : Promise.resolve(instances),
  )
  const settled = await Promise.allSettled([made.call(call(1)), made.call(call(2)), made.call(call(3))])
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(sent).toEqual([[1, 2, 3], [1], [2], [3]])
})

it('calls beyond the limit of the queue are rejected', async () => {
  const { made } = batcher()
  const large = Array.from({ length: 30_000 }, () => 0)
  const first = made.call(call(...large))
  await expect(made.call(call(...large))).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  expect(await first).toHaveLength(30_000)
})
