/**
 * Kills a whole host with -9 again and again while messages are sent. After each start, everything acknowledged exists
 * exactly once, and what was in flight exists once or not at all. The end result must be the same as without kills.
 */
import { afterEach, describe, expect, it } from 'vitest'
import { createBuiltins } from '../../plugins/index.ts'
import type { Client } from '../../src/client.ts'
import { createEngine, VirtualClock, type Template } from '../../src/index.ts'
import { nextSeed, randomOf } from '../../src/kernel/random.ts'
import type { RulesApi } from '../../src/services/rules/contract.ts'
import { cases } from '../support/arbitraries/runs.ts'
import { crashingHosts, type HostProcess } from './host-process.ts'

const KILLS = cases(2)

const FIRST_SEED = Number(process.env['FC_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
let seed = FIRST_SEED
function upTo(most: number): number {
  seed = nextSeed(seed)
  return Math.floor(randomOf(seed) * most)
}

/** Messages in several lanes; the messages of one lane are sent one after another. */
interface Work {
  readonly lanes: number
  /** Number of messages per lane */
  readonly messages: number
  begin(client: Client): Promise<void>
  send(client: Client, lane: number, n: number): Promise<void>
  /**
   * Called after a start. Returns the number of the next message; `acknowledged`: the number of acknowledged messages.
   */
  goOn(host: HostProcess, lane: number, acknowledged: number): Promise<number>
  /** Checks the result when all messages are acknowledged. */
  judge(host: HostProcess): Promise<void>
}

const numbers = (end: number, wanted: (n: number) => boolean = () => true) =>
  Array.from({ length: end }, (_, n) => n).filter(wanted)
const resourceOf = (lane: number): string => `line/${lane}`

async function samples(client: Client, lane: number): Promise<readonly unknown[]> {
  const { series } = await client.broker.series.raw(resourceOf(lane), 'n', { from: 0, until: 2_000_000 })
  return series.map(([, value]) => value)
}

async function countOf(api: RulesApi, id: string): Promise<number> {
  const { rawData } = await api.inspection.node(id, 'seen')
  return (rawData as { count?: number } | undefined)?.count ?? 0
}

const WATCHED: Template = {
  name: 'watched',
  sensors: [
    { label: 'seen', name: 'invokeCount', resource: '$' },
    { label: 'moved', name: 'changedBy', resource: '$', properties: { value: 'n', by: 3 } },
  ],
  relations: [
    { label: 'both', type: 'AND', parentLabels: ['moved', 'seen'], combinations: [['Changed', 'Incremented']] },
  ],
  actuators: [{ label: 'told', name: 'log', properties: { message: 'moved to {{moved.value}}' } }],
  triggers: [{ sourceLabel: 'moved', destinationLabel: 'told', statesTrigger: ['Changed'], invocationPolicy: 0 }],
  taskDefaults: { type: 'reactive' },
}

/** Duration in ms: longer than a host lives, so that waits are stored and resumed */
const SILENCE = 4000
const WAITING = {
  sensors: [
    { label: 'beat', name: 'stream', resource: '$' },
    { label: 'silence', name: 'delaySensor', properties: { delay: SILENCE } },
  ],
  triggers: [{ sourceLabel: 'beat', destinationLabel: 'silence' }],
  task: { name: 'waiting', resource: 'timer' },
}

/** Sends posts, which series store and several tasks per lane observe; posts of every second lane go only to tasks. */
function postsAndTasks(): Work {
  const [lanes, messages, tasksOfLane] = [10, cases(30), cases(10)]
  const ids: string[][] = numbers(lanes).map(() => [])
  const isStored = (lane: number): boolean => lane % 2 === 0
  /** Returns a value that changes sometimes little, sometimes much. */
  const levelOf = (lane: number, n: number): number => (isStored(lane) ? n : Math.floor((n * (lane + 2)) / 4))
  let [clock, timer, begun] = ['', '', 0]
  return {
    lanes,
    messages,
    async begin({ rules: { templates, tasks, tools } }) {
      await templates.create(WATCHED)
      for (const [lane, own] of ids.entries()) {
        for (const n of numbers(tasksOfLane)) {
          const made = await tasks.create({ template: 'watched', name: `t${n}`, resource: resourceOf(lane) })
          own.push(made.ID)
        }
      }
      const sensors = [{ label: 'd', name: 'dice' }]
      clock = (await tasks.create({ sensors, task: { name: 'clock', type: 'periodic', frequency: 200 } })).ID
      timer = (await tasks.create(WAITING)).ID
      begun = Date.now()
      await tools.push({ resource: 'timer', data: [{ parameterName: 'n', value: 1 }] })
    },
    async send({ broker, rules }, lane, n) {
      const [resource, value] = [resourceOf(lane), levelOf(lane, n)]
      if (isStored(lane)) {
        await broker.posting.events(resource, { n: value, timestamp: 1_000_000 + n })
        // acknowledged messages can be read at once
        if (n % 10 === 0) expect(await broker.messages.current(resource)).toMatchObject({ n })
      } else {
        const data = [{ parameterName: 'n', value }]
        expect(await rules.tools.push({ resource, data })).toMatchObject({ taken: true })
      }
    },
    async goOn({ client }, lane, acknowledged) {
      const there = await countOf(client.rules, ids[lane]?.[0] ?? '')
      expect([acknowledged, acknowledged + 1], `lane ${lane}`).toContain(there)
      if (isStored(lane)) expect(await samples(client, lane)).toEqual(numbers(there))
      return there
    },
    async judge({ client: { rules } }) {
      const ticks = async () => (await rules.tasks.get(clock)).invocationCount
      const before = await ticks()
      await expect.poll(ticks).toBeGreaterThan(before)
      const stateOf = async () => (await rules.inspection.node(timer, 'silence')).mostLikelyState?.state
      await expect.poll(stateOf).toBe('Triggered')
      const { collectedTime = 0 } = await rules.inspection.node(timer, 'silence')
      expect(collectedTime, 'not before its time').toBeGreaterThanOrEqual(begun + SILENCE)
      // compare with tasks of each lane in an engine that is never killed
      const engine = createEngine({ plugs: createBuiltins(), scheduler: new VirtualClock(0), seed: 1 })
      for (const [lane, own] of ids.entries()) {
        const resource = resourceOf(lane)
        const task = await engine.start(WATCHED, { id: `t${lane}`, resource })
        for (const n of numbers(messages)) engine.receive({ resource, n: levelOf(lane, n) })
        for (const id of own) {
          for (const label of ['seen', 'moved', 'both']) {
            const { mostLikelyState, rawData } = task.node(label)
            const shown = await rules.inspection.node(id, label)
            expect([id, label, shown.mostLikelyState, shown.rawData]).toEqual([id, label, mostLikelyState, rawData])
          }
          expect(await rules.tasks.get(id)).toMatchObject({ status: 'running', invocationCount: messages })
        }
      }
      await engine.close()
    },
  }
}

/**
 * Tests rules that raise an alarm for each message, rules that react to these alarms with further alarms, and a stream
 * that follows all alarms.
 */
function alarms(): Work {
  const [lanes, messages] = [6, cases(20)]
  const ruleOf = (seen: object, type: string, statesTrigger: readonly string[], lane: number) => ({
    sensors: [{ label: 'seen', resource: '$', name: '', ...seen }],
    actuators: [{ label: 'raise', name: 'createAlarm', properties: { type, text: '' } }],
    triggers: [{ sourceLabel: 'seen', destinationLabel: 'raise', statesTrigger, invocationPolicy: 0 }],
    task: { name: type, resource: resourceOf(lane) },
  })
  const raised = async (client: Client, type: string, lane: number): Promise<number> => {
    const { alarms: found } = await client.alarms.list({ type, source: resourceOf(lane), history: false })
    expect(found.length).toBeLessThanOrEqual(1)
    return found[0]?.count ?? 0
  }
  return {
    lanes,
    messages,
    async begin({ rules: { tasks } }) {
      for (const lane of numbers(lanes)) {
        const message = { name: 'condition', properties: { condition: 'n >= 0' } }
        await tasks.create(ruleOf(message, 'SENT', ['True'], lane))
        const event = { name: 'AlarmEventSensor', properties: { type: 'SENT' } }
        await tasks.create(ruleOf(event, 'HEARD', ['Created', 'Occurred again'], lane))
      }
    },
    send: async ({ broker }, lane, n) => void (await broker.posting.events(resourceOf(lane), { n })),
    goOn: async (_host, _lane, acknowledged) => acknowledged,
    async judge({ client }) {
      let total = 0
      for (const lane of numbers(lanes)) {
        const sent = () => raised(client, 'SENT', lane)
        await expect.poll(sent).toBeGreaterThanOrEqual(messages)
        await expect.poll(async () => (await raised(client, 'HEARD', lane)) - (await sent())).toBe(0)
        // the message in flight may have been sent again, once per kill
        expect(await sent()).toBeLessThanOrEqual(messages + KILLS)
        total += 2 * (await sent())
      }
      const gone = new AbortController()
      const ids: string[] = []
      for await (const { id } of client.alarms.events({ after: '0', signal: gone.signal }))
        if (ids.push(id) >= total) gone.abort()
      expect(ids).toEqual(numbers(total).map((n) => String(n + 1)))
    },
  }
}

/** Sends webhooks with different keys; every third cannot be converted, and is stored as a rejected payload. */
function webhooks(): Work {
  const [lanes, messages] = [4, cases(20)]
  const template = '{"metrics":[{"resource":"$payload.device","n":$payload.n,"timestamp":$payload.at}]}'
  const isBad = (n: number): boolean => n % 3 === 2
  const rejected = async ({ converter }: Client, lane: number): Promise<readonly number[]> => {
    const list = await converter.rejected.list('gw', { limit: 1_000 })
    const payloads = list.values.map(({ payload }) => JSON.parse(payload) as { device: string; bad: number })
    const own = payloads.filter(({ device }) => device === resourceOf(lane))
    return own.map(({ bad }) => bad).toSorted((a, b) => a - b)
  }
  return {
    lanes,
    messages,
    begin: async ({ converter }) => void (await converter.put('gw', { type: 'velocity', template })),
    async send({ converter }, lane, n) {
      const device = resourceOf(lane)
      const payload = isBad(n) ? { device, bad: n } : { device, n, at: 1_000_000 + n }
      const answer = await converter.ingest('gw', payload, { idempotencyKey: `${lane}-${n}` })
      expect(answer.rejected !== undefined).toBe(isBad(n))
    },
    async goOn({ client }, lane, acknowledged) {
      const there = [...(await samples(client, lane)), ...(await rejected(client, lane))]
      expect(there, `lane ${lane}`).toEqual(expect.arrayContaining(numbers(acknowledged)))
      // the message in flight may be stored too, although it was not acknowledged
      expect(there.length).toBeLessThanOrEqual(acknowledged + 1)
      return acknowledged
    },
    async judge({ client }) {
      for (const lane of numbers(lanes)) {
        expect(await samples(client, lane)).toEqual(numbers(messages, (n) => !isBad(n)))
        expect(await rejected(client, lane)).toEqual(numbers(messages, isBad))
      }
    },
  }
}

/** Sends messages until the lane ends or the process has ended; resolves to the number of acknowledged messages. */
async function stream(host: HostProcess, work: Work, lane: number, from: number, acknowledged = () => {}) {
  for (let n = from; n < work.messages; n++) {
    try {
      await work.send(host.client, lane, n)
    } catch (error) {
      if (!host.isKilled) throw error
      return n
    }
    acknowledged()
  }
  return work.messages
}

// Holds RUNNER-2, BROKER-1, INGEST-1, CONVERTER-1, CONVERTER-2
describe('a host that is killed while it works', () => {
  const hosts = crashingHosts()
  afterEach(() => hosts.end())

  it.each([
    ['posts', postsAndTasks],
    ['alarms', alarms],
    ['webhooks', webhooks],
  ])(`loses nothing acknowledged, and repeats nothing: %s (FC_SEED=${FIRST_SEED})`, async (name, making) => {
    const work = making()
    let host = await hosts.start(name)
    await work.begin(host.client)
    let next = numbers(work.lanes).map(() => 0)
    for (let kills = 0; kills < KILLS; kills++) {
      const dying = host
      const deadline = 1 + upTo((work.lanes * work.messages) / KILLS)
      let acknowledged = 0
      let killed: Promise<void> | undefined
      const count = (): void => {
        if (++acknowledged >= deadline) killed ??= dying.kill()
      }
      const done = await Promise.all(next.map((from, lane) => stream(dying, work, lane, from, count)))
      await (killed ?? dying.kill())
      host = await hosts.start(name)
      next = await Promise.all(done.map((n, lane) => work.goOn(host, lane, n)))
    }
    const ends = await Promise.all(next.map((from, lane) => stream(host, work, lane, from)))
    expect(ends).toEqual(next.map(() => work.messages))
    await work.judge(host)
  })
})
