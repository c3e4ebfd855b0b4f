import { FixedOffsetZone, IANAZone, type Zone as LuxonZone } from 'luxon'
import { AppError } from '../../kernel/errors.ts'

const DAY = 86_400_000
const OFFSET = /^(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?$/i

/** A time zone as the command line needs it: clock readings are epoch ms of that reading taken as UTC. */
export interface Zone {
  readonly name: string
  /** what a clock there shows at an instant (epoch ms) */
  readingAt(instant: number): number
  /** the instants at which a clock there shows that: none in a spring gap, two in an autumn overlap, else one */
  instantsOf(reading: number): readonly number[]
}

/**
 * The zone of an IANA name (`Europe/Brussels`) or an offset (`+02:00`, `UTC+2`, `Z`). Throws `USAGE`.
 */
export function zoneOf(text: string): Zone {
  if (/^(?:z|utc|gmt)$/i.test(text)) return { name: 'UTC', readingAt: (at) => at, instantsOf: (reading) => [reading] }
  const offset = OFFSET.exec(text)
  if (offset) {
    const [, sign, hours, minutes] = offset
    const total = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes ?? 0))
    if (Math.abs(total) <= 18 * 60 && Number(minutes ?? 0) < 60) return over(FixedOffsetZone.instance(total))
  } else if (IANAZone.isValidZone(text)) {
    return over(IANAZone.create(text))
  }
  throw new AppError(
    'USAGE',
    `"${text}" is not a time zone; write a name such as Europe/Brussels or an offset such as +02:00`,
  )
}

function over(zone: LuxonZone): Zone {
  const offsetAt = (instant: number) => zone.offset(instant) * 60_000
  // One day's answer is kept: a recording walks through time, and asking luxon per line costs more than all the rest.
  let day = Number.NaN
  let before = 0
  let after = 0
  return {
    name: zone.name,
    readingAt: (instant) => instant + offsetAt(instant),
    instantsOf(reading) {
      const asked = Math.floor(reading / DAY)
      if (asked !== day) {
        day = asked
        before = offsetAt((asked - 1) * DAY)
        after = offsetAt((asked + 2) * DAY)
      }
      if (before === after) return [reading - before]
      const found = [reading - before, reading - after].filter((instant) => instant + offsetAt(instant) === reading)
      return found.sort((a, b) => a - b)
    },
  }
}
