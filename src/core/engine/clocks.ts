/** Caches time zones and parsed schedules for an engine. */
import { LruCache } from '#kernel'
import { parseSchedule } from '../schedule/parse-schedule.ts'
import { RememberedSchedule } from '../schedule/remembered.ts'
import type { Schedule, ScheduleSettings } from '../schedule/schedule.ts'
import { Zones } from '../schedule/zone.ts'

interface Known {
  readonly schedule: Schedule
  /** epoch ms; the schedule knows no occurrences before this time */
  readonly start: number
}

const MAX_KNOWN = 1000

export class Clocks {
  readonly #zones = new Zones()
  readonly #known = new LruCache<string, Known>(MAX_KNOWN)
  readonly #runsAtStart: boolean

  constructor(runsAtStart = false) {
    this.#runsAtStart = runsAtStart
  }

  /** Shares a schedule between equal settings, unless its occurrences depend on the start. */
  parse(settings: ScheduleSettings): Schedule {
    if (settings.type !== 'scheduled') return parseSchedule(settings, this.#zones)
    const { start } = settings
    const text = textOf(settings)
    // A recurrence rule that takes fields from its start uses them to the second.
    const textAtStart = `${text} ${Math.floor(start / 1000)}`
    const known = this.#known.get(text) ?? this.#known.get(textAtStart)
    if (known !== undefined && known.start <= start) return known.schedule
    const schedule = new RememberedSchedule(parseSchedule(settings, this.#zones), this.#runsAtStart)
    this.#known.set(schedule.anyStart ? text : textAtStart, { schedule, start: Math.floor(start / 1000) * 1000 })
    return schedule
  }
}

function textOf(settings: ScheduleSettings & { type: 'scheduled' }): string {
  const { cron, rrule } = settings as { cron?: string; rrule?: string }
  const { timeZone, dst } = settings
  return JSON.stringify([cron ?? null, rrule ?? null, timeZone ?? null, dst?.gap ?? null, dst?.overlap ?? null])
}
