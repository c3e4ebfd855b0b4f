/** Shrinks a failing case further than fast-check can. */
import { asyncScheduler } from 'rxjs'
import type { Message } from '#core'
import { clockTimes, type CrashPoint, type RunCase } from './checked-run.ts'
import { isNoValue } from './properties/implicit.ts'

const MAX_TRIES = 600

/**
 * Returns the smallest failing case found. Removes messages, crashes, missing values, non-numbers, times that go back,
 * and variation of values and gaps, wherever the case still fails without them.
 */
export async function minimise(
  one: RunCase,
  failsAsWell: (smaller: RunCase) => Promise<boolean>,
  time: number,
): Promise<RunCase> {
  const deadline = asyncScheduler.now() + time
  let best = one
  let tries = 0
  const attempt = async (changed: Partial<RunCase> | undefined): Promise<boolean> => {
    if (changed === undefined || tries >= MAX_TRIES || asyncScheduler.now() >= deadline) return false
    const smaller = { ...best, ...changed }
    tries++
    if (!(await failsAsWell(smaller))) return false
    best = smaller
    return true
  }
  for (let before: RunCase | undefined; before !== best;) {
    before = best
    await withoutMessages(() => best, attempt)
    await withoutCrashes(() => best, attempt)
    for (let i = best.messages.length - 1; i >= 0; i--) {
      for (const tamer of simplerMessages(best.messages, i))
        await attempt({ messages: replaced(best.messages, i, tamer) })
      await attempt(inEvenTime(best.messages, i))
    }
    if (best.seed !== undefined && best.seed !== 1) await attempt({ seed: 1 })
  }
  return best
}

type Attempt = (changed: Partial<RunCase> | undefined) => Promise<boolean>

function withoutMessages(best: () => RunCase, attempt: Attempt): Promise<void> {
  return tryWithoutChunks(
    () => best().messages.length,
    (start, end) => {
      const { messages, crashes } = best()
      const rest = [...messages.slice(0, start), ...messages.slice(end)]
      return attempt({ messages: rest, crashes: movedCrashes(crashes, start, end, rest.length) })
    },
  )
}

function movedCrashes(crashes: readonly CrashPoint[], start: number, end: number, length: number): CrashPoint[] {
  const points = new Map<number, CrashPoint>()
  for (const crash of crashes) {
    const after = crash.after <= start ? crash.after : Math.max(start, crash.after - (end - start))
    const position = Math.min(Math.max(1, after), length)
    if (position > 0 && !points.has(position)) points.set(position, { ...crash, after: position })
  }
  return [...points.values()]
}

async function withoutCrashes(best: () => RunCase, attempt: Attempt): Promise<void> {
  for (let i = best().crashes.length - 1; i >= 0; i--) {
    const { crashes } = best()
    const crash = crashes[i]
    if (crash === undefined) continue
    if (crashes.length > 1 && (await attempt({ crashes: crashes.filter((other) => other !== crash) }))) continue
    if (crash.inFlight) await attempt({ crashes: replaced(crashes, i, { ...crash, inFlight: false }) })
  }
}

/**
 * Replaces one value of a message by the previous value of the same resource. This fills a hole, replaces NaN or a text
 * by a number, or keeps a value constant.
 */
function simplerMessages(messages: readonly Message[], i: number): readonly Message[] {
  const message = messages[i]
  if (message === undefined) return []
  const others = [...messages.slice(0, i).reverse(), ...messages.slice(i + 1)]
  const near = others.filter(({ resource }) => resource === message.resource)
  const names = new Set(near.flatMap((other) => Object.keys(other)))
  return [...names].flatMap((name) => {
    if (name === 'resource' || name === 'timestamp') return []
    const value = near.find((other) => Object.hasOwn(other, name) && !isNoValue(other[name]))?.[name]
    return value === undefined || Object.is(value, message[name]) ? [] : [{ ...message, [name]: value }]
  })
}

/** Assigns a message the same gap as the message before, or a late one the time of its arrival. */
function inEvenTime(messages: readonly Message[], i: number): Partial<RunCase> | undefined {
  const times = clockTimes(messages)
  const [message, time, before, earlier] = [messages[i], times[i], times[i - 1], times[i - 2]]
  if (message === undefined || time === undefined) return undefined
  if (messages.some(({ timestamp }) => typeof timestamp !== 'number')) return undefined
  if (message.timestamp !== time && before !== undefined)
    return { messages: replaced(messages, i, { ...message, timestamp: before }) }
  if (before === undefined || earlier === undefined || time - before === before - earlier) return undefined
  const shift = before - earlier - (time - before)
  return {
    messages: messages.map((other, at) => (at < i ? other : { ...other, timestamp: Number(other.timestamp) + shift })),
  }
}

function replaced<T>(list: readonly T[], i: number, one: T): readonly T[] {
  return list.map((other, at) => (at === i ? one : other))
}

/** `without`: called with the range to leave out, from `start` up to `end`; `length` is called again after each. */
export async function tryWithoutChunks(
  length: () => number,
  without: (start: number, end: number) => Promise<unknown>,
): Promise<void> {
  for (let size = Math.ceil(length() / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let end = length(); end > 0; end -= size) await without(Math.max(0, end - size), end)
  }
}
