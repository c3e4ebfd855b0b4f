import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type WorkerView, workerPages } from '../../src/kafka/index.ts'

const closing: (() => void)[] = []
afterEach(() => closing.splice(0).forEach((close) => close()))

const NO_WORK: WorkerView = {
  counts: { processed: 0 },
  partitions: () => [],
  tasks: () => [],
  invalid: () => [],
  owners: () => new Map(),
  partitionOf: (task) => (task === 'hot' ? 3 : undefined),
  runs: () => false,
  explain: () => expect.unreachable(),
}

/** Asks a worker that knows of a task in partition 3, whose owner is at `url`. */
async function explain(task: string, url: string | undefined, passOn: typeof fetch, headers = {}) {
  const owners: WorkerView['owners'] = () => new Map([[3, { name: 'w2', version: '1.0.0', ...(url && { url }) }]])
  const worker = { ...NO_WORK, owners }
  const server = workerPages({ worker: () => worker, trouble: () => undefined, fetch: passOn }).listen(0, '127.0.0.1')
  closing.push(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const answer = await fetch(`http://127.0.0.1:${port}/explain?task=${task}&node=a`, { headers })
  const { code, message } = (await answer.json()) as { readonly code?: string; readonly message?: string }
  return { status: answer.status, retry: answer.headers.get('retry-after'), code, message }
}

const refuse: typeof fetch = () => Promise.reject(new Error('connect ECONNREFUSED'))
const MOVES = 'partition 3 of task hot moves to another worker; ask again in a second'
const unavailable = (message: string) => ({ status: 503, retry: '1', code: 'UNAVAILABLE', message })

describe('explanation of a task of another worker', () => {
  it('is unavailable while no worker has announced its address', async () => {
    expect(await explain('hot', undefined, refuse)).toEqual(unavailable(MOVES))
  })

  it('is unavailable when the owner has just lost the partition', async () => {
    expect(await explain('hot', 'http://w1', refuse, { 'rx-passed': '1' })).toEqual(unavailable(MOVES))
  })

  it('is unavailable when the owner does not answer', async () => {
    const message = `${MOVES}: its owner did not answer (connect ECONNREFUSED)`
    expect(await explain('hot', 'http://w2', refuse)).toEqual(unavailable(message))
  })

  it('comes from the owner', async () => {
    const passOn: typeof fetch = (url) => Promise.resolve(Response.json({ message: url }))
    expect(await explain('hot', 'http://w2', passOn)).toMatchObject({
      status: 200,
      message: 'http://w2/explain?task=hot&node=a',
    })
  })

  it('is not found for a task that is not published', async () => {
    expect(await explain('cold', 'http://w2', refuse)).toMatchObject({ status: 404, code: 'NOT_FOUND' })
  })
})
