/** The allowed hours, minutes and seconds, each ascending, whose combinations are seconds of the day. */
export interface ClockFields {
  seconds: readonly number[]
  minutes: readonly number[]
  hours: readonly number[]
}

/** Returns a function that finds the first allowed second of the day at or after the given one (0 to 86399), or -1. */
export function timeOfDay({ seconds, minutes, hours }: ClockFields): (from: number) => number {
  const nextSecond = successors(seconds, 60)
  const nextMinute = successors(minutes, 60)
  const nextHour = successors(hours, 24)
  return (from) => {
    const hour = Math.floor(from / 3600)
    const minute = Math.floor(from / 60) % 60
    const sameHour = nextHour[hour] === hour
    const sameMinute = sameHour && nextMinute[minute] === minute
    const second = sameMinute ? (nextSecond[from % 60] ?? -1) : -1
    if (second >= 0) return from - (from % 60) + second
    const laterMinute = sameHour ? (nextMinute[minute + 1] ?? -1) : -1
    if (laterMinute >= 0) return hour * 3600 + laterMinute * 60 + (nextSecond[0] ?? 0)
    const laterHour = nextHour[hour + 1] ?? -1
    return laterHour < 0 ? -1 : laterHour * 3600 + (nextMinute[0] ?? 0) * 60 + (nextSecond[0] ?? 0)
  }
}

export function timesInDay({ seconds, minutes, hours }: ClockFields): number {
  return seconds.length * minutes.length * hours.length
}

/** Returns the allowed time of day with that index, as a second of the day. */
export function nthTimeOfDay({ seconds, minutes, hours }: ClockFields, index: number): number {
  const minuteIndex = Math.floor(index / seconds.length)
  const hourIndex = Math.floor(minuteIndex / minutes.length)
  const hour = hours[hourIndex] ?? 0
  const minute = minutes[minuteIndex % minutes.length] ?? 0
  return hour * 3600 + minute * 60 + (seconds[index % seconds.length] ?? 0)
}

/** Returns a table with the smallest allowed value at or above each value, or -1. */
function successors(values: readonly number[], size: number): Int8Array {
  const table = new Int8Array(size + 1).fill(-1)
  for (let value = size - 1; value >= 0; value--)
    table[value] = values.includes(value) ? value : (table[value + 1] ?? -1)
  return table
}
