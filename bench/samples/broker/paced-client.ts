/** Posts at a fixed rate, regardless of answers: `paced-client.ts <port> <connections> <perSecond> <count>`. */
import { connect } from 'node:net'
import { machineMs } from './machine-clock.ts'
import { numberedRequest } from './numbered-message.ts'
import { expectGood } from './post-request.ts'

export type PacedClientArguments = readonly [port: number, connections: number, perSecond: number, count: number]

const [port = 0, connections = 1, perSecond = 1, count = 0] = process.argv.slice(2).map(Number)
let open = 0
const sockets = Array.from({ length: connections }, () => {
  const socket = connect(port, '127.0.0.1', () => ++open === connections && begin())
  socket.setNoDelay(true)
  socket.on('data', expectGood)
  socket.on('error', () => process.exit(0))
  return socket
})

function begin(): void {
  const started = machineMs()
  let sent = 0
  const go = (): void => {
    const due = Math.min(count, Math.floor(((machineMs() - started) * perSecond) / 1_000))
    for (; sent < due; sent++) {
      const device = sent % connections
      sockets[device]?.write(numberedRequest(port, device, sent))
    }
    if (sent < count) setTimeout(go, 1)
  }
  go()
}
