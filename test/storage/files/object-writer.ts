/** Writes objects until it is killed: `node object-writer.ts <folder>`. Prints one line per acknowledged object. */
import { openFiles } from '../../../src/storage/files/open-files.ts'

const [folder = ''] = process.argv.slice(2)
const blobs = (await openFiles({ folder })).tenant('acme')

async function* pieces(seed: number): AsyncIterable<Uint8Array> {
  for (let i = 0; i < 1 + (seed % 40); i += 1) yield new Uint8Array(8_000).fill(seed + i)
}

async function writer(own: number): Promise<never> {
  for (let i = 0; ; i += 1) {
    const { path, etag } = await blobs.put(`w${own}/${i % 7}`, pieces(own * 1_000 + i))
    process.stdout.write(`${path} ${etag}\n`)
  }
}

await Promise.all([writer(1), writer(2), writer(3)])
