/** Sends requests one after the other over one connection, in a thread of its own, whose time does not count. */
import { once } from 'node:events'
import { Agent as PlainAgent, type IncomingMessage, request as plain } from 'node:http'
import { Agent as TlsAgent, request as secure } from 'node:https'
import { parentPort, workerData } from 'node:worker_threads'

export interface ClientOrder {
  readonly url: string
  readonly method: string
  readonly authorization: string
}

const { url, method, authorization } = workerData as ClientOrder
const isSecure = url.startsWith('https:')
const agent = isSecure
  ? new TlsAgent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
  : new PlainAgent({ keepAlive: true, maxSockets: 1 })
const headers = { authorization, 'content-type': 'application/json' }

/** `count`: number of requests to send; the reply follows the last response. */
parentPort?.on('message', (count: number) => {
  void (async () => {
    for (let n = 0; n < count; n++) {
      const sent = (isSecure ? secure : plain)(url, { method, headers, agent })
      sent.end(JSON.stringify({ temperature: n }))
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      await once(answer.resume(), 'end')
      if ((answer.statusCode ?? 500) >= 300) throw new Error(`${method} ${url} was answered ${answer.statusCode}`)
    }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- because this is a thread, not a window
    parentPort?.postMessage('sent')
  })()
})
