/** Raises, changes and removes alarms, each in one commit with its event (ALARM-1 to ALARM-3). */
import type { EffectOfTask } from '#services/shared'
import {
  AppError,
  type ErrorCode,
  type ExpectedVersion,
  type Logger,
  MAX_HOPS,
  messageOf,
  requireVersion,
  type RevisionOptions,
} from '#kernel'
import { clearTime, escalationTime, type AlarmRecord, type CauseRecord } from './alarm-record.ts'
import { isRepeated, keyOf } from './deduplication.ts'
import {
  createdAlarm,
  changedAlarm,
  eventOf,
  hasEffect,
  causationOf,
  NO_CAUSE,
  isAnnounced,
  repeatedAlarm,
  type Causation,
} from './change-alarm.ts'
import type { AlarmChange } from './alarm-schema.ts'
import type { AlarmCause, AlarmEvent, AlarmSuppressor, CauseReader, NewHold, RaiseOptions } from './contract.ts'
import type { AlarmCollections } from './collections.ts'
import { clearedBy, openOf } from './find-alarms.ts'
import { revisionOf } from './history.ts'
import type { KeyDraft, KeyedCommitter, Work } from './keyed-committer.ts'
import { type Hold, heldBy, holdEnd, holdsAt, type Holding, suppressionOf, withHold } from './holds.ts'
import { type RaisedAlarm, readAlarm } from './new-alarm.ts'
import type { AlarmTypes } from './alarm-types.ts'
import type { ParentAlarms } from './parent-alarms.ts'
import { ANNOUNCED, COMMENTED, HOST_ITSELF, OCCURRED_AGAIN, RAISED, UPDATED } from './words.ts'

export interface AlarmWriterDependencies {
  readonly collections: AlarmCollections
  readonly committer: KeyedCommitter
  readonly now: () => number
  readonly newId: () => string
  readonly causes: CauseReader | undefined
  readonly types: AlarmTypes
  readonly parents: Pick<ParentAlarms, 'holdsOn'>
  readonly suppressor: (() => AlarmSuppressor | undefined) | undefined
  readonly written: (alarm: AlarmRecord) => void
  readonly logger: Logger | undefined
}

/** The author of a change, and its idempotency key, so that an effect or an item of a batch counts only once. */
export interface Mover {
  readonly user: string
  readonly effect?: string
  readonly by?: EffectOfTask
  readonly causation: Causation
  readonly ifRevision?: ExpectedVersion | undefined
}

/** A change of an alarm, by its fields or by what holds it back. */
export interface Change extends AlarmChange, Holding {
  readonly comment?: string
}

const CLEARED: Change = { status: 'CLEARED' }
const ITSELF: Mover = { user: HOST_ITSELF, causation: NO_CAUSE }

export class AlarmWriter {
  readonly #dependencies: AlarmWriterDependencies
  readonly #types: AlarmTypes

  constructor(dependencies: AlarmWriterDependencies) {
    this.#dependencies = dependencies
    this.#types = dependencies.types
  }

