/**
 * Posts one message after the other over one connection and prints how long each took, ms, as JSON: a process of its own,
 * so that what answers to others cost their client is not in it. `posts-client.ts <port> <token> <posts>`
 */
import { performance } from 'node:perf_hooks'
import { Connection } from './host/connection.ts'

const [port = '0', token = '', posts = '0'] = process.argv.slice(2)
const connection = await Connection.open(Number(port), `Bearer ${token}`)
/** not measured: who posts has to get going first */
const FIRST = 100
const times: number[] = []
for (let n = -FIRST; n < Number(posts); n += 1) {
  const began = performance.now()
  await connection.expect(200, 'POST', '/resources/other/events', JSON.stringify({ timestamp: n + FIRST, m: n }))
  if (n >= 0) times.push(performance.now() - began)
}
connection.close()
process.stdout.write(JSON.stringify(times))
