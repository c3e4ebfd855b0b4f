/**
 * Posts single messages of many resources, as many as its parent says and then no more until it says so again:
 * `counted-client.ts <port> <connections> <resources>`, one request at a time on each connection. It says `done` when
 * all are answered.
 */
import { connect, type Socket } from 'node:net'
import { bodyOf } from './bodies.ts'
import { expectGood, postRequest } from './post-request.ts'

export type CountedClientArguments = readonly [port: number, connections: number, resources: number]

const [port = 0, connections = 1, resources = 1] = process.argv.slice(2).map(Number)
const requests = Array.from({ length: resources }, (_, device) =>
  Buffer.from(postRequest({ port, device, body: bodyOf(device, 1) })),
)
let sent = 0
let wanted = 0
let underWay = 0

function next(socket: Socket): void {
  const request = requests[sent % resources]
  if (sent >= wanted || request === undefined) {
    if (underWay === 0) process.send?.('done')
    return
  }
  sent++
  underWay++
  socket.write(request)
}

const sockets = Array.from({ length: connections }, () => {
  const socket = connect(port, '127.0.0.1')
  socket.setNoDelay(true)
  // answers are small: each comes in one piece
  socket.on('data', (answer) => {
    expectGood(answer)
    underWay--
    next(socket)
  })
  socket.on('error', () => process.exit(0))
  return socket
})

process.on('message', (more) => {
  wanted += Number(more)
  for (const socket of sockets) next(socket)
})
