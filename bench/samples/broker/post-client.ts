/** Posts to a server on this machine for ever: `post-client.ts <port> <connections> <points>`, one request at a time on each. */
import { connect } from 'node:net'
import { bodyOf } from './bodies.ts'

export type PostClientArguments = readonly [port: number, connections: number, points: number]

const [port = 0, connections = 1, points = 1] = process.argv.slice(2).map(Number)

for (let i = 0; i < connections; i++) {
  const body = bodyOf(i, points)
  const request = Buffer.from(
    [
      `POST /resources/boiler-${i}/events HTTP/1.1`,
      `host: 127.0.0.1:${port}`,
      'content-type: application/json',
      `authorization: Basic ${Buffer.from('bench:bench').toString('base64')}`,
      `content-length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  )
  const socket = connect(port, '127.0.0.1', () => socket.write(request))
  socket.setNoDelay(true)
  // answers are small: each comes in one piece
  socket.on('data', (answer) => {
    const status = answer.toString('latin1', 9, 12)
    if (status !== '200') throw new Error(`the server answered ${answer.toString('latin1', 0, 300)}`)
    socket.write(request)
  })
  socket.on('error', () => process.exit(0))
}
