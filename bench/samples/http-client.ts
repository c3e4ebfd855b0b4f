/** Asks a server on this machine for ever: `http-client.ts <port> <connections>`, one request at a time on each. */
import { connect } from 'node:net'

const [port, connections] = process.argv.slice(2).map(Number)

const body = JSON.stringify({
  name: 'boiler 17 is too hot',
  template: 'overheating',
  resource: 'boiler-17',
  type: 'periodic',
  start: true,
  variables: { threshold: 90, recipients: ['control-room', 'shift-leader'], message: 'the pump stands still' },
  tags: { site: 'north', floor: '2', owner: 'maintenance' },
})
const request = [
  'POST /api/tasks HTTP/1.1',
  `host: 127.0.0.1:${port}`,
  'content-type: application/json',
  `authorization: Basic ${Buffer.from('bench:bench').toString('base64')}`,
  `content-length: ${Buffer.byteLength(body)}`,
  '',
  body,
].join('\r\n')

for (let i = 0; i < (connections ?? 1); i++) {
  const socket = connect(port ?? 0, '127.0.0.1', () => socket.write(request))
  socket.setNoDelay(true)
  // Answers are small: each comes in one piece.
  socket.on('data', (answer) => {
    const status = answer.toString('latin1', 9, 12)
    if (status !== '201') throw new Error(`the server answered ${answer.toString('latin1', 0, 300)}`)
    socket.write(request)
  })
  socket.on('error', () => process.exit(0))
}
