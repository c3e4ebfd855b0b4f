/** Tenant that sends one request over eight connections as fast as it can, in a thread of its own. */
import { parentPort, workerData } from 'node:worker_threads'
import { Connection } from './host/connection.ts'

export interface NeighbourOrder {
  readonly port: number
  readonly authorization: string
  readonly path: string
  readonly body: string
}

const CONNECTIONS = 8
const { port, authorization, path, body } = workerData as NeighbourOrder
const load = { isEnding: false, requests: 0 }

/** Any message ends the load; the reply is the number of accepted requests. */
parentPort?.once('message', () => (load.isEnding = true))

async function send(): Promise<void> {
  const connection = await Connection.open(port, authorization)
  while (!load.isEnding) if ((await connection.ask('POST', path, body)).status < 300) load.requests++
  connection.close()
}

await Promise.all(Array.from({ length: CONNECTIONS }, send))
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- because this is a thread, not a window
parentPort?.postMessage(load.requests)
