/**
 * Posts to a local server endlessly: `post-client.ts <port> <connections> <points> <0 or 1>`, one request at a time per
 * connection; 1: with a unique idempotency key.
 */
import { connect } from 'node:net'
import { bodyOf } from './bodies.ts'
import { expectGood, postRequest } from './post-request.ts'

export type PostClientArguments = readonly [port: number, connections: number, points: number, isKeyed: number]

const [port = 0, connections = 1, points = 1, isKeyed = 0] = process.argv.slice(2).map(Number)

for (let device = 0; device < connections; device++) {
  const body = bodyOf(device, points)
  const plain = Buffer.from(postRequest({ port, device, body }))
  let sent = 0
  const next = () =>
    isKeyed === 1
      ? postRequest({ port, device, body, head: [`idempotency-key: ${process.pid}-${device}-${sent++}`] })
      : plain
  const socket = connect(port, '127.0.0.1', () => socket.write(next()))
  socket.setNoDelay(true)
  // answers are small and arrive in one piece
  socket.on('data', (answer) => {
    expectGood(answer)
    socket.write(next())
  })
  socket.on('error', () => process.exit(0))
}
