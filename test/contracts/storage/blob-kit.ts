/** What the facts about objects share: contents to send and to read. */
import { createHash } from 'node:crypto'
import type { Blobs } from '../../../src/storage/blobs.ts'
import type { Closable, Suite, World } from './medium.ts'

/** A whole storage, or anything that gives tenants their blobs. */
export interface BlobHost extends Closable {
  tenant(id: string): { readonly blobs: Blobs }
}

export type Fact = (name: string, check: (blobs: Blobs, world: World<BlobHost>) => Promise<void>) => void
export const blobFact =
  (suite: Suite<BlobHost>): Fact =>
  (name, check) =>
    suite.fact(name, (world) => check(world.storage.tenant(world.tenant).blobs, world))

export const bytes = (text: string) => new TextEncoder().encode(text)
export const etagOf = (content: Uint8Array) => createHash('sha256').update(content).digest('hex')

export async function* pieces(...texts: readonly string[]): AsyncIterable<Uint8Array> {
  for (const text of texts) yield bytes(text)
}

export async function* broken(): AsyncIterable<Uint8Array> {
  yield bytes('half of')
  throw new Error('the sender hung up')
}

export async function textAt(
  blobs: Blobs,
  path: string,
  range?: { from: number; until?: number },
): Promise<string | undefined> {
  const found = await blobs.get(path, range)
  return found && new TextDecoder().decode(await whole(found.content))
}

export async function whole(content: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks)
}
