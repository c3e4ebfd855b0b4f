import type { Schedule } from './schedule.ts'

/** Every `frequency` ms, counted from `start`: start, start + frequency ... */
export function fixedRate(frequency: number, start: number): Schedule {
  const phase = ((start % frequency) + frequency) % frequency
  const atOrAfter = (instant: number): number =>
    instant <= start ? start : start + Math.ceil((instant - start) / frequency) * frequency
  return {
    key: `periodic ${frequency} ${phase}`,
    next: (after) => (after < start ? start : start + (Math.floor((after - start) / frequency) + 1) * frequency),
    first: atOrAfter,
    count: (after, before) => {
      const earliest = after < start ? start : start + (Math.floor((after - start) / frequency) + 1) * frequency
      return before <= earliest ? 0 : Math.ceil((before - earliest) / frequency)
    },
  }
}

/** `frequency` ms after the end of the last work. Its occurrences hang on that work, so its key names the start. */
export function fixedDelay(frequency: number, start: number): Schedule {
  return {
    key: `delay ${frequency} ${start}`,
    next: (after) => (after < start ? start : after + frequency),
    first: (from) => Math.max(from, start),
    fixedDelay: true,
  }
}
