/**
 * Reads one event stream over many sockets: `event-readers.ts <port> <count>`; notifies its parent when all have an
 * event.
 */
import { connect } from 'node:net'

/** `open`: all are connected; `all`: all have the message */
export type ReadersReport = 'open' | 'all'

const send = (report: ReadersReport): void => void process.send?.(report)
const [port = 0, count = 1] = process.argv.slice(2).map(Number)
/** concurrent connects */
const AT_ONCE = 200

let open = 0
let got = 0
const request = [
  'GET /resources/boiler/events HTTP/1.1',
  `host: 127.0.0.1:${port}`,
  'accept: text/event-stream',
  `authorization: Basic ${Buffer.from('bench:bench').toString('base64')}`,
  '',
  '',
].join('\r\n')

function begin(): void {
  const socket = connect(port, '127.0.0.1', () => socket.write(request))
  let isOpen = false
  socket.on('data', (piece: Buffer) => {
    if (!isOpen && piece.includes(': here')) {
      isOpen = true
      open++
      if (open === count) send('open')
      else if (open + AT_ONCE <= count) begin()
    } else if (piece.includes('data: {"resource"') && ++got === count) {
      got = 0
      send('all')
    }
  })
  socket.on('error', () => process.exit(1))
}

for (let i = 0; i < Math.min(AT_ONCE, count); i++) begin()
