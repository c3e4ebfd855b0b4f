/**
 * Tests a tenant whose partitions belong to different hosts: any host answers as if a single host owned the whole
 * tenant.
 */
import { scheduler } from 'node:timers/promises'
import { connectAsync, type MqttClient } from 'mqtt'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../../src/client.ts'
import { fenceOf } from '../../../src/host/cluster/partition-counts.ts'
import { raisePartitions } from '../../../src/host/cluster/raise-partitions.ts'
import { type RunningHost } from '../../../src/host/running-host.ts'
import type { Json } from '../../../src/kernel/json.ts'
import { partitionOf, partitionOfTask } from '../../../src/cluster/partitions/partition.ts'
import { FENCES } from '../../../src/storage/fence-store.ts'
import { openAnswer } from '../../services/broker/support/open-answer.ts'
import { basic } from '../sample-host.ts'
import { memoryHosts, type MemoryHosts } from './memory-hosts.ts'

interface Task {
  readonly ID: string
  readonly status: string
  readonly invocationCount: number
  readonly nodes?: readonly { readonly mostLikelyState: { readonly state: string } | null }[]
}

const COUNT = 4
const TENANT = 'acme'
const RESOURCES = Array.from({ length: 12 }, (_, n) => `pump-${n}`)

function homeOf(resource: string): number {
  return partitionOf(resource, COUNT)
}

function stateOf({ nodes = [] }: Task): string | undefined {
  return nodes[0]?.mostLikelyState?.state
}

/**
 * Returns a reactive rule over several resources, with an alarm when the first one's value exceeds 10, at most once a
 * minute.
 */
function ruleOn(resource: string, ...others: readonly string[]): Json {
  const sensors = [resource, ...others].map((heard, n) => ({
    label: `s${n}`,
    name: 'streamingDataSensor',
    resource: n === 0 ? '$' : heard,
    properties: { parameter: 'x', threshold: 10 },
  }))
  const actuators = [
    {
      label: 'raise',
      name: 'createAlarm',
      properties: { type: 'HIGH', text: `${resource} is high`, severity: 'MAJOR' },
    },
  ]
  const triggers = sensors.map(({ label }) => {
    return { sourceLabel: label, destinationLabel: 'raise', statesTrigger: ['Above'], invocationPolicy: 60 }
  })
  return { sensors, actuators, triggers, task: { name: `watch ${resource}`, resource } }
}

