/** Checks the replay number of a host that wants to join a cluster, before it reads or writes anything else. */
import type { Store } from '#storage'
import { HOST_RECORDS, SLOT_TABLE, SLOT_TABLES } from './cluster-records.ts'
import { TTL_MS } from './placement.ts'
import type { Program } from './replay-number.ts'

export interface ReplayCheck {
  readonly problems: readonly string[]
  /** True when the problems end as soon as other hosts are gone */
  readonly passes: boolean
}

/** `url`: address of this host, whose earlier record is ignored. */
export async function checkReplay(store: Store, { version, replay }: Program, url = ''): Promise<ReplayCheck> {
  const [{ ms }, hosts, table] = await Promise.all([
    store.now(),
    store.collection(HOST_RECORDS).find({}),
    store.collection(SLOT_TABLES).get(SLOT_TABLE),
  ])
  const before = table?.value.replay ?? 0
  if (before > replay) {
    const problem =
      `this is version ${version} with replay number ${replay}, but the store was last used with ${before}: start a ` +
      'version with this number or a higher one'
    return { problems: [problem], passes: false }
  }
  const others = hosts.filter(({ value }) => {
    return value.replay !== replay && value.url !== url && Math.abs(ms - value.seen) <= TTL_MS
  })
  const problems = others.map(
    ({ value }) =>
      `the host at ${value.url} runs version ${value.version} with replay number ${value.replay}, and this is version ${version} ` +
      `with replay number ${replay}: the versions would replay a log to different states; stop all hosts with the other number ` +
      'first, then start this one',
  )
  return { problems, passes: true }
}
