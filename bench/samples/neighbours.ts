/** Sample of the delay of one tenant's posts while another tenant sends heavy requests over eight connections. */
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { spreadOf } from './calls.ts'
import type { Connection } from './host/connection.ts'
import { withFolder } from './host/folder.ts'
import { startHostProcess } from './host/host-process.ts'
import type { NeighbourOrder } from './neighbour.ts'

export type NeighbourSubject = 'convert' | 'log' | 'simulate'

export interface NeighboursSample {
  /** p99 of posts in ms */
  readonly quiet: number
  readonly beside: number
  /** accepted requests of the neighbour */
  readonly requests: number
}

const ROUNDS = 3
const ROUND_MS = 4_000
const BETWEEN_POSTS_MS = 5

const RULE = {
  sensors: [{ label: 'any', name: 'stream', resource: '$' }],
  actuators: [{ label: 'acts', name: 'log', properties: { message: 'x' } }],
  triggers: [{ sourceLabel: 'any', destinationLabel: 'acts', invocationPolicy: 0 }],
}
const MESSAGES = Array.from({ length: 15_000 }, (_, n) => ({ resource: 'boiler', timestamp: 1 + n * 1_000, t: n }))
const LOOP = '#foreach($i in [1..30000])#end{"metrics":[]}'

const REQUESTS: Readonly<Record<NeighbourSubject, readonly [path: string, body: object]>> = {
  convert: ['/converter/test', { config: { type: 'velocity', template: LOOP }, payload: {} }],
  log: ['/api/actions/log', { properties: { message: '{{streamdata.t}} '.repeat(3_000) }, streamData: { t: 1 } }],
  simulate: ['/api/tasks/simulate', { rule: RULE, resource: 'boiler', messages: MESSAGES }],
}

export function neighboursSample({ subject }: { readonly subject: NeighbourSubject }): Promise<NeighboursSample> {
  return withFolder(async (folder) => {
    const host = await startHostProcess(folder)
    const [path, body] = REQUESTS[subject]
    const order: NeighbourOrder = {
      port: Number(new URL(host.url).port),
      authorization: `Bearer ${host.tokenOf('neighbour')}`,
      path,
      body: JSON.stringify(body),
    }
    try {
      const [connection] = await host.connect(1)
      if (connection === undefined) throw new Error('the host accepts no connection')
      await posts(connection)
      const [quiet, beside]: [number[], number[]] = [[], []]
      let requests = 0
      for (let round = 0; round < ROUNDS; round++) {
        quiet.push(...(await posts(connection)))
        const neighbour = new Worker(new URL('neighbour.ts', import.meta.url), { workerData: order })
        await pause(ROUND_MS / 8)
        beside.push(...(await posts(connection)))
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- because this is a thread, not a window
        neighbour.postMessage('end')
        requests += Number((await once(neighbour, 'message'))[0])
        await neighbour.terminate()
      }
      if (requests === 0) throw new Error(`no ${path} was accepted`)
      return { quiet: spreadOf(quiet).p99, beside: spreadOf(beside).p99, requests }
    } finally {
      await host.stop()
    }
  })
}

/** Returns the delays of a round in ms. */
async function posts(connection: Connection): Promise<readonly number[]> {
  const delays: number[] = []
  for (const end = performance.now() + ROUND_MS; performance.now() < end; await pause(BETWEEN_POSTS_MS)) {
    const start = performance.now()
    await connection.expect(200, 'POST', '/resources/boiler/events', '{"temperature":20}')
    delays.push(performance.now() - start)
  }
  return delays
}