describe('a tenant of four partitions at two hosts', () => {
  let cluster: MemoryHosts
  let hosts: readonly RunningHost[] = []
  const request = async (at: number, method: string, path: string, body?: Json, more: object = {}): Promise<Response> =>
    fetch((hosts[at % hosts.length]?.url ?? '') + path, {
      method,
      headers: {
        authorization: basic('me', 's'),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...more,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const ask = async <T = Json>(
    at: number,
    method: string,
    path: string,
    body?: Json,
    more: object = {},
  ): Promise<T> => {
    const answer = await request(at, method, path, body, more)
    const text = await answer.text()
    expect(answer.status, `${method} ${path}: ${text}`).toBeLessThan(300)
    return (text === '' ? undefined : JSON.parse(text)) as T
  }

  beforeAll(async () => {
    cluster = await memoryHosts(2, { mqtt: 0, key: 'me', tenant: TENANT, functions: 'off' })
    hosts = cluster.hosts
    await ask(0, 'POST', `/resources/${RESOURCES[0]}/events`, { x: 1 })
    await raisePartitions(cluster.storage, TENANT, COUNT)
    const holders = async (): Promise<readonly string[]> => {
      const fences = cluster.storage.tenant(TENANT).collection(FENCES)
      const names = Array.from({ length: COUNT }, (_, number) => fenceOf(number))
      return (await fences.getMany(names)).map(({ value }) => value.holder)
    }
    while (!(await holders()).every((holder) => holder.startsWith('http'))) await scheduler.wait(20)
  })
  afterAll(() => cluster.stop())

  const ids: string[] = []

  it('has tasks in the partitions of their resources, made and shown at any host', async () => {
    expect(new Set(RESOURCES.map(homeOf)).size).toBe(COUNT)
    for (const [n, resource] of RESOURCES.entries()) {
      const { ID } = await ask<{ ID: string }>(n, 'POST', '/api/tasks', ruleOn(resource))
      ids.push(ID)
      expect(partitionOfTask(ID, COUNT)).toBe(homeOf(resource))
    }
    for (const [n, resource] of RESOURCES.entries()) await ask(n, 'POST', `/resources/${resource}/events`, { x: n })
    for (const [n, id] of ids.entries()) {
      const task = await ask<Task>(n + 1, 'GET', `/api/tasks/${id}`)
      expect([task.invocationCount, stateOf(task)]).toEqual([1, n > 10 ? 'Above' : n === 10 ? 'Equal' : 'Below'])
    }
  })

  it('returns the same lists at each host, with what runs in other partitions', async () => {
    const [one, two] = await Promise.all(
      [0, 1].map((at) => ask<readonly Task[]>(at, 'GET', '/api/tasks?hits=5&startIndex=3')),
    )
    expect(one).toEqual(two)
    expect(one?.map(({ ID }) => ID)).toEqual(ids.toReversed().slice(3, 8))
    expect(one?.map(({ invocationCount }) => invocationCount)).toEqual([1, 1, 1, 1, 1])
    const found = await ask<{ values: { id: string }[] }>(1, 'GET', '/api/resources?limit=100')
    expect(found.values.map(({ id }) => id).sort()).toEqual([...RESOURCES].sort())
  })

  it('takes messages of many resources in one array, and answers as one host does', async () => {
    const timestamp = Date.now()
    const body = RESOURCES.map((resource, n) => ({ resource, x: 20 + n, timestamp }))
    const answer = await ask(1, 'POST', '/messages', body)
    expect(answer).toEqual({ message: `Published ${body.length} messages async`, content: body })
    for (const [n, resource] of RESOURCES.entries()) {
      expect(await ask(n, 'GET', `/resources/${resource}/current`)).toMatchObject({ x: 20 + n, timestamp })
      expect(stateOf(await ask<Task>(n, 'GET', `/api/tasks/${ids[n]}`))).toBe('Above')
    }
    const key = { 'idempotency-key': 'once' }
    for (const at of [0, 1]) await ask(at, 'POST', '/messages', [{ resource: RESOURCES[1] ?? '', x: 1 }], key)
    expect(await ask<Task>(0, 'GET', `/api/tasks/${ids[1]}`)).toMatchObject({ invocationCount: 3 })
  })

  it('keeps alarms that tasks of all partitions raise in one place', async () => {
    const alarms = async (at: number) =>
      ask<{ alarms: { source: { id: string } }[] }>(at, 'GET', '/alarm/alarms?size=100')
    while ((await alarms(0)).alarms.length < RESOURCES.length) await scheduler.wait(20)
    const [one, two] = await Promise.all([alarms(0), alarms(1)])
    // links name the host that was asked
    const unlinked = (list: object) => JSON.stringify(list).replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, '')
    expect(unlinked(one)).toEqual(unlinked(two))
    expect(one.alarms.map(({ source }) => source.id).sort()).toEqual([...RESOURCES].sort())
  })

  it('changes tasks of all partitions in one operation', async () => {
    const { entity } = await ask<{ entity: { id: string } }>(0, 'POST', '/api/batch', {
      entity: 'task',
      action: 'stop',
      query: { status: 'running' },
    })
    const status = () => ask<{ finishedTime?: string; results?: object }>(1, 'GET', `/api/batch/${entity.id}`)
    while ((await status()).finishedTime === undefined) await scheduler.wait(20)
    const tasks = await ask<readonly Task[]>(1, 'GET', '/api/tasks?hits=100')
    expect(tasks.map((task) => task.status)).toEqual(RESOURCES.map(() => 'stopped'))
    // the partition that ran the task counts its invocations
    expect(tasks.every(({ invocationCount }) => invocationCount > 1)).toBe(true)
    for (const [n, id] of ids.entries()) await ask(n, 'POST', `/api/tasks/${id}/command/start`)
  })

  it('wakes tasks of any partition by changes of objects', async () => {
    const far = RESOURCES.find((resource) => ![0, homeOf('assets')].includes(homeOf(resource))) ?? ''
    const sensors = [{ label: 'put', name: 'objectEvent', resource: 'assets', properties: { events: 'put' } }]
    const { ID } = await ask<{ ID: string }>(0, 'POST', '/api/tasks', {
      sensors,
      task: { name: 'files', resource: far },
    })
    expect(partitionOfTask(ID, COUNT)).toBe(homeOf(far))
    const client = createClient({ url: hosts[1]?.url ?? '', credentials: { key: 'me', secret: 's' } })
    await client.objects.put('assets', 'a.txt', 'hello')
    const task = () => ask<Task>(1, 'GET', `/api/tasks/${ID}`)
    while ((await task()).invocationCount === 0) await scheduler.wait(20)
    expect(stateOf(await task())).toBe('Put')
    await ask(1, 'DELETE', `/api/tasks/${ID}?forceStop=true`)
  })

  // Holds MERGED-1
  it('reports the messages of all partitions in one stream at any host', async () => {
    for (const at of [0, 1]) {
      await using stream = await openAnswer(`${hosts[at]?.url}/messages`, {
        authorization: basic('me', 's'),
        accept: 'application/x-ndjson',
      })
      for (const [n, resource] of RESOURCES.entries())
        await ask(n, 'POST', `/resources/${resource}/events`, { x: 1, mark: `${at}.${n}.` })
      for (const n of RESOURCES.keys()) await stream.until(`"${at}.${n}."`)
      const told = [...stream.text.matchAll(/"resource":"([^"]*)"/g)].map(([, resource = '']) => resource)
      expect(told.sort()).toEqual([...RESOURCES].sort())
    }
  })

  // Holds MERGED-2
  it('sends a reader that resumes at the other host what came since, each message once', async () => {
    const sse = { authorization: basic('me', 's'), accept: 'text/event-stream' }
    const read = (at: number, id?: string) =>
      openAnswer(`${hosts[at]?.url}/messages`, { ...sse, ...(id !== undefined && { 'last-event-id': id }) })
    const post = async (mark: string): Promise<void> => {
      for (const [n, resource] of RESOURCES.entries())
        await ask(n, 'POST', `/resources/${resource}/events`, { x: 1, mark: `${mark}.${n}.` })
    }
    const marksOf = (text: string) => [...text.matchAll(/"mark":"([^"]*)"/g)].map(([, mark = '']) => mark)
    const all = (mark: string) => RESOURCES.map((_, n) => `${mark}.${n}.`)

    await using first = await read(0)
    await post('seen')
    for (const mark of all('seen')) await first.until(`"${mark}"`)
    const ids = [...first.text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id)
    const seen = marksOf(first.text)
    await post('away')
    for (const [at, place] of [0, 5, RESOURCES.length - 1].entries()) {
      await using again = await read(at % 2 === 0 ? 1 : 0, ids[place])
      for (const mark of all('away')) await again.until(`"${mark}"`)
      expect(again.text).not.toContain('gap')
      expect(marksOf(again.text).sort()).toEqual([...seen.slice(place + 1), ...all('away')].sort())
      // ids of messages that were read from the logs must work as well
      const [oldest] = [...again.text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id)
      await using rest = await read(0, oldest)
      for (const mark of marksOf(again.text).slice(1)) await rest.until(`"${mark}"`)
      expect(marksOf(rest.text).sort()).toEqual(marksOf(again.text).slice(1).sort())
    }
    await using foreign = await read(0, ids[0]?.replace(/\.[^.]*$/, ''))
    await foreign.until('event: gap')
  })

  it('is served over MQTT, with resources of all partitions', async () => {
    const connect = (host: RunningHost | undefined): Promise<MqttClient> =>
      connectAsync(host?.also[0] ?? '', { username: 'me', password: 's', reconnectPeriod: 0 })
    const [reader, poster] = await Promise.all([connect(hosts[0]), connect(hosts[1])])
    const told: string[] = []
    const heard = new Promise<void>((resolve) => {
      reader.on('message', (topic) => {
        told.push(topic)
        if (told.length === 2 * RESOURCES.length) resolve()
      })
    })
    const topics = RESOURCES.map((resource) => `resources/${resource}/events`)
    // subscribe to each topic by name, and to all with one filter, which delivers them a second time
    await reader.subscribeAsync([...topics, 'resources/+/events'], { qos: 1 })
    for (const topic of topics) await poster.publishAsync(topic, '{"x":1}', { qos: 1 })
    await heard
    expect([...told].sort()).toEqual([...topics, ...topics].sort())
    for (const client of [reader, poster]) await client.endAsync()
  })

  // Holds PARTITIONS-2
  it('rejects fewer partitions, and a host that is alone', async () => {
    await expect(raisePartitions(cluster.storage, TENANT, 2)).rejects.toMatchObject({ code: 'WRONG_STATUS' })
    expect(await raisePartitions(cluster.storage, TENANT, COUNT)).toMatchObject({ before: COUNT, count: COUNT })
    await expect(cluster.start({ cluster: false })).rejects.toThrow('--cluster')
  })
})
