/**
 * Moves a content over HTTP, so many times: `node objects-client.ts <GET|PUT> <url> <bytes> <times>`. Prints the ms of each
 * as JSON; the first one, which warms both sides, is left out.
 */
import { request } from 'node:http'
import { performance } from 'node:perf_hooks'

const [method = 'GET', url = '', bytes = '0', times = '1'] = process.argv.slice(2)
const size = Number(bytes)
const piece = Buffer.alloc(262_144, 'x')

function move(): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = method === 'PUT' ? { 'content-length': size } : {}
    const sending = request(url, { method, headers }, (answer) => {
      let got = 0
      answer.on('data', (data: Buffer) => (got += data.length))
      answer.once('end', () => {
        const isWhole = answer.statusCode === 200 && (method === 'PUT' || got === size)
        if (isWhole) resolve()
        else reject(new Error(`${answer.statusCode}, ${got} bytes`))
      })
    })
    sending.once('error', reject)
    if (method !== 'PUT') return void sending.end()
    let left = size
    const more = (): void => {
      while (left > 0) {
        const next = left < piece.length ? piece.subarray(0, left) : piece
        left -= next.length
        if (!sending.write(next)) return void sending.once('drain', more)
      }
      sending.end()
    }
    more()
  })
}

const ms: number[] = []
for (let run = 0; run <= Number(times); run++) {
  const before = performance.now()
  await move()
  if (run > 0) ms.push(performance.now() - before)
}
process.stdout.write(JSON.stringify(ms))
