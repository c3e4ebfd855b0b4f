/** Keeps the calendars of a tenant in its store: one document per calendar, and one per version. */
import { type CalendarDocument, type CalendarReading, handOverGaps, readCalendar } from '#core/spi'
import { AppError, type Caller, refuse } from '#kernel'
import { headOf, NamedDocuments, type NamedRecord } from '#services/shared'
import { type Collection, type CollectionSpec, type Store, type Stored, type Write } from '#storage'
import {
  type Calendar,
  CalendarConfiguration,
  type CalendarStateInfo,
  type CalendarVersion,
} from './calendar-schema.ts'
import type { CalendarsApi, InternalCalendars } from './contract.ts'

export interface CalendarsOptions {
  readonly store: Store
  /** epoch ms */
  readonly now: () => number
}

const CALENDARS: CollectionSpec<NamedRecord<CalendarDocument>> = {
  name: 'calendars',
  version: 1,
  audited: true,
  fields: {},
}

interface VersionRecord {
  readonly calendar: string
  /** epoch ms from which the version applies */
  readonly from: number
  readonly document: CalendarDocument
}

const VERSIONS: CollectionSpec<VersionRecord> = {
  name: 'calendar_versions',
  version: 1,
  fields: {
    calendar: { type: 'text', of: ({ calendar }) => calendar },
    from: { type: 'number', of: ({ from }) => from },
  },
  together: [['calendar', 'from']],
}

const MAX_CALENDARS = 200
const KEPT_VERSIONS = 100
const TIME_DIGITS = 15
const MAX_READINGS = 400

export class Calendars implements InternalCalendars {
  readonly #options: CalendarsOptions
  readonly #documents: NamedDocuments<CalendarDocument>
  readonly #versions: Collection<VersionRecord>
  readonly #readings = new Map<string, CalendarReading>()

  constructor(options: CalendarsOptions) {
    const { store, now } = options
    this.#options = options
    this.#versions = store.collection(VERSIONS)
    this.#documents = new NamedDocuments({
      store,
      spec: CALENDARS,
      one: 'calendar',
      most: MAX_CALENDARS,
      now,
      with: (name, document, time) => this.#versionWrites(name, document, time),
    })
  }

  as({ user }: Caller): CalendarsApi {
    const documents = this.#documents
    return {
      list: async () => (await documents.all()).map((stored) => this.#shown(stored)),
      get: async (name) => this.#shown(await documents.get(name)),
      put: async (name, body, { ifRevision } = {}) => {
        const document = CalendarConfiguration.read(body)
        requireReadable(document)
        const { stored, created } = await documents.put(name, document, { user, ifRevision })
        return { document: this.#shown(stored), created }
      },
      remove: (name, options) => documents.remove(name, options),
      versions: async (name) => {
        await documents.get(name)
        const where = [{ field: 'calendar', op: 'eq', value: name }] as const
        const found = await this.#versions.find({
          where,
          sort: [{ field: 'from', descending: true }],
          limit: KEPT_VERSIONS,
        })
        return found.map(({ value: { from, document } }): CalendarVersion => {
          return { from: new Date(from).toISOString(), ...document }
        })
      },
      state: async (name, at = this.#options.now()) => {
        const reading = await this.reading(name, at)
        if (reading === undefined) throw new AppError('NOT_FOUND', `No calendar '${name.slice(0, 200)}'`)
        return stateOf(reading, at)
      },
    }
  }

  async reading(name: string, at?: number): Promise<CalendarReading | undefined> {
    const found = await this.#documents.find(name)
    if (found === undefined) return undefined
    if (at === undefined || at >= found.value.updateTime) return this.#read(found)
    const [version] = await this.#versions.find({
      where: [
        { field: 'calendar', op: 'eq', value: name },
        { field: 'from', op: 'lte', value: at },
      ],
      sort: [{ field: 'from', descending: true }],
      limit: 1,
    })
    return version === undefined ? this.#read(found) : readCalendar(version.value.document)
  }

  #read({ id, version, value: { document } }: Stored<NamedRecord<CalendarDocument>>): CalendarReading {
    const key = `${version} ${id}`
    const known = this.#readings.get(key)
    if (known !== undefined) return known
    if (this.#readings.size >= MAX_READINGS) this.#readings.clear()
    const reading = readCalendar(document)
    this.#readings.set(key, reading)
    return reading
  }

  #shown(stored: Stored<NamedRecord<CalendarDocument>>): Calendar {
    const warnings = warningsOf(this.#read(stored), this.#options.now())
    return { ...headOf(stored), ...stored.value.document, warnings }
  }

  async #versionWrites(name: string, document: CalendarDocument | undefined, time: number): Promise<readonly Write[]> {
    const where = [{ field: 'calendar', op: 'eq', value: name }] as const
    const known = await this.#versions.ids({ where, sort: [{ field: 'from' }], limit: KEPT_VERSIONS })
    if (document === undefined) return known.map((id) => this.#versions.deleting(id))
    const old = known.slice(0, Math.max(0, known.length + 1 - KEPT_VERSIONS))
    const id = `${String(time).padStart(TIME_DIGITS, '0')}/${name}`
    return [
      this.#versions.putting(id, { calendar: name, from: time, document }),
      ...old.filter((one) => one !== id).map((one) => this.#versions.deleting(one)),
    ]
  }
}

/** Returns the warnings of a stored calendar, as `reflexarc doctor` finds it. */
export function warningsOfStored(record: unknown, now: number): readonly string[] {
  return warningsOf(readCalendar((record as NamedRecord<CalendarDocument>).document), now)
}

/** Returns gaps of the hand-over in the next year, one sentence each. */
function warningsOf(reading: CalendarReading, now: number): readonly string[] {
  return handOverGaps(reading, now).map(({ from, until }) => {
    return `no contact is on call from ${reading.localText(from)} to ${reading.localText(until)}`
  })
}

function requireReadable(document: CalendarDocument): void {
  try {
    readCalendar(document)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'SCHEDULE') throw error
    throw refuse('the calendar', error.issues)
  }
}

function stateOf(reading: CalendarReading, at: number): CalendarStateInfo {
  const text = (time: number | undefined): string | null => (time === undefined ? null : reading.localText(time))
  return {
    at: reading.localText(at),
    ...reading.stateAt(at),
    nextChange: text(reading.nextChange(at)),
    nextState: text(reading.nextState(at)),
  }
}
