/**
 * The clocks of an engine: what is known about time zones, and parsed schedules, each once. A fleet of tasks of one
 * template shares one schedule and so its occurrences; starting it parses its expression once.
 */
import { LruCache } from '#kernel'
import { parseSchedule } from '../schedule/parse-schedule.ts'
import { RememberedSchedule } from '../schedule/remembered.ts'
import type { Schedule, ScheduleSettings } from '../schedule/schedule.ts'
import { Zones } from '../schedule/zone.ts'

interface Known {
  readonly schedule: Schedule
  /** nothing is known of its occurrences before, epoch ms */
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

  /** as `parseSchedule`: equal expressions, zones and policies share a schedule, where the start does not tell them apart */
  parse(settings: ScheduleSettings): Schedule {
    if (settings.type !== 'scheduled') return parseSchedule(settings, this.#zones)
    const { start } = settings
    const text = textOf(settings)
    // A rule that takes parts from its start takes them to the second.
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
