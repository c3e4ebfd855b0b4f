/**
 * The whole host, killed with -9 again and again while many tasks run and messages stream in. What it
 * acknowledged is there after each start, and in the end every task is as if nobody had been killed.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createBuiltins } from '../../plugins/index.ts'
import { createEngine, VirtualClock, type NodeView, type Template } from '../../src/index.ts'
import { nextSeed, randomOf } from '../../src/kernel/random.ts'
import { AppError } from '../../src/kernel/errors.ts'
import type { RulesApi } from '../../src/services/rules/contract.ts'
import { cases } from '../support/arbitraries/runs.ts'
import { HostProcesses, type HostProcess } from './host-process.ts'

const TASKS = cases(100)
const LANES = 10
/** per lane */
const MESSAGES = cases(20)
const KILLS = cases(3)

const TEMPLATE: Template = {
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

/** ms: longer than a life, so that a wait is stored and taken up again */
const SILENCE = 4000
/** Each message starts a wait anew. */
const WAITING: Template = {
  name: 'waiting',
  sensors: [
    { label: 'beat', name: 'stream', resource: '$' },
    { label: 'silence', name: 'delaySensor', properties: { delay: SILENCE } },
  ],
  triggers: [{ sourceLabel: 'beat', destinationLabel: 'silence' }],
  taskDefaults: { type: 'reactive' },
}

const folder = mkdtempSync(join(tmpdir(), 'reflexarc-crash-'))
const hosts = new HostProcesses(folder)
afterAll(async () => {
  await hosts.end()
  rmSync(folder, { recursive: true, force: true })
})

let seed = Number(process.env['FC_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
function upTo(most: number): number {
  seed = nextSeed(seed)
  return Math.floor(randomOf(seed) * most)
}

/** What a lane's messages are: numbers that move sometimes little, sometimes much. */
const levelOf = (lane: number, n: number): number => Math.floor((n * (lane + 2)) / 4)
const resourceOf = (lane: number) => `boiler-${lane}`
const laneOf = (task: number) => task % LANES

async function inGroups<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item)
    }),
  )
}

async function countOf(api: RulesApi, id: string): Promise<number> {
  const { rawData } = await api.inspection.node(id, 'seen')
  return (rawData as { count?: number } | undefined)?.count ?? 0
}

/** The messages of one lane, each after the one before, until the process is gone; gives how many were acknowledged. */
async function stream(process: HostProcess, lane: number, from: number, acknowledged: () => void): Promise<number> {
  for (let n = from; n < MESSAGES; n++) {
    try {
      const data = [{ parameterName: 'n', value: levelOf(lane, n) }]
      const { taken } = await process.client.rules.tools.push({ resource: resourceOf(lane), data })
      expect(taken).toBe(true)
    } catch (error) {
      if (!process.isKilled) throw error
      return n
    }
    acknowledged()
  }
  return MESSAGES
}

/** What is known of a task that somebody makes, stops and deletes while the process may die: `-ing` while it is asked. */
type Known = 'running' | 'stopping' | 'stopped' | 'going' | 'gone'
const POSSIBLE: Readonly<Record<Known, readonly string[]>> = {
  running: ['running'],
  stopping: ['running', 'stopped'],
  stopped: ['stopped'],
  going: ['stopped', 'gone'],
  gone: ['gone'],
}

/** Makes tasks, stops most of them and deletes some, until the process is gone. */
async function keepBooks(
  process: HostProcess,
  first: number,
  known: Map<string, Known>,
  acknowledged: () => void,
): Promise<void> {
  const { tasks } = process.client.rules
  const note = (id: string, now: Known) => {
    known.set(id, now)
    if (POSSIBLE[now].length === 1) acknowledged()
  }
  try {
    for (let n = first; ; n++) {
      const { ID } = await tasks.create({ template: 'watched', name: `late ${n}`, resource: 'nobody' })
      note(ID, 'running')
      if (n % 3 === 0) continue
      note(ID, 'stopping')
      await tasks.stop(ID)
      note(ID, 'stopped')
      if (n % 3 === 1) continue
      note(ID, 'going')
      await tasks.remove(ID)
      note(ID, 'gone')
    }
  } catch (error) {
    if (!process.isKilled) throw error
  }
}

/** A task whose wait began with a message that was acknowledged. */
async function beginTimer({ client }: HostProcess, resource: string): Promise<{ id: string; begun: number }> {
  const api = client.rules
  const { ID } = await api.tasks.create({ template: 'waiting', name: resource, resource })
  const begun = Date.now()
  await api.tools.push({ resource, data: [{ parameterName: 'n', value: 1 }] })
  return { id: ID, begun }
}

