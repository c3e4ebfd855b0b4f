/** Suppresses alarms whose cause is another open alarm, as their types declare, and releases them when that one ends. */
import type { AlarmCollections } from './collections.ts'
import type { AlarmTypes } from './alarm-types.ts'
import type { AlarmEvent, NewbornAlarm, NewHold } from './contract.ts'

/** Returns the resources above one, nearest first. */
export type Ancestors = (resource: string) => Promise<readonly string[]>

interface ParentAlarmsDependencies {
  readonly collections: AlarmCollections
  readonly types: AlarmTypes
  readonly ancestors: Ancestors | undefined
  /** ends the suppression by a holder */
  readonly release: (by: string) => Promise<unknown>
  readonly failed: (error: unknown) => void
}

const PORTION = 1_000
const MAX_ENDED = 10_000

export class ParentAlarms {
  readonly #dependencies: ParentAlarmsDependencies
  /** parents that have ended, and whose alarms wait for their release; if there are more, `sweep` finds them */
  readonly #ended = new Set<string>()
  #releasing: Promise<void> | undefined

  constructor(dependencies: ParentAlarmsDependencies) {
    this.#dependencies = dependencies
  }

  async holdsOn({ source, type }: NewbornAlarm): Promise<readonly NewHold[]> {
    const { collections, types, ancestors } = this.#dependencies
    const parents = types.parentsOf(type)
    if (parents.length === 0) return []
    const above = (await ancestors?.(source.id)) ?? []
    const [parent] = await collections.alarms.find({
      where: [
        { field: 'source', op: 'in', values: [source.id, ...above] },
        { field: 'type', op: 'in', values: parents },
        { field: 'lifecycle', op: 'in', values: ['unacknowledged', 'acknowledged'] },
      ],
      sort: [{ field: 'createTime' }],
      limit: 1,
    })
    if (parent === undefined) return []
    const { id, value } = parent
    return [{ suppression: 'suppressed', by: holderOf(id), reason: `${value.type} of ${value.source.id} is open` }]
  }

  committed(events: readonly AlarmEvent[]): void {
    for (const { alarm } of events) {
      if (alarm['lifecycle'] !== 'returned' && alarm['lifecycle'] !== 'normal') continue
      if (this.#ended.size < MAX_ENDED && this.#dependencies.types.isParent(alarm['type'])) this.#ended.add(alarm.id)
    }
    if (this.#ended.size > 0) this.#releasing ??= this.#releaseAll()
  }

  /** Releases alarms whose parents ended or were removed in an earlier life of the host. */
  async sweep(): Promise<void> {
    const { alarms } = this.#dependencies.collections
    for (let offset = 0; ; offset += PORTION) {
      const held = await alarms.find({
        where: [{ field: 'suppression', op: 'eq', value: 'suppressed' }],
        offset,
        limit: PORTION,
      })
      const parents = new Set(
        held.flatMap(({ value: { holds = [] } }) => holds.flatMap(({ by }) => parentOf(by) ?? [])),
      )
      const found = await alarms.getMany([...parents].slice(0, PORTION))
      for (const { id, value } of found)
        if (value.status !== 'CLEARED' && value.hasReturned !== true) parents.delete(id)
      for (const id of parents) this.#ended.add(id)
      if (held.length < PORTION) break
    }
    this.committed([])
    await this.#releasing
  }

  async idle(): Promise<void> {
    await this.#releasing
  }

  async #releaseAll(): Promise<void> {
    try {
      for (const id of this.#ended) {
        this.#ended.delete(id)
        await this.#dependencies.release(holderOf(id))
      }
    } catch (error) {
      this.#dependencies.failed(error)
    } finally {
      this.#releasing = undefined
    }
  }
}

const PREFIX = 'alarm/'

function holderOf(id: string): string {
  return `${PREFIX}${id}`
}

function parentOf(holder: string): string | undefined {
  return holder.startsWith(PREFIX) ? holder.slice(PREFIX.length) : undefined
}
