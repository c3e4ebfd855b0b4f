/** Posts to a server on this machine for ever: `post-client.ts <port> <connections> <points>`, one request at a time on each. */
import { connect } from 'node:net'
import { bodyOf } from './bodies.ts'
import { expectGood, postRequest } from './post-request.ts'

export type PostClientArguments = readonly [port: number, connections: number, points: number]

const [port = 0, connections = 1, points = 1] = process.argv.slice(2).map(Number)

for (let device = 0; device < connections; device++) {
  const request = Buffer.from(postRequest({ port, device, body: bodyOf(device, points) }))
  const socket = connect(port, '127.0.0.1', () => socket.write(request))
  socket.setNoDelay(true)
  // answers are small: each comes in one piece
  socket.on('data', (answer) => {
    expectGood(answer)
    socket.write(request)
  })
  socket.on('error', () => process.exit(0))
}
