/**
 * Posts to a server on this machine for ever: `post-client.ts <port> <connections> <points> <0 or 1>`, one request at a
 * time on each; 1: through a converter.
 */
import { connect } from 'node:net'
import { bodyOf, gatewayBodyOf } from './bodies.ts'
import { expectGood, postRequest } from './post-request.ts'

export type PostClientArguments = readonly [port: number, connections: number, points: number, converter: number]

const [port = 0, connections = 1, points = 1, converter = 0] = process.argv.slice(2).map(Number)

for (let device = 0; device < connections; device++) {
  const asked =
    converter === 1
      ? { path: '/converter/gateway/ingest', body: gatewayBodyOf(device, points) }
      : { body: bodyOf(device, points) }
  const request = Buffer.from(postRequest({ port, device, ...asked }))
  const socket = connect(port, '127.0.0.1', () => socket.write(request))
  socket.setNoDelay(true)
  // answers are small: each comes in one piece
  socket.on('data', (answer) => {
    expectGood(answer)
    socket.write(request)
  })
  socket.on('error', () => process.exit(0))
}
