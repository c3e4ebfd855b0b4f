/** What holds an alarm back: shelvings and suppressions, each with its holder and its end. Pure functions. */
import { AppError } from '#kernel'
import type { NewHold } from './contract.ts'
import { type AlarmStatus, type Held, type Suppression, SUPPRESSIONS } from './life-cycle.ts'

/** Times are epoch ms. */
export interface Hold {
  readonly suppression: Held
  /** the user who shelved the alarm, or the name of what suppresses it, such as `window/<id>` */
  readonly by: string
  readonly since: number
  readonly until?: number
  readonly reason?: string
}

/** Enough for windows that overlap. */
const MAX_HOLDS = 20

/** The part of a stored alarm that holds depend on. */
interface Holdable {
  readonly holds?: readonly Hold[]
  readonly snoozeUntil?: number
  readonly createTime: number
  readonly user: string
}
interface Finishable extends Holdable {
  readonly status: AlarmStatus
}

/** Returns what is stored, whether or not it has ended. An alarm of an older version has a snooze instead. */
export function storedHolds({ holds = [], snoozeUntil, createTime, user }: Holdable): readonly Hold[] {
  if (snoozeUntil === undefined) return holds
  return [...holds, { suppression: 'shelved', by: user, since: createTime, until: snoozeUntil }]
}

export function holdsAt(alarm: Holdable, now: number): readonly Hold[] {
  const all = storedHolds(alarm)
  return all.every(({ until }) => isAhead(until, now)) ? all : all.filter(({ until }) => isAhead(until, now))
}

/** The strongest suppression counts. */
export function suppressionBy(holds: readonly Hold[]): Suppression {
  return SUPPRESSIONS.findLast((one) => holds.some(({ suppression }) => suppression === one)) ?? 'none'
}

/** A finished alarm is not suppressed. */
export function suppressionOf(alarm: Finishable, now: number): Suppression {
  return alarm.status === 'CLEARED' ? 'none' : suppressionBy(holdsAt(alarm, now))
}

export function shelvedUntil(holds: readonly Hold[]): number | undefined {
  return holds.find(({ suppression }) => suppression === 'shelved')?.until
}

/** What becomes of the holds on an alarm. */
export interface Holding {
  /** null ends the shelving */
  readonly shelf?: { readonly until: number; readonly reason?: string } | null | undefined
  readonly suppress?: NewHold | undefined
  /** a holder, whose suppression ends */
  readonly release?: string | undefined
}

/** Returns undefined if the change leaves them as they are. */
export function heldBy(
  holds: readonly Hold[],
  { shelf, suppress, release }: Holding,
  { now, user }: { readonly now: number; readonly user: string },
): readonly Hold[] | undefined {
  if (shelf === undefined && suppress === undefined && release === undefined) return undefined
  const released = release === undefined ? holds : withoutHolder(holds, release)
  const shelved =
    shelf === undefined
      ? released
      : shelf === null || shelf.until <= now
        ? withoutShelving(released)
        : withHold(released, { suppression: 'shelved', by: user, since: now, ...shelf })
  return suppress === undefined ? shelved : withHold(shelved, { ...suppress, since: now })
}

/** An alarm has one shelving, and one suppression by each holder. */
export function withHold(holds: readonly Hold[], hold: Hold): readonly Hold[] {
  const others = hold.suppression === 'shelved' ? withoutShelving(holds) : withoutHolder(holds, hold.by)
  if (others.length < MAX_HOLDS) return [...others, hold]
  throw new AppError('TOO_LARGE', `${MAX_HOLDS} suppressions hold this alarm; release some of them first`)
}

function withoutShelving(holds: readonly Hold[]): readonly Hold[] {
  return holds.filter(({ suppression }) => suppression !== 'shelved')
}

function withoutHolder(holds: readonly Hold[], by: string): readonly Hold[] {
  return holds.filter((hold) => hold.suppression === 'shelved' || hold.by !== by)
}

export function textOfHold({ by, until, reason }: Hold): string {
  const end = until === undefined ? '' : ` until ${new Date(until).toISOString()}`
  return `held back by ${by}${end}${reason === undefined ? '' : `: ${reason}`}`
}

/** Returns the first end of a hold. */
export function holdEnd(alarm: Finishable): number | undefined {
  if (alarm.status === 'CLEARED') return undefined
  const ends = storedHolds(alarm).flatMap(({ until }) => until ?? [])
  return ends.length === 0 ? undefined : Math.min(...ends)
}

function isAhead(until: number | undefined, now: number): boolean {
  return until === undefined || until > now
}