  async raise(user: string, body: unknown, { cause, onRepeat = 'count' }: RaiseOptions): Promise<AlarmRecord> {
    const { now, newId } = this.#dependencies
    this.requireFewHops(cause)
    const alarm = readAlarm(body, now())
    await this.#types.requireShelving(alarm.type, alarm.snoozeUntil, now(), '/snoozeUntil')
    const key = keyOf(alarm.source.id, alarm.type, alarm.dedupKey)
    const causation = causationOf(cause)
    return this.#work(key, async (draft) => {
      const latest = await draft.latest()
      if (latest && hasEffect(latest, cause?.effect)) return latest
      const admitted = await draft.effects.admit(thingsOf(alarm), cause)
      const moment = { now: now(), newId, user, ...(cause && { effect: cause.effect }) }
      if (isRepeated(latest)) {
        const grown = repeatedAlarm(latest, alarm, onRepeat, moment)
        draft.replace(grown)
        admitted.note()
        const { changes } = grown
        if (changes.length > 0 || suppressionOf(grown.alarm, moment.now) === 'none')
          draft.events.push(this.#event(OCCURRED_AGAIN, grown.alarm, { now: moment.now, causation, changes }))
        return grown.alarm
      }
      const discard = this.#dependencies.suppressor?.()?.discards?.(alarm, moment.now)
      if (discard !== undefined) {
        admitted.note()
        const holds = [{ ...discard, since: moment.now }]
        return { ...createdAlarm(alarm, { id: newId(), key, user, holds }, moment), isDiscarded: true }
      }
      const explained = cause && (await this.#explained(cause))
      const parents = this.#types.hasParents ? await this.#dependencies.parents.holdsOn(alarm) : []
      const holds = this.#holdsOn(alarm, latest, parents, moment.now)
      const born = createdAlarm(alarm, { id: newId(), key, user, holds }, moment)
      draft.add(born, explained)
      admitted.note()
      draft.events.push(this.#event(RAISED, born, { now: moment.now, causation, user }))
      return born
    })
  }

  /** A shelving outlasts the alarm, so that one that comes and goes stays shelved. */
  #holdsOn(
    alarm: RaisedAlarm,
    latest: AlarmRecord | undefined,
    parents: readonly NewHold[],
    now: number,
  ): readonly Hold[] {
    const shelved =
      latest === undefined ? [] : holdsAt(latest, now).filter(({ suppression }) => suppression === 'shelved')
    const held = [...parents, ...(this.#dependencies.suppressor?.()?.holdsOn(alarm, now) ?? [])]
    return held.reduce<readonly Hold[]>((all, hold) => withHold(all, { ...hold, since: now }), shelved)
  }

  async change(id: string, change: Change, mover: Mover): Promise<AlarmRecord> {
    const alarm = await this.stored(id)
    const now = this.#dependencies.now()
    await this.#types.requireShelving(alarm.type, change.shelf?.until, now)
    await this.#types.requireShelving(alarm.type, change.snoozeUntil ?? undefined, now, '/snoozeUntil')
    return this.#change(alarm, change, mover, thingsOf)
  }

  /** Clears alarms with a `dedupKey` first, each in its own lane, and again if the task raises one meanwhile. */
  async clear(user: string, source: string, type: string, cause: AlarmCause): Promise<readonly AlarmRecord[]> {
    this.requireFewHops(cause)
    const { collections, committer } = this.#dependencies
    const { effect } = cause
    const mover = { user, effect, by: cause, causation: causationOf(cause) }
    const key = keyOf(source, type, undefined)
    const cleared = new Map<string, AlarmRecord>()
    return committer.run(key, async (draft) => {
      const admitted = await draft.effects.admit([thingOf(source, type)], cause)
      if (admitted.isAgain) return clearedBy(collections, source, type, effect)
      for (const alarm of await openOf(collections, source, type)) {
        if (alarm.key === key) continue
        try {
          cleared.set(alarm.id, await this.#change(alarm, CLEARED, mover, keyThingsOf))
        } catch (error) {
          // another writer has cleared the alarm, or the task itself has raised it again
          if (!(error instanceof AppError) || !OVER.has(error.code)) throw error
        }
      }
      const latest = await draft.latest()
      admitted.note()
      const others = [...cleared.values()]
      if (!isRepeated(latest)) return others
      return [await this.#changeIn(draft, latest, CLEARED, mover), ...others]
    })
  }

  #change(
    { id, key }: AlarmRecord,
    change: Change,
    mover: Mover,
    things: (alarm: AlarmRecord) => readonly string[],
  ): Promise<AlarmRecord> {
    return this.#work(key, async (draft) => {
      const alarm = await draft.alarm(id)
      if (alarm === undefined) throw noAlarm(id)
      if (hasEffect(alarm, mover.effect)) return alarm
      requireVersion(`Alarm ${id}`, revisionOf(alarm), mover.ifRevision)
      const admitted = await draft.effects.admit(things(alarm), mover.by)
      if (admitted.isAgain) return alarm
      const changed = await this.#changeIn(draft, alarm, change, mover)
      admitted.note()
      return changed
    })
  }

  async remove(id: string, { ifRevision }: RevisionOptions = {}): Promise<void> {
    const { key } = await this.stored(id)
    await this.#dependencies.committer.run(key, async (draft) => {
      const alarm = await draft.alarm(id)
      if (alarm === undefined) throw noAlarm(id)
      requireVersion(`Alarm ${id}`, revisionOf(alarm), ifRevision)
      draft.remove(alarm)
    })
  }

  async doDue({ id, key }: AlarmRecord): Promise<void> {
    await this.#work(key, async (draft) => {
      const alarm = await draft.alarm(id)
      if (alarm === undefined) return undefined
      const now = this.#dependencies.now()
      if ((clearTime(alarm) ?? now + 1) <= now) return this.#changeIn(draft, alarm, CLEARED, ITSELF)
      if ((holdEnd(alarm) ?? now + 1) <= now) return this.#changeIn(draft, alarm, {}, ITSELF)
      const { escalation } = alarm
      if (escalation === undefined || (escalationTime(alarm) ?? now + 1) > now) return alarm
      const changed = await this.#changeIn(draft, alarm, { severity: escalation.severity }, ITSELF)
      const over = { ...changed, escalationOver: true }
      draft.replace({ alarm: over, chunks: new Map() })
      return over
    })
  }

  async stored(id: string): Promise<AlarmRecord> {
    const stored = await this.#dependencies.collections.alarms.get(id)
    if (stored === undefined) throw noAlarm(id)
    return stored.value
  }

  requireFewHops(cause: AlarmCause | undefined): void {
    if (cause === undefined || cause.hops <= MAX_HOPS) return
    const { task, node, hops } = cause
    const text = `${hops} rules in a row triggered each other, more than ${MAX_HOPS}, the last one at node ${node} of task ${task}`
    this.#dependencies.logger?.warn(`an alarm was not changed: ${text}`)
    throw new AppError('TOO_LARGE', `${text}; break the loop of alarms and rules`)
  }

  async #changeIn(draft: KeyDraft, alarm: AlarmRecord, change: Change, mover: Mover): Promise<AlarmRecord> {
    const { now, newId } = this.#dependencies
    const { effect, user, causation } = mover
    const moment = { now: now(), newId, user, ...(effect !== undefined && { effect }) }
    const { snoozeUntil, shelf, suppress, release, ...rest } = change
    const isLatching = rest.status === 'CLEARED' && (await this.#types.isLatching(alarm.type))
    const shelved = snoozeUntil === undefined ? shelf : snoozeUntil === null ? null : { until: snoozeUntil }
    const holds = heldBy(holdsAt(alarm, moment.now), { shelf: shelved, suppress, release }, moment)
    const moved = changedAlarm(alarm, { ...rest, ...(holds && { holds }), ...(isLatching && { isLatching }) }, moment)
    if (moved === undefined) return alarm
    draft.replace(moved)
    const { changes } = moved
    const type = changes.length === 0 ? COMMENTED : isAnnounced(moved.alarm, changes) ? ANNOUNCED : UPDATED
    const { comment } = rest
    const about = { now: moment.now, causation, changes, user, ...(comment !== undefined && { comment }) }
    draft.events.push(this.#event(type, moved.alarm, about))
    return moved.alarm
  }

  #event(type: string, alarm: AlarmRecord, about: Parameters<typeof eventOf>[3]): AlarmEvent {
    return eventOf(this.#dependencies.collections.tenant, type, alarm, about)
  }

  async #work<T extends AlarmRecord | undefined>(key: string, work: Work<T>): Promise<T> {
    const alarm = await this.#dependencies.committer.run(key, work)
    if (alarm !== undefined) this.#dependencies.written(alarm)
    return alarm
  }

  async #explained(cause: AlarmCause): Promise<CauseRecord> {
    const { causes, logger } = this.#dependencies
    const { unordered: _unordered, root: _root, ...kept } = cause
    try {
      return { cause: kept, explanation: (await causes?.explain(cause)) ?? null }
    } catch (error) {
      // the store is unavailable or the rules have stopped, so the effect is repeated later
      if (error instanceof AppError && COMES_AGAIN.has(error.code)) throw error
      logger?.warn(`the explanation of an alarm by task ${cause.task} could not be read: ${messageOf(error)}`)
      return { cause: kept, explanation: null }
    }
  }
}

const COMES_AGAIN: ReadonlySet<ErrorCode> = new Set(['UNAVAILABLE', 'CLOSED'])
const OVER: ReadonlySet<ErrorCode> = new Set(['FINAL', 'NOT_FOUND', 'SUPERSEDED'])

function thingsOf(alarm: Pick<AlarmRecord, 'source' | 'type' | 'dedupKey'>): readonly string[] {
  return [thingOf(alarm.source.id, alarm.type), ...keyThingsOf(alarm)]
}

function keyThingsOf({ dedupKey }: Pick<AlarmRecord, 'dedupKey'>): readonly string[] {
  return dedupKey === undefined ? [] : [`alarm:${dedupKey}`]
}

function thingOf(source: string, type: string): string {
  return `alarm:${source}/${type}`
}

export function noAlarm(id: string): AppError {
  return new AppError('NOT_FOUND', `alarm with id '${id.slice(0, 100)}' not found`)
}
