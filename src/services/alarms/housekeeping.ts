/** What happens to alarms by themselves: cleared, escalated, and let go a year after they were made. */
import { AppError } from '#kernel'
import { PARTITION } from './alarm-record.ts'
import type { AlarmWriter } from './alarm-writer.ts'
import type { TenantAlarms } from './tenant-alarms.ts'

const KEPT_MS = 365 * 86_400_000
/** Alarms that are worked on at once. */
const PORTION = 200
/** Events that readers who come back can still have. */
const KEPT_EVENTS = 10_000

/** Clears and escalates what is due. */
export async function doDue(tenantAlarms: TenantAlarms, writer: AlarmWriter, now: number): Promise<void> {
  if (now < tenantAlarms.nextDue) return
  for (;;) {
    const due = await tenantAlarms.collections.alarms.find({
      where: [{ field: 'due', op: 'lte', value: now }],
      sort: [{ field: 'due' }],
      limit: PORTION,
    })
    await Promise.all(due.map(({ value }) => writer.doDue(tenantAlarms, value)))
    if (due.length < PORTION) break
  }
  await tenantAlarms.readNextDue()
}

/** Deletes what is a year old, without a word to anybody. */
export async function letGo(tenantAlarms: TenantAlarms, writer: AlarmWriter, now: number): Promise<void> {
  for (;;) {
    const old = await tenantAlarms.collections.alarms.ids({
      where: [{ field: 'createTime', op: 'lt', value: now - KEPT_MS }],
      limit: PORTION,
    })
    await Promise.all(old.map((id) => writer.remove(tenantAlarms, id).catch(unlessGone)))
    if (old.length < PORTION) return
  }
}

/** Events that everybody has had. */
export async function trimEvents({ collections, forwarder }: TenantAlarms): Promise<void> {
  const { first, last } = await collections.events.bounds(PARTITION)
  const upTo = Math.min(last - KEPT_EVENTS, forwarder.position ?? last)
  if (upTo >= first) await collections.events.trim(PARTITION, upTo)
}

/** Somebody else deleted it meanwhile. */
function unlessGone(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error
}
