/** Tasks of thousands of nodes: what the host takes, it keeps, through kill -9 too, and the rest it refuses at once. */
import { describe, expect, it } from 'vitest'
import { cases } from '../support/arbitraries/runs.ts'
import { until } from '../support/until.ts'
import { crashingHosts, type HostProcess } from '../host/host-process.ts'

/** with so many its state is too large for one document of the store */
const LARGE = 2600
/** with so many the task itself is */
const TOO_LARGE = 10_000
const LIVES = cases(2)
const MESSAGES = 3
/** each sensor keeps it: the state has two million characters */
const TEXT = 'x'.repeat(600)

const hosts = crashingHosts()
let host: HostProcess | undefined

/** So many sensors that keep what they hear of one resource, and one that counts and whose counts are stored. */
function large(count: number): object {
  const counter = { label: 's0', name: 'invokeCount', resource: '$' }
  const others = Array.from({ length: count - 1 }, (_, i) => ({ label: `s${i + 1}`, name: 'stream', resource: '$' }))
  const sensors = [counter, ...others]
  const payload = { count: '${nodes.s0.rawData.count}' }
  return {
    sensors,
    actuators: [{ label: 'keep', name: 'storeMessage', properties: { payload, resource: 'counted' } }],
    triggers: [{ sourceLabel: 's0', destinationLabel: 'keep', invocationPolicy: 0 }],
    task: { name: 'large', type: 'reactive', resource: 'boiler', start: true },
  }
}

async function ask(method: string, url: string, body?: object): Promise<{ status: number; text: string }> {
  if (host === undefined) throw new Error('there is no host')
  const headers = { ...host.headers, ...(body && { 'content-type': 'application/json' }) }
  const answer = await fetch(host.url + url, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  return { status: answer.status, text: await answer.text() }
}

async function got<T>(method: string, url: string, body?: object): Promise<T> {
  const { status, text } = await ask(method, url, body)
  if (status >= 300) throw new Error(`${method} ${url} was answered with ${text}`)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

async function stored(): Promise<readonly number[]> {
  const messages = await got<readonly { count: number }[]>('GET', '/resources/counted/messages?limit=100')
  return messages.map(({ count }) => count).reverse()
}

async function deliveredBy(id: string): Promise<readonly string[]> {
  const deliveries = await got<readonly { id: string }[]>('GET', `/api/tasks/${id}/deliveries?status=delivered`)
  return deliveries.map((one) => one.id)
}

describe('a task whose state is too large for one document', () => {
  it('loses nothing by kill -9, and no effect has the id of another, whatever is stopped, removed and made anew', async () => {
    host = await hosts.start()
    const effects = new Set<string>()
    let known = 0
    for (let life = 0; life < LIVES; life++) {
      const { ID: id } = await got<{ ID: string }>('POST', '/api/tasks', large(LARGE))
      const expected: number[] = []
      for (let run = 1; run <= 2; run++) {
        for (let n = 1; n <= MESSAGES; n++) {
          await got('POST', '/resources/boiler/events', { n, text: TEXT })
          expected.push(n)
        }
        await until(async () => (await stored()).length >= known + expected.length)
        await host.kill()
        host = await hosts.start()
        expect(await got('GET', `/api/tasks/${id}`)).toMatchObject({ status: 'running' })
        await got('POST', '/resources/boiler/events', { n: MESSAGES + 1, text: TEXT })
        expected.push(MESSAGES + 1)
        await until(async () => (await stored()).length >= known + expected.length)
        expect((await stored()).slice(known)).toEqual(expected)
        await until(async () => (await deliveredBy(id)).length === expected.length)
        if (run === 1) await got('POST', `/api/tasks/${id}/command/restart`)
      }
      known += expected.length
      for (const effect of await deliveredBy(id)) effects.add(effect)
      expect(effects.size).toBe(known)
      expect(await got('GET', '/health')).toEqual({ status: 'ok' })
      await got('POST', `/api/tasks/${id}/command/stop`)
      await got('DELETE', `/api/tasks/${id}`)
    }
  })
})

describe('a task that is too large itself', () => {
  it('is refused when it is posted, and nothing of it runs', async () => {
    host ??= await hosts.start()
    const { status, text } = await ask('POST', '/api/tasks', large(TOO_LARGE))
    expect([status, text]).toEqual([400, expect.stringContaining('TOO_LARGE')])
    expect(await got('GET', '/api/tasks')).toEqual([])
  })
})
