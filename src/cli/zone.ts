/** Resolves time zones named on the command line. */
import { AppError, messageOf } from '#kernel'
import { parseZone, instantsOf } from '#core/spi'

/** Distance from a clock change, in ms, beyond which a reading is unambiguous, whatever the offset. */
const CLEAR = 2 * 86_400_000

/** A time zone. A clock reading is represented by its epoch ms if it were UTC. */
export interface Zone {
  readonly name: string
  /** Returns the clock reading at an instant (epoch ms) */
  readingAt(instant: number): number
  /** Returns the instants of a reading: none in a spring gap, two in an autumn overlap, otherwise one */
  instantsOf(reading: number): readonly number[]
}

/** Returns the zone for an IANA name (`Europe/Brussels`) or an offset (`+02:00`, `UTC+2`, `Z`). Throws `USAGE`. */
export function zoneOf(text: string): Zone {
  const zone = zoneOrProblem(text)
  return {
    name: zone.name,
    readingAt: (instant) => instant + zone.stretchAt(instant).offset,
    instantsOf(reading) {
      const stretch = zone.stretchAt(reading)
      if (reading - CLEAR > stretch.from && reading + CLEAR < stretch.until) return [reading - stretch.offset]
      return instantsOf(reading, zone, { gap: 'skip', overlap: 'both' })
    },
  }
}

function zoneOrProblem(name: string): ReturnType<typeof parseZone> {
  try {
    return parseZone(name)
  } catch (error) {
    const [issue] = error instanceof AppError ? error.issues : []
    const text = issue === undefined ? messageOf(error) : [issue.message, issue.suggestion].join('; ')
    throw new AppError('USAGE', text, { cause: error })
  }
}
