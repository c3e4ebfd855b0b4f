/** Tests hosts that do not fit the cluster they want to join: each receives all problems in one error. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { AppError } from '../../../src/kernel/errors.ts'
import { basic } from '../sample-host.ts'
import { memoryHosts, type MemoryHosts } from './memory-hosts.ts'

let cluster: MemoryHosts
beforeAll(async () => {
  cluster = await memoryHosts(1)
})
afterAll(() => cluster.stop())

it('a host that keeps objects elsewhere, has another time and an address without an answer does not join', async () => {
  const wrong = { objects: 's3://somewhere-else', advertise: 'http://127.0.0.1:1' }
  const now = (): number => Date.now() - 60_000
  const { message } = await cluster.start(wrong, { now }).then(
    () => expect.fail('it should have been refused'),
    (error: unknown) => error as AppError,
  )
  expect(message).toMatch(
    /^This host cannot join the cluster: the clock of this machine differs by (?:59|60)\d{3} ms from the clock of the database/,
  )
  expect(message).toContain(
    `the host at ${cluster.hosts[0]?.url} stores contents of objects in files, but this host in s3://`,
  )
  expect(message).toContain('start all hosts with the same --objects')
  expect(message).toContain('http://127.0.0.1:1 does not respond')
})

it('a host is ready for any caller once it is a member, not before', async () => {
  const seen: unknown[] = []
  const real = globalThis.fetch
  // a host calls its own address before it joins
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const answer = await real(input, init)
    if (typeof input === 'string' && input.endsWith('/health')) seen.push([answer.status, await answer.clone().json()])
    return answer
  })
  const host = await cluster.start()
  spy.mockRestore()
  expect(seen).toEqual([[503, { status: 'starting' }]])
  expect((await fetch(`${host.url}/health`)).status).toBe(200)
})

it('a host whose clock is set while it runs continues, and reports it at /health', async () => {
  let set = 0
  const host = await cluster.start({}, { now: () => Date.now() + set })
  const health = async (): Promise<string> => (await fetch(`${host.url}/health`)).text()
  expect(await health()).not.toContain('apart')
  set = 5_000
  await expect.poll(health, { timeout: 20_000 }).toContain('ms from the clock of the database; synchronize both with')
  const answer = await fetch(`${host.url}/`, { headers: { authorization: basic('root', 's') } })
  expect(answer.status).toBe(200)
  set = 0
  await expect.poll(health, { timeout: 20_000 }).not.toContain('apart')
})
