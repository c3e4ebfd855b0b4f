/**
 * Writes numbered units of work. Run as a program, it writes until it is killed, and prints each acknowledged number.
 */
import type { CollectionSpec, Store } from '../../../src/storage/contract.ts'
import { openPostgres } from '../../../src/storage/postgres/open.ts'
import { noBlobs } from './no-blobs.ts'

export interface Note {
  readonly text: string
}

export const NOTES: CollectionSpec<Note> = {
  name: 'notes',
  version: 1,
  fields: { text: { type: 'text', of: (note) => note.text } },
}

export async function writeUnit(store: Store, n: number): Promise<void> {
  const notes = store.collection(NOTES)
  await store.commit([
    store.log('inputs').appending([n]),
    notes.putting(`left ${n}`, { text: 'x' }, 'absent'),
    notes.putting(`right ${n}`, { text: 'y' }, 'absent'),
    store.log('inputs').appending([n]),
  ])
}

const WRITERS = 8

if (import.meta.main) {
  const [url = '', tenant = ''] = process.argv.slice(2)
  const storage = await openPostgres({ url, blobs: noBlobs() })
  const store = storage.tenant(tenant)
  let next = 0
  const writer = async (): Promise<never> => {
    for (;;) {
      const n = (next += 1)
      await writeUnit(store, n)
      process.stdout.write(`${n}\n`)
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, writer))
}
