/**
 * The whole host, killed with -9 again and again while a thousand tasks run and messages stream in. What it
 * acknowledged is there after each start, and in the end every task is as if nobody had been killed.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { afterAll, describe, expect, it } from 'vitest'
import { createBuiltins } from '../../plugins/index.ts'
import { createEngine, VirtualClock, type NodeView, type Template } from '../../src/index.ts'
import { nextSeed, randomOf } from '../../src/kernel/random.ts'
import { rulesClient } from '../../src/services/rules/client.ts'
import type { RulesApi } from '../../src/services/rules/contract.ts'
import { root } from '../support/repository.ts'
import { basic } from './sample-host.ts'

const TASKS = 1000
const LANES = 10
/** per lane */
const MESSAGES = 40
const KILLS = 6

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

const folder = mkdtempSync(join(tmpdir(), 'reflexarc-crash-'))
const children = new Set<ChildProcessByStdio<null, Readable, null>>()
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

let seed = Number(process.env['FC_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
function upTo(most: number): number {
  seed = nextSeed(seed)
  return Math.floor(randomOf(seed) * most)
}

/** One process, from its start to its death. */
class Process {
  readonly api: RulesApi
  readonly #child: ChildProcessByStdio<null, Readable, null>
  readonly #gone: Promise<unknown>
  isKilled = false

  private constructor(url: string, child: ChildProcessByStdio<null, Readable, null>, gone: Promise<unknown>) {
    this.api = rulesClient({ baseUrl: url, headers: { authorization: basic('k', 's') } })
    this.#child = child
    this.#gone = gone
  }

  static async start(): Promise<Process> {
    const args = [
      'serve',
      '--port',
      '0',
      '--data',
      folder,
      '--key',
      'k',
      '--secret',
      's',
      '--rate-limit',
      '0',
      '--empty',
    ]
    const child = spawn(process.execPath, [join(root, 'src/host/cli.ts'), ...args, '--log-level', 'silent'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.add(child)
    const gone = once(child, 'close').then(() => children.delete(child))
    child.stdout.setEncoding('utf8')
    for (let text = ''; ;) {
      const [more] = (await Promise.race([once(child.stdout, 'data'), gone.then(() => [])])) as unknown[]
      if (typeof more !== 'string') throw new Error('the host ended by itself')
      text += more
      const url = /listening on (\S+)\n/.exec(text)?.[1]
      if (url !== undefined) return new Process(url, child, gone)
    }
  }

  async kill(): Promise<void> {
    this.isKilled = true
    this.#child.kill('SIGKILL')
    await this.#gone
  }
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
async function stream(process: Process, lane: number, from: number, acknowledged: () => void): Promise<number> {
  for (let n = from; n < MESSAGES; n++) {
    try {
      const data = [{ parameterName: 'n', value: levelOf(lane, n) }]
      const { taken } = await process.api.tools.push({ resource: resourceOf(lane), data })
      expect(taken).toBe(true)
    } catch (error) {
      if (!process.isKilled) throw error
      return n
    }
    acknowledged()
  }
  return MESSAGES
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

describe('a host that is killed while it works', () => {
  it(`loses nothing that it acknowledged, and does nothing twice (FC_SEED=${seed})`, async () => {
    let host = await Process.start()
    await host.api.templates.create(TEMPLATE)
    const ids: string[] = []
    await inGroups([...Array(TASKS).keys()], async (task) => {
      const made = await host.api.tasks.create({
        template: 'watched',
        name: `t${task}`,
        resource: resourceOf(laneOf(task)),
      })
      ids[task] = made.ID
    })
    const clock = await host.api.tasks.create({
      sensors: [{ label: 'd', name: 'dice' }],
      task: { name: 'clock', type: 'periodic', frequency: 200 },
    })

    const next = Array.from({ length: LANES }, () => 0)
    for (let kills = 0; kills < KILLS; kills++) {
      const process = host
      const deadline = 1 + upTo(60)
      let acknowledged = 0
      let killed: Promise<void> | undefined
      const count = () => {
        if (++acknowledged >= deadline) killed ??= process.kill()
      }
      const done = await Promise.all(next.map((from, lane) => stream(process, lane, from, count)))
      await (killed ?? process.kill())
      host = await Process.start()
      for (const [lane, n] of done.entries()) {
        const there = await countOf(host.api, ids[lane] ?? '')
        // The one that was under way when the process died may be there or not.
        expect([n, n + 1], `lane ${lane} after kill ${kills}`).toContain(there)
        next[lane] = there
      }
    }
    const after = await host.api.tasks.get(clock.ID)
    expect(after.status).toBe('running')
    await Promise.all(next.map((from, lane) => stream(host, lane, from, () => undefined)))

    const expected = await undisturbed()
    await inGroups(ids, async (id) => {
      const lane = laneOf(ids.indexOf(id))
      for (const view of expected[lane] ?? []) {
        const node = await host.api.inspection.node(id, view.node)
        const { mostLikelyState, rawData } = view
        expect([id, view.node, node.mostLikelyState, node.rawData]).toEqual([id, view.node, mostLikelyState, rawData])
      }
      expect(await host.api.tasks.get(id)).toMatchObject({ status: 'running', invocationCount: MESSAGES })
    })
    await host.kill()
  }, 240_000)
})
