/** Repairs a data folder that no host uses: sets damaged parts aside, and restores some of them from the log. */
import { join } from 'node:path'
import { LOG_NAME, PARTITION } from '#log'
import { nothing, projectEntry } from '#services/broker'
import { type Damage, type FileName, type NewMessage, rebuildFile, type Sample, type Store } from '#storage'
import { openMedium } from '#host/spi'

/** Damage with its place; `restored`: number of entries restored from the log. */
export type RepairedDamage = Damage & { readonly restored?: number }

const FILES: readonly FileName[] = ['state.db', 'series.db']
const PAGE = 500

/** Repairs a folder. `aside`: a new folder for damaged parts. Objects and keys are left as they are. */
export async function repairFolder(
  { data, blobs }: { readonly data: string; readonly blobs: string },
  damaged: readonly Damage[],
  aside: string,
): Promise<readonly RepairedDamage[]> {
  for (const file of FILES) {
    if (damaged.some(({ place }) => place.startsWith(file))) rebuildFile(join(data, file), file, aside)
  }
  const lost = damaged.filter(isSeries)
  if (lost.length === 0) return damaged
  const restored = new Map<Damage, number>()
  const storage = await openMedium({ store: { medium: 'sqlite' }, data, blobs })
  try {
    for (const tenant of await storage.tenants()) {
      await applyAgain(
        storage.tenant(tenant),
        lost.filter((one) => (one.tenant ?? tenant) === tenant),
        restored,
      )
    }
  } finally {
    await storage.close()
  }
  return damaged.map((one) => (isSeries(one) ? { ...one, restored: restored.get(one) ?? 0 } : one))
}

/** For unreadable pages of series, everything in the log may have been lost. */
function isSeries({ place, what }: Damage): boolean {
  return what === 'samples' || what === 'messages' || (what === 'structure' && place.startsWith('series.db '))
}

/** Restores only lost entries, since others in the log may have been deleted from series later. */
async function applyAgain(store: Store, lost: readonly Damage[], restored: Map<Damage, number>): Promise<void> {
  if (lost.length === 0) return
  const log = store.log(LOG_NAME)
  const { first, last } = await log.bounds(PARTITION)
  for (let after = first - 1; after < last;) {
    const entries = await log.read(PARTITION, after, PAGE)
    const found = nothing()
    for (const { body } of entries) projectEntry(body, found)
    const wanted = (what: Damage['what'], one: Sample | NewMessage): boolean => {
      const metric = 'metric' in one ? one.metric : one.stream
      const places = lost.filter(
        (key) => key.what === 'structure' || (key.what === what && isWithin(key, one.resource, metric, one.time)),
      )
      for (const key of places) restored.set(key, (restored.get(key) ?? 0) + 1)
      return places.length > 0
    }
    await store.series.append({
      samples: found.samples.filter((one) => wanted('samples', one)),
      messages: found.messages.filter((one) => wanted('messages', one)),
    })
    const read = entries.at(-1)?.position
    if (read === undefined) return
    after = read
  }
}

function isWithin({ name, metric, from = 0, until = 0 }: Damage, resource: string, of: string, time: number): boolean {
  return name === resource && metric === of && time >= from && time <= until
}
