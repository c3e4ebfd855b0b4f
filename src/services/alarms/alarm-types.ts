/** Types of alarms: what is agreed about all alarms of a type. */
import { AppError, durationMs, makeIssue, refuse, requireVersion } from '#kernel'
import type { Collection } from '#storage'
import type { TypeRecord } from './alarm-record.ts'
import type { AlarmsApi, AlarmType } from './contract.ts'
import { NewAlarmType } from './life-schema.ts'

const MAX_TYPES = 10_000
const MAX_BYTES = 500

export class AlarmTypes {
  readonly #types: Collection<TypeRecord>

  /** types that name parents, in memory, since each raise looks them up */
  #parents: ReadonlyMap<string, readonly string[]> = new Map()
  #named: ReadonlySet<string> = new Set()

  constructor(types: Collection<TypeRecord>) {
    this.#types = types
  }

  async read(): Promise<void> {
    const types = await this.#types.find({ limit: MAX_TYPES })
    this.#parents = new Map(
      types.flatMap(({ id, value: { suppressedBy = [] } }) =>
        suppressedBy.length === 0 ? [] : [[id, suppressedBy] as const],
      ),
    )
    this.#named = new Set([...this.#parents.values()].flat())
  }

  parentsOf(type: string): readonly string[] {
    return this.#parents.get(type) ?? []
  }

  isParent(type: unknown): boolean {
    return typeof type === 'string' && this.#named.has(type)
  }

  get hasParents(): boolean {
    return this.#named.size > 0
  }

  async isLatching(type: string): Promise<boolean> {
    return (await this.#of(type))?.latching === true
  }

  /** Throws `VALIDATION` for a shelving beyond the longest one of the type. */
  async requireShelving(type: string, until: number | undefined, now: number, path = '/until'): Promise<void> {
    if (until === undefined) return
    const { longestShelving } = (await this.#of(type)) ?? {}
    if (longestShelving === undefined || until <= now + durationMs(longestShelving)) return
    const message = `${new Date(until).toISOString()} is later than the longest shelving of ${type.slice(0, 100)}`
    throw refuse('the shelving', [makeIssue('FIELD', path, message, `shelve for at most ${longestShelving}`)])
  }

  api(): AlarmsApi['types'] {
    return {
      list: async () => {
        const types = await this.#types.find({ limit: MAX_TYPES })
        return types.map(({ id, value, version }) => shown(id, value, version))
      },
      get: async (type) => {
        const stored = await this.#stored(type)
        return shown(type, stored.value, stored.version)
      },
      put: async (type, body, { ifRevision } = {}) => {
        const { type: _type, revision: _revision, ...fields } = NewAlarmType.read(body) as Partial<AlarmType>
        requireType(type, fields)
        const stored = await this.#types.get(type)
        requireVersion(nameOf(type), stored?.version, ifRevision)
        if (stored === undefined && (await this.#types.count()) >= MAX_TYPES)
          throw new AppError('TOO_LARGE', `at most ${MAX_TYPES} types of alarms are stored; remove some`)
        const version = await this.#types.put(type, fields, stored?.version ?? 'absent')
        await this.read()
        return shown(type, fields, version)
      },
      remove: async (type, { ifRevision } = {}) => {
        const { version } = await this.#stored(type)
        requireVersion(nameOf(type), version, ifRevision)
        await this.#types.delete(type, version)
        await this.read()
      },
    }
  }

  async #of(type: string): Promise<TypeRecord | undefined> {
    // a longer type of an alarm cannot have an entry
    return isStorable(type) ? (await this.#types.get(type))?.value : undefined
  }

  async #stored(type: string): Promise<NonNullable<Awaited<ReturnType<Collection<TypeRecord>['get']>>>> {
    const stored = isStorable(type) ? await this.#types.get(type) : undefined
    if (stored === undefined) throw new AppError('NOT_FOUND', `${nameOf(type)} is not stored`)
    return stored
  }
}

function requireType(type: string, { suppressedBy = [] }: TypeRecord): void {
  const issues = []
  if (!isStorable(type))
    issues.push(makeIssue('FIELD', '/type', 'has an invalid length', `use 1 to ${MAX_BYTES} bytes`))
  if (suppressedBy.includes(type))
    issues.push(makeIssue('FIELD', '/suppressedBy', 'names the type itself', 'name other types'))
  if (issues.length > 0) throw refuse('the type of alarms', issues)
}

function isStorable(type: string): boolean {
  return type !== '' && new TextEncoder().encode(type).length <= MAX_BYTES
}

function shown(type: string, record: TypeRecord, revision: number): AlarmType {
  return { type, revision, ...record }
}

function nameOf(type: string): string {
  return `the type of alarms ${JSON.stringify(type.slice(0, 100))}`
}
