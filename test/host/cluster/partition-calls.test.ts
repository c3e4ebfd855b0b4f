import { fastify, type FastifyInstance } from 'fastify'
import { afterEach, expect, it } from 'vitest'
import type { TenantLocation } from '../../../src/cluster/placement/placement.ts'
import { Hops, HOP_HEADER } from '../../../src/host/cluster/hop.ts'
import { PartitionCalls } from '../../../src/host/cluster/partition-calls.ts'
import type { PartitionQuestion } from '../../../src/host/cluster/partition-questions.ts'
import { errorHandler } from '../../../src/host/errors.ts'
import { plainErrorBody } from '../../../src/host/failure.ts'
import { machineTimers } from '../../../src/host/timers.ts'
import { AppError } from '../../../src/kernel/errors.ts'

const HERE: TenantLocation = { kind: 'here', term: 1 }
const QUESTION: PartitionQuestion = { of: 'rules', question: { ask: 'rebind', resource: 'r' } }
const hops = new Hops(Buffer.from('secret of all hosts'), () => 1_000)
const open: FastifyInstance[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((app) => app.close()))
})

/** Starts a host for questions. `places`: where it believes the partition to be; `answer`: its result. */
async function hostAt(places: TenantLocation[], answer: () => unknown = () => 7) {
  const asked: PartitionQuestion[] = []
  const calls = new PartitionCalls({
    // the last place applies from then on
    place: () => (places.length > 1 ? places.shift() : places[0]) ?? HERE,
    opened: async () => ({
      answer: async (question) => {
        asked.push(question)
        return answer()
      },
    }),
    hops,
    timers: machineTimers,
    requestMs: 5_000,
  })
  const app = fastify()
  app.setErrorHandler(errorHandler(plainErrorBody))
  await calls.addTo(app)
  open.push(app)
  return { calls, asked, url: await app.listen({ host: '127.0.0.1', port: 0 }) }
}

// Holds PARTCALLS-1
it('a question goes to the host of the partition, again if that host has lost it, and gets one response', async () => {
  const { url, asked } = await hostAt([{ kind: 'unowned', term: 1 }, HERE])
  const { calls } = await hostAt([
    { kind: 'unowned', term: 1 },
    { kind: 'elsewhere', term: 1, url },
  ])
  expect(await calls.ask('acme', 1, QUESTION)).toBe(7)
  expect(asked).toEqual([QUESTION])
})

it('a rejection returns as it is there', async () => {
  const refusing = await hostAt([HERE], () => {
    throw new AppError('WRONG_STATUS', 'it does not run')
  })
  const { calls } = await hostAt([{ kind: 'elsewhere', term: 1, url: refusing.url }])
  await expect(calls.ask('acme', 1, QUESTION)).rejects.toMatchObject({
    code: 'WRONG_STATUS',
    message: 'it does not run',
  })
  expect(refusing.asked).toHaveLength(1)
})

// Holds PARTCALLS-1
it('the call of a plug, which has the id of its effect, is made again at the host that has the partition next', async () => {
  const call: PartitionQuestion = { of: 'plugs', port: 'alarms', method: 'raise', args: [{}, { effect: 'e1' }] }
  const ending = await hostAt([HERE], () => {
    throw new AppError('FENCED', 'another host has it')
  })
  const next = await hostAt([HERE])
  const places: TenantLocation[] = [ending, next].map(({ url }) => ({ kind: 'elsewhere', term: 1, url }))
  const { calls } = await hostAt([...places])
  expect(await calls.ask('acme', 0, call)).toBe(7)
  expect([ending.asked, next.asked]).toEqual([[call], [call]])
  const other = await hostAt([...places])
  await expect(other.calls.ask('acme', 0, QUESTION)).rejects.toMatchObject({ code: 'FENCED' })
  expect(next.asked).toHaveLength(1)
})

// Holds PARTCALLS-3
it('requests that wait for a stalled host are rejected as soon as the host counts as gone', async () => {
  let isAsked: () => void = () => undefined
  const asked = new Promise<void>((resolve) => (isAsked = resolve))
  const still = await hostAt([HERE], () => {
    isAsked()
    return new Promise(() => undefined)
  })
  const { calls } = await hostAt([{ kind: 'elsewhere', term: 1, url: still.url }])
  const answer = calls.ask('acme', 1, QUESTION)
  void asked.then(() => calls.looked(new Set(['http://another'])))
  await expect(answer).rejects.toMatchObject({ code: 'FENCED' })
})

// Holds PARTCALLS-4
it('a partition that is given away does not wait for another that no host has, but for what plugs have called', async () => {
  const { url, asked } = await hostAt([HERE])
  const unowned: TenantLocation = { kind: 'unowned', term: 1 }
  const ending = AbortSignal.abort()
  const { calls } = await hostAt([unowned, { kind: 'elsewhere', term: 1, url }])
  await expect(calls.ask('acme', 0, QUESTION, ending)).rejects.toMatchObject({ code: 'FENCED' })
  // another host owns this partition, so its question is sent once more
  expect(await calls.ask('acme', 0, QUESTION, ending)).toBe(7)
  const call: PartitionQuestion = { of: 'service', service: 'functions', method: 'call', args: ['double', '1', {}, {}] }
  const other = await hostAt([unowned, { kind: 'elsewhere', term: 1, url }])
  expect(await other.calls.ask('acme', 0, call, ending)).toBe(7)
  expect(asked).toEqual([QUESTION, call])
})

// Holds PARTCALLS-2
it('a body other than the signed one is rejected', async () => {
  const { url, asked } = await hostAt([HERE])
  const path = '/cluster/partitions?body=of-another'
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/vnd.reflexarc.question',
      [HOP_HEADER]: hops.sign('POST', path, { count: 1, term: 1 }),
    },
    body: JSON.stringify({ partition: 'acme', question: QUESTION }),
  })
  expect([answer.status, asked]).toEqual([403, []])
})
