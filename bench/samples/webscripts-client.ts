/**
 * Asks a server on this machine: `webscripts-client.ts <port> <path> <connections> <ms> <a second, or 0> [<key:secret> <body>]`. Without a rate
 * each connection asks again when it was answered; with one, requests begin at their times whatever came, and are measured when
 * the server is warm from both. With a body it posts it as whoever has that pair. Prints an empty line when it begins
 * to measure, then JSON.
 */
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const [port = '', path = '', connections = '', ms = '', rate = '', pair = '', body = ''] = process.argv.slice(2)
const basic = Buffer.from(pair).toString('base64')
const posted = `authorization: Basic ${basic}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n`
const [method, more] = body === '' ? ['GET', ''] : ['POST', posted]
const request = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${more}\r\n${body}`
const WARM_UP_MS = 1_500
/** in which those end that were begun before it is measured; with a rate, requests come at it already */
const PAUSE_MS = 200
const PACED_WARM_UP_MS = 2_000
const times: number[] = []
const free: Socket[] = []
/** when the requests that wait for a connection were due */
const due: number[] = []
const isRated = Number(rate) > 0
let isPaced = false
let measuresFrom = Number.POSITIVE_INFINITY

function ask(socket: Socket, at: number): void {
  socket.write(request)
  socket.once('data', (answer) => {
    const status = answer.toString('latin1', 9, 12)
    if (status !== '200') throw new Error(`the server answered ${answer.toString('latin1', 0, 300)}`)
    if (at >= measuresFrom) times.push(performance.now() - at)
    if (!isPaced) return ask(socket, performance.now())
    const next = due.shift()
    if (next === undefined) free.push(socket)
    else ask(socket, next)
  })
}

await Promise.all(
  Array.from({ length: Number(connections) }, async () => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.setNoDelay(true)
    await new Promise((resolve) => socket.once('connect', resolve))
    ask(socket, performance.now())
  }),
)
await sleep(WARM_UP_MS)
isPaced = isRated
const began = performance.now() + PAUSE_MS
measuresFrom = began + (isRated ? PACED_WARM_UP_MS : 0)
const end = measuresFrom + Number(ms)
await sleep(PAUSE_MS)
let sent = 0
let isMeasuring = false
while (performance.now() < end) {
  if (!isMeasuring && performance.now() >= measuresFrom) {
    isMeasuring = true
    process.stdout.write('\n')
  }
  if (isPaced) {
    const now = performance.now()
    const wanted = Math.floor(((now - began) / 1_000) * Number(rate))
    for (; sent < wanted; sent++) {
      const socket = free.pop()
      const at = began + (sent / Number(rate)) * 1_000
      if (socket === undefined) due.push(at)
      else ask(socket, at)
    }
  }
  await sleep(isPaced ? 1 : 20)
}
const sorted = times.sort((a, b) => a - b)
const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
process.stdout.write(JSON.stringify({ perSecond: (times.length * 1_000) / Number(ms), p50: at(0.5), p99: at(0.99) }))
process.exit(0)