async function statusOf(api: RulesApi, id: string): Promise<string> {
  try {
    return (await api.tasks.get(id)).status
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return 'gone'
    throw error
  }
}

/** What tasks of each lane show when nobody is killed. */
async function undisturbed(): Promise<readonly (readonly NodeView[])[]> {
  const engine = createEngine({ plugs: createBuiltins(), scheduler: new VirtualClock(0), seed: 1 })
  const views: (readonly NodeView[])[] = []
  for (let lane = 0; lane < LANES; lane++) {
    const task = await engine.start(TEMPLATE, { id: `t${lane}`, resource: resourceOf(lane) })
    for (let n = 0; n < MESSAGES; n++) engine.receive({ resource: resourceOf(lane), n: levelOf(lane, n) })
    views.push(['seen', 'moved', 'both'].map((label) => task.node(label)))
  }
  await engine.close()
  return views
}

// Holds RUNNER-2
describe('a host that is killed while it works', () => {
  it(`loses nothing that it acknowledged, and does nothing twice (FC_SEED=${seed})`, async () => {
    let host = await hosts.start()
    await host.client.rules.templates.create(TEMPLATE)
    await host.client.rules.templates.create(WAITING)
    const ids: string[] = []
    await inGroups([...Array(TASKS).keys()], async (task) => {
      const made = await host.client.rules.tasks.create({
        template: 'watched',
        name: `t${task}`,
        resource: resourceOf(laneOf(task)),
      })
      ids[task] = made.ID
    })
    const clock = await host.client.rules.tasks.create({
      sensors: [{ label: 'd', name: 'dice' }],
      task: { name: 'clock', type: 'periodic', frequency: 200 },
    })

    const timers: { id: string; begun: number }[] = []
    const known = new Map<string, Known>()
    const next = Array.from({ length: LANES }, () => 0)
    for (let kills = 0; kills < KILLS; kills++) {
      const process = host
      timers.push(await beginTimer(process, `timer-${kills}`))
      const deadline = 1 + upTo(120)
      let acknowledged = 0
      let killed: Promise<void> | undefined
      const count = () => {
        if (++acknowledged >= deadline) killed ??= process.kill()
      }
      const books = Promise.all(Array.from({ length: 6 }, (_, n) => keepBooks(process, n, known, count)))
      const done = await Promise.all(next.map((from, lane) => stream(process, lane, from, count)))
      await (killed ?? process.kill())
      await books
      host = await hosts.start()
      await inGroups([...known], async ([id, last]) => {
        expect(POSSIBLE[last], `${id} after kill ${kills}`).toContain(await statusOf(host.client.rules, id))
      })
      for (const [lane, n] of done.entries()) {
        const there = await countOf(host.client.rules, ids[lane] ?? '')
        // The one that was under way when the process died may be there or not.
        expect([n, n + 1], `lane ${lane} after kill ${kills}`).toContain(there)
        next[lane] = there
      }
    }
    const api = host.client.rules
    const after = await api.tasks.get(clock.ID)
    expect(after.status).toBe('running')
    const ticksOn = async () => (await api.tasks.get(clock.ID)).invocationCount
    await expect.poll(ticksOn).toBeGreaterThan(after.invocationCount)
    for (const { id, begun } of timers) {
      const stateOf = async () => (await api.inspection.node(id, 'silence')).mostLikelyState?.state
      await expect.poll(stateOf).toBe('Triggered')
      const { collectedTime = 0 } = await api.inspection.node(id, 'silence')
      expect(collectedTime, 'not before its time').toBeGreaterThanOrEqual(begun + SILENCE)
    }
    await Promise.all(next.map((from, lane) => stream(host, lane, from, () => undefined)))

    const expected = await undisturbed()
    await inGroups(ids, async (id) => {
      const lane = laneOf(ids.indexOf(id))
      for (const view of expected[lane] ?? []) {
        const node = await host.client.rules.inspection.node(id, view.node)
        const { mostLikelyState, rawData } = view
        expect([id, view.node, node.mostLikelyState, node.rawData]).toEqual([id, view.node, mostLikelyState, rawData])
      }
      expect(await host.client.rules.tasks.get(id)).toMatchObject({ status: 'running', invocationCount: MESSAGES })
    })
    await host.kill()
  })
})
